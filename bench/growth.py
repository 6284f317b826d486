#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How the cost of simulating grows with the ranks: bench/growth.py DLNETBENCH [REPETITIONS]

One iteration of DP+PP+TP of Llama-3-70B, 8 tensor-parallel ranks on each of 8 stages, on DGX H100 nodes under a rail-optimised
fat tree of full capacity, as many as the ranks fill, which nothing fills up. Prints communication operations, CPU time (user
+ system, start of the process and writing of the result included), wall time and peak memory, of the repetition (of 3) with
the least CPU time; then the exponent of a least-squares line through the logarithms of CPU time. One run at a time.
"""

import json
import math
import os
import re
import sys
import tempfile

import simulate_times

RANKS = [1024 << k for k in range(8)]


def machine_file(folder):
    """dgx-h100 with switches of as many ports as the size asks for."""
    source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "data", "machines", "dgx-h100.toml")
    with open(source, encoding="utf-8") as text:
        machine, changed = re.subn(r"(?m)^radix = \d+", "radix = 0", text.read())
    if changed != 1:
        sys.exit(f"growth: {source} has no radix to change")
    file = os.path.join(folder, "machine.toml")
    with open(file, "w", encoding="utf-8") as text:
        text.write(machine)
    return file


def exponent(points):
    """Slope of the line through (log ranks, log seconds)."""
    logs = [(math.log(ranks), math.log(seconds)) for ranks, seconds in points]
    mean_x, mean_y = (sum(values) / len(logs) for values in zip(*logs))
    return (sum((x - mean_x) * (y - mean_y) for x, y in logs) / sum((x - mean_x) ** 2 for x, _ in logs))


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__.strip())
    program, repetitions = sys.argv[1], int(sys.argv[2]) if len(sys.argv) == 3 else 3
    points = []
    print("| ranks | communications | CPU, s | wall, s | peak memory, MB |")
    print("| --: | --: | --: | --: | --: |")
    with tempfile.TemporaryDirectory() as folder:
        machine, file = machine_file(folder), os.path.join(folder, "result.json")
        for ranks in RANKS:
            command = [program, "simulate", "--quiet", "--plan", "dp+pp+tp", "--set", "plan.tensor.degree=8", "--model",
                       "llama3-70b", "--machine", machine, "--nodes", str(ranks // 8), "--ranks", str(ranks),
                       "--iterations", "1", "--warmup", "0", "-o", file]
            cpu, wall, memory = min(simulate_times.measure(command) for _ in range(repetitions))
            with open(file, encoding="utf-8") as text:
                result = json.load(text)
            if result["links"]["lost"] > 0:
                sys.exit(f"growth: something contends at {ranks} ranks")
            points.append((ranks, cpu))
            print(f"| {ranks:,} | {simulate_times.operations(result):,} | {cpu:.3f} | {wall:.3f} | {memory / 1e6:.0f} |",
                  flush=True)
    print(f"\nCPU time grows with ranks^{exponent(points):.2f} over all, "
          f"ranks^{exponent(points[-4:]):.2f} over the last four")


if __name__ == "__main__":
    main()
