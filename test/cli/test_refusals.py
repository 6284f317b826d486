# SPDX-License-Identifier: Apache-2.0
"""Wrong requests: each ends with exit code 2 and a message that names the place and what would be right."""
import json
import os
import pathlib
import resource
import subprocess
import tempfile

from program import PROGRAM, ProgramTest, run

DP = ["--plan", "dp", "--model", "vit-h"]
SIMULATE = ["simulate", *DP, "--machine", "leonardo", "--ranks", "8"]
PRINT = ["schedule", "print", *DP, "--ranks", "4"]
RUN = ["run", *DP, "--backend", "threads", "--ranks", "2", "--scale", "1/64"]
COLL = ["coll", "--backend", "threads", "--ranks", "4"]
PIPELINE = ["schedule", "check", "--plan", "dp+pp", "--model", "llama3-8b"]

# name: (command line, what the message must say)
LINES = {
    # the command line itself
    "no command": ([], ["command", "run", "simulate"]),
    "unknown command": (["simulat"], ["simulat", "did you mean 'simulate'"]),
    "command that is nothing like one": (["xyzzy"], ["xyzzy", "choose one of"]),
    "group without command": (["schedule"], ["schedule", "print", "check", "ledger"]),
    "unknown command in a group": (["schedule", "prnt"], ["prnt", "did you mean 'print'"]),
    "unknown option": ([*SIMULATE, "--modle", "vit-l"], ["--modle", "did you mean '--model'"]),
    "unknown option with value": ([*SIMULATE, "--iteratons=3"], ["--iteratons", "did you mean '--iterations'"]),
    "unknown option, nothing near": ([*SIMULATE, "--xyzzy"], ["--xyzzy", "--help"]),
    "unknown short option": ([*SIMULATE, "-z"], ["-z"]),
    "option of another command": (["list", "models", "--ranks", "4"], ["--ranks"]),
    "a word too many": ([*SIMULATE, "leonardo"], ["leonardo", "--help"]),
    "two commands": ([*SIMULATE, "run"], ["run"]),
    "value missing at the end": ([*SIMULATE, "--model"], ["--model", "value is missing"]),
    "value missing before an option": (["simulate", "--plan", "--model", "vit-h"], ["--plan", "value is missing"]),
    "option twice": ([*SIMULATE, "--ranks", "16"], ["--ranks", "2 times"]),
    "option twice, equal": ([*SIMULATE, "--ranks", "8"], ["--ranks", "2 times"]),
    "noise of no kind": ([*SIMULATE, "--set", "noise.period=1 ms"], ["noise", "which kind", "periodic"]),
    "unknown noise": ([*SIMULATE, "--noise", "periodc"], ["--noise", "did you mean 'periodic'"]),
    "unknown option of noise": ([*SIMULATE, "--noise", "random", "--set", "noise.perod=1 ms"],
                                ["noise.perod", "nothing is called 'perod'"]),
    "noise without its file": ([*SIMULATE, "--noise", "measured"], ["noise.file", "missing"]),
    "noise of a live benchmark": ([*COLL, "--noise", "periodic"], ["--noise", "simulated machine"]),
    "compute faster beside communication": ([*SIMULATE, "--overlap-slowdown", "0.5"], ["--overlap-slowdown", "at least 1"]),
    "lowered to nothing": ([*SIMULATE, "--lower", "rng"], ["--lower", "did you mean 'ring'"]),
    "collectives disturbed where there are none": (
        [*SIMULATE, "--lower", "ring", "--noise", "{kind = 'outliers', probability = 0.1, factor = 2}"],
        ["--noise", "no collectives"]),
    "placement of a live run": ([*RUN, "--placement", "random"], ["--placement", "only the simulator"]),
    "nodes of a live run": ([*RUN, "--nodes", "4"], ["--nodes", "only the simulator"]),
    "network of a schedule": ([*PRINT, "--network", "max_min"], ["--network", "only the simulator"]),
    "devices and a placement": ([*SIMULATE, "--devices", "0-7", "--placement", "random"], ["--devices", "placement"]),
    "devices and a placement of coll": (["coll", "--machine", "leonardo", "--ranks", "8", "--devices", "0-7",
                                         "--placement", "random"], ["--devices", "placement"]),
    "a placement that the machine does not have": (["simulate", *DP, "--machine", "dgx-a100", "--nodes", "1", "--ranks",
                                                    "8", "--placement", "intra-l1"], ["--placement", "one node"]),
    "a number of iterations and none": ([*RUN, "--iterations", "3", "--forever"], ["--iterations", "for ever"]),
    "longer than it may last": ([*RUN, "--min-time", "3 s", "--max-time", "2 s"], ["--min-time", "3 s", "2 s"]),
    "giving up on no spread": ([*RUN, "--max-iterations", "3"], ["--max-iterations", "spread"]),
    "giving up before the end": ([*RUN, "--iterations", "4", "--spread", "0.1", "--max-iterations", "3"],
                                 ["--max-iterations", "at least 4"]),
    "recorders nowhere": ([*RUN, "--recorder", "/nonexistent/dir"], ["--recorder", "/nonexistent/dir"]),
    "recorders of coll nowhere": ([*COLL, "--recorder", "/nonexistent/dir"], ["--recorder", "/nonexistent/dir"]),
    "lowered live": ([*RUN, "--lower", "ring"], ["--lower", "live run"]),
    "quiet and verbose": ([*SIMULATE, "--quiet", "--verbose"], ["--quiet", "--verbose"]),
    "empty model": (["simulate", "--plan", "dp", "--model", "", "--machine", "leonardo", "--ranks", "8"],
                    ["--model", "empty"]),
    "empty plan": (["schedule", "print", "--plan=", "--model", "vit-h", "--ranks", "8"], ["--plan"]),
    "plan without passes": (["schedule", "print", "--plan", "{}", "--model", "vit-h", "--ranks", "8"],
                            ["--plan", "names no pass"]),
    "options behind two dashes": (["run", "--", "--plan"], ["--plan", "leave out the '--'"]),
    "empty set": ([*SIMULATE, "--set", ""], ["--set"]),
    # names
    "unknown model": (["schedule", "print", "--plan", "dp", "--model", "vit-hh", "--ranks", "4"],
                      ["--model", "vit-hh", "vit-h"]),
    "unknown plan": (["schedule", "print", "--plan", "ddpp", "--model", "vit-h", "--ranks", "4"], ["--plan", "ddpp"]),
    "unknown device": ([*PRINT, "--device", "a1000"], ["--device", "a1000", "a100"]),
    "unknown machine": (["simulate", *DP, "--machine", "leonrado", "--ranks", "8"],
                        ["--machine", "leonrado", "leonardo"]),
    "machine of another kind of file": (["simulate", *DP, "--machine", "./spec.yaml", "--ranks", "8"],
                                        ["--machine", "spec.yaml", ".toml"]),
    "machine is a folder": (["simulate", *DP, "--machine", "./folder.toml", "--ranks", "8"],
                            ["--machine", "folder.toml"]),
    "unknown placement": ([*SIMULATE, "--placement", "randon"], ["randon", "random"]),
    "unknown network": ([*SIMULATE, "--network", "max_mim"], ["max_mim"]),
    "unknown backend": (["run", *DP, "--backend", "mpj", "--ranks", "2"], ["mpj", "mpi"]),
    "unknown cost model": ([*PRINT, "--cost-model", "guess"], ["guess", "paper", "exact"]),
    "unknown flavour": ([*PRINT, "--flavour", "jax"], ["--flavour", "jax", "paper", "pytorch"]),
    "unknown element type": ([*PRINT, "--dtype", "bf17"], ["--dtype", "bf17"]),
    "unknown progress": ([*RUN, "--progress", "sometimes"], ["sometimes", "poll"]),
    "unknown format": ([*PRINT, "--format", "xml"], ["--format", "xml", "json"]),
    "unknown list": (["list", "modles"], ["modles", "models"]),
    "unknown shell": (["completion", "tcsh"], ["tcsh", "bash"]),
    "no shell": (["completion"], ["bash"]),
    "unknown role": ([*PRINT, "--role", "frist"], ["--role", "frist", "first"]),
    "role outside": ([*PRINT, "--role", "1"], ["--role", "1"]),
    "no middle": ([*PRINT, "--role", "middle"], ["--role", "middle"]),
    "rank outside": ([*PRINT, "--rank", "4"], ["--rank", "0 to 3"]),
    "rank negative": ([*PRINT, "--rank", "-1"], ["--rank"]),
    "rank no number": ([*PRINT, "--rank", "first"], ["--rank", "first"]),
    "rank and role": ([*PRINT, "--rank", "0", "--role", "first"], ["--rank", "--role"]),
    # keys
    "set without equals": ([*SIMULATE, "--set", "ranks"], ["--set", "="]),
    "set without key": ([*SIMULATE, "--set", "=4"], ["--set"]),
    "set unknown key": ([*SIMULATE, "--set", "iteratons=4"], ["iteratons", "iterations"]),
    "set unknown pass": (["schedule", "print", "--model", "vit-h", "--ranks", "4", "--set", "plan.pipelin=2"],
                         ["pipelin", "pipeline"]),
    "set unknown key of a pass": (["schedule", "print", "--model", "vit-h", "--ranks", "4", "--set",
                                   "plan.data.bukets=2"], ["bukets"]),
    "set wrong type": ([*SIMULATE, "--set", "iterations=many"], ["--set iterations", "many"]),
    "set wrong and overridden": ([*SIMULATE, "--set", "ranks=four"], ["--set ranks", "four"]),
    "set out of range and overridden": ([*SIMULATE, "--iterations", "2", "--set", "iterations=0"],
                                        ["--set iterations", "0"]),
    "set unclosed": ([*SIMULATE, "--set", "plan.data={ buckets = 3"], ["--set"]),
    # numbers
    "more iterations than there can be": ([*SIMULATE, "--iterations", "1e15"], ["--iterations", "at most 1000000,"]),
    "more iterations than 31 bits": ([*SIMULATE, "--iterations", "3000000000"], ["--iterations", "at most 1000000,"]),
    "seed beyond 63 bits": ([*SIMULATE, "--seed", "9223372036854775808"], ["--seed", "at most 9223372036854775807"]),
    "ranks zero": (["schedule", "print", *DP, "--ranks", "0"], ["--ranks", "0"]),
    "ranks negative": (["schedule", "print", *DP, "--ranks", "-4"], ["--ranks", "-4"]),
    "ranks no number": (["schedule", "print", *DP, "--ranks", "four"], ["--ranks", "four"]),
    "ranks fraction": (["schedule", "print", *DP, "--ranks", "4.5"], ["--ranks"]),
    "ranks beyond 64 bits": (["schedule", "print", *DP, "--ranks", "99999999999999999999"], ["--ranks"]),
    "ranks missing": (["schedule", "print", *DP], ["--ranks"]),
    "ranks missing for simulate": (["simulate", *DP, "--machine", "leonardo"], ["--ranks"]),
    "machine missing": (["simulate", *DP, "--ranks", "8"], ["--machine"]),
    "batch zero": ([*PRINT, "--batch", "0"], ["--batch"]),
    "batch negative": ([*PRINT, "--batch", "-16"], ["--batch"]),
    "sequence negative": ([*PRINT, "--sequence", "-1"], ["--sequence"]),
    "iterations zero": ([*SIMULATE, "--iterations", "0"], ["--iterations"]),
    "warm-up negative": ([*SIMULATE, "--warmup", "-1"], ["--warmup"]),
    "seed no number": ([*SIMULATE, "--seed", "x"], ["--seed"]),
    "scale zero": ([*RUN[:-1], "0"], ["--scale"]),
    "scale negative": ([*RUN[:-1], "-1"], ["--scale", "-1"]),
    "scale by zero": ([*RUN[:-1], "1/0"], ["--scale", "1/0"]),
    "scale nan": ([*RUN[:-1], "nan"], ["--scale"]),
    "scale infinite": ([*RUN[:-1], "inf"], ["--scale"]),
    "scale overflows": ([*RUN[:-1], "1e999"], ["--scale"]),
    "scale a word": ([*RUN[:-1], "half"], ["--scale", "half"]),
    "message scale negative": ([*SIMULATE, "--message-scale", "-0.5"], ["--message-scale"]),
    "compute scale nan": ([*SIMULATE, "--compute-scale", "nan"], ["--compute-scale"]),
    "time without unit": ([*RUN, "--min-time", "5"], ["--min-time", "unit"]),
    "time with a unit of size": ([*RUN, "--watchdog", "5 MiB"], ["--watchdog", "MiB"]),
    "time negative": ([*RUN, "--watchdog", "-5 s"], ["--watchdog"]),
    "buckets beyond counting": ([*PRINT, "--set", "plan.data.buckets=4294967296"],
                                ["--set plan.data.buckets", "1000000"]),
    "units beyond counting": (["schedule", "check", "--plan", "fsdp", "--model", "vit-h", "--ranks", "8", "--set",
                               "plan.fsdp.units=9223372036854775807"], ["--set plan.fsdp.units", "1000000"]),
    "virtual stages beyond counting": ([*PIPELINE, "--ranks", "8", "--set", "plan.pipeline.schedule='interleaved'",
                                        "--set", "plan.pipeline.virtual_stages=4611686018427387904"],
                                       ["--set plan.pipeline.virtual_stages", "1000000"]),
    "degree a word": ([*PRINT, "--set", "plan.data='many'"], ["--set plan.data", "rest"]),
    "activation beyond counting": (["schedule", "check", "--model", "llama3-8b", "--plan", "tensor=2", "--ranks", "2",
                                    "--batch", "1000000", "--sequence", "16777216"], ["--batch", "elements", "smaller"]),
    "messages beyond counting": ([*PIPELINE, "--ranks", "8", "--batch", "1024", "--sequence", "16777216",
                                  "--message-scale", "1000000"], ["--message-scale", "bytes", "smaller"]),
    # sizes that do not go together
    "ranks do not divide into stages": ([*PIPELINE, "--ranks", "12"], ["12"]),
    "fewer ranks than stages": ([*PIPELINE, "--ranks", "4"], ["4"]),
    "batch does not divide": ([*PIPELINE, "--ranks", "16", "--batch", "15"], ["15"]),
    "layers do not divide": (["schedule", "check", "--model", "llama3-8b", "--ranks", "7", "--set",
                              "plan.pipeline={ stages = 7 }"], ["7"]),
    "heads do not divide": (["schedule", "check", "--model", "llama3-8b", "--ranks", "3", "--set", "plan.tensor=3"],
                            ["3"]),
    "experts without a mixture": (["schedule", "check", "--plan", "dp+pp+ep", "--model", "llama3-8b", "--ranks", "64"],
                                  ["expert"]),
    "more ranks than the machine": (["simulate", *DP, "--machine", "leonardo", "--ranks", "1000000"], ["1000000"]),
    "more memory than the host": (["run", "--plan", "dp", "--model", "llama2-70b", "--backend", "threads", "--ranks",
                                   "64", "--compute-scale", "0"], ["memory"]),
    # the collective benchmark
    "unknown operation": ([*COLL, "--operation", "all-reduc"], ["--operation", "did you mean 'all-reduce'"]),
    "one wrong operation of several": ([*COLL, "--operation", "barrier,allgather"], ["--operation", "allgather"]),
    "coll of an unknown type": ([*COLL, "--dtype", "int8"], ["--dtype", "int8"]),
    "coll of an unknown format": ([*COLL, "--format", "nccl"], ["--format", "nccl-tests"]),
    "coll of an unknown form": ([*COLL, "--in-place", "maybe"], ["--in-place", "both"]),
    "smallest above largest": ([*COLL, "--min-size", "2 MiB", "--max-size", "1 MiB"], ["--min-size", "2097152"]),
    "size without an end": ([*COLL, "--max-size", "1e30"], ["--max-size"]),
    "size negative": ([*COLL, "--min-size", "-4"], ["--min-size"]),
    "no factor leads on from 0": ([*COLL, "--min-size", "0"], ["--min-size", "--step"]),
    "factor one": ([*COLL, "--factor", "1"], ["--factor"]),
    "factor and step": ([*COLL, "--factor", "2", "--step", "1KiB"], ["--step", "--factor"]),
    "step nothing": ([*COLL, "--step", "0"], ["--step", "--factor"]),
    "machine and backend": (["coll", "--ranks", "4", "--machine", "alps", "--backend", "gloo"], ["--backend", "--machine"]),
    "too many sizes": ([*COLL, "--step", "1"], ["--step", "67107841", "larger"]),
    "groups do not divide": ([*COLL, "--groups", "3"], ["--groups", "3 groups", "4 ranks"]),
    "pairs of an odd number": (["coll", "--backend", "threads", "--ranks", "3", "--operation", "send-recv",
                                "--pattern", "ping-pong"], ["--pattern", "3 ranks", "ring"]),
    "skew above one": ([*COLL, "--skew", "2"], ["--skew"]),
    "coll into no folder": ([*COLL, "-o", "absent/out.json"], ["--output", "absent"]),
    "coll live on nodes of a machine": ([*COLL, "--nodes", "4"], ["--nodes", "--machine"]),
    "coll simulated on a testbed": (["coll", "--machine", "leonardo", "--ranks", "8", "--testbed", "foo"],
                                    ["--testbed", "--machine"]),
    "coll of an unknown extension": ([*COLL, "-o", "out.xml"], ["--output", ".csv", ".json"]),
    "coll beyond the host's memory": ([*COLL, "--max-size", "4 TiB"], ["available", "--max-size"]),
    # output
    "output without extension": ([*SIMULATE, "-o", "out"], ["--output", ".json"]),
    "output of an unknown kind": ([*SIMULATE, "-o", "out.xml"], ["--output", ".xml", ".json"]),
    "output into no folder": ([*SIMULATE, "-o", "absent/out.json"], ["--output", "absent"]),
    "output is a folder": ([*SIMULATE, "-o", "folder.json"], ["--output", "folder"]),
    "report as JSON": (["report", "good.json", "-o", "out.json"], ["--output", ".html"]),
    # files
    "spec missing": (["simulate", "--spec", "absent.toml"], ["absent.toml"]),
    "spec is a folder": (["simulate", "--spec", "folder.toml"], ["folder.toml"]),
    "spec cut off": (["simulate", "--spec", "cut.toml"], ["cut.toml:2"]),
    "spec empty": (["schedule", "print", "--spec", "empty.toml"], ["--ranks"]),
    "spec too large": (["simulate", "--spec", "huge.toml"], ["huge.toml"]),
    "spec binary": (["simulate", "--spec", "binary.toml"], ["binary.toml"]),
    "spec of an unknown kind": (["simulate", "--spec", "spec.yaml"], ["spec.yaml"]),
    "spec with an unknown key": (["simulate", "--spec", "unknown.toml"], ["unknown.toml:2", "iteratons", "iterations"]),
    "spec with an unknown pass": (["simulate", "--spec", "pass.toml"], ["pass.toml:5", "pipelin", "pipeline"]),
    "spec with a wrong type": (["simulate", "--spec", "type.toml"], ["type.toml:2", "ranks"]),
    "spec with a number for a table": (["simulate", "--spec", "table.toml"], ["table.toml:3", "plan"]),
    "spec with a key twice": (["simulate", "--spec", "twice.toml"], ["twice.toml:3"]),
    "spec with NaN": (["simulate", "--spec", "nan.toml"], ["nan.toml:2"]),
    "model file missing": (["schedule", "print", "--plan", "dp", "--ranks", "2", "--model", "absent/config.json"],
                           ["absent/config.json"]),
    "model file cut off": (["schedule", "print", "--plan", "dp", "--ranks", "2", "--model", "./cut.json"],
                           ["cut.json"]),
    "model file of another kind": (["schedule", "print", "--plan", "dp", "--ranks", "2", "--model", "./other.json"],
                                   ["other.json"]),
    "machine file empty": (["simulate", *DP, "--ranks", "2", "--machine", "./empty.toml"], ["empty.toml"]),
    "no result": (["report"], ["report", "result"]),
}

