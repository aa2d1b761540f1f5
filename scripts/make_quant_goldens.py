#!/usr/bin/env python3
"""Make golden blocks of every format and what the reference decodes them to.

    make_quant_goldens.py --oracle PATH [--out DIR] [--random N]

PATH is a program that knows the reference library:
    PATH quant-rows TYPE --cols N < floats > blocks
    PATH dequant TYPE < blocks > floats
"""
import argparse
import pathlib
import subprocess

import numpy as np

# Type: elements and bytes of a block, offsets of its half-precision fields. Append only: all types draw from one
# generator in this order.
FORMATS = {
    "F32": (1, 4, []),
    "F16": (1, 2, [0]),
    "BF16": (1, 2, []),
    "Q4_0": (32, 18, [0]),
    "Q4_1": (32, 20, [0, 2]),
    "Q5_0": (32, 22, [0]),
    "Q5_1": (32, 24, [0, 2]),
    "Q8_0": (32, 34, [0]),
    "Q2_K": (256, 84, [80, 82]),
    "Q3_K": (256, 110, [108]),
    "Q4_K": (256, 144, [0, 2]),
    "Q5_K": (256, 176, [0, 2]),
    "Q6_K": (256, 210, [208]),
    "IQ4_NL": (32, 18, [0]),
    "IQ4_XS": (256, 136, [0]),
    "MXFP4": (32, 17, []),
    "NVFP4": (64, 36, []),
    "Q1_0": (128, 18, [0]),
    "Q2_0": (64, 18, [0]),
    "TQ1_0": (256, 54, [52]),
    "TQ2_0": (256, 66, [64]),
    "IQ1_S": (256, 50, [0]),
    "IQ1_M": (256, 56, [48]),
    "IQ2_XXS": (256, 66, [0]),
    "IQ2_XS": (256, 74, [0]),
    "IQ2_S": (256, 82, [0]),
    "IQ3_XXS": (256, 98, [0]),
    "IQ3_S": (256, 110, [0]),
}

# One block each: a usual scale, negative, least and largest subnormal, negative subnormal, minus zero, largest.
HALF_SCALES = [0x2C3A, 0xA9F1, 0x0001, 0x03FF, 0x8155, 0x8000, 0x7BFF]
MXFP4_EXPONENTS = [0, 1, 2, 120, 127, 130, 254]


def finite(words, exponent_mask, keep_mask):
    """Replaces infinities and NaN, whose bits the reference does not promise."""
    return np.where(words & exponent_mask == exponent_mask, words & keep_mask, words)


def random_blocks(name, count, rng):
    """Random bytes; scales first walk through the special ones, then are random and finite."""
    _, size, halves = FORMATS[name]
    blocks = rng.integers(0, 256, (count, size), dtype=np.uint8)
    if name == "F32":
        words = blocks.view("<u4")
        words[:] = finite(words, 0x7F800000, 0xBFFFFFFF)
    elif name == "BF16":
        words = blocks.view("<u2")
        words[:] = finite(words, 0x7F80, 0xBFFF)
    elif name == "MXFP4":
        blocks[:, 0] %= 255
        special = MXFP4_EXPONENTS[:count]
        blocks[: len(special), 0] = special
    for field, at in enumerate(halves):
        scales = rng.integers(0, 1 << 16, count).astype("<u2")
        special = np.roll(HALF_SCALES, field)[:count]
        scales[: len(special)] = special
        scales = finite(scales, 0x7C00, 0xBFFF).astype("<u2")
        if name == "IQ1_M":  # 4 bits of the scale on top of each of 4 words
            words = blocks[:, at : at + 8].copy().view("<u2")
            nibbles = scales[:, None] >> np.arange(0, 16, 4) & 15
            blocks[:, at : at + 8] = (words & 0x0FFF | nibbles << 12).astype("<u2").view(np.uint8)
        else:
            blocks[:, at : at + 2] = scales.view(np.uint8).reshape(count, 2)
    return blocks.tobytes()


# What the library encodes, too.
ENCODED = ["F16", "BF16", "Q8_0", "Q4_0", "Q6_K", "Q4_K", "Q5_K", "IQ4_NL", "MXFP4"]


def nearly_gaussian(n):
    """Sums of 12 uniform numbers of a congruential generator: tests/quant/encode_test.cpp makes the same ones."""
    state = 2024
    out = np.empty(n, dtype="<f4")
    for i in range(n):
        total = 0
        for _ in range(12):
            state = (state * 1664525 + 1013904223) % (1 << 32)
            total += state >> 12
        out[i] = total / (1 << 20) - 6
    return out


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--oracle", required=True)
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("tests/golden/quant"))
    parser.add_argument("--random", type=int, default=8, help="random blocks a type")
    args = parser.parse_args()

    def oracle(stdin, *words):
        return subprocess.run([args.oracle, *words], input=stdin, stdout=subprocess.PIPE, check=True).stdout

    rng = np.random.default_rng(2024)
    gauss = rng.standard_normal(512).astype("<f4").tobytes()
    args.out.mkdir(parents=True, exist_ok=True)
    (args.out / "gauss.f32").write_bytes(gauss)
    for name, (elems, size, _) in FORMATS.items():
        blocks = oracle(gauss, "quant-rows", name, "--cols", "512") + bytes(size) + random_blocks(name, args.random, rng)
        values = oracle(blocks, "dequant", name)
        assert len(values) == len(blocks) // size * elems * 4
        (args.out / f"{name}.blocks").write_bytes(blocks)
        (args.out / f"{name}.f32").write_bytes(values)

    x = nearly_gaussian(1 << 14)
    with open(args.out / "encode_mse.txt", "w") as figures:
        for name in ENCODED:
            blocks = oracle(x.tobytes(), "quant-rows", name, "--cols", "256")
            decoded = np.frombuffer(oracle(blocks, "dequant", name), dtype="<f4")
            print(name, f"{np.mean((decoded.astype(float) - x) ** 2):.6e}", file=figures)


if __name__ == "__main__":
    main()
