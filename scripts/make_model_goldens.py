#!/usr/bin/env python3
"""Make golden models: small real files, and the logits and expert choices of the reference library for them.

    make_model_goldens.py --oracle PATH --shared DIR [--out DIR]

PATH is a program that knows the reference library:
    PATH quantize FROM.gguf TO.gguf TYPE
    PATH logits MODEL --tokens IDS --all --ref --threads 1 --out FILE    float32 [positions, n_vocab]
    PATH routes MODEL --tokens IDS --ref --threads 1                     {"layer": 0, "experts": [[3, 1], ...]} a layer
DIR holds make_model.py, which writes a model of random weights with given dimensions. --ref keeps keys and values as
float and leaves weights in the file's layout.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

TOKENS = [17, 3, 42, 42, 8, 60, 1, 29, 17, 3, 55, 0, 63, 12, 34, 5]

# Rows of K-quants hold blocks of 256; the others can do with less. Between them: tied and separate output, queries
# wider than the residual stream, one and two key heads, layers of one and of two slot sizes.
WIDE = ["--layers", "2", "--set", "E=256", "--set", "H=4", "--set", "D=64", "--set", "KV=1", "--set", "XF=256"]
MODELS = {
    "F32": ["--seed", "11", "--layers", "3", "--experts", "5", "--used", "3", "--tied", "--set", "E=32", "--set", "H=4",
            "--set", "D=16", "--set", "KV=2", "--set", "XF=32"],
    "Q8_0": ["--seed", "12", "--layers", "2", "--experts", "6", "--used", "2", "--set", "E=64", "--set", "H=4",
             "--set", "D=32", "--set", "KV=2", "--set", "XF=64"],
    "Q6_K": ["--seed", "13", "--experts", "3", "--used", "2", *WIDE],
    "Q4_K_M": ["--seed", "14", "--experts", "4", "--used", "2", *WIDE],
}


def run(*command):
    return subprocess.run([str(c) for c in command], capture_output=True, text=True, check=True).stdout


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--oracle", required=True)
    parser.add_argument("--shared", required=True, type=pathlib.Path)
    parser.add_argument("--out", default=pathlib.Path(__file__).parent.parent / "tests/golden/models", type=pathlib.Path)
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)

    tokens = ",".join(map(str, TOKENS))
    (args.out / "tokens.txt").write_text(" ".join(map(str, TOKENS)) + "\n")
    for name, dimensions in MODELS.items():
        model = args.out / f"{name}.gguf"
        with tempfile.TemporaryDirectory() as scratch:
            plain = pathlib.Path(scratch) / "plain.gguf"
            run(sys.executable, args.shared / "make_model.py", "--arch", "qwen3moe", "--preset", "tiny", "--type", "F32",
                "--tokenizer", "none", "--vocab", "64", *dimensions, "--out", plain)
            if name == "F32":
                model.write_bytes(plain.read_bytes())
            else:
                run(args.oracle, "quantize", plain, model, name)
        mode = ["--tokens", tokens, "--ref", "--threads", "1"]
        run(args.oracle, "logits", model, *mode, "--all", "--out", args.out / f"{name}.logits.f32")
        lines = []
        for layer in map(json.loads, run(args.oracle, "routes", model, *mode).splitlines()):
            lines += [" ".join(map(str, [layer["layer"], position, *experts])) + "\n"
                      for position, experts in enumerate(layer["experts"])]
        (args.out / f"{name}.routes.txt").write_text("".join(lines))
        print(name, model.stat().st_size, "bytes")


if __name__ == "__main__":
    main()
