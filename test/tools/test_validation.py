# SPDX-License-Identifier: Apache-2.0
"""What the validation of kernels and steps computes with, on data whose answer is known."""

import json
import pathlib
import random
import sys
import tempfile
import tomllib
import types
import unittest
import unittest.mock

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))

from validation import (collectives, coscheduling, elastic_fabric, kernels, plots, ranges,  # noqa: E402
                        scaling_study, simulator, steps)

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

    def test_a_pipeline_that_is_late_by_a_quarter_of_a_second_a_message_stalls(self):
        # 8 micro-batches through 2 stages: 9 rounds of 2 messages; through 4 stages 11 of 4; without stages there are none.
        for pp, late, stalled in ((2, 18 * 0.25, True), (2, 18 * 0.1, False), (4, 44 * 0.25, True), (4, 44 * 0.1, False),
                                  (1, 100, False)):
            step = steps.Step(nanotron_row(pp=pp), measured=3 + late)
            self.assertEqual(steps.stalls(step, 3), stalled, (pp, late))
        self.assertAlmostEqual(steps.lateness(steps.Step(nanotron_row(), 3 + 18 * 0.25), 3), 0.25)

    def test_a_stall_is_added_for_every_message(self):
        step = steps.Step(nanotron_row(), measured=3 + 18 * 0.25)
        self.assertAlmostEqual(steps.with_stall((step, simulator.Outcome(3), 0), 0.25)[2], 1)

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


class Collectives(unittest.TestCase):
    def test_a_file_carries_the_constants_and_keeps_the_rest(self):
        plain = tomllib.loads(collectives.text_of("dgx-a100", {}))["software"]
        changed = tomllib.loads(collectives.text_of("dgx-a100", {"node_efficiency": 0.5, "node_step": 9e-6, "bandwidth": 0.25}))["software"]
        self.assertEqual((changed["node_efficiency"], changed["cost"][0]["node_step"]), (0.5, "9 us"))
        self.assertEqual(changed["cost"][1]["bandwidth"], [0.25] + plain["cost"][1]["bandwidth"][1:])
        self.assertEqual(changed["cost"][0]["start"], plain["cost"][0]["start"])

    def test_a_fit_finds_the_constants_that_made_the_times(self):
        def seconds(file, points):
            simple = tomllib.loads(pathlib.Path(file).read_text())["software"]["cost"][0]
            start, step = (float(simple[key].split()[0]) * 1e-6 for key in ("start", "node_step"))
            return {point: start + 2 * (point.ranks - 1) * step + point.size / 2e11 for point in points}

        with tempfile.TemporaryDirectory() as folder:
            truth = pathlib.Path(folder) / "machine.toml"
            truth.write_text(collectives.text_of("dgx-a100", {"start": 3e-5, "node_step": 7e-6}))
            blank = [collectives.Point("all-reduce", 1, ranks, size << 20, 1) for ranks in (2, 4, 8) for size in range(1, 17)]
            made = [collectives.Point("all-reduce", 1, point.ranks, point.size, time)
                    for point, time in seconds(truth, blank).items()]
        study = collectives.Study("made", "dgx-a100", "", "", made, {"start": 0.5, "node_step": 0.5}, own=True)
        with unittest.mock.patch.object(collectives, "simulate", lambda program, file, points: seconds(file, points)):
            found, _ = collectives.fit("none", study)
        self.assertAlmostEqual(found["start"], 3e-5, delta=2e-6)
        self.assertAlmostEqual(found["node_step"], 7e-6, delta=5e-7)

    def test_the_network_of_p5_is_found_again_from_its_bandwidths(self):
        def seconds(file, ranks, size):
            software = tomllib.loads(pathlib.Path(file).read_text())["software"]
            step = float(software["cost"][0]["mean_step"].split()[0]) * 1e-6
            return (ranks - 1) * step + (ranks - 1) / ranks * size / (software["efficiency"] * 4e11)

        def sweep(program, file, operation, ranks, sizes):
            return {size: seconds(file, ranks, size) for size in sizes}

        with tempfile.TemporaryDirectory() as folder:
            machine = pathlib.Path(folder) / "p5.toml"
            machine.write_text(elastic_fabric.text_of(0.65, 22))
            rows = "what,n_gpus,n_nodes,metric,low,value,high\n"
            for nodes in (1, 2, 4, 8, 16, 32):
                mean = (8 * nodes - 1) / (8 * nodes) * elastic_fabric.SIZE / seconds(machine, 8 * nodes, elastic_fabric.SIZE) / 1e9
                rows += "".join(f"{what},{8 * nodes},{nodes},bandwidth mean,0,{mean},0\n" for what in ("all_gather", "reduce_scatter"))
            (pathlib.Path(folder) / "ultrascale_h100_extra.csv").write_text(rows)
            machine.write_text(elastic_fabric.text_of(0.9, 50))
            with unittest.mock.patch.object(elastic_fabric, "MACHINE", machine):
                elastic_fabric.refit(sweep, types.SimpleNamespace(program="none", data=pathlib.Path(folder)))
            found = tomllib.loads(machine.read_text())["software"]
        self.assertEqual((found["efficiency"], found["cost"][0]["mean_step"]), (0.65, "22 us"))


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


SYSTEMS = {system.machine: system for system in coscheduling.SYSTEMS}


