# SPDX-License-Identifier: Apache-2.0
"""What the validation of kernels and steps computes with, on data whose answer is known."""

import csv
import json
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))

from validation import kernels, plots, simulator, steps  # noqa: E402

PEAK, BANDWIDTH = 300e12, 2e12


class Kernels(unittest.TestCase):
    def test_a_fit_finds_the_constants_that_made_the_times(self):
        truth = (0.7, 0.8, 6e-6)
        made = []
        for tokens in (64, 512, 2048, 8192):
            for width in (1024, 4096, 16384):
                blank = kernels.product("x", "made", tokens, width, 4096, 1)
                made.append(kernels.product("x", "made", tokens, width, 4096,
                                            kernels.predicted(blank, PEAK, BANDWIDTH, truth)))
        for found, right in zip(kernels.fit(made, PEAK, BANDWIDTH), truth):
            self.assertAlmostEqual(found / right, 1, delta=0.02)

    def test_quantities_have_their_units(self):
        self.assertEqual(kernels.quantity("312 TFLOP/s"), 312e12)
        self.assertAlmostEqual(kernels.quantity("6.9 us"), 6.9e-6)


def nanotron_row(**changes):
    row = {"status": "ok", "model": "1B", "kv_heads": "32", "tp": "2", "pp": "2", "dp": "4", "micro_batch": "1",
           "grad_accum": "8", "tok_s": "1000", "seq": "4096", "global_batch": "256", "gpu_mem_GB": "10", "n_gpus": "16",
           "layers": "16", "hidden": "2048", "heads": "32", "ffn": "8192", "vocab": "131072", "tied_embeddings": "1",
           "sharding": "ZeRO-1"}
    return row | {key: str(value) for key, value in changes.items()}


class Steps(unittest.TestCase):
    def test_rank_correlation(self):
        self.assertAlmostEqual(steps.spearman([1, 2, 3, 4], [10, 20, 30, 40]), 1)
        self.assertAlmostEqual(steps.spearman([1, 2, 3, 4], [4, 3, 2, 1]), -1)
        self.assertAlmostEqual(steps.spearman([1, 2, 3], [1, 3, 2]), 0.5)

    def test_a_step_is_slow_beside_one_with_larger_microbatches(self):
        rows = [nanotron_row(tok_s=1000, micro_batch=2), nanotron_row(tok_s=300), nanotron_row(tok_s=900),
                nanotron_row(tok_s=100, tp=4)]  # nothing to compare the last with
        with tempfile.TemporaryDirectory() as folder:
            with open(pathlib.Path(folder) / "train_3d_ultrascale_h100.csv", "w") as file:
                writer = csv.DictWriter(file, rows[0].keys())
                writer.writeheader()
                writer.writerows(rows)
            study = steps.nanotron(pathlib.Path(folder))
        self.assertEqual([step.slow for step in study.steps], [False, True, False, False])

    def test_replicas_lie_next_to_each_other_and_stages_apart(self):
        # 2 stages of 2 replicas of 2 tensor ranks: our rank 2 is stage 1 of replica 0, nanotron's is replica 1 of stage 0.
        job = steps.nanotron_job(nanotron_row(dp=2))
        self.assertEqual(job.devices, "0,1,4,5,2,3,6,7")

    def test_the_host_is_slower_where_stages_cross_nodes(self):
        fitted = {"dispatch": 1e-5, "crossing": 0.5}
        self.assertAlmostEqual(steps.nanotron_constants(nanotron_row(), fitted).dispatch, 2e-5)
        self.assertAlmostEqual(steps.nanotron_constants(nanotron_row(pp=1), fitted).dispatch, 1e-5)
        self.assertAlmostEqual(steps.nanotron_constants(nanotron_row(n_gpus=8), fitted).dispatch, 1e-5)

    def test_fits_name_the_constants_of_their_study(self):
        for name, fitted in json.loads(steps.FITS.read_text()).items():
            self.assertLessEqual(len(fitted), 5, name)


class Simulator(unittest.TestCase):
    def test_files_carry_the_constants(self):
        one = simulator.Simulator("none")
        machine, device = one.machine("p5", simulator.Constants(matrix=0.5, dispatch=2e-5, network=0.25, latency=3e-5))
        self.assertIn("efficiency = 0.25", pathlib.Path(machine).read_text())
        self.assertIn('endpoint_latency = "30.0 us"', pathlib.Path(machine).read_text())
        self.assertIn("matrix = 0.5\n", pathlib.Path(device).read_text())
        self.assertIn('dispatch = "20.0 us"', pathlib.Path(device).read_text())

    def test_many_microbatches_continue_the_line_of_a_few(self):
        class Line(simulator.Simulator):
            def once(self, job, microbatches, constants):
                return simulator.Outcome(10 + 3 * microbatches)

        job = simulator.Job("", "", 1, "", 100, 1, 1, stages=4)
        self.assertAlmostEqual(Line("none").run(job).time, 310)


class Plots(unittest.TestCase):
    def test_every_point_is_drawn(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "new" / "plot.svg"
            plots.scatter(path, [("a", 1, 1), ("a", 10, 2), ("b", 100, 0.5)], "x", "y")
            self.assertEqual(path.read_text().count('r="2"'), 3)


if __name__ == "__main__":
    unittest.main()
