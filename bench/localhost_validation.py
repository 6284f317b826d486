#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Live beside simulated on this machine: bench/localhost_validation.py DLNETBENCH [BACKEND...]

`calibrate` measures two ranks, a core each, with every backend (default: mpi-openmpi, mpi-mpich, threads) and fits a
machine file; `validate` then runs the five plans live and simulated on it. Prints for every plan the iteration's time, the
simulator's error, and the median error of its operations. Take an idle machine; a minute per backend.
"""
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

BACKENDS = ["mpi-openmpi", "mpi-mpich", "threads"]
# Non-blocking operations, as most in the plans are: libraries do them by other algorithms than blocking ones.
MEASURE = ["--overlap", "--ranks", "2", "--min-size", "16KiB", "--max-size", "32MiB", "--factor", "2"]
# Compute is scaled so that it takes about as long as communication: what is compared is not mostly a timer.
PLANS = {
    "dp": ["--model", "vit-h", "--message-scale", "1/64", "--compute-scale", "1/128"],
    "fsdp": ["--model", "llama3-8b", "--set", "plan.fsdp.degree=2", "--message-scale", "1/512", "--compute-scale", "1/128"],
    "dp+pp": ["--model", "llama3-8b", "--set", "plan.pipeline.stages=2", "--message-scale", "1/64", "--compute-scale", "1/256"],
    "dp+pp+tp": ["--model", "llama3-70b", "--set", "plan.pipeline.stages=1", "--set", "plan.tensor.degree=2", "--message-scale",
                 "1/512", "--compute-scale", "1/1024"],
    "dp+pp+ep": ["--model", "mixtral-8x7b", "--set", "plan.pipeline.stages=1", "--set", "plan.expert.degree=2",
                 "--message-scale", "1/256", "--compute-scale", "1/512"],
}


def validate(program, backend, machine, plan, scratch):
    """Rows of the comparison."""
    file = scratch / "validation.json"
    command = [program, "validate", "--plan", plan, *PLANS[plan], "--ranks", "2", "--iterations", "20", "--warmup", "3",
               "--backend", backend, "--machine", machine, "-o", file]
    # 4: compute was emulated too badly; the times are there and are shown
    code = subprocess.run(command, stdout=subprocess.DEVNULL).returncode
    if code not in (0, 4):
        sys.exit(f"localhost_validation: {plan} on {backend}: exit code {code}")
    return json.loads(file.read_text(encoding="utf-8"))["rows"], " (INVALID: compute)" if code else ""


def main():
    if len(sys.argv) < 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__.strip())
    program, backends = sys.argv[1], sys.argv[2:] or BACKENDS
    print("| backend | plan | iteration, live | simulated | error | median error of its operations |")
    print("| --- | --- | --: | --: | --: | --: |")
    errors = []
    with tempfile.TemporaryDirectory() as folder:
        scratch = pathlib.Path(folder)
        for backend in backends:
            machine = scratch / f"{backend}.toml"
            subprocess.run([program, "calibrate", *MEASURE, "--backend", backend, "--name", backend, "-o", machine], check=True,
                           stdout=subprocess.DEVNULL)
            for plan in PLANS:
                rows, remark = validate(program, backend, machine, plan, scratch)
                whole, *operations = rows
                errors.append(abs(whole["error"]))
                of_operations = [abs(row["error"]) for row in operations]
                median = f"{statistics.median(of_operations):.1%}" if of_operations else ""
                print(f"| {backend} | {plan} | {1e3 * whole['live']:.2f} ms{remark} | {1e3 * whole['simulated']:.2f} ms | "
                      f"{whole['error']:+.1%} | {median} |", flush=True)
    print(f"\nmedian error of iterations: {statistics.median(errors):.1%}")


if __name__ == "__main__":
    main()
