# SPDX-License-Identifier: Apache-2.0
"""Completion scripts parse in their shells, and bash's offers what it should."""
import os
import pathlib
import shutil
import subprocess
import tempfile

from program import ProgramTest


class Completion(ProgramTest):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def script(self, shell):
        file = self.folder / f"completion.{shell}"
        file.write_text(self.succeed("completion", shell).stdout, encoding="utf-8")
        return file

    def offers(self, line):
        """What bash would offer at the end of a line."""
        words = line.split(" ")
        program = (f'source "{self.script("bash")}"\nCOMP_WORDS=({" ".join(repr(word) for word in words)})\n'
                   f'COMP_CWORD={len(words) - 1}\n_dlnetbench\nprintf "%s\\n" "${{COMPREPLY[@]}}"\n')
        done = subprocess.run(["bash", "-c", program], capture_output=True, text=True, timeout=60, check=True,
                              cwd=self.folder, env=dict(os.environ))
        return done.stdout.split()

    def test_scripts_parse(self):
        for shell in ("bash", "zsh", "fish"):
            with self.subTest(shell):
                script = self.script(shell)
                if not shutil.which(shell):
                    self.skipTest(f"no {shell} here")
                done = subprocess.run([shell, "-n", script], capture_output=True, text=True, timeout=60, check=False)
                self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_bash_offers_commands(self):
        self.assertEqual(self.offers("dlnetbench si"), ["simulate"])
        self.assertEqual(set(self.offers("dlnetbench schedule ")), {"print", "check", "ledger"})
        self.assertNotIn("reference", self.offers("dlnetbench "))

    def test_bash_offers_options_and_their_values(self):
        self.assertEqual(self.offers("dlnetbench simulate --mess"), ["--message-scale"])
        self.assertIn("vit-h", self.offers("dlnetbench simulate --model vit"))
        self.assertIn("dp+pp+tp", self.offers("dlnetbench run --plan dp"))
        self.assertEqual(self.offers("dlnetbench schedule print --format c"), ["csv"])
        self.assertIn("threads", self.offers("dlnetbench run --backend "))
        self.assertEqual(self.offers("dlnetbench list mod"), ["models"])

    def test_bash_offers_files(self):
        (self.folder / "result.json").touch()
        self.assertEqual(self.offers("dlnetbench report res"), ["result.json"])
        self.assertEqual(self.offers("dlnetbench simulate -o res"), ["result.json"])
