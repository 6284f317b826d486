# SPDX-License-Identifier: Apache-2.0
"""Every shape of command that scripts rely on, and what comes out of it."""
import csv
import io
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

from program import PROGRAM, ProgramTest, has_page, run

COMMANDS = ["run", "simulate", "coll", "calibrate", "validate", "schedule print", "schedule check", "schedule ledger", "report", "list", "doctor",
            "completion"]
LISTS = ["models", "devices", "machines", "plans", "passes", "orders", "backends", "energies", "topologies", "placements",
         "networks", "noises", "collectives", "metrics", "formats", "coll-formats", "costs", "commands"]
DP = ["--plan", "dp", "--model", "vit-h"]
SMALL = ["simulate", *DP, "--machine", "leonardo", "--ranks", "8"]
THREADS = ["run", *DP, "--device", "a100", "--backend", "threads", "--ranks", "2", "--scale", "1/512"]


def backend_missing(name):
    """Why a backend cannot be used here; empty where it can."""
    rows = json.loads(run("list", "backends", "--format", "json").stdout)
    return next(row["reason"] or "" for row in rows if row["name"] == name)


class InFolder(ProgramTest):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)


class Help(ProgramTest):
    def test_of_the_program(self):
        done = self.succeed("--help")
        for command in COMMANDS:
            self.assertIn(command.split()[0], done.stdout)
        self.assertNotIn("reference", done.stdout)

    def test_of_every_command(self):
        for command in COMMANDS:
            with self.subTest(command):
                done = self.succeed(*command.split(), "--help")
                examples = done.stdout.split("Examples:")[1].strip().splitlines()
                self.assertTrue(2 <= len(examples) <= 4, examples)
                for example in examples:
                    self.assertTrue(example.strip().startswith(f"dlnetbench {command}"), example)

    def test_fits_a_terminal_of_120_columns(self):
        for command in COMMANDS:
            for line in self.succeed(*command.split(), "-h").stdout.split("Examples:")[0].splitlines():
                self.assertLessEqual(len(line), 120, line)

    def test_version(self):
        self.assertRegex(self.succeed("--version").stdout, r"^dlnetbench \d+\.\d+\.\d+")


class List(ProgramTest):
    def test_what_there_is_to_list(self):
        names = [row["name"] for row in json.loads(self.succeed("list", "--format", "json").stdout)]
        self.assertEqual(names, LISTS)

    def test_every_list_in_every_format(self):
        for name in LISTS:
            with self.subTest(name):
                rows = json.loads(self.succeed("list", name, "--format", "json").stdout)
                self.assertGreater(len(rows), 0)
                self.assertEqual(len({row["name"] for row in rows}), len(rows))
                text = self.succeed("list", name).stdout.splitlines()
                self.assertEqual(len(text), 1 + len(rows))
                markdown = self.succeed("list", name, "--format", "markdown").stdout.splitlines()
                self.assertEqual(len(markdown), 2 + len(rows))
                bars = {line.replace("\\|", "").count("|") for line in markdown}
                self.assertEqual(len(bars), 1, markdown)

    def test_known_names(self):
        for name, some in {"plans": ["dp", "fsdp", "dp+pp", "dp+pp+tp", "dp+pp+ep"], "backends": ["mpi", "threads"],
                           "passes": ["data", "fsdp", "pipeline", "tensor", "expert"], "formats": ["csv", "json"],
                           "models": ["vit-h", "llama3-8b"], "machines": ["leonardo"], "costs": ["exact", "paper"],
                           "placements": ["linear", "random"]}.items():
            names = [row["name"] for row in json.loads(self.succeed("list", name, "--format", "json").stdout)]
            for each in some:
                self.assertIn(each, names)

    def test_parameters_are_counted(self):
        rows = json.loads(self.succeed("list", "models", "--format", "json").stdout)
        self.assertEqual({row["name"]: row["parameters"] for row in rows}["vit-h"], 632404480)


