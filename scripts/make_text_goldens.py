#!/usr/bin/env python3
"""Make golden tokens of hard strings, as the reference library encodes them.

    make_text_goldens.py --oracle PATH --model MODEL.gguf [--out DIR]

PATH is a program that knows the reference library:
    PATH tokenize MODEL --no-bos < text              ids, separated by commas; control tokens are ordinary text
    PATH tokenize MODEL --no-bos --special < text    control tokens are recognised
    PATH chat-template MODEL < messages.jsonl        the conversation as one prompt
"""
import argparse
import json
import pathlib
import subprocess

WORDS = [
    # words, spaces, cases
    "Hello world", " Hello  World! ", "a", " ", "  ", "   x", "x   ", "x \n", "\tfunction()\t{\n\t\treturn;\n\t}",
    "In the beginning God created the heaven and the earth.", "snake_case and camelCase andSHOUTING",
    "The capital of Côte d'Ivoire is Yamoussoukro.", "tell me\tabout\vthe\fcountry", "a-b--c---d", "e.g. i.e. etc...",
    # contractions in both cases, straight and curly
    "I'm you're he's we've they'll I'd don't", "I'M YOU'RE HE'S WE'VE THEY'LL I'D DON'T", "'told 'RE 'M 'D 'Ve a'lL",
    "’s ’T it’s", "'s't're've'm'll'd", "''s '' '", "rock'n'roll", "'Sam 'sam 'lls", "d'état l'été",
    # digits
    "1", "12", "123", "1234567890", "3.14159", "3.3 3..3 3...3", "1,234,567", "x1y22z333", "４２ ٤٢ ४२ ൪൨", "½ ² Ⅷ ㊿ ①",
    "2024-02-29T12:00:00Z", "0x1F 1e-10 0b11", "127.0.0.1:8080",
    # line ends
    "\n", "\n\n", "\n\n\n", "\r\n", "\r\n\r\n", "\r\r\n\n", "a\r\nb\rc\nd", "a \r\n b", "a\n b", "a\n  b", "a  \n\n  b",
    " \n \n \n x", "\n\n\n   \t\n", "!!\n\n", "!? \n", " ...\r\n\r\nx", "x\n\n\n\n\n", "\t\n\t\n", "line one.\nline two.\n",
    # all kinds of space
    "a\u00a0b", "a \u00a0 b", "\u00a0\u00a0", "a\u2009b\u3000c", "\u2028x\u2029y", "a\u0085b", "a\u1680b", "a\u200bb",
    "\u3000\u3000x", "a\u202f1", "\ufeffBOM", "x\u205f\u2003 y",
    # scripts
    "日本語のテキスト。", "漢字かな交じり文 と スペース", "中文字符，没有空格！", "한국어 문장입니다.", "Привет, мир!", "НЕЩО НА БЪЛГАРСКИ",
    "Ελληνικά: ΑΒΓ αβγ", "שלום עולם", "مرحبا بالعالم", "नमस्ते दुनिया", "ภาษาไทยไม่มีช่องว่าง", "កាន់តែពិសេសអាចខលចេញ", "தமிழ் மொழி",
    "ქართული ენა", "Հայերեն", "አማርኛ", "ᏣᎳᎩ ꮳꮃꭹ", "𐐷𐐲𐑌 𐐄𐐆", "𝒜𝓁𝓅𝒽𝒶 ℵ ℝ", "ǅungla ǆ Ǆ", "ʰʷ ˢ", "ﷺ ﬁ ﬂ", "ßẞ ıİ ſ",
    # combining marks, composed and not
    "é e\u0301", "Å A\u030a \u212b", "Cửa Việt Cu\u031b\u0309a Vie\u0323\u0302t", "Z\u0351\u036bA\u0334\u0321L\u0338G\u0322O\u0358",
    "\u0301 \u0301x", "ก\u0e33", "q\u0307\u0323", "\u0915\u094d\u0937",
    # emoji
    "😀", " 😀😀 ", "👩‍👩‍👧‍👦 family", "🏳️‍🌈🏴‍☠️", "👍🏽👍🏿", "🇯🇵🇰🇪", "1️⃣#️⃣", "😶‍🌫️ ❤️ ☺", "🚀 (normal) ✅", "a🦙b", "🦙.cpp",
    # punctuation and symbols
    "!!!!!!", "¡Hola! ¿Qué?", "(a) [b] {c} <d>", "a/b\\c|d", "€5 £6 ¥7 $8", "™ © ® ° § ¶", "→ ← ↔ ∀∃∈ √2", "\"quoted\" «guillemets» „low“",
    "-----=====", "a__b", "````sh\nls\n````", "& && &&&", "...\n...", " ,", "; :", "C++ C# F*", "~!@#$%^&*()_+`-={}|[]\\:\";'<>?,./",
    "https://example.org/?q=a+b&c=%20#x", "user@example.org", "<div class=\"x\">&nbsp;</div>", "{\"a\": [1, 2.5, null]}",
    "for (int i = 0; i < n; ++i) {\n    sum += a[i];\n}\n",
    # control characters and rare planes
    "\u0000", "a\u0000b", "\u0001\u0002\u001b[31m", "\u007f", "\u00ad soft", "\ue000 private", "\U0010ffff", "\ufffd", "\ufffe\uffff",
    "\u202eRTL\u202c", "\U000e0001\U000e0041",
    # what looks like a special token
    "<|im_end|>", "<|im_start|>user\nhi<|im_end|>\n", "a<|endoftext|>b", "<|im_end|><|im_end|>", "<|im_end", "|im_end|>",
    "<|IM_END|>", "<|im_end |>", " <|im_start|> ", "<<|im_end|>>", "<|im_<|im_end|>end|>", "<|endoftext|>\n\n<|im_start|>",
    "<think>\n\n</think>", "</s> [INST]", "don<|im_end|>'t", "é<|im_start|>é", "\n<|im_end|>\n",
    # long
    "a" * 300, " " * 100 + "x", "\n" * 50, "ab " * 60, "1" * 70, "=" * 90, "日" * 40, "😀" * 20, "Na" * 30 + " Batman!", " \n" * 30,
]

