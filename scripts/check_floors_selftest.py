#!/usr/bin/env python3
"""Proves that check_floors.py notices: builds small trees in which one rule each is broken."""

import sys
import tempfile
from pathlib import Path

from check_floors import check

RULES = """
floor 0: core
floor 1: simd io
floor 3: cache
floor 6: store
floor 7: moe
guest xsimd/: simd
guest boost/hana: cache/registry.hpp
narrow store from moe: store/view.hpp
narrow io from cache:
untested : core/contract.hpp
long : core/table.hpp
"""

GOOD = {
    "lazymoe.hpp": '#include "core/types.hpp"\n',
    "core/types.hpp": "#include <vector>\n",
    "core/contract.hpp": "#include <cassert>\n",
    "core/table.hpp": "\n" * 500,
    "simd/arch.hpp": '#include <xsimd/xsimd.hpp>\n#include "../core/types.hpp"\n',
    "io/file.hpp": "",
    "cache/detail/list.hpp": '#include "../../core/types.hpp"\n',
    "cache/lru.hpp": '#include "detail/list.hpp"\n',
    "cache/registry.hpp": '#include <boost/hana/tuple.hpp>\n#include "lru.hpp"\n',
    "store/view.hpp": '#include "../cache/lru.hpp"\n',
    "store/store.hpp": '#include "view.hpp"\n',
    "moe/ffn.hpp": '#include "../store/view.hpp"\n',
}

# (the header that is changed, its text, a part of the complaint)
BAD = [
    ("core/types.hpp", '#include "../simd/arch.hpp"\n', "floor 1 from floor 0"),
    ("simd/arch.hpp", '#include "../io/file.hpp"\n', "floor 1 from floor 1"),
    ("core/types.hpp", "#include <lazymoe/core/contract.hpp>\n", "relative path"),
    ("store/view.hpp", '#include "../cache/detail/list.hpp"\n', "private to cache/"),
    ("store/view.hpp", '#include "../lazymoe.hpp"\n', "an umbrella"),
    ("moe/ffn.hpp", '#include "../store/store.hpp"\n', "moe sees only: store/view.hpp"),
    ("cache/lru.hpp", '#include "../io/file.hpp"\n', "nothing of that folder"),
    ("cache/lru.hpp", "#include <xsimd/xsimd.hpp>\n", "only for: simd"),
    ("cache/lru.hpp", "#  include <boost/hana.hpp>\n", "only for: cache/registry.hpp"),
    ("cache/lru.hpp", "#include <fmt/core.h>\n", "does not know"),
    ("core/types.hpp", "\n" * 301, "301 lines"),
    ("attic/old.hpp", "", "its folder has no floor"),
]


def plant(root, headers, listed, tested):
    (root / "docs").mkdir()
    (root / "docs/floors.txt").write_text(RULES)
    (root / "cmake").mkdir()
    (root / "cmake/headers.cmake").write_text("".join(f"  include/lazymoe/{h}\n" for h in listed))
    for name, text in headers.items():
        path = root / "include/lazymoe" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    for name in tested:
        path = root / "tests" / name.replace(".hpp", "_test.cpp")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()


def complaints(headers=None, listed=None, tested=None):
    headers = GOOD | (headers or {})
    with tempfile.TemporaryDirectory() as folder:
        plant(Path(folder), headers, headers if listed is None else listed, headers if tested is None else tested)
        return check(Path(folder))


def main():
    missed = [f"a good tree is refused: {said}" for said in complaints()]
    cases = [({name: text}, None, None, part) for name, text, part in BAD]
    cases += [
        (None, [h for h in GOOD if h != "cache/lru.hpp"], None, "cache/lru.hpp: not named"),
        (None, [*GOOD, "cache/fifo.hpp"], None, "cache/fifo.hpp: named in cmake/headers.cmake, but not there"),
        (None, [*GOOD, "cache/lru.hpp"], None, "cache/lru.hpp: named twice"),
        (None, None, [h for h in GOOD if h != "cache/lru.hpp"], "has no test tests/cache/lru_test.cpp"),
    ]
    for headers, listed, tested, part in cases:
        said = complaints(headers, listed, tested)
        if len(said) != 1 or part not in said[0]:
            missed.append(f"expected one complaint with '{part}', got {said}")
    print("\n".join(missed) or f"{len(cases)} broken trees noticed.")
    return bool(missed)


if __name__ == "__main__":
    sys.exit(main())