class Schedule(ProgramTest):
    FSDP = ["--plan", "fsdp", "--model", "llama3-8b", "--ranks", "16"]
    STAGES = ["--plan", "dp+pp", "--model", "llama3-8b", "--ranks", "16"]

    def test_print(self):
        self.assertIn("all-gather", self.succeed("schedule", "print", *self.FSDP).stdout)

    def test_roles_are_parts_of_the_whole(self):
        whole = self.succeed("schedule", "print", *self.STAGES, "--role", "all").stdout
        texts = {role: self.succeed("schedule", "print", *self.STAGES, "--role", role).stdout
                 for role in ("first", "middle", "last", "0", "4", "7")}
        self.assertEqual(texts["first"], texts["0"])
        self.assertEqual(texts["middle"], texts["4"])
        self.assertEqual(texts["last"], texts["7"])
        self.assertLess(len(texts["first"]), len(whole) / 4)
        self.assertNotEqual(texts["first"], texts["last"])

    def test_ranks_of_json_and_csv(self):
        whole = json.loads(self.succeed("schedule", "print", *self.FSDP, "--format", "json").stdout)
        self.assertEqual([rank["rank"] for rank in whole["ranks"]], list(range(16)))
        one = json.loads(self.succeed("schedule", "print", *self.FSDP, "--rank", "5", "--format", "json").stdout)
        self.assertEqual([rank["rank"] for rank in one["ranks"]], [5])
        self.assertEqual(one["ranks"][0], whole["ranks"][5])
        rows = list(csv.DictReader(io.StringIO(
            self.succeed("schedule", "print", *self.FSDP, "--rank", "5", "--format", "csv").stdout)))
        self.assertEqual(len(rows), len(one["ranks"][0]["operations"]))

    def test_check(self):
        self.assertIn("sound", self.succeed("schedule", "check", "--plan", "dp+pp+tp", "--model", "llama3-70b",
                                            "--ranks", "1024").stdout)
        self.assertEqual(self.succeed("schedule", "check", *self.FSDP, "--format", "json").stdout.strip(), "[]")

    def test_ledger_counts_the_gradients_once(self):
        rows = json.loads(self.succeed("schedule", "ledger", *DP, "--ranks", "8", "--format", "json").stdout)["rows"]
        # 632,404,480 parameters of two bytes, all-reduced in buckets
        self.assertEqual(sum(row["bytes_total"] - row["padding_bytes"] for row in rows), 2 * 632404480)
        self.succeed("schedule", "ledger", *DP, "--ranks", "8", "--format", "csv")
        self.assertIn("all-reduce", self.succeed("schedule", "ledger", *DP, "--ranks", "8").stdout)

    def test_literal_is_another_program(self):
        usual = self.succeed("schedule", "print", *self.FSDP).stdout
        literal = self.succeed("schedule", "print", *self.FSDP, "--literal").stdout
        self.assertNotEqual(usual, literal)

    def test_flavour(self):
        data = ["schedule", "print", "--plan", "data=rest", "--model", "vit-b", "--ranks", "2"]
        paper = self.succeed(*data, "--flavour", "paper").stdout
        pytorch = self.succeed(*data, "--flavour", "pytorch").stdout
        self.assertNotEqual(paper, pytorch)

    def test_set_and_option_and_file_say_the_same(self):
        option = self.succeed("schedule", "print", *DP, "--ranks", "4", "--dtype", "fp32").stdout
        settings = self.succeed("schedule", "print", *DP, "--set", "ranks=4", "--set", "dtype=fp32").stdout
        with tempfile.TemporaryDirectory() as folder:
            spec = pathlib.Path(folder) / "spec.toml"
            spec.write_text('model = "vit-h"\nplan = "dp"\nranks = 4\ndtype = "fp32"\n', encoding="utf-8")
            from_file = self.succeed("schedule", "print", "--spec", spec).stdout
        self.assertEqual(option, settings)
        self.assertEqual(option, from_file)

    def test_the_option_wins_over_set_and_set_over_the_file(self):
        with tempfile.TemporaryDirectory() as folder:
            spec = pathlib.Path(folder) / "spec.toml"
            spec.write_text('model = "vit-h"\nplan = "dp"\nranks = 2\n', encoding="utf-8")
            text = self.succeed("schedule", "check", "--ranks", "8", "--set", "ranks=4", "--spec", spec).stdout
            self.assertIn("8 ranks", text)
            text = self.succeed("schedule", "check", "--set", "ranks=4", "--spec", spec).stdout
            self.assertIn("4 ranks", text)


