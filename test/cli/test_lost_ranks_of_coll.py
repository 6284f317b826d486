# SPDX-License-Identifier: Apache-2.0
"""Ranks of the collective benchmark that are killed, stopped or slowed: it names them, keeps the rows measured before,
and leaves no process."""
import csv
import os
import pathlib
import random
import re
import signal
import subprocess
import tempfile
import time
import unittest
from concurrent import futures

from lost import ENVIRONMENT, LossTest, processes_of, since
from program import PROGRAM

OPERATIONS = ["all-reduce", "all-gather", "reduce-scatter", "all-to-all", "all-to-all-v", "broadcast", "send-recv",
              "barrier"]


class Place:
    """Where one benchmark puts its records and its table."""

    def __init__(self, scratch, extension=".json"):
        self.records = pathlib.Path(scratch) / "records"
        self.records.mkdir()
        self.output = pathlib.Path(scratch) / f"table{extension}"


class LostRanksOfColl(LossTest):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.place = Place(scratch.name)

    def words(self, backend, operations, *more, ranks=4, place=None,
              sizes=("--max-size", "1KiB", "--iterations", "6")):
        place = place or self.place
        # oneCCL takes a second to begin.
        limit = "3 s" if backend == "oneccl" else "1 s"
        return ["coll", "--operation", ",".join(operations), "--ranks", ranks, "--backend", backend, "--min-size",
                "1KiB", *sizes, "--warmup", "1", "--watchdog", limit, "--recorder", place.records, "-o", place.output,
                "--quiet", *more]

    def check_partial(self, rank, rows, place=None):
        table = self.check_valid((place or self.place).output)
        self.assertFalse(table["valid"])
        self.assertEqual(table["stopped_by"], "lost_rank")
        self.assertTrue(table["notes"][0].startswith("INVALID: "), table["notes"])
        self.assertEqual([lost["rank"] for lost in table["lost"]], [rank], table["lost"])
        if rows is not None:
            self.assertEqual([row["operation"] for row in table["rows"]], rows)
            self.assertEqual({row["wrong"] for row in table["rows"]} - {0}, set())
        return table

    def lose(self, backend, fault, operation, *more, rank=2, ranks=4):
        """The rank is lost in the second row, which is this operation's."""
        before = "barrier" if operation != "barrier" else "all-reduce"
        with tempfile.TemporaryDirectory() as scratch:
            place = Place(scratch)
            done = self.fail_with(5, self.words(backend, [before, operation], *more, ranks=ranks, place=place),
                                  [f"rank {rank} is missing", f"{ranks} ranks", "(operation 1)", operation],
                                  environment=dict(ENVIRONMENT, DLNETBENCH_FAULT=f"{fault} rank={rank} operation=1 "
                                                                                 "iteration=3"))
            # The limit, and what saying and ending take. Starting takes as long as the machine's load makes it.
            self.assertLess(since(place.records, rank), 20, done.stderr)
            self.assertRegex(done.stderr, r"of ranks 0(–3|, 1)")
            table = self.check_partial(rank, [before], place)
            self.assertRegex(table["lost"][0]["place"], r"operation 1\).* of iteration 3")
            if backend != "threads":
                self.check_nothing_is_left(processes_of(place.records))
        return done

    def lose_in(self, backend, operations, faults):
        """A fault after the other; some at once, because they mostly wait."""
        self.need(backend)
        with futures.ThreadPoolExecutor(3) as pool:
            lost = [(operation, faults[i % len(faults)]) for i, operation in enumerate(operations)]
            for (operation, fault), done in [(one, pool.submit(self.lose, backend, one[1], one[0])) for one in lost]:
                with self.subTest(operation=operation, fault=fault):
                    done.result()

    # Each library has every operation or every kind of them, and every way to be lost.
    def test_on_open_mpi(self):
        self.lose_in("mpi-openmpi", OPERATIONS, ["kill", "stop", "slow:60"])

    def test_on_mpich(self):
        self.lose_in("mpi-mpich", OPERATIONS, ["stop", "slow:60", "kill"])

    def test_on_gloo(self):
        self.lose_in("gloo", ["broadcast", "all-to-all", "send-recv", "all-reduce"], ["slow:60", "kill", "stop"])

    def test_on_oneccl(self):
        self.lose_in("oneccl", ["all-gather", "barrier", "reduce-scatter"], ["kill", "stop", "slow:60"])

    def test_threads(self):
        self.lose_in("threads", OPERATIONS, ["slow:60", "stop"])

    def test_the_root_of_a_broadcast_and_rank_0(self):
        for backend, fault in (("mpi-openmpi", "kill"), ("mpi-mpich", "stop"), ("threads", "slow:60")):
            with self.subTest(backend):
                self.need(backend)
                self.lose(backend, fault, "broadcast", rank=0)

    def test_of_several_groups_that_one_is_named(self):
        self.need("mpi-openmpi")
        done = self.lose("mpi-openmpi", "stop", "all-reduce", "--groups", "2", rank=1)
        self.assertIn("of ranks 0, 1 of iteration", done.stderr)

    def test_non_blocking_and_with_a_series(self):
        self.need("mpi-openmpi")
        self.lose("mpi-openmpi", "kill", "all-gather", "--overlap", "--series")

    def test_a_short_delay_is_none(self):
        self.succeed(*self.words("threads", ["all-reduce"]),
                     environment={"DLNETBENCH_FAULT": "slow:0.1 rank=2 operation=0 iteration=3"})
        table = self.check_valid(self.place.output)
        self.assertEqual((table["stopped_by"], table["valid"]), ("rows", True))
        # One of six iterations took a tenth of a second.
        self.assertGreater(table["rows"][0]["high"], 0.1 / 6)
        self.assertTrue(any("DLNETBENCH_FAULT" in note for note in table["notes"]), table["notes"])

    def test_csv_and_text_hold_the_rows_as_well(self):
        self.place.output = self.place.output.with_suffix(".csv")
        done = self.fail_with(5, self.words("threads", ["barrier", "all-reduce"]), ["rank 1 is missing"],
                              environment={"DLNETBENCH_FAULT": "stop rank=1 operation=1"})
        with open(self.place.output, encoding="utf-8", newline="") as file:
            self.assertEqual([row["operation"] for row in csv.DictReader(file)], ["barrier"])
        self.assertRegex(done.stdout, r"(?m)^barrier ")
        self.assertIn("INVALID: ", done.stdout)

    def test_a_fault_that_makes_no_sense_is_refused(self):
        for fault in ("kil rank=1", "kill rank=4", "stop rank=1 operation=1", "stop rank=1 iteration=6", "stop"):
            self.fail_with(2, self.words("threads", ["all-reduce"]), ["DLNETBENCH_FAULT"],
                           environment={"DLNETBENCH_FAULT": fault})
        self.fail_with(2, self.words("threads", ["all-reduce"]), ["DLNETBENCH_FAULT", "threads"],
                       environment={"DLNETBENCH_FAULT": "kill rank=1"})

    def lose_from_outside(self, backend, number):
        self.need(backend)
        words = self.words(backend, ["all-reduce", "all-to-all"],
                           sizes=("--max-size", "64KiB", "--step", "16", "--iterations", "200"))
        with subprocess.Popen([PROGRAM, *map(str, words)], env=dict(os.environ, **ENVIRONMENT), text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
            self.addCleanup(running.kill)
            processes = {}
            for _ in range(600):
                processes = processes_of(self.place.records)
                if len(processes) == 4 or running.poll() is not None:
                    break
                time.sleep(0.05)
            self.assertEqual(len(processes), 4)
            time.sleep(1)
            rank = random.randrange(4)
            os.kill(processes[rank], number)
            said = running.communicate(timeout=60)[1]
        self.assertEqual(running.returncode, 5, said)
        self.assertIn(f"rank {rank} is missing", said)
        self.check_partial(rank, None)
        self.check_nothing_is_left(processes)

    def test_killed_from_outside(self):
        self.lose_from_outside("mpi-openmpi", signal.SIGKILL)

    def test_stopped_from_outside(self):
        self.lose_from_outside("mpi-mpich", signal.SIGSTOP)

    def test_in_a_world_that_the_users_launcher_made(self):
        self.need("mpi-openmpi")
        environment = dict(os.environ, **ENVIRONMENT, DLNETBENCH_FAULT="stop rank=1 operation=1 iteration=1")
        words = self.words("mpi-openmpi", ["barrier", "all-reduce"])
        done = subprocess.run(["mpirun.openmpi", "-n", "4", "--oversubscribe", "--bind-to", "none", "--mca",
                               "mpi_yield_when_idle", "1", PROGRAM, *map(str, words)], env=environment,
                              capture_output=True, text=True, timeout=120, check=False)

        self.assertNotEqual(done.returncode, 0, done.stderr)
        self.assertIn("rank 1 is missing", done.stderr)
        self.check_partial(1, ["barrier"])
        self.check_nothing_is_left(processes_of(self.place.records))

    def test_nothing_stays_in_memory_of_the_host(self):
        shared = pathlib.Path("/dev/shm")
        before = {entry.name for entry in shared.glob("dlnetbench-*")}
        words = [word for word in self.words("threads", ["barrier"]) if word not in ("--recorder", self.place.records)]
        self.succeed(*words)
        self.fail_with(5, words, ["rank 1 is missing"], environment={"DLNETBENCH_FAULT": "stop rank=1"})
        mine = re.compile(r"dlnetbench-(run-)?")
        # Others may run beside this test; theirs go away.
        for _ in range(100):
            left = {e.name for e in shared.glob("dlnetbench-*") if mine.match(e.name)} - before
            if not left:
                return
            time.sleep(0.1)
        self.fail(f"left: {left}")


if __name__ == "__main__":
    unittest.main()
