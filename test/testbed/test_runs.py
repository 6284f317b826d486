# SPDX-License-Identifier: Apache-2.0
"""Runs on a testbed: what ranks say to each other crosses its links."""
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

from program import NAME, PROGRAM, TOOL, counters, have_testbed, tool

BACKENDS = {"mpi-openmpi": "mpirun.openmpi", "mpi-mpich": "mpiexec.mpich"}
# 631.3 million parameters in bfloat16, in 50 buckets of 25 MB, scaled to 0.2 MB.
RUN = ["run", "--plan", "dp", "--model", "vit-h", "--device", "a100", "--message-scale", "1/128", "--compute-scale", "0",
       "--iterations", "2", "--warmup", "0", "--quiet"]


def setUpModule():
    have_testbed("--shape", "two-level")


def tearDownModule():
    tool("down", NAME)


def run(*words, **options):
    return subprocess.run([PROGRAM, *map(str, words)], capture_output=True, text=True, timeout=280, check=False, **options)


class Runs(unittest.TestCase):
    def require(self, backend):
        if shutil.which(BACKENDS[backend]) is None:
            self.skipTest(f"{BACKENDS[backend]} is not installed")

    def measure(self, backend, *words):
        """The result and what crossed each link meanwhile."""
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "result.json"
            before = counters()
            done = run(*RUN, "--backend", backend, "-o", file, *words)
            after = counters()
            self.assertEqual(done.returncode, 0, done.stderr)
            result = json.loads(file.read_text())
        return result, {link: after[link] - before[link] for link in after}

    def crosses_the_links(self, backend):
        self.require(backend)
        result, crossed = self.measure(backend, "--ranks", 4, "--testbed", f"{NAME}:h1,h2,h5,h6")
        sizes = [row["bytes_each"] * row["count"] for row in result["operations"]]
        # An all-reduce of S over n ranks sends at least 2 (n − 1) / n · S from each, in every iteration.
        least = result["spec"]["iterations"] * 2 * 3 / 4 * sum(sizes)
        self.assertGreater(least, 1e6)
        for host, leaf in (("h1", "leaf1"), ("h2", "leaf1"), ("h5", "leaf2"), ("h6", "leaf2")):
            self.assertGreaterEqual(crossed[host, leaf], least)
        # Half of the ranks are in the other leaf.
        self.assertGreaterEqual(crossed["leaf1", "spine1"], least / 2)
        self.assertLess(crossed["h3", "leaf1"], 1e5)

    def test_traffic_of_open_mpi_crosses_the_links(self):
        self.crosses_the_links("mpi-openmpi")

    def test_traffic_of_mpich_crosses_the_links(self):
        self.crosses_the_links("mpi-mpich")

    def several_ranks_on_a_host(self, backend):
        self.require(backend)
        result, crossed = self.measure(backend, "--ranks", 5, "--testbed", f"{NAME}:h1,h2")
        self.assertEqual(result["machine"]["ranks"], 5)
        self.assertGreater(crossed["h1", "leaf1"], 1e6)

    def test_open_mpi_runs_several_ranks_on_a_host(self):
        self.several_ranks_on_a_host("mpi-openmpi")

    def test_mpich_runs_several_ranks_on_a_host(self):
        self.several_ranks_on_a_host("mpi-mpich")

    def test_hosts_and_agent_can_be_given_apart(self):
        # The launcher itself has to be on that network, so this is started from a host.
        words = [*RUN, "--backend", "mpi-openmpi", "--ranks", "2", "--hosts", "h3,h4", "--agent",
                 f"/run/dlnb-testbed/{NAME}/agent", "--json"]
        before = counters()
        done = subprocess.run([TOOL, "exec", f"{NAME}:h3", PROGRAM, *words], capture_output=True, text=True, timeout=280,
                              check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertGreater(counters()["h4", "leaf1"] - before["h4", "leaf1"], 1e6)

    def test_refusals(self):
        for words, code, mention in (
            (["--testbed", "nowhere"], 3, "testbed/testbed up nowhere"),
            (["--testbed", f"{NAME}:h1,h77"], 2, "h77"),
            (["--testbed", f"{NAME}:h1,h1"], 2, "twice"),
            (["--testbed", NAME, "--backend", "threads"], 2, "threads of one process"),
            (["--testbed", NAME, "--hosts", "h1", "--agent", "ssh"], 2, "testbed"),
            (["--hosts", "h1,h2"], 2, "--agent ssh"),
            (["--agent", "ssh"], 2, "which hosts"),
            (["--hosts", "h1,-h2", "--agent", "ssh"], 2, "-h2"),
            (["--hosts", "h1,h2", "--agent", "no-such-agent", "--backend", "mpi-openmpi"], 2, "no-such-agent"),
        ):
            done = run(*RUN, "--ranks", 2, *words)
            self.assertEqual(done.returncode, code, f"{words} {done.stderr}")
            self.assertIn(mention, done.stderr)


if __name__ == "__main__":
    unittest.main()
