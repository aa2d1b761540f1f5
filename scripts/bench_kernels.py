#!/usr/bin/env python3
"""Times the kernels of every format beside the reference library's, in turns, and prints a table of GB/s and ratios.

    scripts/bench_kernels.py --bench BUILD/bench/bench_kernels --oracle ORACLE [TYPE ...]

`ORACLE kernel-bench TYPE --cols C --rows R --threads 1` prints a line of JSON with the reference's dot_gbs and
decode_gbs. Both run A B A B; a figure is the best of all turns and repeats, as what disturbs a machine only ever slows it
down. Both get huge pages where the system has them, so that the placing of pages in the cache is no lottery. Use an idle
machine; where that cannot be had, --realtime runs both before everything else (as root).
"""
import argparse
import json
import os
import statistics
import subprocess

TYPES = ("Q4_K Q5_K Q6_K Q8_0 Q5_0 Q4_0 IQ4_XS IQ4_NL MXFP4 Q4_1 Q5_1 Q2_K Q3_K IQ1_S IQ1_M IQ2_XXS IQ2_XS IQ2_S IQ3_XXS "
         "IQ3_S TQ1_0 TQ2_0 NVFP4 Q1_0 Q2_0 F32 F16 BF16").split()
HUGE_PAGES = "glibc.malloc.hugetlb=1:glibc.malloc.mmap_threshold=4294967296:glibc.malloc.top_pad=67108864"
OWN = ("dot_gbs", "panel_gbs", "tile_gbs", "decode_gbs")


def run(options, command):
    prefix = ["chrt", "-f", "1"] if options.realtime else []
    environment = {**os.environ, "GLIBC_TUNABLES": HUGE_PAGES}
    result = subprocess.run(prefix + command, capture_output=True, text=True, env=environment)
    return json.loads(result.stdout) if result.returncode == 0 else None


def measure(options, shapes, threads=1):
    """The best figures of every type, own and the reference's. `shapes` says for each type: columns, rows. All types take
    their turn before any has another, so that a slow minute does not hit all turns of one type."""
    lines = {kind: ([], []) for kind in options.types}
    for _ in range(options.turns):
        for kind, (own, reference) in lines.items():
            cols, rows = shapes(kind)
            shape = ["--cols", str(cols), "--rows", str(rows), "--threads", str(threads), "--reps"]
            own.append(run(options, [options.bench, kind] + shape + [str(options.own_reps)]))
            if options.oracle:
                reference.append(run(options, [options.oracle, "kernel-bench", kind] + shape + [str(options.reps)]))

    def of(choose, lines, key):
        values = [line[key] for line in lines if line]
        return choose(values) if values else 0.0

    return {kind: ({key: of(max, own, key) for key in OWN + ("sum_gbs", "packed_bytes")} |
                   {"panel_of_sum": of(statistics.median, own, "panel_of_sum")},
                   {key: of(max, reference, key) for key in ("dot_gbs", "decode_gbs")})
            for kind, (own, reference) in lines.items()}


def ratio(a, b):
    return f"{a / b:.2f}" if b else "-"


def table(options, title, shapes):
    print(f"\n{title}\n")
    print("| type | ref dot | dot | x | panel x 1 | x | panel x 32 | x | ref decode | decode | x |")
    print("|---|" + "--:|" * 10)
    for kind, (own, ref) in measure(options, shapes).items():
        cells = [f"{ref['dot_gbs']:.2f}"]
        for key in ("dot_gbs", "panel_gbs", "tile_gbs"):
            cells += [f"{own[key]:.2f}", ratio(own[key], ref["dot_gbs"])] if own[key] else ["-", "-"]
        cells += [f"{ref['decode_gbs']:.2f}", f"{own['decode_gbs']:.2f}", ratio(own["decode_gbs"], ref["decode_gbs"])]
        print(f"| {kind} | " + " | ".join(cells) + " |", flush=True)


def shapes_of_size(options, cols, size):
    """Rows that fill `size` bytes."""
    once = argparse.Namespace(**{**vars(options), "turns": 1, "own_reps": 1, "oracle": None})
    bytes_of_64 = {kind: own["packed_bytes"] for kind, (own, _) in measure(once, lambda _: (cols, 64)).items()}
    return lambda kind: (cols, int(size / (bytes_of_64[kind] / 64)))


def two_threads_table(options, size):
    print(f"\nRows of 2048 in memory, {size >> 20} MiB, two threads; panel / sum is the median over repeats in turns\n")
    print("| type | ref dot | panel x 1 | plain sum | panel / sum |")
    print("|---|" + "--:|" * 4)
    some = argparse.Namespace(**{**vars(options), "types": options.memory_types})
    for kind, (own, ref) in measure(some, shapes_of_size(some, 2048, size), 2).items():
        print(f"| {kind} | {ref['dot_gbs']:.2f} | {own['panel_gbs']:.2f} | {own['sum_gbs']:.2f} | "
              f"{own['panel_of_sum']:.2f} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bench", required=True)
    parser.add_argument("--oracle")
    parser.add_argument("--turns", type=int, default=7)
    parser.add_argument("--reps", type=int, default=3, help="of the reference, whose repeats are long")
    parser.add_argument("--own-reps", type=int, default=20)
    parser.add_argument("--realtime", action="store_true")
    some = lambda s: [part for part in s.split(",") if part]
    parser.add_argument("--shapes", default="2048x256,768x256", type=some, help="COLSxROWS,...: what fits the L2 cache")
    parser.add_argument("--memory-cols", default=["2048", "768"], type=some, help="columns of rows that do not")
    parser.add_argument("--memory-mib", type=int, default=128)
    parser.add_argument("--memory-types", default="Q4_K,Q6_K,Q8_0", type=some, help="for two threads")
    parser.add_argument("types", nargs="*")
    options = parser.parse_args()
    options.types = options.types or TYPES
    for shape in options.shapes:
        cols, rows = map(int, shape.split("x"))
        table(options, f"{rows} rows of {cols}, one thread", lambda _: (cols, rows))
    for cols in map(int, options.memory_cols):
        size = options.memory_mib << 20
        table(options, f"Rows of {cols} in memory, {options.memory_mib} MiB, one thread",
              shapes_of_size(options, cols, size))
    if options.memory_types:
        two_threads_table(options, max(options.memory_mib, 320) << 20)


if __name__ == "__main__":
    main()
