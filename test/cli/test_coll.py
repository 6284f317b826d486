# SPDX-License-Identifier: Apache-2.0
"""`dlnetbench coll` as scripts use it: the documented line, every backend that is here, formats that other programs
invented, and how it ends."""
import csv
import io
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

from lost import ENVIRONMENT, iteration_of
from program import PROGRAM, ProgramTest, run

OPERATIONS = ["all-reduce", "all-gather", "reduce-scatter", "all-to-all", "all-to-all-v", "broadcast", "send-recv",
              "barrier"]
ROW = {"operation", "ranks", "bytes", "dtype", "in_place", "time", "low", "high", "algorithm_bandwidth",
       "bus_bandwidth", "wrong"}
# Parts of a row, as coll_salvage.hpp numbers them.
WARM_UP, MEASURE, OVERLAP, PHASES = 1, 2, 3, 5
SMALL = ["--min-size", "100", "--max-size", "12.5kB", "--factor", "125", "--iterations", "2", "--warmup", "1"]


def usable_backends():
    rows = json.loads(run("list", "backends", "--format", "json").stdout)
    return [row["name"] for row in rows if row["usable"]]


class Coll(ProgramTest):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def table(self, *words, **options):
        return json.loads(self.succeed("coll", *words, "--format", "json", **options).stdout)

    def test_the_documented_line(self):
        backend = "mpi" if "mpi" in usable_backends() else "threads"
        done = self.succeed("coll", "--operation", "all-reduce", "--min-size", "1KiB", "--max-size", "64KiB", "--factor",
                            "2", "--ranks", "2", "--backend", backend, "--dtype", "bf16", "--iterations", "20",
                            "--warmup", "5", "-o", "coll.json", cwd=self.folder)
        table = json.loads((self.folder / "coll.json").read_text())
        self.assertEqual(table["schema"], "dlnetbench.coll/1")
        self.assertEqual([row["bytes"] for row in table["rows"]], [1024 << i for i in range(7)])
        for row in table["rows"]:
            self.assertTrue(ROW <= row.keys(), row)
            self.assertEqual((row["ranks"], row["dtype"], row["wrong"]), (2, "bfloat16", 0))
            self.assertAlmostEqual(row["algorithm_bandwidth"] * row["time"], row["bytes"], delta=1e-6 * row["bytes"])
            self.assertAlmostEqual(row["bus_bandwidth"], row["algorithm_bandwidth"])  # 2(n-1)/n of two ranks
        self.assertIn("all-reduce", done.stdout)

    def test_noise_of_a_simulated_series_and_what_is_drawn_from_it(self):
        line = ["--machine", "alps", "--ranks", "64", "--operation", "all-reduce", "--min-size", "64MiB", "--max-size",
                "64MiB", "--iterations", "500", "--series"]
        struck = ["--noise", '{kind = "outliers", probability = 0.05, factor = 6}']
        quiet = self.table(*line)["rows"][0]["series"]
        table = self.table(*line, *struck)
        self.assertEqual(table, self.table(*line, *struck))
        self.assertNotEqual(table, self.table(*line, *struck, "--seed", "2"))
        self.assertEqual(table["spec"]["noise"], [{"kind": "outliers", "probability": 0.05, "factor": 6}])
        self.assertIn("outliers (probability = 0.05, factor = 6); seed 1", table["notes"][0])
        series = table["rows"][0]["series"]
        self.assertEqual(len(series), 500)
        late = [each for each in series if each > 1.5 * quiet[0]]
        self.assertAlmostEqual(len(late) / 500, 0.05, delta=4 * (0.05 * 0.95 / 500) ** 0.5)
        for each in series:
            self.assertAlmostEqual(each, quiet[0] * (6 if each in late else 1), delta=1e-8)

        (self.folder / "series.json").write_text(json.dumps(table))
        (self.folder / "run.toml").write_text('plan = "dp"\nmodel = "vit-h"\nmachine = "alps"\nranks = 64\n'
                                              'noise = { kind = "measured", file = "series.json" }\n')
        times = []
        for more in (["--noise", "none"], []):
            self.succeed("simulate", "--spec", self.folder / "run.toml", *more, "-o", "out.json", cwd=self.folder)
            result = json.loads((self.folder / "out.json").read_text())
            times.append(sum(row["time"] for row in result["iterations"]))
        self.assertGreater(times[1], times[0])
        self.assertEqual(result["spec"]["noise"][0]["kind"], "measured")

    def test_every_operation_and_type_is_right_on_every_backend(self):
        for backend in usable_backends():
            if backend == "mpi":
                continue  # one of the others
            for ranks in (2, 3) if backend.startswith("mpi") else (3,):
                with self.subTest(backend=backend, ranks=ranks):
                    table = self.table("--operation", "all", "--dtype", "all", "--in-place", "both", "--backend",
                                       backend, "--ranks", ranks, *SMALL)
                    self.assertTrue(table["valid"])
                    self.assertEqual({row["wrong"] for row in table["rows"]}, {0})
                    measured = {row["operation"] for row in table["rows"]}
                    left_out = " ".join(note for note in table["notes"] if note.startswith("left out"))
                    for operation in OPERATIONS:
                        self.assertTrue(operation in measured or operation in left_out, operation)
                    if backend == "threads" or backend.startswith("mpi"):
                        self.assertEqual(measured, set(OPERATIONS))
                        self.assertEqual(len({row["dtype"] for row in table["rows"]}), 4)

    def test_large_counts_of_uneven_parts(self):
        if "mpi-openmpi" not in usable_backends():
            self.skipTest("Open MPI is not here")
        table = self.table("--operation", "all-to-all,all-to-all-v,all-gather", "--dtype", "fp8,fp32", "--backend",
                           "mpi-openmpi", "--ranks", "3", "--min-size", "500KiB", "--max-size", "500KiB",
                           "--iterations", "1", "--warmup", "0",
                           environment={"DLNETBENCH_MPI_LARGEST_COUNT": "1000"})
        self.assertEqual({row["wrong"] for row in table["rows"]}, {0})

    def test_groups_overlap_and_series_over_processes(self):
        if "mpi" not in usable_backends():
            self.skipTest("MPI is not here")
        table = self.table("--operation", "all-reduce", "--backend", "mpi", "--ranks", "4", "--groups", "2",
                           "--grouping", "strided", "--overlap", "--series", "--iterations", "5", "--min-size", "1MiB",
                           "--max-size", "1MiB")
        row, = table["rows"]
        self.assertEqual((row["ranks"], row["wrong"], len(row["series"])), (2, 0, 5))

    def test_calibrate_measures_what_overlaps(self):
        with tempfile.TemporaryDirectory() as folder:
            machine = pathlib.Path(folder) / "here.toml"
            self.succeed("calibrate", "--overlap", "--backend", "threads", "--ranks", "2", "--iterations", "2",
                         "--warmup", "0", "--max-size", "64KiB", "-o", machine)
            self.assertIn("[software", machine.read_text())

    def test_calibrate_takes_files_beside_the_structure_and_names_the_users_own(self):
        with tempfile.TemporaryDirectory() as folder:
            there = pathlib.Path(folder) / "there"
            there.mkdir()
            structure, measured = there / "structure.toml", pathlib.Path(folder) / "measured.toml"
            (there / "topology.conf").write_text("SwitchName=s1 Nodes=n[1-2]\n")
            text = ('name = "s"\nsource = "s"\ndevice = "a100"\ndevices_per_node = 1\nnics_per_node = 1\n[network]\n'
                    'topology = "slurm_tree"\nfile = "topology.conf"\nendpoint_capacity = "10 Gbit/s"\n')
            structure.write_text(text)
            words = ["calibrate", "--machine", structure, "--backend", "threads", "--ranks", "2", "--iterations", "2",
                     "--warmup", "0", "--max-size", "64KiB", "-o", measured]
            self.succeed(*words)
            self.succeed("coll", "--machine", measured, "--devices", "n[1-2]", "--max-size", "1KiB")
            structure.write_text(text + 'leaf_capacity = "wide"\n')
            self.fail_with(2, words, [f"{structure}:10"])

    def test_noise_of_compute_disturbs_no_benchmark(self):
        with tempfile.TemporaryDirectory() as folder:
            delays = pathlib.Path(folder) / "delays.toml"
            delays.write_text("relative = [0, 0.1]\n")
            self.fail_with(2, ["coll", "--machine", "alps", "--ranks", "4", "--noise",
                               f'{{kind = "measured", file = "{delays}", to = "compute"}}'],
                           ["--noise", "disturbs compute"])

    def test_a_series_of_two_thousand(self):
        table = self.table("--backend", "threads", "--ranks", "2", "--min-size", "1KiB", "--max-size", "1KiB",
                           "--iterations", "2000", "--series")
        self.assertEqual(len(table["rows"][0]["series"]), 2000)
        self.assertGreater(min(table["rows"][0]["series"]), 0)

    def test_nccl_tests_columns(self):
        for ranks in (1, 2, 3, 8):
            text = self.succeed("coll", "--operation", "all-reduce,all-gather", "--in-place", "both", "--backend",
                                "threads", "--ranks", ranks, "--min-size", "64KiB", "--max-size", "1MiB", "--factor",
                                "4", "--format", "nccl-tests").stdout
            rows = [line.split() for line in text.splitlines() if re.match(r"\s+\d+\s", line)]
            self.assertEqual(len(rows), 6)
            self.assertEqual(text.count("# Out of bounds values : 0 OK"), 2)
            self.assertEqual(len(re.findall(r"# Avg bus bandwidth\s*:\s*\d[\d.e+-]*", text)), 2)
            for row in rows:
                self.assertEqual(len(row), 13)
                size, time_us, algorithm, bus = int(row[0]), *map(float, row[5:8])
                # Two decimals are what is printed, of either.
                self.assertAlmostEqual(algorithm, size / time_us / 1e3, delta=0.006 + 0.01 * algorithm)
                factor = (ranks - 1) / ranks * (2 if row[3] == "sum" else 1)
                self.assertAlmostEqual(bus, algorithm * factor, delta=0.005 + 0.005 * factor + 1e-9)
                self.assertEqual((row[8], row[12]), ("0", "0"))

    def test_osu_columns(self):
        text = self.succeed("coll", "--operation", "all-gather,barrier", "--backend", "threads", "--ranks", "2",
                            "--min-size", "8", "--max-size", "1KiB", "--format", "osu").stdout
        self.assertRegex(text, r"# OSU MPI Allgather Latency Test")
        self.assertRegex(text, r"(?m)^# Size +Avg Latency\(us\) +Min Latency\(us\) +Max Latency\(us\) +Iterations")
        # OSU's size of an all-gather is what one rank sends.
        self.assertRegex(text, r"(?m)^8 +\d+\.\d\d +\d+\.\d\d +\d+\.\d\d +20 +Pass$")
        self.assertRegex(text, r"(?m)^1024 .*Pass$")

    def test_csv(self):
        text = self.succeed("coll", "--backend", "threads", "--ranks", "2", "--max-size", "4KiB", "--format", "csv").stdout
        rows = list(csv.DictReader(io.StringIO(text)))
        self.assertEqual([row["bytes"] for row in rows], ["1024", "2048", "4096"])

    def test_the_format_goes_to_the_file_and_text_to_stdout(self):
        done = self.succeed("coll", "--backend", "threads", "--ranks", "2", "--max-size", "1KiB", "--format",
                            "nccl-tests", "-o", "out.log", cwd=self.folder)
        self.assertIn("# Avg bus bandwidth", (self.folder / "out.log").read_text())
        self.assertNotIn("#", done.stdout)
        self.succeed("coll", "--backend", "threads", "--ranks", "2", "--max-size", "1KiB", "-o", "out.csv",
                     cwd=self.folder)
        self.assertTrue((self.folder / "out.csv").read_text().startswith("operation,"))

    def test_options_from_a_file(self):
        (self.folder / "coll.toml").write_text('operation = ["broadcast", "barrier"]\nbackend = "threads"\nranks = 2\n'
                                               'max_size = "2 KiB"\n')
        table = self.table("--spec", "coll.toml", "--set", "max_size=1 KiB", cwd=self.folder)
        self.assertEqual([row["operation"] for row in table["rows"]], ["broadcast", "barrier"])

    def test_under_the_users_own_mpirun(self):
        launcher = shutil.which("mpirun.openmpi")
        if "mpi-openmpi" not in usable_backends() or not launcher:
            self.skipTest("Open MPI is not here")
        env = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
        done = subprocess.run([launcher, "--oversubscribe", "--bind-to", "none", "-n", "3", PROGRAM, "coll",
                               "--max-size", "2KiB", "--format", "json"], env=env, capture_output=True, text=True,
                              timeout=120, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual({row["ranks"] for row in json.loads(done.stdout)["rows"]}, {3})

    def test_a_wrong_byte_is_exit_4_and_named(self):
        spoiler = os.environ.get("CORRUPTING_MPI", "")
        if not spoiler:
            self.skipTest("no library that spoils data was built")
        done = self.fail_with(4, ["coll", "--backend", "mpi-openmpi", "--ranks", "2", "--max-size", "2KiB", "--dtype",
                                  "fp32", "--format", "json"],
                              ["rank 1", "all-reduce of 1024 bytes of float32", "element 1 (byte 4 of 1024)"],
                              environment={"LD_PRELOAD": spoiler})
        table = json.loads(done.stdout)
        self.assertFalse(table["valid"])
        self.assertEqual([row["wrong"] for row in table["rows"]], [2, 2])  # once before and once after timing

    def test_a_signal_ends_it_with_the_rows_so_far(self):
        with open(self.folder / "out", "w+", encoding="utf-8") as out:
            child = subprocess.Popen([PROGRAM, "coll", "--backend", "threads", "--ranks", "2", "--min-size", "1KiB",
                                      "--max-size", "100MiB", "--step", "2KiB", "--format", "json"], stdout=out,
                                     stderr=subprocess.PIPE, text=True)
            time.sleep(2)
            child.send_signal(signal.SIGTERM)
            _, said = child.communicate(timeout=60)
            self.assertEqual(child.returncode, 0, said)
            out.seek(0)
            table = json.load(out)
        self.assertTrue(any("ended early by SIGTERM" in note for note in table["notes"]), table["notes"])
        self.assertGreater(len(table["rows"]), 0)

    def started(self, phase, backend, *words, environment=None):
        """The benchmark, once it is in this phase of the second row, and the file it is to write."""
        records = tempfile.mkdtemp(dir=self.folder)
        line = ["coll", "--operation", "barrier,all-reduce", "--backend", backend, "--ranks", "2", "--recorder", records,
                "-o", f"{records}.json", *words]
        child = subprocess.Popen([PROGRAM, *line], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                 env=dict(os.environ, **ENVIRONMENT, **(environment or {})))
        self.addCleanup(child.__exit__, None, None, None)
        self.addCleanup(child.kill)
        until = time.monotonic() + 200
        while (iteration_of(records, 0) or 0) < PHASES + phase and child.poll() is None:
            self.assertLess(time.monotonic(), until)
            time.sleep(0.05)
        time.sleep(0.5)
        return child, pathlib.Path(f"{records}.json")

    def end_in(self, phase, backend, *words):
        """A signal comes in this phase, whose rest would take longer than any test may."""
        child, output = self.started(phase, backend, "--min-size", "8MiB", "--max-size", "8MiB", *words)
        child.send_signal(signal.SIGTERM)
        asked = time.monotonic()
        _, said = child.communicate(timeout=60)
        took = time.monotonic() - asked
        self.assertEqual(child.returncode, 0, said)
        # Two seconds, and what a machine with other work adds to ending two processes.
        self.assertLess(took, 6)
        table = json.loads(output.read_text())
        self.assertEqual([row["operation"] for row in table["rows"]], ["barrier"])
        self.assertEqual(table["stopped_by"], "SIGTERM")
        self.assertTrue(any("1 of 2 rows" in note for note in table["notes"]), table["notes"])

    def test_a_signal_ends_a_long_row(self):
        for backend in ("mpi-openmpi", "mpi-mpich"):
            if backend not in usable_backends():
                continue
            # Half an hour of them.
            with self.subTest(backend=backend, phase="warm-up"):
                self.end_in(WARM_UP, backend, "--warmup", "200000", "--iterations", "1")
            with self.subTest(backend=backend, phase="measure"):
                self.end_in(MEASURE, backend, "--iterations", "200000")
            # As long as without compute, and as much again for the compute.
            with self.subTest(backend=backend, phase="overlap"):
                self.end_in(OVERLAP, backend, "--overlap", "--iterations", "800")

    def test_a_second_signal_says_what_was_written_and_where(self):
        for backend in ("threads", "mpi-openmpi", "mpi-mpich", "gloo"):
            if backend not in usable_backends():
                continue
            with self.subTest(backend):
                child, output = self.started(MEASURE, backend, "--min-size", "1KiB", "--max-size", "1KiB", "--quiet", environment={
                    "DLNETBENCH_FAULT": "slow:50 rank=1 operation=1 iteration=3"})
                child.send_signal(signal.SIGTERM)
                time.sleep(0.5)
                self.assertIsNone(child.poll())
                child.send_signal(signal.SIGINT)
                asked = time.monotonic()
                out, said = child.communicate(timeout=60)
                self.assertLess(time.monotonic() - asked, 20)
                self.assertEqual(child.returncode, 5, said)
                self.assertIn("error: coll: ended at once by a second signal\n  what was measured before, 1 row, is in "
                              f"{output} and on stdout\n", said)
                self.assertRegex(out, r"(?m)^barrier ")
                table = json.loads(output.read_text())
                self.assertEqual([row["operation"] for row in table["rows"]], ["barrier"])
                self.assertFalse(table["valid"])


if __name__ == "__main__":
    unittest.main()
