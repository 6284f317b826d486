# SPDX-License-Identifier: Apache-2.0
"""Ranks that are killed, stopped or slowed: the run names them, keeps what was measured, and leaves no process."""
import json
import os
import pathlib
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest

from lost import ENVIRONMENT, ROOT, LossTest, processes_of, usable
from program import PROGRAM, ProgramTest


def folder_of(process):
    """The folder in memory that this process has made for its ranks."""
    for owner in pathlib.Path("/dev/shm").glob("dlnetbench-*/owner"):
        if re.search(rf"(?m)^{process} ", owner.read_text(encoding="utf-8")):
            return owner.parent
    return None


class LostRanks(LossTest):
    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory()
        self.addCleanup(self.scratch.cleanup)
        self.folder = pathlib.Path(self.scratch.name) / "records"
        self.folder.mkdir()
        self.output = pathlib.Path(self.scratch.name) / "result.json"

    def words(self, backend, plan, model="vit-b", ranks=8, iterations=6):
        # oneCCL takes a second to begin, Gloo can take one for an operation of eight ranks on two cores.
        return ["run", "--plan", plan, "--model", model, "--ranks", ranks, "--scale", "1/65536",
                "--backend", backend, "--iterations", iterations, "--verify", "false", "--watchdog",
                "3 s" if backend in ("oneccl", "gloo") else "1 s",
                "--recorder", self.folder, "-o", self.output, "--quiet"]

    def place_of(self, words, operation):
        """A rank in the middle and the number of one operation of this kind in its program."""
        schedule = json.loads(self.succeed("schedule", "print", "--format", "json", *words[1:words.index("--backend")])
                              .stdout)
        for program in sorted(schedule["ranks"], key=lambda row: row["rank"] != 3):
            numbers = [i for i, row in enumerate(program["operations"]) if row["operation"] == operation]
            if numbers:
                return program["rank"], numbers[len(numbers) // 2]
        self.fail(f"no rank has {operation}")

    def check_partial(self, rank):
        result = self.check_valid(self.output)
        self.assertFalse(result["valid"])
        self.assertEqual(result["stopped_by"], "lost_rank")
        self.assertTrue(any(note.startswith("INVALID: ") for note in result["notes"]), result["notes"])
        if rank is not None:
            self.assertEqual([lost["rank"] for lost in result["lost"]], [rank], result["lost"])
        return result

    def check(self, backend, fault, plan, operation, model="vit-b"):
        self.need(backend)
        words = self.words(backend, plan, model)
        rank, number = self.place_of(words, operation)

        done = self.fail_with(5, words, ["rank %d is missing" % rank, "8 ranks", "(operation "],
                              environment=dict(ENVIRONMENT,
                                               DLNETBENCH_FAULT=f"{fault} rank={rank} operation={number} iteration=2"))

        self.assertRegex(done.stderr, r"(of|among|from|to) ranks? [0-9]")
        result = self.check_partial(rank)
        # The others may have been ended before they had finished the iteration before.
        self.assertIn(len(result["iterations"]), (1, 2))
        if backend != "threads":
            self.check_nothing_is_left(processes_of(self.folder))

    # Every kind of operation, and every way to be lost, with some library each.
    def test_killed_in_all_reduce_on_open_mpi(self):
        self.check("mpi-openmpi", "kill", "dp", "all-reduce")

    def test_killed_in_all_gather_on_mpich(self):
        self.check("mpi-mpich", "kill", "fsdp", "all-gather")

    def test_killed_in_send_on_open_mpi(self):
        self.check("mpi-openmpi", "kill", "pipeline=2,data=rest", "send")

    def test_killed_in_wait_on_mpich(self):
        self.check("mpi-mpich", "kill", "fsdp", "wait")

    def test_stopped_in_reduce_scatter_on_open_mpi(self):
        self.check("mpi-openmpi", "stop", "fsdp", "reduce-scatter")

    def test_stopped_in_recv_on_mpich(self):
        self.check("mpi-mpich", "stop", "pipeline=2,data=rest", "recv")

    def test_slowed_in_all_to_all_on_open_mpi(self):
        self.check("mpi-openmpi", "slow:60", "expert=4,data=rest", "all-to-all", "mixtral-8x7b")

    def test_slowed_in_wait_all_on_mpich(self):
        self.check("mpi-mpich", "slow:60", "dp", "wait-all")

    def test_killed_stopped_and_slowed_on_gloo(self):
        for fault, plan, operation in (("kill", "dp", "wait-all"), ("stop", "fsdp", "all-gather"),
                                       ("slow:60", "pipeline=2,data=rest", "recv")):
            with self.subTest(fault):
                self.check("gloo", fault, plan, operation)
                self.output.unlink()

    def test_killed_stopped_and_slowed_on_oneccl(self):
        for fault, plan, operation in (("kill", "pipeline=2,data=rest", "send"), ("stop", "dp", "all-reduce"),
                                       ("slow:60", "fsdp", "reduce-scatter")):
            with self.subTest(fault):
                self.check("oneccl", fault, plan, operation)
                self.output.unlink()

    def test_stopped_and_slowed_threads(self):
        for fault, operation in (("stop", "all-reduce"), ("slow:60", "wait-all")):
            with self.subTest(fault):
                self.check("threads", fault, "dp", operation)
                self.output.unlink()

    def test_a_short_delay_is_none(self):
        self.succeed(*self.words("threads", "dp"),
                     environment={"DLNETBENCH_FAULT": "slow:0.1 rank=3 operation=1 iteration=1"})
        result = json.loads(self.output.read_text(encoding="utf-8"))

        self.assertEqual(result["stopped_by"], "iterations")
        self.assertEqual(len(result["iterations"]), 6)

    def test_the_next_run_removes_what_one_that_was_killed_has_left(self):
        words = self.words("threads", "dp", ranks=2)
        del words[words.index("--recorder"):words.index("--recorder") + 2]
        endless = [str(word) for word in words if word not in ("--iterations", 6)] + ["--forever"]
        with subprocess.Popen([PROGRAM, *endless], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as killed:
            left = None
            for _ in range(200):
                left = folder_of(killed.pid)
                if left:
                    break
                time.sleep(0.05)
            self.assertIsNotNone(left)
            self.succeed(*words)  # beside it: it stays
            self.assertTrue(left.exists())
            killed.kill()
        self.assertTrue(left.exists())
        self.succeed(*words)
        self.assertFalse(left.exists())

    def test_a_job_that_is_suspended_goes_on(self):
        words = self.words("threads", "dp", ranks=4, iterations=1000) + ["--compute-scale", "1/4", "--max-time", "3 s"]
        with subprocess.Popen([PROGRAM, *map(str, words)], text=True, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE) as running:
            time.sleep(1.5)
            running.send_signal(signal.SIGSTOP)
            time.sleep(2.5)  # more than the watchdog's limit
            running.send_signal(signal.SIGCONT)
            said = running.communicate(timeout=60)[1]
        self.assertEqual(running.returncode, 0, said)
        self.assertEqual(self.check_valid(self.output)["stopped_by"], "max_time")

    def test_a_fault_that_makes_no_sense_is_refused(self):
        for fault in ("kil rank=1", "kill rank=8", "kill rank=1 operation=100000", "stop"):
            for backend in ("threads", "mpi"):
                if backend == "threads" or usable("mpi-openmpi"):
                    self.fail_with(2, self.words(backend, "dp"), ["DLNETBENCH_FAULT"],
                                   environment={"DLNETBENCH_FAULT": fault})

    def lose_one_at_random(self, backend, number, unseen=False):
        """Unseen: the program that watches the ranks does not run until all of them have ended."""
        self.need(backend)
        words = self.words(backend, "fsdp", iterations=1_000_000)
        with subprocess.Popen([PROGRAM, *map(str, words)], env=dict(os.environ, **ENVIRONMENT), text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
            processes = {}
            for _ in range(600):
                processes = processes_of(self.folder)
                if len(processes) == 8 or running.poll() is not None:
                    break
                time.sleep(0.05)
            self.assertEqual(len(processes), 8)
            time.sleep(1 + random.random())
            rank = random.randrange(8)
            if unseen:
                running.send_signal(signal.SIGSTOP)
            try:
                os.kill(processes[rank], number)
                if unseen:
                    self.check_nothing_is_left(processes, patience=60)  # nobody ends them but themselves
            finally:
                running.send_signal(signal.SIGCONT)
            said = running.communicate(timeout=120)[1]
        self.assertEqual(running.returncode, 5, said)
        self.assertIn(f"rank {rank} is missing", said)
        self.check_partial(rank)
        self.check_nothing_is_left(processes)

    def test_killed_from_outside(self):
        self.lose_one_at_random("mpi-openmpi", signal.SIGKILL)

    def test_stopped_from_outside(self):
        self.lose_one_at_random("mpi-mpich", signal.SIGSTOP)

    def test_killed_while_nobody_watches(self):
        self.lose_one_at_random("gloo", signal.SIGKILL, unseen=True)

    def test_in_a_world_that_the_users_launcher_made(self):
        self.need("mpi-openmpi")
        for fault in ("stop", "kill"):
            with self.subTest(fault):
                environment = dict(os.environ, **ENVIRONMENT, DLNETBENCH_FAULT=f"{fault} rank=1 operation=1 iteration=1")
                words = self.words("mpi-openmpi", "dp", ranks=4)
                done = subprocess.run(["mpirun.openmpi", "-n", "4", "--oversubscribe", "--bind-to", "none", "--mca",
                                       "mpi_yield_when_idle", "1", PROGRAM, *map(str, words)],
                                      env=environment, capture_output=True, text=True, timeout=120, check=False)

                self.assertNotEqual(done.returncode, 0, done.stderr)
                self.assertIn("rank 1 is missing", done.stderr)
                self.check_partial(1)
                self.check_nothing_is_left(processes_of(self.folder))
                self.output.unlink()


class Forever(ProgramTest):
    """Runs without end."""

    def end(self, backend, *more, after=1.5):
        with tempfile.TemporaryDirectory() as scratch:
            output = pathlib.Path(scratch) / "result.json"
            words = ["run", "--plan", "dp", "--model", "vit-b", "--ranks", "2", "--backend", backend, "--forever",
                     "-o", output, *more]
            with subprocess.Popen([PROGRAM, *map(str, words)], env=dict(os.environ, **ENVIRONMENT), text=True,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
                while "memory on" not in running.stderr.readline():
                    self.assertIsNone(running.poll())
                time.sleep(after)
                running.send_signal(signal.SIGTERM)
                said = running.communicate(timeout=60)[1]
            self.assertEqual(running.returncode, 0, said)
            checked = subprocess.run([sys.executable, ROOT / "tools" / "validate_result", output],
                                     capture_output=True, text=True, check=False)
            self.assertEqual(checked.returncode, 0, checked.stdout + checked.stderr)
            return json.loads(output.read_text(encoding="utf-8"))

    def test_ends_behind_an_iteration(self):
        for backend in ("threads", "mpi-openmpi", "mpi-mpich"):
            if not usable(backend):
                continue
            with self.subTest(backend):
                result = self.end(backend, "--scale", "1/65536")

                self.assertEqual(result["stopped_by"], "SIGTERM")
                self.assertTrue(result["valid"], result["notes"])
                iterations, series = result["iterations"], result["series"]
                self.assertGreater(len(iterations), 1)
                rows = [row["iteration"] for row in iterations]
                self.assertEqual(rows, list(range(rows[0], rows[0] + len(rows))))
                self.assertEqual(sum(row["count"] for row in series), rows[-1] + 1)
                self.assertLessEqual(len(series), 1024)

    def test_an_iteration_that_takes_too_long_is_left(self):
        for backend in ("threads", "mpi-openmpi"):
            if not usable(backend):
                continue
            with self.subTest(backend):
                result = self.end(backend, "--message-scale", "1/65536", "--compute-scale", "1000", "--warmup", "0")

                self.assertEqual(result["stopped_by"], "SIGTERM")
                self.assertEqual(result["iterations"], [])
                self.assertTrue(any("was left" in note for note in result["notes"]), result["notes"])


class Stopping(ProgramTest):
    """When a run has measured enough."""

    def stop(self, *more):
        return json.loads(self.succeed("run", "--plan", "dp", "--model", "vit-b", "--ranks", "2", "--scale", "1/65536",
                                       "--backend", "threads", "--json", "--quiet", *more).stdout)

    def test_by_count_time_and_spread(self):
        self.assertEqual(self.stop("--iterations", "3")["stopped_by"], "iterations")
        self.assertEqual(self.stop("--iterations", "1", "--min-time", "50 ms")["stopped_by"], "min_time")
        self.assertEqual(self.stop("--iterations", "1000000", "--max-time", "50 ms")["stopped_by"], "max_time")
        self.assertEqual(self.stop("--iterations", "3", "--spread", "1")["stopped_by"], "spread")
        capped = self.stop("--iterations", "3", "--spread", "1e-9", "--max-iterations", "7")
        self.assertEqual(capped["stopped_by"], "max_iterations")
        self.assertEqual(len(capped["iterations"]), 7)

    def test_the_bound_of_the_clocks_is_said(self):
        self.assertEqual(self.stop("--iterations", "2")["clock_bound"], 0)


if __name__ == "__main__":
    unittest.main()