class Simulate(InFolder):
    def test_the_documented_line(self):
        done = self.succeed("simulate", "--plan", "dp+pp+tp", "--model", "llama3-70b", "--machine", "leonardo",
                            "--ranks", "1024", "--placement", "random", "-o", "out.json", cwd=self.folder,
                            timeout=300)
        result = json.loads((self.folder / "out.json").read_text())
        self.assertEqual(result["schema"], "dlnetbench.result/1")
        self.assertIn("1024", done.stdout)

    def test_the_same_line_gives_the_same_bytes(self):
        first = self.succeed(*SMALL, "--placement", "random", "--json").stdout
        second = self.succeed(*SMALL, "--placement", "random", "--json").stdout
        self.assertEqual(first, second)

    def test_two_iterations_unless_more_are_wanted(self):
        self.assertEqual(len(json.loads(self.succeed(*SMALL, "--json").stdout)["iterations"]), 2)
        self.assertEqual(len(json.loads(self.succeed(*SMALL, "--json", "--iterations", "3").stdout)["iterations"]), 3)

    def test_the_format_follows_from_the_extension(self):
        for name in ("out.json", "out.csv", "out.txt"):
            self.succeed(*SMALL, "-o", name, cwd=self.folder)
        json.loads((self.folder / "out.json").read_text())
        rows = list(csv.reader(io.StringIO((self.folder / "out.csv").read_text())))
        self.assertEqual(len({len(row) for row in rows}), 1)
        self.assertEqual((self.folder / "out.txt").read_text(), self.succeed(*SMALL, "--quiet").stdout)

    def test_dash_is_json_on_stdout(self):
        self.assertEqual(self.succeed(*SMALL, "-o", "-").stdout, self.succeed(*SMALL, "--json").stdout)

    def test_no_half_file_is_left(self):
        self.succeed(*SMALL, "-o", "out.json", cwd=self.folder)
        self.assertEqual([file.name for file in self.folder.iterdir()], ["out.json"])

    def test_a_composition(self):
        self.succeed("simulate", "--plan", "tensor=4,pipeline=8,data=rest", "--model", "llama3-8b", "--machine",
                     "leonardo", "--ranks", "64")


class Report(InFolder):
    def setUp(self):
        super().setUp()
        self.succeed(*SMALL, "-o", "one.json", cwd=self.folder)

    def test_page_of_several_results(self):
        if not has_page():
            self.skipTest("built without the report page")
        self.succeed(*SMALL, "--placement", "random", "-o", "two.json", cwd=self.folder)
        done = self.succeed("report", "one.json", "two.json", "-o", "page.html", cwd=self.folder)
        self.assertEqual(done.stdout, "")
        page = (self.folder / "page.html").read_text()
        self.assertIn("</html>", page)
        self.assertEqual(self.succeed("report", "one.json", "two.json", "-o", "-", cwd=self.folder).stdout, page)

    def test_page_of_one_result_at_once(self):
        if not has_page():
            self.skipTest("built without the report page")
        self.succeed(*SMALL, "-o", "page.html", cwd=self.folder)
        self.assertIn("</html>", (self.folder / "page.html").read_text())

    def test_a_build_without_the_page_says_so(self):
        if has_page():
            self.skipTest("built with the report page")
        self.fail_with(3, ["report", "one.json", "-o", "page.html"], ["page"], cwd=self.folder)


