#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What simulating the paper's plans costs: bench/simulate_times.py DLNETBENCH [REPETITIONS]

Prints, per plan on Leonardo, the communication operations of all ranks in the measured iterations (warm-up
comes on top), CPU time (user + system), wall time and peak memory of that of 3 repetitions with the least CPU
time. One run at a time.
"""

import json
import os
import subprocess
import sys
import tempfile
import time

RUNS = [("dp", "vit-h", 64), ("fsdp", "llama3-8b", 256), ("dp+pp", "llama3-8b", 256),
        ("dp+pp+tp", "llama3-70b", 1024), ("dp+pp+ep", "mixtral-8x7b", 1024),
        ("dp+pp+ep", "mixtral-8x7b", 2048)]


def measure(command):
    """(CPU seconds, wall seconds, peak bytes) of a process."""
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
        begin = time.monotonic()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"simulate_times: exit {process.returncode}: {' '.join(command)}")
    return usage.ru_utime + usage.ru_stime, time.monotonic() - begin, 1024 * usage.ru_maxrss


def operations(result):
    """Communication operations that were measured: roles have equally many ranks."""
    roles = {entry["role"] for entry in result["operations"]}
    ranks = result["machine"]["ranks"] // len(roles)
    return sum(entry["count"] for entry in result["operations"]) * ranks * result["spec"]["iterations"]


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__.strip())
    program, repetitions = sys.argv[1], int(sys.argv[2]) if len(sys.argv) == 3 else 3
    print("| plan | model | ranks | communications | CPU, s | wall, s | peak memory, MB |")
    print("| --- | --- | --: | --: | --: | --: | --: |")
    for plan, model, ranks in RUNS:
        with tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, "result.json")
            command = [program, "simulate", "--quiet", "--plan", plan, "--model", model, "--machine",
                       "leonardo", "--ranks", str(ranks), "-o", file]
            cpu, wall, memory = min(measure(command) for _ in range(repetitions))
            with open(file, encoding="utf-8") as text:
                count = operations(json.load(text))
        print(f"| {plan} | {model} | {ranks} | {count:,} | {cpu:.2f} | {wall:.2f} | {memory / 1e6:.0f} |",
              flush=True)


if __name__ == "__main__":
    main()
