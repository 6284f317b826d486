#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs coll_vs_mpi_<library> in several worlds and prints the medians over them.

usage: bench/coll_vs_mpi.py build/release/bench/coll_vs_mpi_openmpi [--ranks 2] [--rounds 21] [--worlds 7]
                            [--precision 0.3] [--most-worlds 60]

Where a world's communicators and buffers lie in memory moves an operation of half a microsecond by some per cent, to either
side and for as long as the world lasts: one world shows less than the ratios of several. With --precision, a row is measured
in more worlds until its median is known to that many per cent; whether the ratio is good has no say in it.
"""
import argparse
import math
import statistics
import subprocess
import sys


def rows_of(text):
    """{(operation, bytes): (bare us, coll us, median of ratios, ratio of fastest)}"""
    found = {}
    for line in text.splitlines():
        words = line.split()
        if len(words) == 6 and words[1].isdigit():
            found[words[0], int(words[1])] = tuple(map(float, words[2:]))
    return found


def half_width(ratios):
    """Of the 95 % interval of the median: 1.96 · 1.2533 σ / √n, the worlds' σ by their median absolute deviation."""
    if len(ratios) < 2:
        return math.inf
    middle = statistics.median(ratios)
    deviation = 1.4826 * statistics.median(abs(ratio - middle) for ratio in ratios)
    return 1.96 * 1.2533 * deviation / math.sqrt(len(ratios))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("program")
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=21)
    parser.add_argument("--worlds", type=int, default=7, help="at least")
    parser.add_argument("--precision", type=float, default=math.inf, metavar="PERCENT")
    parser.add_argument("--most-worlds", type=int, default=60)
    given = parser.parse_args()
    if given.worlds < 1:
        parser.error("--worlds: at least 1")
    worlds, title, open_rows = {}, "", []
    for world in range(max(given.worlds, given.most_worlds if given.precision < math.inf else 0)):
        run = subprocess.run([given.program, str(given.ranks), str(given.rounds), *open_rows], text=True,
                             stdout=subprocess.PIPE, check=False)
        if run.returncode:
            return run.returncode
        title = title or run.stdout.splitlines()[0]
        for row, values in rows_of(run.stdout).items():
            worlds.setdefault(row, []).append(values)
        if world + 1 < given.worlds:
            continue
        open_rows = [f"{operation}:{size}" for (operation, size), values in worlds.items()
                     if 100 * half_width([ratio for _, _, ratio, _ in values]) > given.precision]
        if not open_rows:
            break
    print(f"{title}\n")
    print(f"{'operation':>11} {'bytes':>9} {'bare us':>11} {'coll us':>11} {'ratio':>7} {'known to':>9} {'of the worlds':>15} "
          f"{'worlds':>7}")
    for (operation, size), values in worlds.items():
        bare, coll, ratio, _ = zip(*values)
        print(f"{operation:>11} {size:>9} {statistics.median(bare):>11.3f} {statistics.median(coll):>11.3f} "
              f"{statistics.median(ratio):>7.3f} {half_width(ratio):>9.3f} {min(ratio):>8.3f}–{max(ratio):.3f} "
              f"{len(ratio):>7}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
