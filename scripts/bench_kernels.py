#!/usr/bin/env python3
"""Times the kernels of every format beside the reference library's, in turns, and prints a table of GB/s and ratios.

    scripts/bench_kernels.py --bench BUILD/bench/bench_kernels --oracle ORACLE [TYPE ...]

`ORACLE kernel-bench TYPE --cols C --rows R --threads 1` prints a line of JSON with the reference's dot_gbs and
decode_gbs. Both run A B A B; a figure is the median of the turns. Use an idle machine; where that cannot be had,
--realtime runs both before everything else (as root).
"""
import argparse
import json
import statistics
import subprocess

TYPES = ("Q4_K Q5_K Q6_K Q8_0 Q5_0 Q4_0 IQ4_XS IQ4_NL MXFP4 Q4_1 Q5_1 Q2_K Q3_K IQ1_S IQ1_M IQ2_XXS IQ2_XS IQ2_S IQ3_XXS "
         "IQ3_S TQ1_0 TQ2_0 NVFP4 Q1_0 Q2_0 F32 F16 BF16").split()
OWN = ("dot_gbs", "panel_gbs", "tile_gbs", "decode_gbs")


def run(options, command):
    prefix = ["chrt", "-f", "1"] if options.realtime else []
    result = subprocess.run(prefix + command, capture_output=True, text=True)
    return json.loads(result.stdout) if result.returncode == 0 else None


def measure(options, kind, cols, rows, threads=1):
    shape = ["--cols", str(cols), "--rows", str(rows), "--threads", str(threads), "--reps", str(options.reps)]
    own, reference = [], []
    for _ in range(options.turns):
        own.append(run(options, [options.bench, kind] + shape))
        if options.oracle:
            reference.append(run(options, [options.oracle, "kernel-bench", kind] + shape))

    def median(lines, key):
        values = [line[key] for line in lines if line]
        return statistics.median(values) if values else 0.0

    return ({key: median(own, key) for key in OWN + ("sum_gbs", "packed_bytes")},
            {key: median(reference, key) for key in ("dot_gbs", "decode_gbs")})


def ratio(a, b):
    return f"{a / b:.2f}" if b else "-"


def table(options, cols, rows):
    print(f"\n{rows} rows of {cols}, one thread\n")
    print("| type | ref dot | dot | x | panel x 1 | x | panel x 32 | x | ref decode | decode | x |")
    print("|---|" + "--:|" * 10)
    for kind in options.types:
        own, ref = measure(options, kind, cols, rows)
        cells = [f"{ref['dot_gbs']:.2f}"]
        for key in ("dot_gbs", "panel_gbs", "tile_gbs"):
            cells += [f"{own[key]:.2f}", ratio(own[key], ref["dot_gbs"])]
        cells += [f"{ref['decode_gbs']:.2f}", f"{own['decode_gbs']:.2f}", ratio(own["decode_gbs"], ref["decode_gbs"])]
        print(f"| {kind} | " + " | ".join(cells) + " |", flush=True)


def memory_table(options, kind_bytes, threads):
    print(f"\nRows of 2048 in memory, about {kind_bytes >> 20} MiB, {threads} threads\n")
    print("| type | ref dot | panel x 1 | plain sum | panel / sum |")
    print("|---|" + "--:|" * 4)
    for kind in options.memory_types:
        small, _ = measure(argparse.Namespace(**{**vars(options), "turns": 1, "reps": 1, "oracle": None}), kind, 2048, 64)
        rows = int(kind_bytes / (small["packed_bytes"] / 64))
        own, ref = measure(options, kind, 2048, rows, threads)
        print(f"| {kind} | {ref['dot_gbs']:.2f} | {own['panel_gbs']:.2f} | {own['sum_gbs']:.2f} | "
              f"{ratio(own['panel_gbs'], own['sum_gbs'])} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bench", required=True)
    parser.add_argument("--oracle")
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--reps", type=int, default=10)
    parser.add_argument("--realtime", action="store_true")
    parser.add_argument("--shapes", default="2048x256,768x768", help="COLSxROWS,...")
    parser.add_argument("--memory-types", default="Q4_K,Q6_K,Q8_0", type=lambda s: [t for t in s.split(",") if t])
    parser.add_argument("--memory-mib", type=int, default=320)
    parser.add_argument("types", nargs="*")
    options = parser.parse_args()
    options.types = options.types or TYPES
    for shape in options.shapes.split(","):
        cols, rows = map(int, shape.split("x"))
        table(options, cols, rows)
    for threads in (1, 2) if options.memory_types else ():
        memory_table(options, options.memory_mib << 20, threads)


if __name__ == "__main__":
    main()
