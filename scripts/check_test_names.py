#!/usr/bin/env python3
"""Checks that no two test cases of a program have the same name: Catch2 then runs none, and ctest does not notice."""
import pathlib
import re
import sys

tests = pathlib.Path(__file__).resolve().parent.parent / "tests"
case = re.compile(r'^(?:TEST_CASE|TEMPLATE_TEST_CASE|TEMPLATE_LIST_TEST_CASE)\(\s*((?:"(?:[^"\\]|\\.)*"\s*)+),', re.M)


def names(text):
    return ["".join(re.findall(r'"((?:[^"\\]|\\.)*)"', m.group(1))) for m in case.finditer(text)]


faults = []
for folder in [tests, *sorted(p for p in tests.iterdir() if p.is_dir())]:
    seen = {}
    for path in sorted(folder.glob("*_test.cpp") if folder == tests else folder.rglob("*_test.cpp")):
        for name in names(path.read_text()):
            if name in seen:
                faults.append(f'{path.relative_to(tests)}: "{name}" is also in {seen[name]}')
            seen[name] = path.relative_to(tests)
print("\n".join(faults), end="\n" if faults else "")
sys.exit(bool(faults))
