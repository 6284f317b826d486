#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Live beside simulated on a testbed: bench/testbed_validation.py DLNETBENCH [BACKEND [NAME]]

The network and the two jobs of bench/testbed_contention.py. `calibrate` measures the first job's four hosts and fits a
machine file; `validate` then runs both jobs alone and together and prints what the simulator says of each. Root only;
takes four minutes.
"""
import os
import pathlib
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
from testbed_contention import JOBS, RING, RUN, SHAPE, TOOL  # noqa: E402

# Two TCP connections in one queue divide a link anyhow; rates that are fair are what the simulator models.
FAIR = ["--sharing", "fair"]
# Non-blocking operations, as the plan issues them, of the plan's sizes.
MEASURE = ["--overlap", "--ranks", "4", "--min-size", "512KiB", "--max-size", "4MiB", "--factor", "2", "--iterations", "3",
           "--warmup", "1"]


def devices(hosts):
    return ",".join(str(int(host[1:]) - 1) for host in hosts.split(","))


def structure(name):
    """The testbed's machine file, with the algorithm the library is told to use."""
    text = subprocess.run([TOOL, "machine", name], check=True, stdout=subprocess.PIPE, text=True).stdout
    return text.replace("[software]\n", '[software]\nalgorithm = "ring"\n')


def jobs(name):
    return "".join(
        f'[[job]]\nname = "{job}"\ntestbed = "{name}:{hosts}"\ndevices = "{devices(hosts)}"\n' for job, hosts in JOBS.items()
    )


def main():
    if not 2 <= len(sys.argv) <= 4:
        sys.exit(__doc__.strip())
    program, backend, name = (sys.argv[1:] + ["mpi-openmpi", "validation"][len(sys.argv) - 2:])[:3]
    environment = RING | os.environ
    subprocess.run([TOOL, "up", name, *SHAPE, *FAIR], check=True)
    try:
        with tempfile.TemporaryDirectory() as scratch:
            folder = pathlib.Path(scratch)
            (folder / "structure.toml").write_text(structure(name), encoding="utf-8")
            (folder / "jobs.toml").write_text(jobs(name), encoding="utf-8")
            machine = folder / "measured.toml"
            first = next(iter(JOBS.values()))
            subprocess.run(
                [program, "calibrate", *MEASURE, "--backend", backend, "--testbed", f"{name}:{first}", "--devices",
                 devices(first), "--machine", folder / "structure.toml", "--name", "measured", "-o", machine],
                check=True, env=environment)
            subprocess.run(
                [program, "validate", "--spec", folder / "jobs.toml", *RUN, "--iterations", "8", "--backend", backend,
                 "--machine", machine], check=True, env=environment)
    finally:
        subprocess.run([TOOL, "down", name], check=True)


if __name__ == "__main__":
    main()
