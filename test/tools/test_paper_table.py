# SPDX-License-Identifier: Apache-2.0
"""The pure functions behind docs/models/paper_ranges.md."""

import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))

import paper_claims as paper  # noqa: E402
import paper_reasons  # noqa: E402
import paper_table  # noqa: E402
from paper_claims import COMMUNICATION, DROP, EFFICIENCY, Claim, Run  # noqa: E402


class Counts(unittest.TestCase):
    def test_one_fabric_has_the_small_counts_and_ends_at_its_size(self):
        self.assertEqual(paper.counts("dp", "dgx-a100"), [2, 4, 8])
        self.assertEqual(paper.counts("fsdp", "gb300-nvl72"), [4, 8, 16, 32])
        self.assertEqual(paper.counts("dp+pp+ep", "gb300-nvl72"), [])

    def test_supercomputers_begin_on_several_nodes(self):
        self.assertEqual(paper.counts("dp", "leonardo"), [8, 16, 32, 64])

    def test_lumi_doubles(self):
        self.assertEqual(paper.counts("dp", "lumi"), [4, 8, 16, 32, 64, 128])
        self.assertEqual(paper.counts("dp+pp+ep", "lumi"), [1024, 2048, 4096])

    def test_a_plan_with_more_ranks_than_there_are_is_made_smaller(self):
        self.assertEqual(paper.settings("fsdp", 4), ["plan.fsdp.degree=4"])
        self.assertEqual(paper.settings("dp+pp", 4), ["plan.pipeline.stages=4"])
        self.assertEqual(paper.settings("dp+pp", 8), [])
        self.assertEqual(paper.settings("dp", 2), [])

    def test_further_runs_are_variants_of_runs_in_the_tables(self):
        runs = set(paper.runs())

        self.assertEqual([run for run, _ in paper_reasons.EXPERIMENTS if run not in runs], [])


class Efficiency(unittest.TestCase):
    def test_is_throughput_per_gpu_against_the_smallest_run(self):
        small, large = Run("dp", "vit-h", "alps", 8), Run("dp", "vit-h", "alps", 32)

        self.assertEqual(paper.efficiencies({large: 240, small: 80}), {large: 75, small: 100})

    def test_lumi_on_several_nodes_is_not_normalised_by_one_node(self):
        node, two, four = [Run("dp", "vit-h", "lumi", ranks) for ranks in (8, 16, 32)]

        efficiency = paper.efficiencies({node: 80, two: 80, four: 80})

        self.assertEqual(efficiency, {node: 100, two: 100, four: 50})

    def test_drop_needs_a_run_of_half_the_size_in_the_series(self):
        node, two, four = [Run("dp", "vit-h", "lumi", ranks) for ranks in (8, 16, 32)]

        self.assertEqual(paper.drops({node: 100, two: 90, four: 70}), {four: 20})


class Claims(unittest.TestCase):
    def test_miss_is_the_distance_to_the_nearer_end(self):
        claim = Claim(COMMUNICATION, "", ["dp"], ["alps"], 30, 50)

        self.assertEqual([claim.miss(value) for value in (20, 29.96, 40, 50.04, 55)], [-10, 0, 0, 0, 5])

    def test_a_range_up_to_100_has_no_upper_end(self):
        self.assertEqual(Claim(EFFICIENCY, "", ["dp"], ["alps"], low=80).miss(101), 0)

    def test_the_most_special_claim_stands_beside_a_run(self):
        for run, low, high in [(Run("dp+pp", "llama3-8b", "alps", 64), 40, 60),
                               (Run("dp+pp", "llama3-8b", "jupiter", 64), 30, 50),
                               (Run("dp", "vit-h", "gb300-nvl72", 16), 0, 58),
                               (Run("dp", "vit-h", "gb300-nvl72", 32), 15, 25)]:
            claim = paper.claim_beside(run, COMMUNICATION)
            self.assertEqual((claim.low, claim.high), (low, high), run)

    def test_a_claim_on_several_nodes_leaves_one_node_out(self):
        self.assertIsNone(paper.claim_beside(Run("dp", "vit-h", "lumi", 8), DROP))
        self.assertIsNotNone(paper.claim_beside(Run("dp", "vit-h", "lumi", 16), DROP))

    def test_judged_over_all_runs_or_over_the_largest(self):
        values = {Run("dp", "vit-h", "alps", ranks): value for ranks, value in [(8, 20), (16, 45), (32, 60)]}
        every = Claim(COMMUNICATION, "", ["dp"], ["alps"], 30, 50)
        largest = Claim(COMMUNICATION, "", ["dp"], ["alps"], 30, 70, of="largest")
        elsewhere = Claim(COMMUNICATION, "", ["dp"], ["lumi"], 30, 70)

        self.assertEqual(paper.judge(every, values), (3, 1, 20, 60, -10))
        self.assertEqual(paper.judge(largest, values), (1, 1, 60, 60, 0))
        self.assertIsNone(paper.judge(elsewhere, values))


class Hand(unittest.TestCase):
    def test_bubble(self):
        self.assertAlmostEqual(paper_reasons.gpipe_bubble(8, 16), 100 * 7 / 23)

    def test_ring(self):
        self.assertAlmostEqual(paper_reasons.ring_seconds(4, 1e9, 1e9), 1.5)

    def test_all_to_all_as_long_as_compute_halves_what_the_bubble_leaves(self):
        self.assertAlmostEqual(paper_reasons.least_with_experts(2.0, 2.0), 100 - 100 * 16 / 23 / 2)
        self.assertAlmostEqual(paper_reasons.least_with_experts(2.0, 0.0), 100 * 7 / 23)


class Page(unittest.TestCase):
    def test_only_cables_between_switches_are_widened(self):
        text = 'local_capacity = "200 Gbit/s"  # why\nendpoint_capacity = "200 Gbit/s"\n'

        self.assertEqual(paper_table.widened(text),
                         'local_capacity = "20000 Gbit/s"\nendpoint_capacity = "200 Gbit/s"\n')

    def test_verdict_says_which_side_and_how_far(self):
        claim = Claim(COMMUNICATION, "", ["dp"], ["alps"], 30, 50)

        self.assertEqual(paper_table.verdict(claim, 40), ["30–50", "held"])
        self.assertEqual(paper_table.verdict(claim, 51.26), ["30–50", "**1.3 over**"])
        self.assertEqual(paper_table.verdict(claim, 28), ["30–50", "**2.0 under**"])
        self.assertEqual(paper_table.verdict(None, 28), ["–", "–"])

    def test_table_aligns_numbers_right(self):
        self.assertEqual(paper_table.table(["name ", "size"], [["a", "1"]]),
                         "| name | size |\n| --- | --: |\n| a | 1 |\n")

    def test_outcome_takes_shares_of_the_iteration_they_belong_to(self):
        metrics = {"iteration_time": 2.5, "throughput": 10, "communication_fraction": 0.5, "compute": 1.0,
                   "transfer": 0.5, "straggler_wait": 0.25, "pipeline_bubble": 0.25}
        ledger = [{"role": 0, "operation": "all-reduce", "bytes_total": 300},
                  {"role": 1, "operation": "all-reduce", "bytes_total": 500},
                  {"role": 0, "operation": "all-to-all", "bytes_each": 10, "count": 4, "group_size": 8}]

        values = {name: {"value": value} for name, value in metrics.items()}
        result = paper_table.outcome({"metrics": values, "ledger": ledger})

        self.assertEqual(result.parts, (25, 12.5, 12.5))
        self.assertEqual((result.communication, result.reduced, result.exchanged), (50, 300, 320))


if __name__ == "__main__":
    unittest.main()
