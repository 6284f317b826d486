# SPDX-License-Identifier: Apache-2.0
"""What a shape becomes, without a kernel: these run everywhere."""
import pathlib
import subprocess
import tempfile
import unittest

from program import PROGRAM, tool

from dlnb_testbed import layout, machine_file, quantities, shape


class Shapes(unittest.TestCase):
    def refuse(self, text, *mentions, options=()):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "mine.toml"
            file.write_text(text, encoding="utf-8")
            done = tool("machine", "mine", "--shape", file, *options)
        self.assertEqual(done.returncode, 2, done.stderr)
        for mention in mentions:
            self.assertIn(mention, done.stderr)

    def test_bad_files_are_refused_with_file_and_key(self):
        good = 'leaves = 1\nhosts_per_leaf = 2\nlink = "1 Gbit/s"\n'
        self.refuse(good + "spine = 1\n", "mine.toml: spine", "did you mean spines?")
        self.refuse(good.replace("1 Gbit/s", "1 Gbit"), "mine.toml: link", "1 Gbit/s")
        self.refuse(good.replace("= 2", "= 0"), "mine.toml: hosts_per_leaf", "from 1 to 100")
        self.refuse(good.replace("leaves = 1", "leaves = 2"), "mine.toml: spines", "at least one spine")
        self.refuse(good + "spines = 2\n", "mine.toml: uplink", "is missing")
        self.refuse("leaves = 1\n", "mine.toml: hosts_per_leaf", "is missing")
        self.refuse("leaves = \n", "mine.toml", "is no TOML")
        self.refuse(good, "--mtu", options=("--mtu", "1"))
        self.refuse(good, "--sharing", "fifo or fair", options=("--sharing", "fairly"))
        self.refuse(good.replace("= 2", "= 65") + 'sharing = "fair"\n', "mine.toml: sharing", "at most 64")

    def test_names_are_offered(self):
        done = tool("machine", "two-leve")
        self.assertEqual(done.returncode, 2)
        self.assertIn("did you mean two-level?", done.stderr)

    def test_quantities(self):
        self.assertEqual(quantities.bits_per_second("1Gbit/s"), 10**9)
        self.assertEqual(quantities.bits_per_second("125 MB/s"), 10**9)
        self.assertEqual(quantities.size_in_bytes("1.5 KiB"), 1536)
        self.assertEqual(quantities.rate_text(10**9), "1 Gbit/s")
        self.assertRaises(ValueError, quantities.size_in_bytes, "64")

    def test_payload_of_a_frame(self):
        # 1500 bytes of IP hold 1448 of payload after 52 of headers, and travel in a frame of 1514.
        self.assertAlmostEqual(shape.load("two-level").payload_share, 1448 / 1514)

    def test_every_shape_has_a_layout_and_a_machine(self):
        for name in shape.shipped():
            with self.subTest(shape=name):
                one = shape.load(name)

                plan = layout.layout(one)

                self.assertEqual(len(plan.addresses), one.hosts)
                self.assertEqual(len(set(plan.addresses.values())), one.hosts)
                self.assertEqual(len(plan.cables), one.hosts + one.leaves * one.spines)
                self.assertEqual(set(plan.settings), set(plan.namespaces))
                with tempfile.TemporaryDirectory() as folder:
                    file = pathlib.Path(folder) / "machine.toml"
                    file.write_text(machine_file.machine_file(name, one), encoding="utf-8")
                    done = subprocess.run(
                        [PROGRAM, "simulate", "--plan", "dp", "--model", "vit-b", "--machine", file, "--ranks",
                         str(one.hosts), "--quiet"], capture_output=True, text=True, timeout=60, check=False)
                self.assertEqual(done.returncode, 0, done.stderr)


if __name__ == "__main__":
    unittest.main()
