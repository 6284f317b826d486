# SPDX-License-Identifier: Apache-2.0
"""Where output goes, and what happens when it cannot."""
import json
import os
import pathlib
import subprocess
import tempfile

from lost import usable
from program import PROGRAM, ProgramTest, run

SMALL = ["simulate", "--plan", "dp", "--model", "vit-h", "--machine", "leonardo", "--ranks", "4"]


def shell(line, **options):
    """The finished shell line, in which $PROGRAM is the program under test."""
    return subprocess.run(["bash", "-c", line], env=dict(os.environ, PROGRAM=PROGRAM), capture_output=True, text=True,
                          timeout=120, check=False, **options)


class Streams(ProgramTest):
    def test_a_reader_that_goes_away_is_no_error(self):
        done = shell('set -o pipefail; "$PROGRAM" list metrics --format json | head -c 1')
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_a_closed_stdout_is_no_error_and_harms_no_file(self):
        with tempfile.TemporaryDirectory() as folder:
            done = shell(f'"$PROGRAM" --quiet {" ".join(SMALL)} -o out.json >&-', cwd=folder)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            json.loads((pathlib.Path(folder) / "out.json").read_text())

    def test_every_stream_closed(self):
        with tempfile.TemporaryDirectory() as folder:
            done = shell(f'"$PROGRAM" {" ".join(SMALL)} -o out.json <&- >&- 2>&-', cwd=folder)
            self.assertEqual(done.returncode, 0)
            json.loads((pathlib.Path(folder) / "out.json").read_text())

    def test_a_full_disk_is_reported(self):
        if not os.path.exists("/dev/full"):
            self.skipTest("no /dev/full")
        coll = "coll --ranks 2 --max-size 1KiB --backend"
        live = "run --plan dp --model vit-b --ranks 2 --scale 1/65536 --iterations 1 --backend"
        commands = ["list", " ".join(SMALL), "coll --machine alps --ranks 4 --max-size 1KiB"]
        for backend in ("threads", "mpi-openmpi", "mpi-mpich", "gloo"):
            if usable(backend):
                commands += [f"{coll} {backend}", f"{live} {backend}"]
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "full.json").symlink_to("/dev/full")
            for command in commands:
                with self.subTest(command, to="stdout"):
                    done = shell(f'"$PROGRAM" {command} > /dev/full', cwd=folder)
                    self.assertEqual(done.returncode, 2, done.stderr)
                    self.assertIn("error: stdout: cannot be written: No space left on device", done.stderr)
                if command == "list":
                    continue
                with self.subTest(command, to="file"):
                    done = shell(f'"$PROGRAM" {command} -o full.json', cwd=folder)
                    self.assertEqual(done.returncode, 2, done.stderr)
                    self.assertIn("error: full.json: cannot be written: No space left on device", done.stderr)

    def test_results_on_stdout_and_talk_on_stderr(self):
        with tempfile.TemporaryDirectory() as folder:
            done = run(*SMALL, "--json", "-o", "out.csv", cwd=folder)
            json.loads(done.stdout)
            self.assertIn("out.csv", done.stderr)
            self.assertEqual(run(*SMALL, "--quiet", "-o", "out.csv", cwd=folder).stderr, "")

    def test_the_next_step_is_named_where_it_was_not_taken(self):
        with tempfile.TemporaryDirectory() as folder:
            self.assertIn("next: write it with -o", self.succeed(*SMALL).stdout)
            for more in (["-o", "out.json"], ["--json"], ["-o", "-"], ["--quiet"]):
                self.assertNotIn("next:", self.succeed(*SMALL, *more, cwd=folder).stdout, more)

    def test_names_of_files_do_not_reach_the_terminal_raw(self):
        with tempfile.TemporaryDirectory() as folder:
            done = self.succeed(*SMALL, "-o", "\x1b[31m.json", cwd=folder)
            self.assertIn("\\x1b[31m.json", done.stderr)
            self.assertNotIn("\x1b", done.stderr)

    def test_one_rank_is_one_rank(self):
        for words in (["schedule", "check"], ["schedule", "print"], ["schedule", "ledger"]):
            done = self.succeed(*words, "--plan", "dp", "--model", "vit-h", "--ranks", "1")
            self.assertNotIn("1 ranks", done.stdout)
            self.assertIn("1 rank", done.stdout)

    def test_global_options_stand_anywhere(self):
        for line in (["--quiet", "list", "plans"], ["list", "--quiet", "plans"], ["list", "plans", "--quiet"]):
            self.assertEqual(self.succeed(*line).stdout, self.succeed("list", "plans").stdout)

    def test_no_colour_without_a_terminal(self):
        done = run("simulat", environment={"NO_COLOR": ""})
        self.assertNotIn("\033", done.stderr)

    def test_colour_on_a_terminal_only_where_it_is_wanted(self):
        for words, environment, coloured in ((["simulat"], {}, True), (["simulat", "--no-color"], {}, False),
                                             (["simulat"], {"NO_COLOR": "1"}, False),
                                             (["simulat"], {"TERM": "dumb"}, False)):
            with self.subTest(words=words, environment=environment):
                self.assertEqual("\033" in self.on_a_terminal(words, environment), coloured)

    def test_progress_on_a_terminal_only_and_taken_away_again(self):
        line = ["run", "--plan", "dp", "--model", "vit-h", "--backend", "threads", "--ranks", "2", "--scale", "1/512",
                "--min-time", "1.5 s"]
        said = self.on_a_terminal(line, {})
        self.assertIn("\rmeasured iterations", said)
        self.assertGreater(said.rindex("\r\033[K"), said.rindex("measured iterations"))
        self.assertNotIn("measured iterations", self.on_a_terminal([*line, "--quiet"], {}))
        self.assertNotIn("measured iterations", run(*line).stderr)

    def on_a_terminal(self, words, environment):
        """What the program says where stderr is a terminal."""
        main, end = os.openpty()
        env = {name: value for name, value in os.environ.items() if name != "NO_COLOR"}
        env.update({"TERM": "xterm"}, **environment)
        subprocess.run([PROGRAM, *words], env=env, stdout=subprocess.DEVNULL, stderr=end, timeout=60, check=False)
        os.write(end, b"\n")  # so that there is something to read
        os.close(end)
        said = os.read(main, 4096).decode()
        os.close(main)
        return said