INVALID = [
    b"\x80", b"a\x80b", b"\xff\xfe", b"a\xe2\x82b", b"\xf0\x9f\x98", b"\xc3", b"caf\xe9", b"\xe9t\xe9 \xe0", b"\xf0\x9f\x98\x80\xf0\x9f",
    b"\xbf\xbf\xbf", b"x\xe2\x82", b" \x80 \x80", b"\xfe<|im_end|>\xfe",
]

CONVERSATIONS = [
    [("user", "What is the capital of Kenya?")],
    [("system", "Answer in one sentence."), ("user", "Hello!"), ("assistant", "Hello! Ask me about a country."),
     ("user", "  Tell me\nabout Japan.  \n")],
    [("user", "日本の首都は？\r\n"), ("assistant", ""), ("user", "'s")],
]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--oracle", required=True)
    parser.add_argument("--model", required=True)
    parser.add_argument("--out", default=pathlib.Path(__file__).parent.parent / "tests/golden/text", type=pathlib.Path)
    args = parser.parse_args()

    def ask(command, *options, text):
        run = subprocess.run([args.oracle, command, args.model, *options], input=text, capture_output=True, check=True)
        return run.stdout

    def ids(text, *options):
        return ask("tokenize", "--no-bos", *options, text=text).decode().strip().replace(",", " ")

    texts = [w.encode() for w in WORDS] + INVALID
    lines = [f"{t.hex()}\t{ids(t)}\t{ids(t, '--special')}\n" for t in texts]
    (args.out / "tokens.tsv").write_text("".join(lines))

    lines = []
    for turns in CONVERSATIONS:
        messages = "".join(json.dumps({"role": r, "content": c}) + "\n" for r, c in turns)
        prompt = ask("chat-template", text=messages.encode())
        flat = "\t".join(f"{r}\t{c.encode().hex()}" for r, c in turns)
        lines.append(f"{prompt.hex()}\t{ids(prompt, '--special')}\t{flat}\n")
    (args.out / "chats.tsv").write_text("".join(lines))
    print(len(texts), "texts,", len(CONVERSATIONS), "conversations")


if __name__ == "__main__":
    main()
