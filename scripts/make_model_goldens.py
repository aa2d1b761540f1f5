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

import make_tiny_model

TOKENS = [17, 3, 42, 42, 8, 60, 1, 29, 17, 3, 55, 0, 63, 12, 34, 5]

# Rows of K-quants hold blocks of 256; the others can do with less. Between them: tied and separate output, queries
# wider than the residual stream, one and two key heads, layers of one and of two slot sizes, gate and up in one tensor,
# blocks of next-token prediction at the end.
WIDE = ["--layers", "2", "--set", "E=256", "--set", "H=4", "--set", "D=64", "--set", "KV=1", "--set", "XF=256"]
NARROW = ["--layers", "3", "--experts", "6", "--set", "H=2"]
LATENT = [*NARROW, "--set", "FF=96", "--set", "kvlora=64", "--set", "nope=32", "--set", "rope=16", "--set", "vdim=32"]
HYBRID = [*NARROW, "--layers", "4", "--used", "3", "--set", "KV=1", "--set", "D=32", "--set", "dk=32"]


def widths(n, *names):
    """Settings of residual stream and experts: 32 for F32, 64 where Q8_0 packs."""
    return [word for name in ("E", "XF", *names) for word in ("--set", f"{name}={n}")]


MODELS = {  # folder: {type: [generator's architecture, dimensions]}
    "qwen3moe": {
        "F32": ["qwen3moe", "--seed", "11", "--layers", "3", "--experts", "5", "--used", "3", "--tied", "--set", "E=32",
                "--set", "H=4", "--set", "D=16", "--set", "KV=2", "--set", "XF=32"],
        "Q8_0": ["qwen3moe", "--seed", "12", "--layers", "2", "--experts", "6", "--used", "2", "--set", "E=64", "--set",
                 "H=4", "--set", "D=32", "--set", "KV=2", "--set", "XF=64"],
        "Q6_K": ["qwen3moe", "--seed", "13", "--experts", "3", "--used", "2", *WIDE],
        "Q4_K_M": ["qwen3moe", "--seed", "14", "--experts", "4", "--used", "2", *WIDE],
    },
    "olmoe": {
        "F32": ["olmoe", "--seed", "21", *NARROW, *widths(32, "FF"), "--used", "3", "--set", "KV=2", "--set", "D=16"],
        "Q8_0": ["olmoe", "--seed", "22", *NARROW, *widths(64, "FF"), "--used", "3", "--set", "KV=2", "--set", "D=32"],
    },
    "moonlight": {
        "F32": ["deepseek2-moonlight", "--seed", "31", *LATENT, *widths(32), "--used", "3"],
        "Q8_0": ["deepseek2-moonlight", "--seed", "32", *LATENT, *widths(64), "--used", "3"],
    },
    "glm-flash": {
        "F32": ["deepseek2-glm47flash", "--seed", "41", *LATENT, *widths(32, "qlora"), "--used", "2", "--fused-gate-up"],
        "Q8_0": ["deepseek2-glm47flash", "--seed", "42", *LATENT, *widths(64, "qlora"), "--used", "2", "--mtp"],
    },
    "qwen35moe": {
        "F32": ["qwen35moe", "--seed", "51", *HYBRID, *widths(32, "SF"), "--mtp"],
        "Q8_0": ["qwen35moe", "--seed", "52", *HYBRID, *widths(64, "SF"), "--fused-gate-up"],
    },
    # Of these DIR has no generator; make_tiny_model.py beside this script makes them.
    # The reference computes the older layout of deepseek2 in another form, so that roundings of activations differ.
    **{family: {"F32" if family == "deepseek-v2" else "Q8_0": [family, "--seed", "61"]}
       for family in make_tiny_model.FAMILIES},
}


def run(*command):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(map(str, command))}\n{done.stderr}")
    return done.stdout


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--oracle", required=True)
    parser.add_argument("--shared", required=True, type=pathlib.Path)
    parser.add_argument("--out", default=pathlib.Path(__file__).parent.parent / "tests/golden/models", type=pathlib.Path)
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)

    tokens = ",".join(map(str, TOKENS))
    (args.out / "tokens.txt").write_text(" ".join(map(str, TOKENS)) + "\n")
    for folder, models in MODELS.items():
        (args.out / folder).mkdir(exist_ok=True)
        for name, (architecture, *dimensions) in models.items():
            model = args.out / folder / f"{name}.gguf"
            with tempfile.TemporaryDirectory() as scratch:
                plain = pathlib.Path(scratch) / "plain.gguf"
                if architecture in make_tiny_model.FAMILIES:
                    run(sys.executable, make_tiny_model.__file__, architecture, *dimensions, "--out", plain)
                else:
                    run(sys.executable, args.shared / "make_model.py", "--arch", architecture, "--preset", "tiny",
                        "--type", "F32", "--tokenizer", "none", "--vocab", "64", *dimensions, "--out", plain)
                if name == "F32":
                    model.write_bytes(plain.read_bytes())
                else:
                    run(args.oracle, "quantize", plain, model, name)
            ask(args.oracle, model, tokens)
            print(folder, name, model.stat().st_size, "bytes")


def ask(oracle, model, tokens):
    """Writes what the reference makes of the tokens beside the model."""
    mode = ["--tokens", tokens, "--ref", "--threads", "1"]
    run(oracle, "logits", model, *mode, "--all", "--out", model.with_suffix(".logits.f32"))
    lines = []
    for layer in map(json.loads, run(oracle, "routes", model, *mode).splitlines()):
        lines += [" ".join(map(str, [layer["layer"], position, *experts])) + "\n"
                  for position, experts in enumerate(layer["experts"])]
    model.with_suffix(".routes.txt").write_text("".join(lines))


if __name__ == "__main__":
    main()