class Run(InFolder):
    def test_threads(self):
        done = run(*THREADS, "--iterations", "3", "-o", "out.json", cwd=self.folder)
        # A busy machine may spoil the timing, which is said and written all the same.
        self.assertIn(done.returncode, (0, 4), done.stderr)
        result = json.loads((self.folder / "out.json").read_text())
        self.assertEqual(result["schema"], "dlnetbench.result/1")
        self.assertEqual(result["valid"], done.returncode == 0)
        self.assertEqual(len(result["iterations"]), 3)

    def test_json_is_all_of_stdout(self):
        done = run(*THREADS, "--iterations", "2", "--json")
        self.assertIn(done.returncode, (0, 4), done.stderr)
        self.assertEqual(json.loads(done.stdout)["executor"], "threads")

    def test_ranks_follow_from_cores_and_plan(self):
        done = run("run", "--plan", "pipeline=2", "--model", "vit-b", "--backend", "threads", "--message-scale", "1/64",
                   "--compute-scale", "1/64", "--iterations", "1", "--json")
        self.assertIn(done.returncode, (0, 4), done.stderr)
        self.assertEqual(json.loads(done.stdout)["machine"]["ranks"] % 2, 0)

    def test_processes_under_a_launcher(self):
        if reason := backend_missing("mpi"):
            self.skipTest(reason)
        done = run("run", *DP, "--device", "a100", "--ranks", "2", "--scale", "1/512", "--iterations", "2", "-o",
                   "out.json", cwd=self.folder)
        self.assertIn(done.returncode, (0, 4), done.stderr)
        result = json.loads((self.folder / "out.json").read_text())
        self.assertEqual(result["machine"]["ranks"], 2)
        self.assertEqual(done.stdout.count(result["label"]), 1, done.stdout)

    def test_under_the_users_own_mpirun(self):
        if reason := backend_missing("mpi-openmpi"):
            self.skipTest(reason)
        launcher = shutil.which("mpirun.openmpi")
        if not launcher:
            self.skipTest("no mpirun.openmpi here")
        env = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
        done = subprocess.run([launcher, "--oversubscribe", "--bind-to", "none", "-n", "3", PROGRAM, "run", *DP,
                               "--scale", "1/512", "--iterations", "1", "-o", "out.json"], cwd=self.folder, env=env,
                              capture_output=True, text=True, timeout=120, check=False)
        self.assertIn(done.returncode, (0, 4), done.stderr)
        result = json.loads((self.folder / "out.json").read_text())
        self.assertEqual(result["machine"]["ranks"], 3)
        self.assertEqual(done.stdout.count(result["label"]), 1, done.stdout)

    def test_a_backend_that_is_not_here_is_no_mistake_of_the_user(self):
        rows = json.loads(self.succeed("list", "backends", "--format", "json").stdout)
        absent = [row["name"] for row in rows if not row["usable"]]
        if not absent:
            self.skipTest("every backend is here")
        for name in absent:
            with self.subTest(name):
                self.fail_with(3, ["run", *DP, "--ranks", "2", "--scale", "1/512", "--backend", name],
                               ["--backend"])


class Buffers(InFolder):
    def test_what_cannot_be_is_refused(self):
        for words, mentions in [
            (["run", *THREADS[1:], "--buffers", "cuda"], ["--buffers", "backend 'threads' has no buffers in 'cuda'", "host"]),
            (["coll", "--backend", "threads", "--ranks", "2", "--buffers", "hip"], ["backend 'threads' has no buffers in 'hip'"]),
            (["run", *THREADS[1:], "--buffers", "cud"], ["--buffers", "'cud'", "did you mean 'cuda'?"]),
            (["coll", "--machine", "dgx-a100", "--ranks", "2", "--buffers", "cuda"], ["nothing is started where a machine is simulated"]),
            (["run", *THREADS[1:], "--compute", "device"], ["--compute", "backend 'threads' has its buffers on the host here"]),
            (["run", *THREADS[1:], "--compute", "devic"], ["--compute", "did you mean 'device'?"]),
            (["run", *THREADS[1:], "--compute-share", "0.5"], ["--compute-share", "nothing is computed on a device"]),
            (["run", *THREADS[1:], "--compute", "device", "--compute-share", "0"], ["--compute-share"]),
        ]:
            with self.subTest(words):
                self.fail_with(2, words, mentions)

    def test_without_an_accelerator_it_is_not_possible_here(self):
        usable = [row["name"] for row in json.loads(self.succeed("list", "backends", "--format", "json").stdout) if row["usable"]]
        rows = {row["subject"]: row for row in json.loads(self.succeed("doctor", "--format", "json").stdout)}
        for memory, reason in [("cuda", "NVIDIA's driver cannot be loaded"), ("hip", "the HIP runtime cannot be loaded")]:
            if rows[f"buffers {memory}"]["state"] == "ok":
                continue  # there is one
            with self.subTest(memory):
                self.assertIn(reason, rows[f"buffers {memory}"]["detail"])
                if "mpi" in usable:
                    for words in (["run", *DP, "--ranks", "2", "--scale", "1/512"], ["coll", "--ranks", "2"]):
                        self.fail_with(3, [*words, "--backend", "mpi", "--buffers", memory], ["--buffers", reason])

    def test_the_list_says_where_buffers_can_be(self):
        rows = json.loads(self.succeed("list", "backends", "--format", "json").stdout)
        buffers = {row["name"]: row["buffers"] for row in rows}
        self.assertEqual(buffers["threads"], "host")
        self.assertEqual(buffers["mpi"], "host, cuda, hip")
        self.assertEqual((buffers["nccl"], buffers["rccl"]), ("cuda", "hip"))


