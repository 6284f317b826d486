# SPDX-License-Identifier: Apache-2.0
"""Ranks that never come: the run names them in time, and leaves no process."""
import os
import pathlib
import subprocess
import tempfile
import time
import unittest
from concurrent import futures

from lost import ENVIRONMENT, LossTest, usable
from program import PROGRAM

LIMIT = 4  # seconds


def processes_with(mark):
    """Processes of the program that have this in their environment."""
    found = {}
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if mark.encode() in (folder / "environ").read_bytes():
                found[folder.name] = int(folder.name)
        except OSError:
            pass
    return found


class LostAtStart(LossTest):
    def words(self, backend, *more, ranks=4):
        return ["run", "--plan", "dp", "--model", "vit-b", "--ranks", ranks, "--scale", "1/65536", "--backend", backend,
                "--iterations", "2", "--quiet", *more]

    def lose(self, backend, fault, mentions, words=None):
        mark = f"{backend}-{fault}-{time.monotonic_ns()}"
        begun = time.monotonic()
        environment = dict(ENVIRONMENT, DLNETBENCH_START_LIMIT=str(LIMIT), LOST_AT_START=mark,
                           DLNETBENCH_FAULT=f"{fault} rank=2 at=start")
        self.fail_with(5, words or self.words(backend), mentions, environment=environment)
        self.assertLess(time.monotonic() - begun, LIMIT + 20)
        for _ in range(100):
            left = processes_with(mark)
            if not left:
                return
            time.sleep(0.1)
        self.fail(f"still there: {left}")

    def test_every_way_with_every_library(self):
        mentions = {"kill": ["rank 2 is missing (killed or crashed before the world of 4 ranks had come up)"],
                    "stop": ["the world of 4 ranks has not come up in ",
                             "rank 2 is missing (its process is stopped)"],
                    "slow:60": ["the world of 4 ranks has not come up in ",
                                "rank 2 is missing (it has begun, and not gone on to join the others)"]}
        backends = [name for name in ("mpi-openmpi", "mpi-mpich", "gloo", "oneccl") if usable(name)]
        with futures.ThreadPoolExecutor(4) as pool:  # which mostly wait
            lost = [(backend, fault, pool.submit(self.lose, backend, fault, mentions[fault]))
                    for backend in backends for fault in mentions
                    # Hydra ends all at once, and who was killed may have come as far as another.
                    if (backend, fault) != ("mpi-mpich", "kill")]
            for backend, fault, done in lost:
                with self.subTest(backend=backend, fault=fault):
                    done.result()

    def test_killed_on_mpich(self):
        self.need("mpi-mpich")
        self.lose("mpi-mpich", "kill", ["missing (killed or crashed before the world of 4 ranks had come up)"])

    def test_in_the_collective_benchmark(self):
        words = ["coll", "--operation", "barrier", "--ranks", 4, "--backend", "gloo", "--quiet"]
        self.need("gloo")
        self.lose("gloo", "stop", ["coll: the world of 4 ranks", "rank 2 is missing (its process is stopped)"], words)

    def test_a_launcher_that_starts_nobody(self):
        self.need("mpi-openmpi")
        with tempfile.TemporaryDirectory() as folder:
            launcher = pathlib.Path(folder) / "mpirun.openmpi"
            launcher.write_text("#!/bin/sh\nexec sleep 60\n", encoding="utf-8")
            launcher.chmod(0o755)
            environment = {"DLNETBENCH_START_LIMIT": "1", "PATH": f"{folder}:{os.environ['PATH']}"}
            self.fail_with(5, self.words("mpi-openmpi"), ["no rank has begun"], environment=environment)

    def test_in_a_world_that_the_users_launcher_made(self):
        self.need("mpi-openmpi")
        environment = dict(os.environ, **ENVIRONMENT, DLNETBENCH_START_LIMIT="2",
                           DLNETBENCH_FAULT="slow:60 rank=1 at=start")
        words = ["mpirun.openmpi", "-n", "2", "--oversubscribe", "--bind-to", "none", PROGRAM,
                 *map(str, self.words("mpi-openmpi", ranks=2))]
        done = subprocess.run(words, env=environment, capture_output=True, text=True, timeout=60, check=False)

        self.assertEqual(done.returncode, 5, done.stderr)
        self.assertIn("the world of 2 ranks has not come up in 2", done.stderr)

    def test_a_short_delay_is_none(self):
        self.need("gloo")
        self.succeed(*self.words("gloo"), environment={"DLNETBENCH_FAULT": "slow:0.3 rank=2 at=start"})

    def test_what_makes_no_sense_is_refused(self):
        for fault in ("stop rank=1 at=end", "stop rank=1 at=start operation=2", "stop rank=9 at=start"):
            self.fail_with(2, self.words("gloo" if usable("gloo") else "threads"), ["DLNETBENCH_FAULT"],
                           environment={"DLNETBENCH_FAULT": fault})
        self.fail_with(2, self.words("threads"), ["DLNETBENCH_FAULT", "threads"],
                       environment={"DLNETBENCH_FAULT": "stop rank=1 at=start"})
        if usable("gloo"):
            self.fail_with(2, self.words("gloo"), ["DLNETBENCH_START_LIMIT"],
                           environment={"DLNETBENCH_START_LIMIT": "soon"})


if __name__ == "__main__":
    unittest.main()
