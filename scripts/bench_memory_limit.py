#!/usr/bin/env python3
"""Runs a model that is larger than memory in a control group, from a cold page cache, and prints a table.

    bench_memory_limit.py BENCH_TOKENS MODEL [--limit GIB] [--reference CMD] [--options "..."] [--no-ids]

BENCH_TOKENS is build/bench/bench/bench_tokens. CMD runs a reference on the same model under the same limit: a shell
command with {prompt} and {generate} in it, which prints JSON with prompt_tps and gen_tps or dies.
Needs root: it makes a memory control group (version 1 or 2) and drops the page cache. The token ids are compared with
those of a run without a limit.
"""
import argparse
import json
import re
import subprocess
import sys

import memory_group

GIB = 1 << 30


def phases(output):
    lines = [json.loads(line) for line in output.splitlines() if line.startswith("{")]
    named = {line["phase"]: line for line in lines if "phase" in line}
    ids = next((line["generated"] for line in lines if "generated" in line), [])
    return named, ids


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("bench_tokens")
    parser.add_argument("model")
    parser.add_argument("--limit", type=float, default=8.0, help="GiB of the control group")
    parser.add_argument("--reference")
    parser.add_argument("--options", default="", help="of bench_tokens")
    parser.add_argument("--generate", type=int, default=144)
    parser.add_argument("--prompt", type=int, default=128)
    parser.add_argument("--no-ids", action="store_true")
    parser.add_argument("--timeout", type=int, default=1800)
    args = parser.parse_args()

    memory = f"{int(args.limit * GIB) - (300 << 20)}"  # what the kernel keeps for the group needs room, too
    ours = [args.bench_tokens, args.model, "--memory", memory, *args.options.split()]
    limit = int(args.limit * GIB)

    def run(command):
        return memory_group.run(limit, command, cold=True, timeout=args.timeout)

    def measure(*more):
        done = run([*ours, *more])
        if done.returncode != 0:
            sys.exit(done.stderr)
        return phases(done.stdout)

    answer, ids = measure("--tokens", "1", "--generate", str(args.generate))
    prompt, _ = measure("--tokens", "1,500,7,1000,42,9,77,123", "-p", str(args.prompt), "--generate", "0")
    rows = [("first token", answer["prompt"]), ("first 16 after it", answer["first 16"]),
            (f"tokens 17 to {args.generate}", answer["after"]), (f"prompt of {args.prompt}", prompt["prompt"])]
    reference = {}
    if args.reference:
        for key, n_prompt, n_generate in (("gen_tps", 1, 4), ("prompt_tps", args.prompt, 0)):
            try:
                done = run(args.reference.format(prompt=n_prompt, generate=n_generate))
                found = re.search(rf'"{key}": *([0-9.e+-]+)', done.stdout)
                reference[key] = float(found.group(1)) if found else None
                if not found:
                    print(f"reference: {done.stderr.strip().splitlines()[-1:]}", file=sys.stderr)
            except subprocess.TimeoutExpired:
                reference[key] = None
                print(f"reference: stopped after {args.timeout} s", file=sys.stderr)

    print("| | tokens/s | read | hits | misses | waited | peak memory | of the reference |")
    print("|---|--:|--:|--:|--:|--:|--:|--:|")
    for name, row in rows:
        theirs = reference.get("prompt_tps" if name.startswith("prompt") else "gen_tps")
        ratio = f"{row['tokens_per_s'] / theirs:.1f} x" if theirs else ""
        hits = row["hits"] + row["prefetched"]
        print(f"| {name} | {row['tokens_per_s']:.2f} | {row['bytes_read'] / 1e9:.2f} GB | {hits} | {row['misses']} | "
              f"{row['wait_ns'] / 1e9:.1f} of {row['seconds']:.1f} s | {row['peak_rss'] / 1e9:.2f} GB | {ratio} |")
    for key, value in reference.items():
        print(f"\nreference, {key}: {value}")
    if not args.no_ids:
        free = subprocess.run([args.bench_tokens, args.model, "--tokens", "1", "--generate", str(args.generate), "--budget",
                               "1TiB"], capture_output=True, text=True)
        unlimited, expected = phases(free.stdout)
        print(f"\ntoken ids {'equal' if ids == expected else 'DIFFER FROM'} those of a run without a limit; "
              f"its last phase: {unlimited['after']['tokens_per_s']:.2f} tokens/s, hits {unlimited['after']['hits']}")


main()
