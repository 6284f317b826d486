#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Two jobs over one uplink: bench/testbed_contention.py DLNETBENCH [BACKEND [NAME]]

Eight hosts under two leaves with one uplink each (testbed/shapes/two-level.toml, brought up as NAME, default
contention). Two data-parallel jobs of four ranks take every other host, so that the ring of each crosses the
uplink. Prints each job's iteration and its parts, alone and together, and the slowdown: 2 is what sharing the
uplink costs, and all of it should be transfer. Root only.
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

TOOL = pathlib.Path(__file__).resolve().parent.parent / "testbed" / "testbed"
# Interleaved: ranks 0 and 1 of a job in the first leaf, 2 and 3 in the second.
JOBS = {"A": "h1,h3,h5,h7", "B": "h2,h4,h6,h8"}
PARTS = ("compute", "transfer", "straggler_wait", "pipeline_bubble")
# ViT-H in 3 buckets, scaled to 4.2 MB: an iteration moves 2 · 3/4 · 3 · 4.2 MB through each link. Links are slow so
# that they, and not two cores, are what the jobs wait for.
RATE = "100 Mbit/s"
# Reno shares a link more evenly than BBR, and what bursts pass is not the link's rate.
SHAPE = ["--shape", "two-level", "--link", RATE, "--uplink", RATE, "--burst", "16 KiB", "--congestion-control", "reno"]
# By itself Open MPI halves and doubles when nothing waits for the result: ranks then exchange with partners in both leaves,
# and a job alone is already in its own way on the uplink (4/3 of a ring's time). The ring is what "2" follows from.
RING = {"OMPI_MCA_coll_libnbc_iallreduce_algorithm": "1"}
RUN = ["--plan", "dp", "--set", "plan.data.buckets=3", "--model", "vit-h", "--device", "a100", "--ranks", "4",
       "--message-scale", "1/100", "--compute-scale", "1/64", "--warmup", "1"]


def start(program, backend, name, job, file):
    command = [program, "run", *RUN, "--iterations", "8", "--quiet", "--backend", backend, "--testbed", f"{name}:{JOBS[job]}", "-o", file]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, env=RING | os.environ)


def measure(program, backend, name, jobs):
    """Results by job, of these jobs at the same time."""
    with tempfile.TemporaryDirectory() as folder:
        files = {job: os.path.join(folder, f"{job}.json") for job in jobs}
        running = {job: start(program, backend, name, job, file) for job, file in files.items()}
        codes = {job: process.wait() for job, process in running.items()}
        if any(code not in (0, 4) for code in codes.values()):
            sys.exit(f"testbed_contention: exit codes {codes}")
        return {job: json.loads(pathlib.Path(file).read_text(encoding="utf-8")) for job, file in files.items()}


def value(result, metric):
    return result["metrics"][metric]["value"]


def row(job, where, result, slowdown):
    parts = " | ".join(f"{1e3 * value(result, part):.0f}" for part in PARTS)
    print(f"| {job} | {where} | {1e3 * value(result, 'iteration_time'):.0f} | {parts} | {slowdown} |", flush=True)


def main():
    if not 2 <= len(sys.argv) <= 4:
        sys.exit(__doc__.strip())
    program, backend, name = (sys.argv[1:] + ["mpi-openmpi", "contention"][len(sys.argv) - 2:])[:3]
    subprocess.run([TOOL, "up", name, *SHAPE], check=True)
    try:
        alone = {job: measure(program, backend, name, [job])[job] for job in JOBS}
        together = measure(program, backend, name, list(JOBS))
    finally:
        subprocess.run([TOOL, "down", name], check=True)
    print("| job | runs | iteration, ms | compute | transfer | straggler wait | bubble | slowdown |")
    print("| --- | --- | --: | --: | --: | --: | --: | --: |")
    for job in JOBS:
        row(job, "alone", alone[job], "")
        slowdown = value(together[job], "iteration_time") / value(alone[job], "iteration_time")
        row(job, "together", together[job], f"{slowdown:.2f}")
    for job in JOBS:
        loss = {part: value(together[job], part) - value(alone[job], part) for part in PARTS}
        print(f"job {job}: of {1e3 * sum(loss.values()):.0f} ms lost, transfer {1e3 * loss['transfer']:.0f} ms, "
              f"straggler wait {1e3 * loss['straggler_wait']:.0f} ms, bubble {1e3 * loss['pipeline_bubble']:.0f} ms, "
              f"compute {1e3 * loss['compute']:.0f} ms")


if __name__ == "__main__":
    main()
