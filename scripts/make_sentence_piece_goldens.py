#!/usr/bin/env python3
"""Make golden tokens of hard strings with a small SentencePiece vocabulary, as the reference library encodes them.

    make_sentence_piece_goldens.py --oracle PATH [--out FILE]

PATH is a program that knows the reference library and can read a file of keys only:
    PATH tokenize FILE.gguf --no-bos < text              ids, separated by commas
    PATH tokenize FILE.gguf --no-bos --special < text    control tokens are recognised
"""
import argparse
import collections
import pathlib
import struct
import subprocess
import tempfile

from make_split_goldens import MORE
from make_text_goldens import WORDS

SPACE = "\u2581"
NORMAL, UNKNOWN, CONTROL, USER_DEFINED, BYTE = 1, 2, 3, 4, 6
N_MERGES = 300
N_CHARACTERS = 150


def train(texts):
    """(text, score, type) of each token: BPE on the texts, the most frequent pair first, the smallest of equals."""
    symbols = [list(SPACE + t.replace(" ", SPACE)) for t in texts]
    characters = collections.Counter(c for s in symbols for c in s)
    merged = []
    for _ in range(N_MERGES):
        pairs = collections.Counter(p for s in symbols for p in zip(s, s[1:]) if p[0][-1:] != SPACE or p[0] == SPACE)
        best = min(pairs, key=lambda p: (-pairs[p], p))
        merged.append("".join(best))
        for i, s in enumerate(symbols):
            joined, k = [], 0
            while k < len(s):
                step = 2 if tuple(s[k:k + 2]) == best else 1
                joined.append("".join(s[k:k + step]))
                k += step
            symbols[i] = joined
    merged = list(dict.fromkeys(merged))
    common = sorted(characters, key=lambda c: (-characters[c], c))[:N_CHARACTERS]
    tokens = [("<unk>", 0.0, UNKNOWN), ("<s>", 0.0, CONTROL), ("</s>", 0.0, CONTROL)]
    tokens += [(f"<0x{byte:02X}>", 0.0, BYTE) for byte in range(256)]
    tokens += [(text, -float(i), NORMAL) for i, text in enumerate(merged + common)]
    return tokens + [("<think>", 0.0, USER_DEFINED)]


def string(text):
    data = text.encode()
    return struct.pack("<Q", len(data)) + data


def gguf(tokens):
    """A file of keys without tensors."""
    array = lambda kind, items: struct.pack("<IIQ", 9, kind, len(items)) + b"".join(items)
    keys = {
        "general.architecture": struct.pack("<I", 8) + string("llama"),
        "tokenizer.ggml.model": struct.pack("<I", 8) + string("llama"),
        "tokenizer.ggml.tokens": array(8, [string(t) for t, _, _ in tokens]),
        "tokenizer.ggml.scores": array(6, [struct.pack("<f", s) for _, s, _ in tokens]),
        "tokenizer.ggml.token_type": array(5, [struct.pack("<i", k) for _, _, k in tokens]),
    }
    data = b"GGUF" + struct.pack("<IQQ", 3, 0, len(keys)) + b"".join(string(k) + v for k, v in keys.items())
    return data + b"\0" * (-len(data) % 32)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--oracle", required=True)
    parser.add_argument("--out", type=pathlib.Path,
                        default=pathlib.Path(__file__).parent.parent / "tests/golden/text/sentence_piece.tsv")
    args = parser.parse_args()
    texts = list(dict.fromkeys(WORDS + MORE))
    # Nothing is learnt from look-alikes, whose parts the reference would merge to control tokens, nor from NUL.
    tokens = train([t for t in texts if not any(mark in t for mark in ("|", "s>", "\0"))])
    lines = ["token\t{}\t{:g}\t{}".format(t.encode().hex(), score, kind) for t, score, kind in tokens]
    with tempfile.NamedTemporaryFile(suffix=".gguf") as file:
        file.write(gguf(tokens))
        file.flush()
        for text in texts:
            ids = []
            for options in [], ["--special"]:
                run = subprocess.run([args.oracle, "tokenize", file.name, "--no-bos", *options], input=text.encode(),
                                     capture_output=True, check=True)
                ids.append(run.stdout.decode().strip().replace(",", " "))
            lines.append("text\t{}\t{}\t{}".format(text.encode().hex(), ids[0], "=" if ids[1] == ids[0] else ids[1]))
    args.out.write_text("\n".join(lines) + "\n")
    print(len(tokens), "tokens,", len(texts), "texts")


if __name__ == "__main__":
    main()