# the same for results
RESULTS = {
    "result missing": (["report", "absent.json"], ["absent.json"]),
    "result is a folder": (["report", "folder.json"], ["folder.json"]),
    "result cut off": (["report", "cut.json"], ["cut.json"]),
    "result empty": (["report", "empty.json"], ["empty.json"]),
    "result too large": (["report", "huge.json"], ["huge.json"]),
    "result of another kind": (["report", "other.json"], ["other.json", "schema"]),
    "result of a later schema": (["report", "later.json"], ["later.json", "dlnetbench.result/1"]),
    "result that is a list": (["report", "list.json"], ["list.json"]),
    "result with a number beyond all": (["report", "overflow.json"], ["overflow.json", "too large"]),
    "result without its members": (["report", "bare.json"], ["bare.json"]),
}

FILES = {
    "empty.toml": "",
    "empty.json": "",
    "cut.toml": 'model = "vit-h"\nplan = { data = \n',
    "spec.yaml": "model: vit-h\n",
    "unknown.toml": 'model = "vit-h"\niteratons = 3\n',
    "pass.toml": 'model = "vit-h"\nranks = 4\nmachine = "leonardo"\n[plan]\npipelin = 4\n',
    "type.toml": 'model = "vit-h"\nranks = "four"\nmachine = "leonardo"\n',
    "table.toml": 'model = "vit-h"\nranks = 4\nplan = 4\n',
    "twice.toml": 'model = "vit-h"\nranks = 4\nranks = 8\n',
    "nan.toml": 'model = "vit-h"\nmessage_scale = nan\n',
    "cut.json": '{"hidden_size": 4096, "num_hidden',
    "other.json": '{"colour": "red"}',
    "later.json": json.dumps({"schema": "dlnetbench.result/99", "kind": "run"}),
    "bare.json": json.dumps({"schema": "dlnetbench.result/1"}),
    "list.json": "[1, 2, 3]",
    "overflow.json": '{"schema": "dlnetbench.result/1", "sequence": 1e999}',
    "good.json": "{}",
}


