#!/usr/bin/env python3
"""Checks who includes whom: reads docs/floors.txt and every header, prints what breaks a rule.

Usage: check_floors.py [TREE]. Exit code 1 if a rule is broken.
"""

import re
import sys
from pathlib import Path, PurePosixPath

LONGEST = 300
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.MULTILINE)


def inside(name, place):
    """Whether the header `name` is `place` or lies in the folder `place`."""
    return name == place or name.startswith(place + "/")


def normal(path):
    """`path` without its `..`."""
    parts = []
    for part in path.parts:
        if part == ".." and parts:
            parts.pop()
        elif part != ".":
            parts.append(part)
    return "/".join(parts)


class Rules:
    def __init__(self, text):
        self.floors, self.guests, self.narrow = {}, [], []
        self.untested, self.long = [], []
        for line in text.splitlines():
            if not line.strip() or line.startswith("#"):
                continue
            subject, _, names = line.partition(":")
            word, *subject = subject.split()
            names = names.split()
            if word == "floor":
                self.floors.update({name: int(subject[0]) for name in names})
            elif word == "guest":
                self.guests.append((subject[0], names))
            elif word == "narrow":
                self.narrow.append((subject[0], subject[2], names))
            elif word in ("untested", "long"):
                setattr(self, word, names)
            else:
                raise SystemExit(f"floors.txt: unknown word '{word}'")

    def floor(self, name):
        """The floor of a header; None for an umbrella."""
        return self.floors.get(name.split("/")[0])

    def own(self, name, other):
        """What is wrong with `name` including `other`, both headers of the library; '' if nothing."""
        floor, below = self.floor(name), self.floor(other)
        folder, from_folder = name.split("/")[0], other.split("/")[0]
        if floor is None:
            return ""  # umbrellas include anything
        if below is None:
            return "an umbrella"
        if folder != from_folder and below >= floor:
            return f"floor {below} from floor {floor}"
        if "/detail/" in other and not inside(name, other.split("/detail/")[0]):
            return f"private to {other.split('/detail/')[0]}/"
        fences = [(of, user, seen) for of, user, seen in self.narrow if inside(other, of) and inside(name, user)]
        if fences:
            _, user, seen = max(fences, key=lambda fence: len(fence[1]))  # the most particular one
            if other not in seen:
                return f"{user} sees only: {' '.join(seen) or 'nothing of that folder'}"
        return ""

    def guest(self, name, header):
        """What is wrong with `name` including the foreign `header`."""
        for guest, hosts in self.guests:
            if header.startswith(guest):
                welcome = any(inside(name, host) for host in hosts)
                return "" if welcome else f"only for: {' '.join(hosts) or 'nobody'}"
        return "" if re.fullmatch(r"[a-z0-9_]+", header) else "a guest that docs/floors.txt does not know"


def check(tree):
    """Every broken rule of `tree`, as sentences."""
    rules = Rules((tree / "docs/floors.txt").read_text())
    root = tree / "include/lazymoe"
    headers = sorted(p.relative_to(root).as_posix() for p in root.rglob("*.hpp"))
    listed = re.findall(r"^\s*include/lazymoe/(\S+\.hpp)", (tree / "cmake/headers.cmake").read_text(), re.MULTILINE)
    wrong = [f"{h}: not named in cmake/headers.cmake" for h in headers if h not in listed]
    wrong += [f"{h}: named in cmake/headers.cmake, but not there" for h in listed if h not in headers]
    wrong += [f"{h}: named twice in cmake/headers.cmake" for h in sorted(set(listed)) if listed.count(h) > 1]

    for name in headers:
        if rules.floor(name) is None and "/" in name:
            wrong.append(f"{name}: its folder has no floor")
        text = (root / name).read_text()
        for quote, target in INCLUDE.findall(text):
            if quote == '"':
                reason = rules.own(name, normal(PurePosixPath(name).parent / target))
            elif target.startswith("lazymoe/"):
                reason = "own headers are included by a relative path"
            else:
                reason = rules.guest(name, target)
            if reason:
                wrong.append(f"{name}: includes {target} ({reason})")
        lines = text.count("\n")
        if lines > LONGEST and name not in rules.long:
            wrong.append(f"{name}: {lines} lines, which usually is two ideas")
        test = tree / "tests" / name.replace(".hpp", "_test.cpp")
        exempt = rules.floor(name) is None or "/detail/" in name or name in rules.untested
        if not exempt and not test.exists():
            wrong.append(f"{name}: has no test {test.relative_to(tree)}")
    return wrong


if __name__ == "__main__":
    broken = check(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parent.parent)
    print("\n".join(broken) or "Every header keeps to its floor.")
    sys.exit(bool(broken))
