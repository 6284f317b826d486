# SPDX-License-Identifier: Apache-2.0
"""The committed reference pages are what the program prints; tools/update_reference rewrites them."""
import pathlib

from program import ProgramTest

PAGES = pathlib.Path(__file__).resolve().parents[2] / "docs" / "reference"


class Reference(ProgramTest):
    maxDiff = None

    def test_pages_are_up_to_date(self):
        for page in ("cli", "options", "lists"):
            with self.subTest(page):
                printed = self.succeed("reference", page).stdout
                committed = (PAGES / f"{page}.md").read_text(encoding="utf-8")
                self.assertEqual(printed, committed, "run tools/update_reference and look at the difference")

    def test_examples_of_the_help_work(self):
        """Every example of `schedule`, `list`, `doctor` and `completion`; the others are run in test_commands."""
        page = self.succeed("reference", "cli").stdout
        lines = [line for line in page.splitlines() if line.startswith(("dlnetbench schedule ", "dlnetbench list",
                                                                        "dlnetbench doctor", "dlnetbench completion"))]
        lines = [line.split(" > ")[0] for line in lines if "[options]" not in line]
        self.assertGreater(len(lines), 12)
        for line in lines:
            with self.subTest(line):
                self.succeed(*line.split()[1:])

    def test_every_option_of_a_run_is_on_its_page(self):
        page = self.succeed("reference", "options").stdout
        for option in ("--model", "--plan", "--ranks", "--scale", "--message-scale", "--compute-scale", "--flavour",
                       "--backend", "--spec", "--set", "--dtype"):
            self.assertIn(f"`{option}`", page)