class CoScheduling(unittest.TestCase):
    def test_sizes_have_the_plans_of_the_paper_twice_as_many_gpus_on_lumi(self):
        self.assertEqual(coscheduling.feasible(16, SYSTEMS["jupiter"]), ["dp", "fsdp", "dp+pp"])
        self.assertEqual(coscheduling.feasible(16, SYSTEMS["lumi"]), ["dp"])
        self.assertEqual(coscheduling.feasible(4, SYSTEMS["dgx-a100"]), ["dp", "fsdp", "dp+pp"])
        self.assertEqual(coscheduling.feasible(4, SYSTEMS["alps"]), [])

    def test_classes_are_those_that_a_size_can_have(self):
        self.assertEqual(coscheduling.classes(8, SYSTEMS["dgx-a100"]), ["linear", "random"])
        self.assertNotIn("intra-l1", coscheduling.classes(32, SYSTEMS["alps"]))    # 8 nodes, 4 on a switch
        self.assertIn("intra-l1", coscheduling.classes(64, SYSTEMS["jupiter"]))    # 16 nodes of 16
        self.assertNotIn("intra-group", coscheduling.classes(1024, SYSTEMS["leonardo"]))
        self.assertIn("inter-group-same-l1-4", coscheduling.classes(224, SYSTEMS["jupiter"]))

    def test_patterns_fill_most_of_the_reservation(self):
        draw = random.Random(3)
        for system in coscheduling.SYSTEMS:
            for _ in range(20):
                sizes = coscheduling.pattern(draw, system)
                self.assertGreater(len(sizes), 1)
                self.assertTrue(0.8 * system.gpus <= sum(sizes) <= system.gpus, (system.machine, sizes))

    def test_a_mean_locality_is_in_the_bin_that_is_asked_for(self):
        for asked, (low, high) in enumerate(coscheduling.BINS):
            jobs = coscheduling.draw_jobs(random.Random(asked), SYSTEMS["jupiter"], asked)
            mean = sum(coscheduling.LOCALITY[job.placement] for job in jobs) / len(jobs)
            self.assertTrue(low <= mean <= high, (asked, mean))

    def test_the_slowest_ends_the_experiment_and_the_others_go_on(self):
        laboratory = coscheduling.Laboratory("none", ".")
        laboratory.alone = lambda system, job: {"dp": 0.1, "fsdp": 3.0}[job.plan]
        jobs = [coscheduling.Job("dp", "vit-h", 8, "intra-l1", 0.02), coscheduling.Job("fsdp", "llama3-8b", 16, "intra-l1")]

        text = laboratory.spec(SYSTEMS["jupiter"], jobs, 5, None, ())

        first, second = (tomllib.loads(text)["job"])
        self.assertEqual((first["iterations"], first["repeat"], first["start"]), (60, True, "20.000 ms"))
        self.assertEqual((second["iterations"], second.get("repeat")), (2, None))


class ScalingStudy(unittest.TestCase):
    def test_mfu_is_six_flops_a_parameter_and_attention(self):
        run = scaling_study.Run("dgx-h100", 8, 16)
        outcome = scaling_study.Outcome(run, 2, time=1, exposed=0, needed=0)
        work = 6 * 6.738e9 + 12 * 32 * 4096 * 4096

        self.assertAlmostEqual(outcome.mfu, 16 * 4096 / 8 * work / 989.4e12)

    def test_the_fastest_plan_of_a_degree_counts(self):
        made = [scaling_study.Outcome(scaling_study.Run("dgx-h100", 8, 16, tensor=t, stages=p), 1, time, 0, 0)
                for t, p, time in [(1, 1, 3.0), (2, 1, 2.0), (1, 2, 1.5), (4, 1, 4.0)]]

        self.assertEqual({d: each.time for d, each in scaling_study.by_degree(made).items()}, {1: 3.0, 2: 1.5, 4: 4.0})
        self.assertEqual(ranges.better_than_fsdp(made), (2, 3))


class Ranges(unittest.TestCase):
    def test_rows_name_the_ranges_they_judge(self):
        self.assertEqual(ranges.numbers("045"), [45])
        self.assertEqual(ranges.numbers("114 to 117"), [114, 115, 116, 117])
        self.assertEqual(ranges.numbers("084, 085, 090"), [84, 85, 90])

    def test_a_range_without_a_row_and_a_row_without_a_range_stop_the_run(self):
        rows = [ranges.Row("027 to 058", "", "", ""), ranges.Row("083 to 101", "", "", ""), ranges.Row("114 to 138", "", "", "")]
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "seeds_checks.csv"
            path.write_text("id\n" + "".join(f"seed-{number:03}\n" for number in range(1, 139)))
            ranges.check_complete(rows, pathlib.Path(folder))
            with self.assertRaisesRegex(RuntimeError, "without a row: .138"):
                ranges.check_complete(rows[:2] + [ranges.Row("114 to 137", "", "", "")], pathlib.Path(folder))

    def test_slowdown_is_what_throughput_loses(self):
        job = coscheduling.Job("dp", "vit-h", 8, "inter-group-same-l1-2")
        outcomes = [coscheduling.Outcome(job, slowdown, slowdown, 1, 2) for slowdown in (1.0, 1.3)]

        self.assertEqual([round(each, 6) for each in ranges.losses(outcomes)], [0, 30])
        self.assertEqual(ranges.spread_cells(outcomes), ["2", "15.0", "15.0", "30.0", "1"])
        self.assertEqual(ranges.kind_of(job.placement), "inter-group")


class Plots(unittest.TestCase):
    def test_every_point_is_drawn(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "new" / "plot.svg"
            plots.scatter(path, [("a", 1, 1), ("a", 10, 2), ("b", 100, 0.5)], "x", "y")
            self.assertEqual(path.read_text().count('r="2"'), 3)


if __name__ == "__main__":
    unittest.main()
