#!/usr/bin/env python3
"""Checks that programs keep to the memory they were given: models run in a control group of 64 MiB more than --memory.

    check_ceiling.py BENCH_TOKENS MODEL...

For each model with 1, 2 and 4 threads: a prompt of 1536 random tokens in batches of 512 and 64 tokens after it, within 0.4
of the model's size and 64 MiB. Prints a table; fails if a run does, if it takes more than --memory, or if it leaves more
than 16 MiB of it unused. Needs root, to make a memory control group.
"""
import json
import pathlib
import random
import sys

import memory_group

MIB = 1 << 20


def main():
    program, models = sys.argv[1], sys.argv[2:]
    random.seed(1)
    tokens = ",".join(str(random.randrange(900)) for _ in range(1536))
    faults = 0
    print("| model | threads | --memory | peak RSS | left | |\n|---|--:|--:|--:|--:|---|")
    for model in models:
        memory = int(pathlib.Path(model).stat().st_size * 0.4) + 64 * MIB
        for threads in (1, 2, 4):
            done = memory_group.run(memory + 64 * MIB, [program, model, "--memory", str(memory), "--threads", str(threads),
                                                        "--batch", "512", "--context", "1600", "--tokens", tokens,
                                                        "--generate", "64"])
            name = pathlib.Path(model).stem
            if done.returncode != 0:
                faults += 1
                print(f"| {name} | {threads} | {memory / MIB:.1f} MiB | | | failed: {done.stderr.strip()[:120]} |")
                continue
            peak = max(json.loads(line)["peak_rss"] for line in done.stdout.splitlines() if "peak_rss" in line)
            left = (memory - peak) / MIB
            good = 0 <= left <= 16
            faults += not good
            print(f"| {name} | {threads} | {memory / MIB:.1f} MiB | {peak / MIB:.1f} MiB | {left:.1f} MiB | "
                  f"{'' if good else 'out of bounds'} |", flush=True)
    sys.exit(faults > 0)


main()