class Refusals(ProgramTest):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        root = pathlib.Path(cls.folder.name)
        for name, text in FILES.items():
            (root / name).write_text(text, encoding="utf-8")
        (root / "binary.toml").write_bytes(bytes(range(256)))
        for name in ("folder.toml", "folder.json"):
            (root / name).mkdir()
        for name in ("huge.toml", "huge.json"):  # sparse: ten gigabytes that take no disk
            with open(root / name, "wb") as file:
                file.truncate(10 * 10**9)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def test_every_wrong_line_is_refused(self):
        for name, (line, mentions) in LINES.items():
            with self.subTest(name):
                done = self.fail_with(2, line, mentions, cwd=self.folder.name, timeout=30)
                self.assertEqual(done.stdout, "", name)

    def test_every_wrong_result_is_refused(self):
        for name, (line, mentions) in RESULTS.items():
            with self.subTest(name):
                self.fail_with(2, line, mentions, cwd=self.folder.name, timeout=30)
        self.assertFalse((pathlib.Path(self.folder.name) / "report.html").exists())

    def test_control_characters_are_shown_and_not_obeyed(self):
        name = "\x1b[31m\n.toml"
        (pathlib.Path(self.folder.name) / name).write_text("ranks = 0\n", encoding="utf-8")
        done = self.fail_with(2, ["simulate", "--spec", name], ["\\x1b[31m\\x0a.toml:1"], cwd=self.folder.name)
        self.assertNotIn("\x1b", done.stderr)

    def test_a_long_key_is_not_echoed_whole(self):
        long = "x" * 200_000
        (pathlib.Path(self.folder.name) / "long.toml").write_text(f"{long} = 1\n", encoding="utf-8")
        done = self.fail_with(2, ["simulate", "--spec", "long.toml"], ["long.toml:1", "xxx…"], cwd=self.folder.name)
        self.assertLess(len(done.stderr), 2000)

    def test_a_hundred_thousand_passes_are_refused_at_once(self):
        passes = "\n".join(f"p{i} = 1" for i in range(100_000))
        (pathlib.Path(self.folder.name) / "many.toml").write_text(f"[plan]\n{passes}\n", encoding="utf-8")
        self.fail_with(2, ["simulate", "--spec", "many.toml"], ["many.toml", "100000 passes", "at most 16"],
                       cwd=self.folder.name, timeout=10)

    def test_ranks_that_cannot_all_be_threads_are_refused_before_any_is_made(self):
        for words in (["run", *DP, "--scale", "1/65536"], ["coll"]):
            done = run(*words, "--backend", "threads", "--ranks", "100000", timeout=20)
            self.assertIn(done.returncode, (2, 3), done.stderr)
            self.assertRegex(done.stderr, "--ranks: 100000 ranks .*(threads|memory|need)")

    def test_what_is_wrong_with_jobs_names_the_line(self):
        # Above the jobs, of the first, of the second (whose table begins in line 7), then where and what.
        cases = [
            ("", "", 'network = "max_min_plain"', "jobs.toml:9 network: ", "'a' has max_min and 'b' max_min_plain"),
            ("", "", 'machine = "alps"', "jobs.toml:9 machine: ", "jobs share one machine"),
            ("", "nodes = 4", "", "jobs.toml:6 nodes: ", "'a' has 4 and 'b' 0"),
            ("", "", "ranks = 1000", "jobs.toml:9 ranks: ", "1000 ranks, but"),
            ("", "", "ranks = 5", "jobs.toml:9 ranks: ", "the jobs before leave 4 free devices"),
            ("", 'devices = "0-3"', 'devices = "3-6"', "jobs.toml:9 devices: ", "device 3 has a job before this one already"),
            ("", "", 'devices = "0-1"', "jobs.toml:9 devices: ", "2 devices for 4 ranks"),
            ("", "", 'devices = "0-3,8"', "jobs.toml:9 devices: ", "there is no device 8"),
            ("", "", 'devices = "n[1-2]"', "jobs.toml:9 devices: ", "gives its nodes no names"),
            ("", "", 'placement = "lineal"', "jobs.toml:9 placement: ", "nothing is called 'lineal'"),
            ("", "", 'placement = "intra-l1"', "jobs.toml:9 placement: ", "is one node"),
            ("", "", 'plan = "tensor=3,data=rest"', "jobs.toml:1 ranks: ", "4 ranks do not fit the plan"),
            ("", "", 'plan = "tensr=2"', "jobs.toml:9", "tensr"),
            ("", "", 'model = "vit-x"', "jobs.toml:9 model: ", "vit-x"),
            ("", "", 'device = "a101"', "jobs.toml:9 device: ", "a101"),
            ("", "", 'noise = "loud"', "jobs.toml:9 noise", "loud"),
            ("", "", "iterations = 0", "jobs.toml:9 iterations: ", ""),
            ("", "", "warmup = -1", "jobs.toml:9 warmup: ", ""),
            ("", "", "batch = 0", "jobs.toml:9 batch: ", ""),
            ("", "", "seed = 1.5", "jobs.toml:9 seed: ", ""),
            ("", "", 'start = "-1 s"', "jobs.toml:9 job.start: ", ""),
            ("", "", 'repeat = "yes"', "jobs.toml:9 job.repeat: ", ""),
            ("", "repeat = true", "repeat = true", "jobs.toml:4 job.repeat: ", "all jobs repeat"),
            ("", "", "message_scale = 1e300", "jobs.toml:9 message_scale: ", ""),
            ("", "", 'lower = "rng"', "jobs.toml:9 lower: ", "rng"),
        ]
        folder = pathlib.Path(self.folder.name)
        for above, first, second, where, what in cases:
            with self.subTest(first=first, second=second):
                (folder / "jobs.toml").write_text(
                    f'ranks = 4\nmachine = "dgx-a100"\nplan = "dp"\n[[job]]\nname = "a"\n{first}\n'
                    f'[[job]]\nname = "b"\n{second}\n', encoding="utf-8")
                self.fail_with(2, ["simulate", "--spec", "jobs.toml"], [f"error: {where}", what], cwd=folder)

    def test_what_a_job_lacks_names_its_table(self):
        folder = pathlib.Path(self.folder.name)
        for key, rest in (("machine", "ranks = 4"), ("ranks", 'machine = "alps"')):
            (folder / "jobs.toml").write_text(f"{rest}\n[[job]]\nname = \"a\"\n[[job]]\n", encoding="utf-8")
            self.fail_with(2, ["simulate", "--spec", "jobs.toml"], [f"error: jobs.toml:2 job.{key}: it is not said"],
                           cwd=folder)

    def test_what_only_simulated_jobs_do_names_the_job(self):
        folder = pathlib.Path(self.folder.name)
        for key in ('start = "1 s"', "repeat = true"):
            (folder / "jobs.toml").write_text(f"[[job]]\n[[job]]\n{key}\n", encoding="utf-8")
            self.fail_with(2, ["run", "--backend", "threads", "--spec", "jobs.toml"],
                           [f"error: jobs.toml:2 job.{key.split()[0]}: job 'job2': live jobs"], cwd=folder)

    def test_what_is_wrong_with_one_run_in_a_file_names_the_line(self):
        folder = pathlib.Path(self.folder.name)
        for line, where in (("ranks = 100000", "ranks"), ('machine = "alpz"', "machine"), ('model = "vit-x"', "model"),
                            ('devices = "0"', "devices")):
            (folder / "run.toml").write_text(f"{line}\n", encoding="utf-8")
            words = [word for key in ("machine", "ranks") if key != where
                     for word in (f"--{key}", {"machine": "dgx-a100", "ranks": "4"}[key])]
            self.fail_with(2, ["simulate", "--spec", "run.toml", *words], [f"error: run.toml:1 {where}: "], cwd=folder)
            if where != "model":
                self.fail_with(2, ["coll", "--spec", "run.toml", *words], [f"error: run.toml:1 {where}: "], cwd=folder)

    def test_a_forced_algorithm_says_what_it_does_not_do(self):
        words = ["coll", "--machine", "leonardo", "--ranks", "8", "--max-size", "1KiB", "--collective", "tree"]
        done = self.succeed(*words, "--operation", "all-reduce,all-to-all", "--format", "json")
        table = json.loads(done.stdout)
        self.assertEqual(table["spec"]["collective"], "tree")
        self.assertTrue(any("tree does not do all-to-all" in note for note in table["notes"]), table["notes"])
        self.fail_with(2, [*words, "--operation", "all-to-all"], ["--collective", "'tree' does none of these"])

    def test_costs_of_an_algorithm_that_there_is_not_are_refused(self):
        shipped = pathlib.Path(os.environ["DLNETBENCH_DATA"]) / "machines" / "dgx-a100.toml"
        machine = pathlib.Path(self.folder.name) / "mine.toml"
        machine.write_text(shipped.read_text(encoding="utf-8") + '\n[[software.cost]]\nalgorithm = "rnig"\n'
                           'protocol = "simple"\nstart = "1 us"\n', encoding="utf-8")
        for words in (["coll", "--max-size", "1KiB"], ["simulate", *DP]):
            self.fail_with(2, [*words, "--machine", machine, "--ranks", "8"],
                           ["mine.toml", "software.cost.algorithm", "did you mean 'ring'"])

    def test_keys_of_the_simulator_in_a_file_are_told(self):
        (pathlib.Path(self.folder.name) / "both.toml").write_text('placement = "random"\n', encoding="utf-8")
        done = self.succeed(*PRINT, "--spec", "both.toml", cwd=self.folder.name)
        self.assertIn("both.toml:1 placement: only the simulator reads it", done.stderr)

    def test_an_unreadable_file_is_refused(self):
        file = pathlib.Path(self.folder.name) / "secret.toml"
        file.write_text('model = "vit-h"\n', encoding="utf-8")
        file.chmod(0)
        if os.access(file, os.R_OK):
            self.skipTest("this user reads every file")
        self.fail_with(2, ["simulate", "--spec", file], ["secret.toml"])

    def test_a_huge_file_is_refused_before_it_is_read(self):
        limit = 1 << 31  # bytes of address space: reading ten gigabytes would not fit
        done = subprocess.run([PROGRAM, "simulate", "--spec", "huge.toml"], cwd=self.folder.name, capture_output=True,
                              text=True, timeout=30, check=False,
                              preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)))
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("huge.toml", done.stderr)
