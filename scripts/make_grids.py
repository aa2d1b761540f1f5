#!/usr/bin/env python3
"""Write the codebook grids of the IQ formats as a header, from the appendix of a specification.

    make_grids.py --spec PATH [--out HEADER]

PATH is a Markdown text with one section a grid:
    ### A. NAME (FORMAT): N entries x V values, levels {..}
    SHA-256 of the expanded table: DIGEST
    ``` hexadecimal digits, 4 an entry of 8 values, 3 an entry of 4 ```
An entry holds the number of the level of each value, value 0 in the least bits. The digest is over the expanded table,
one signed byte a value.
"""
import argparse
import hashlib
import pathlib
import re
import textwrap

SECTION = re.compile(
    r"^### A\. \w+ \((\w+).*?\): (\d+) entries x (\d) values, levels \{([^}]*)\}\n"
    r"SHA-256 of the expanded table: (\w{64})\n```\n([0-9a-f\n]+)```",
    re.MULTILINE,
)


def read_grid(section):
    """(name, words, values an entry, levels) of a section, checked against its digest."""
    name, count, values, levels, digest, digits = section.groups()
    values, levels = int(values), [int(level) for level in levels.split(",")]
    width, bits = 2 + values // 4, 16 // values if values == 8 else 12 // values
    digits = digits.replace("\n", "")
    words = [int(digits[at : at + width], 16) for at in range(0, len(digits), width)]
    expanded = [levels[word >> bits * e & (1 << bits) - 1] for word in words for e in range(values)]
    if len(words) != int(count) or hashlib.sha256(bytes(v & 255 for v in expanded)).hexdigest() != digest:
        raise SystemExit(f"{name}: the table is not the one that the digest is of")
    return name.lower(), words, values, levels


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--spec", required=True, type=pathlib.Path)
    default = "include/lazymoe/quant/formats/detail/grid_words.hpp"
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path(default))
    args = parser.parse_args()

    grids = [read_grid(section) for section in SECTION.finditer(args.spec.read_text())]
    if len(grids) != 6:
        raise SystemExit(f"{args.spec}: {len(grids)} grids instead of 6")
    lines = ["#pragma once", "", "// Made by scripts/make_grids.py: what quant/formats/grids.hpp expands.", ""]
    lines += ["#include <array>", "#include <cstdint>", "", "namespace lazymoe::quant::detail {", "", "// clang-format off"]
    for name, words, values, levels in grids:
        lines += ["", f"/// {values} values an entry, from {', '.join(str(level) for level in levels)}."]
        lines += [f"inline constexpr std::array<std::uint16_t, {len(words)}> {name}_words{{"]
        text = ", ".join(f"0x{word:0{2 + values // 4}X}" for word in words)
        lines += textwrap.wrap(text, 118, initial_indent="  ", subsequent_indent="  ") + ["};"]
    lines += ["", "// clang-format on", "", "}  // namespace lazymoe::quant::detail", ""]
    args.out.parent.mkdir(parents=True, exist_ok=True)
    args.out.write_text("\n".join(lines))


if __name__ == "__main__":
    main()
