#!/usr/bin/env python3
"""Make golden splits: where each family of tokenizers cuts hard strings into words.

    make_split_goldens.py [--out FILE]

The cuts are those of the regex module (PyPI: regex) with the expressions as the models publish them: an engine and a
spelling other than the library's own.
"""
import argparse
import itertools
import pathlib

import regex

from make_text_goldens import WORDS

MORE = [
    "fooBarBaz", "XMLHttpRequest", "iPhone's iPADS", "Don'T dON't", "camelCase2Snake_case", "ABCdef GHI",
    "éCOLE École ÉCOLEs", "ПриветМир приветМИР", "ΑλφαΒήτα αΒ", "ǅǆǄ Dž", "ʼn ʻokina Hawaiʻi", "ſtraße'S", "日本語ABCdef漢字",
    "カタカナひらがな漢字ー々〆", "中文。中文、English中文123", "〇一二三 〡〢", "한국어ABC中文", "ａｂｃＡＢＣ１２３", "e\u0301tude É\u0301",
    "\u0301\u0301\u0301abc", "a\u0301b\u0301c\u0301", "नमस\u094dत\u0947१२३", "க\u0bcaட\u0bc1 ௧௨", "ไทย๑๒๓abc", "العربية١٢٣",
    "עברית'ס", "މ\u07a8އ\u07a6ދ\u07aa", "မ\u103cန\u103aမ\u102c", "ລາວ", "བ\u0f7cད་ཡ\u0f72ག", "ᠮᠣᠩᠭᠣᠯ", "ⴰⵎⴰⵣⵉⵖ", "Ꭰ Ꭱ ꭰ",
    "ϢϣϤ", "𐍈𐌰", "𓀀𓀁", "𒀀", "ꦗꦮ", "ꯃ\uabe9", "ᐃᓄᒃ", "ߒߞߏ", "x\r\n\r\n  y", "\r\n \r\n", "a \n\n\n b", "a\t\n\tb",
    "a\u2028\n b", "a\x85\n\x85b", "\n \xa0\n x", "end \r", "!\r\n/x", "://\n//", "/**\n * c\n */", "a/\n/b", "?!\n\n/ /",
    "  \xa0x", "\xa0 x", "\u2003\u2003x y", "x\u3000\u3000", "tab\t\ttab", "\x0b\x0c\x0b x", "\u1680\u1680a",
    "a\u202f\u202f1", "\u200b\u200bx", "\u2060x", " \u200d ", "x \xa0", "12345678901234567890", "1 22 333 4444 55555",
    "１２３４５", "1²3³4⁴", "①②③④⑤", "ⅠⅡⅢⅣⅤ", "1a2b3c4d", "-1.5e-10", "1'000'000", "0.0.0.0", "٣٫١٤", "१२३४५", "x²+y²", "¼½¾",
    "20€", "3rd 4TH", "'LL 'Ll 'lL 'RE", "we'LL I'Ve he'D", "''''s", "x'y'z", "o'clock's'", "l’eau d’été", "'mañana'",
    "it's,they're;we'd", "'s\n't", "a's'b't", "'ſ", "👨\u200d👩\u200d👧\u200d👦👨\u200d💻", "👋🏻👋🏼👋🏽",
    "🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f", "😀a😀B😀1", "☕\ufe0f☕\ufe0e", "❤\ufe0f\u200d🔥",
    "🤷🏽\u200d♀\ufe0f!", "(╯°□°)╯︵ ┻━┻", "¯\\_(ツ)_/¯", "♥♦♣♠", "🇺🇸🇬🇧x", "a🇦b", "!@#abc", "#hashtag @user", "$100 US$",
    ".txt .Txt .TXT", "_private __dunder__", "-abc", "(abc)(def)", "[a](b)", "a.b.c", "a,b;c:d", "...abc", "\\begin{x}",
    "`code`", "~tilde", "+plus=", "|a|b|", "^x^", "«a»", "¿a?", "„a“", "—a–b", "·a·", "“curly” ‘quotes’", "（全角）［］", "。、！？",
    "！abc", "／ａ", "「かぎ」", "・・・", "…a", "※注", "〜波", "<|user|>", "<|assistant|>hi", "[gMASK]<sop>", "<|im_middle|>",
    "[BOS][EOS]", "<｜begin▁of▁sentence｜>", "<|begin_of_text|>", "<s></s>", "[INST] x [/INST]", "<tool_call>",
    "<think>a</think>", "<|fim_prefix|>", "<0x0A>", "▁a▁b", "Ġa Ċ", "a" * 200 + "B" * 200, "aB" * 50, "Aa1 " * 30,
    " " * 7 + "a" + " " * 8 + "b" + " " * 24 + "c" + " " * 25, "\t\t\t\t\t\t\t\t\tx", "\n\n\n\n\n\n\n\n\n x",
    "e\u0301" * 40, "漢a" * 30, "\u00a0" * 30 + "x", "'s" * 30, "!" * 60 + "\n" * 20, "1a" * 40,
    "The quick brown fox jumps over the lazy dog. 0123456789", "Ünïcödé ÄÖÜß", "naïve café résumé", "Zażółć gęślą jaźń",
    "İstanbul'da ıssız", "Œuvre œuf", "Straße GROẞ", "Þórr ðæ", "Ĳsland ĳ", "ﬁnance ﬂow", "µm Ωm KΩ Å", "ℕℤℝ ℂ",
    "\u1fbe\u1fd3\u1fdb\u1f7d", "ჯავა ჴ", "ჀᲐ", "Ⴧ Ⴭ", "ⱫⱬⳀ", "ꙀꙁꚀ", "ꜢꝯꞋ", "ꬰꭰ", "𐐀𐑏𐒰", "𞤀𞥃", "𑢠𑣟", "Ↄↄↅ", "ªº", "ǃǂ ƻ",
    "ʔʕ",
]

