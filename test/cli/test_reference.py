# SPDX-License-Identifier: Apache-2.0
"""The committed reference pages are what the program prints; tools/update_reference rewrites them."""
import pathlib
import tempfile

from program import ProgramTest, has_page, run

PAGES = pathlib.Path(__file__).resolve().parents[2] / "docs" / "reference"

JOBS = """machine = "leonardo"
model = "vit-h"
plan = "dp"
ranks = 2
scale = "1/512"
[[job]]
name = "a"
[[job]]
name = "b"
"""


class Reference(ProgramTest):
    maxDiff = None

    def test_pages_are_up_to_date(self):
        for page in ("cli", "options", "lists"):
            with self.subTest(page):
                printed = self.succeed("reference", page).stdout
                committed = (PAGES / f"{page}.md").read_text(encoding="utf-8")
                self.assertEqual(printed, committed, "run tools/update_reference and look at the difference")

    def test_every_example_of_the_help_works(self):
        page = self.succeed("reference", "cli").stdout
        blocks = [block.split("```")[0] for block in page.split("Examples:\n\n```sh\n")[1:]]
        lines = [line.split(" > ")[0] for block in blocks for line in block.splitlines()]
        self.assertGreater(len(lines), 20)
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "jobs.toml").write_text(JOBS, encoding="utf-8")
            for name in ("out", "alone", "shared"):  # what the examples of `report` read
                self.succeed("simulate", "--machine", "leonardo", "--ranks", "4", "-o", f"{name}.json", cwd=folder)
            for line in lines:
                with self.subTest(line):
                    words = line.split()[1:]
                    if words[0] == "report" and not has_page():
                        continue
                    if "--hosts" in words or "--testbed" in words:
                        continue  # test/testbed has hosts
                    done = run(*words, cwd=folder, timeout=300)
                    # A busy machine may spoil the timing of a live run, which is said and no mistake of the line.
                    good = (0, 4) if words[0] in ("run", "validate") else (0,)
                    self.assertIn(done.returncode, good, done.stderr)

    def test_every_option_of_a_run_is_on_its_page(self):
        page = self.succeed("reference", "options").stdout
        for option in ("--model", "--plan", "--ranks", "--scale", "--message-scale", "--compute-scale", "--flavour",
                       "--backend", "--spec", "--set", "--dtype"):
            self.assertIn(f"`{option}`", page)
