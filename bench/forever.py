#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs a plan without end for a given time and says whether it grows, drifts, and ends when it is told to.

usage: bench/forever.py [--program build/dev/dlnetbench] [--for SECONDS] [--every SECONDS] [--keep FILE.json] -- \\
           --plan dp --model vit-h --ranks 8 --scale 1/64 --backend mpi

Prints the resident memory of all ranks and the iteration time of the first and the last quarter of the run, how long the
program took to end after SIGTERM, and checks the output. The first tenth counts as warm-up for memory. Exit 1 where the
program did not end with exit 0 or its output is not complete.
"""
import argparse
import json
import os
import pathlib
import signal
import statistics
import struct
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent


def processes_of(folder):
    found = []
    for file in folder.glob("rank-*.record"):
        with file.open("rb") as stream:
            head = stream.read(32)
        if len(head) == 32 and head[:8] == b"dlnbrec1":
            found.append(struct.unpack("<q", head[24:32])[0])
    return sorted(set(found))


def resident(process):
    """Bytes; None where it has ended. Pages of the recorder count in every rank that maps its own."""
    try:
        text = pathlib.Path(f"/proc/{process}/statm").read_text(encoding="ascii")
    except OSError:
        return None
    return int(text.split()[1]) * os.sysconf("SC_PAGE_SIZE")


def quarters(rows):
    """How many iterations there are, and mean and fastest of the first and of the last quarter of them, seconds."""
    total = sum(row["count"] for row in rows)

    def of(low, high):
        taken = [row for row in rows if low <= row["iteration"] and row["iteration"] + row["count"] <= high]
        count = sum(row["count"] for row in taken)
        if not count:
            return float("nan"), float("nan")
        return sum(row["mean"] * row["count"] for row in taken) / count, min(row["min"] for row in taken)

    return total, of(0, total / 4), of(total * 3 / 4, total)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--program", default=str(ROOT / "build" / "dev" / "dlnetbench"))
    parser.add_argument("--for", dest="seconds", type=float, default=60)
    parser.add_argument("--every", type=float, default=1)
    parser.add_argument("--keep", help="where the result is to stay")
    parser.add_argument("words", nargs=argparse.REMAINDER, help="options of `dlnetbench run`")
    given = parser.parse_args()
    words = [word for word in given.words if word != "--"]
    with tempfile.TemporaryDirectory(dir="/dev/shm" if os.path.isdir("/dev/shm") else None) as scratch:
        folder = pathlib.Path(scratch)
        output = pathlib.Path(given.keep) if given.keep else folder / "result.json"
        command = [given.program, "run", *words, "--forever", "--recorder", str(folder), "-o", str(output), "--quiet"]
        program = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        begin, samples = time.monotonic(), []
        while time.monotonic() - begin < given.seconds and program.poll() is None:
            time.sleep(given.every)
            sizes = [size for size in map(resident, processes_of(folder)) if size is not None]
            if sizes:
                samples.append(sum(sizes))
        asked = time.monotonic()
        if program.poll() is None:
            program.send_signal(signal.SIGTERM)
        code = program.wait()
        took = time.monotonic() - asked
        print(f"exit {code}, {took:.2f} s after SIGTERM")
        settled = samples[len(samples) // 10:]
        if len(settled) >= 8:
            quarter = len(settled) // 4
            early, late = statistics.median(settled[:quarter]), statistics.median(settled[-quarter:])
            print(f"resident memory of all ranks: {early / 1e6:.1f} MB, then {late / 1e6:.1f} MB "
                  f"({(late - early) / early:+.2%}), at most {max(settled) / 1e6:.1f} MB")
        if code != 0 or not output.exists():
            return 1
        result = json.loads(output.read_text(encoding="utf-8"))
        total, *parts = quarters(result["series"])
        print(f"{total} iterations, {len(result['iterations'])} of them in detail")
        # What else the machine does moves means; a program that slows down moves the fastest as well.
        for word, early, late in zip(("mean", "fastest"), *parts):
            print(f"  {word} of the first quarter {early * 1e3:.3f} ms, of the last {late * 1e3:.3f} ms "
                  f"({(late - early) / early:+.2%})")
        for note in result["notes"]:
            print(f"  note: {note}")
        checked = subprocess.run([sys.executable, ROOT / "tools" / "validate_result", output], check=False)
        complete = result["stopped_by"] == "SIGTERM" and checked.returncode == 0
        print("the output is complete" if complete else "the output is NOT complete")
        return 0 if complete else 1


if __name__ == "__main__":
    sys.exit(main())