CONTRACTION = "(?i:'s|'t|'re|'ve|'m|'ll|'d)"
SPACES = r"\s*[\r\n]+|\s+(?!\S)|\s+"
UPPER = r"\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}"
LOWER = r"\p{Ll}\p{Lm}\p{Lo}\p{M}"
CASED = (
    "A-Za-z\xB5\xC0-\xD6\xD8-\xF6\xF8-\u01BA\u01BC-\u01BF\u01C4-\u0293\u0295-\u02AF\u0370-\u0373\u0376\u0377"
    "\u037B-\u037D\u037F\u0386\u0388-\u038A\u038C\u038E-\u03A1\u03A3-\u03F5\u03F7-\u0481\u048A-\u052F\u0531-\u0556"
    "\u10A0-\u10C5\u13A0-\u13F5\u13F8-\u13FD\u1C90-\u1CBA\u1CBD-\u1CBF\u1D00-\u1D2B\u1D6B-\u1D77\u1D79-\u1D9A"
    "\u1E00-\u1F15\u1F18-\u1F1D\u1F20-\u1F45\u1F48-\u1F4D\u1F50-\u1F57\u1F59\u1F5B\u1F5D\u1F5F-\u1F7D\u1F80-\u1FB4"
    "\u1FB6-\u1FBC\u1FBE\u1FC2-\u1FC4\u1FC6-\u1FCC\u1FD0-\u1FD3\u1FD6-\u1FDB\u1FE0-\u1FEC\u1FF2-\u1FF4\u1FF6-\u1FFC"
    "\u2102\u2107\u210A-\u2113\u2115\u2119-\u211D\u2124\u2126\u2128\u212A-\u212D\u212F-\u2134\u2139\u213C-\u213F"
    "\u2145-\u2149\u214E\u2183\u2184\u2C00-\u2C7B\u2C7E-\u2CE4\u2CEB-\u2CEE\u2CF2\u2CF3\uA640-\uA66D\uA680-\uA69B"
    "\uA722-\uA76F\uA771-\uA787\uA78B-\uA78E\uAB70-\uABBF\uFB00-\uFB06\uFB13-\uFB17\uFF21-\uFF3A\uFF41-\uFF5A"
    "\U00010400-\U0001044F\U000104B0-\U000104D3\U000104D8-\U000104FB\U00010C80-\U00010CB2\U00010CC0-\U00010CF2"
    "\U000118A0-\U000118DF\U0001E900-\U0001E943"
)


def case_words(but=""):
    start, upper, lower = r"[^\r\n\p{L}\p{N}]?", f"[{UPPER}{but}]", f"[{LOWER}{but}]"
    return f"{start}{upper}*{lower}+{CONTRACTION}?|{start}{upper}+{lower}*{CONTRACTION}?"


FAMILIES = {
    "qwen2": [CONTRACTION + r"|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|" + SPACES],
    "qwen35": [CONTRACTION + r"|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|" + SPACES],
    "llama-bpe": [CONTRACTION + r"|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|" + SPACES],
    "glm4": [CONTRACTION + r"|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|" + SPACES],
    "gpt-2": [r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"],
    "kimi-k2": [r"[\p{Han}]+|" + case_words(r"&&[^\p{Han}]") + r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|" + SPACES],
    "gpt-4o": [case_words() + r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|" + SPACES],
    "deepseek-v3": [r"\p{N}{1,3}", "[一-龥\u3040-ゟ゠-ヿ]+",
                    r"[!\"#$%&'()*+,\-./:;<=>?@\[\\\]\^_`\{\|\}\~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+"
                    r"| ?[\p{P}\p{S}]+[\r\n]*|" + SPACES],
    "deepseek-llm": [r"[\r\n]", r"\s?[" + CASED + "]+", r"\s?[!-/:-\~" "！-／：-～‘-‟\u3000-。]+", r"\s+\Z",
                     "[一-龥\u0800-一가-\ud7ff]+", r"\p{N}+"],
}


def split(pieces, expression):
    """Matches and what lies between them."""
    for piece in pieces:
        done = 0
        for match in expression.finditer(piece):
            if match.start() > done:
                yield piece[done:match.start()]
            yield match.group()
            done = match.end()
        if done < len(piece):
            yield piece[done:]


def lengths(text, expressions):
    """Bytes of each word; NxK stands for K words of N bytes."""
    pieces = [text]
    for expression in expressions:
        pieces = list(split(pieces, expression))
    runs = [(size, len(list(run))) for size, run in itertools.groupby(len(p.encode()) for p in pieces)]
    return " ".join(f"{size}x{n}" if n > 1 else str(size) for size, n in runs)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path(__file__).parent.parent / "tests/golden/text/splits.tsv")
    args = parser.parse_args()
    # The module's own \s holds U+001C to U+001F too.
    families = {name: [regex.compile(e.replace(r"\s", r"\p{White_Space}").replace(r"\S", r"\P{White_Space}"), regex.V1)
                       for e in expressions] for name, expressions in FAMILIES.items()}
    lines = ["text\t" + "\t".join(families)]
    texts = list(dict.fromkeys(WORDS + MORE))
    for text in texts:
        columns = [lengths(text, expressions) for expressions in families.values()]
        lines.append("\t".join([text.encode().hex(), columns[0]] + ["=" if c == columns[0] else c for c in columns[1:]]))
    args.out.write_text("\n".join(lines) + "\n")
    print(len(texts), "texts,", len(families), "families")


if __name__ == "__main__":
    main()
