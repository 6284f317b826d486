#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the demo: tools/demo.py DLNETBENCH OUTPUT-FOLDER. Prints a line per run with its time and peak memory."""

import json
import os
import pathlib
import resource
import subprocess
import sys
import time

# Live, on 8 ranks whatever the machine: messages and compute are scaled so that a laptop holds them; the results say so.
LIVE = [
    ("dp", "vit-h", "1/4096", "1", []),
    ("fsdp", "llama3-8b", "1/4096", "1/64", ["plan.fsdp.degree=4"]),
    ("dp+pp", "llama3-8b", "1/4096", "1/64", ["plan.pipeline.stages=4"]),
    ("dp+pp+tp", "llama3-70b", "1/4096", "1/256", ["plan.pipeline.stages=2", "plan.tensor.degree=2"]),
    ("dp+pp+ep", "mixtral-8x7b", "1/4096", "1/64", ["plan.pipeline.stages=2", "plan.expert.degree=2"]),
]
# Simulated, on Leonardo, with ranks the paper uses (section IV-A1).
SIMULATED = [
    ("dp", "vit-h", [8, 16, 32, 64]),
    ("fsdp", "llama3-8b", [16, 32, 128, 256]),
    ("dp+pp", "llama3-8b", [16, 32, 64, 128, 256]),
    ("dp+pp+tp", "llama3-70b", [256, 512, 1024]),
    ("dp+pp+ep", "mixtral-8x7b", [512, 1024]),
]
INVALID = 4  # still a result, which says why


def peak_memory_mb():
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1000


def run(command, file):
    begin = time.monotonic()
    done = subprocess.run([*command, "-o", str(file)], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    if done.returncode not in (0, INVALID):
        sys.exit(f"{' '.join(command)}\n{done.stderr}")
    return time.monotonic() - begin


def line(result, seconds):
    metric = lambda name: result["metrics"][name]["value"]
    print(f"{result['kind']:<9} {result['spec']['plan']['name']:<9} {result['spec']['model']:<13} "
          f"{result['machine']['ranks']:>5} {metric('iteration_time'):>10.4f} s {metric('throughput'):>10.1f} "
          f"{100 * metric('communication_fraction'):>6.1f} % {'' if result['valid'] else 'INVALID':>8} {seconds:>7.1f} s",
          flush=True)


def main():
    program, output = sys.argv[1], pathlib.Path(sys.argv[2])
    output.mkdir(parents=True, exist_ok=True)
    begin = time.monotonic()
    files = []
    print("kind      plan      model         ranks    iteration  samples/s  commun.            took")
    for plan, model, messages, compute, changes in LIVE:
        command = [program, "run", "--plan", plan, "--model", model, "--device", "a100", "--ranks", "8",
                   "--message-scale", messages, "--compute-scale", compute, "--iterations", "4", "--quiet"]
        for change in changes:
            command += ["--set", change]
        files.append(output / f"live-{plan}.json")
        seconds = run(command, files[-1])
        line(json.loads(files[-1].read_text()), seconds)
    for plan, model, sizes in SIMULATED:
        for ranks in sizes:
            command = [program, "simulate", "--plan", plan, "--model", model, "--machine", "leonardo", "--ranks",
                       str(ranks), "--quiet"]
            files.append(output / f"leonardo-{plan}-{ranks}.json")
            seconds = run(command, files[-1])
            line(json.loads(files[-1].read_text()), seconds)
    report = output / "report.html"
    subprocess.run([program, "report", *map(str, files), "-o", str(report), "--quiet"], check=True)
    print(f"\nreport: {report} ({os.path.getsize(report) / 1e6:.1f} MB, opens offline)")
    print(f"the runs took {time.monotonic() - begin:.1f} s; the largest process used {peak_memory_mb():.0f} MB")


if __name__ == "__main__":
    main()
