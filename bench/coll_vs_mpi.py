#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs coll_vs_mpi_<library> in several worlds and prints the medians over them.

usage: bench/coll_vs_mpi.py build/release/bench/coll_vs_mpi_openmpi [--ranks 2] [--rounds 21] [--worlds 7]

Where a world's communicators and buffers lie in memory moves an operation of half a microsecond by some per cent, to either
side and for as long as the world lasts: one world shows less than the ratios of several.
"""
import argparse
import statistics
import subprocess
import sys


def rows_of(text):
    """{(operation, bytes): (bare us, coll us, ratio of medians, ratio of fastest)}"""
    found = {}
    for line in text.splitlines():
        words = line.split()
        if len(words) == 6 and words[1].isdigit():
            found[words[0], int(words[1])] = tuple(map(float, words[2:]))
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("program")
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=21)
    parser.add_argument("--worlds", type=int, default=7)
    given = parser.parse_args()
    if given.worlds < 1:
        parser.error("--worlds: at least 1")
    worlds, title = [], ""
    for _ in range(given.worlds):
        run = subprocess.run([given.program, str(given.ranks), str(given.rounds)], text=True, stdout=subprocess.PIPE,
                             check=False)
        if run.returncode:
            return run.returncode
        title = run.stdout.splitlines()[0]
        worlds.append(rows_of(run.stdout))
    print(f"{title}, {given.worlds} worlds\n")
    print(f"{'operation':>11} {'bytes':>9} {'bare us':>11} {'coll us':>11} {'ratio':>7} {'of the worlds':>15}")
    for operation, size in worlds[0]:
        bare, coll, ratio, _ = zip(*(world[operation, size] for world in worlds))
        print(f"{operation:>11} {size:>9} {statistics.median(bare):>11.3f} {statistics.median(coll):>11.3f} "
              f"{statistics.median(ratio):>7.3f} {min(ratio):>8.3f}–{max(ratio):.3f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