class Binding(InFolder):
    def bound(self, *words, **options):
        done = run(*THREADS, "--iterations", "1", "-o", "out.json", *words, cwd=self.folder, **options)
        self.assertIn(done.returncode, (0, 4), done.stderr)
        return json.loads((self.folder / "out.json").read_text()), done.stdout

    def test_the_map_is_in_the_result_and_in_the_summary(self):
        result, summary = self.bound("--binding", "numa")
        self.assertEqual([row["rank"] for row in result["binding"]], [0, 1])
        self.assertEqual({row["bound"] for row in result["binding"]}, {True})
        self.assertEqual(result["spec"]["binding"], "numa")
        table = summary.split("\nbinding\n")[1]
        self.assertRegex(table, rf"(?m)^ +1 +\S+ +{result['binding'][1]['cores']} ")

    def test_none_says_where_ranks_may_run(self):
        result, summary = self.bound("--binding", "none")
        self.assertEqual({row["bound"] for row in result["binding"]}, {False})
        self.assertNotIn("\nbinding\n", summary)
        self.assertIn("binding none: ranks are not bound", result["notes"])

    def test_a_topology_from_elsewhere_binds_nobody(self):
        result, _ = self.bound(environment={"HWLOC_SYNTHETIC": "numa:2 core:4 pu:2"})
        self.assertEqual({row["bound"] for row in result["binding"]}, {False})

    def test_what_cannot_be_is_refused(self):
        self.fail_with(3, [*THREADS, "--binding", "gpu"], ["--binding", "no GPU on this host"],
                       environment={"HWLOC_SYNTHETIC": "numa:1 core:2 pu:1"})
        self.fail_with(2, [*THREADS, "--binding", "cores"], ["choose one of", "core"])


class Doctor(ProgramTest):
    def test_says_what_is_here(self):
        rows = {row["subject"]: row for row in json.loads(self.succeed("doctor", "--format", "json").stdout)}
        for subject in ("cores", "memory", "clock", "sleep", "launchers", "backend threads", "data folder"):
            self.assertIn(subject, rows)
        self.assertEqual(rows["backend threads"]["state"], "ok")
        self.assertIn("cores", self.succeed("doctor").stdout)

    def test_says_what_the_host_is_made_of(self):
        rows = json.loads(self.succeed("doctor", "--format", "json",
                                       environment={"HWLOC_SYNTHETIC": "numa:2 core:4 pu:2"}).stdout)
        topology = next(row for row in rows if row["subject"] == "topology")
        self.assertRegex(topology["detail"], "^8 cores with 2 threads each, 2 NUMA nodes, no GPU")

    def test_says_of_every_energy_counter_what_it_reads_or_why_not(self):
        rows = json.loads(self.succeed("doctor", "--format", "json").stdout)
        states = {row["subject"].removeprefix("energy "): row for row in rows if row["subject"].startswith("energy ")}
        listed = json.loads(self.succeed("list", "energies", "--format", "json").stdout)
        self.assertEqual(sorted(states), [row["name"] for row in listed])
        for row in listed:
            self.assertEqual(states[row["name"]]["state"], "ok" if row["usable"] else "no")
            self.assertTrue(states[row["name"]]["detail"])

    def test_without_the_data_folder(self):
        lost = {"DLNETBENCH_DATA": "/absent"}
        self.succeed("run", "--help", environment=lost)
        rows = {row["subject"]: row for row in
                json.loads(self.succeed("doctor", "--format", "json", environment=lost).stdout)}
        self.assertEqual(rows["data folder"]["state"], "missing")
        self.fail_with(2, ["list", "models"], ["DLNETBENCH_DATA", "/absent"], environment=lost)


if __name__ == "__main__":
    unittest.main()
