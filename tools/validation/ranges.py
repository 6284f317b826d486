# SPDX-License-Identifier: Apache-2.0
"""Every range that was collected from the papers about communication, efficiency and slowdown, beside what is simulated.

The ranges are rows of seeds_checks.csv. Each has a judge here, by its number; a row of the file without one ends the
run, so that none is left out. No constant of the models was chosen to reach them.
"""

import json
import pathlib
import random
import re
import statistics
import subprocess
import sys
import tempfile
from collections import defaultdict
from dataclasses import dataclass, replace

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

import paper_claims as paper  # noqa: E402
import paper_table  # noqa: E402

from . import coscheduling, plots, scaling_study  # noqa: E402
from .coscheduling import Job  # noqa: E402
from .scaling_study import Run  # noqa: E402
from .text import bullets  # noqa: E402

MACHINES = pathlib.Path(__file__).resolve().parent.parent.parent / "data" / "machines"
EXPERIMENTS = 9            # of the paper's kind, on each supercomputer
ONE_FABRIC_EXPERIMENTS = 6
HELD, NOT_HELD, NOT_MODELLED = "held", "**not held**", "not modelled"
# Sizes, FLOPs and the machines' structure are no ranges of time: golden schedules and docs/models/machines.md hold them.
STRUCTURE = [*range(1, 27), *range(59, 83), *range(102, 114)]


@dataclass(frozen=True)
class Row:
    seeds: str      # "045"
    says: str
    ours: str
    verdict: str
    why: str = ""


def percent(value, digits=1):
    return f"{round(100 * value, digits) + 0:.{digits}f} %"   # + 0: no −0


def mean(values):
    return statistics.mean(values) if values else float("nan")


# ---- communication and efficiency of the paper's jobs, alone

def alone_rows(outcomes):
    """Rows 027 to 044, from the runs of paper_ranges.md: {Run: Outcome}."""
    efficiency = paper.efficiencies({run: outcome.throughput for run, outcome in outcomes.items()})
    values = {paper.COMMUNICATION: {run: outcome.communication for run, outcome in outcomes.items()},
              paper.EFFICIENCY: efficiency, paper.DROP: paper.drops(efficiency)}
    rows = []
    for claim in sorted(paper.CLAIMS, key=lambda claim: claim.seed):
        covered, held, low, high, miss = paper.judge(claim, values[claim.quantity])
        what = claim.quantity + ("" if claim.of == "every" else f", {claim.of}")
        where = {str(paper.SUPERCOMPUTERS): "supercomputers", str(paper.MACHINES): "all machines"}.get(
            str(claim.machines), ", ".join(claim.machines))
        plans = "all plans" if claim.plans == paper.EVERY_PLAN else ", ".join(claim.plans).upper()
        span = f"{low:.1f} to {high:.1f} %" if covered > 1 else f"{low:.1f} %"
        note = f" ({claim.note})" if claim.note else ""
        rows.append(Row(claim.seed, f"{what} of {plans} on {where}{paper_table.sizes(claim.ranks)}: {claim.text} %{note}",
                        f"{span}; {held} of {covered} runs", HELD if held == covered else NOT_HELD,
                        "" if held == covered else "[paper_ranges](paper_ranges.md#what-does-not-hold-and-why)"))
    return rows + [ratio_row(outcomes, "043", "leonardo", 1.8, 2.2, "about 2",
                             "the roofline's peaks differ 3.17-fold (989 and 312 TFLOP/s, Table III) and NICs 2-fold"),
                   ratio_row(outcomes, "044", "alps", 0.9, 1.1, "about 1", "")]


def ratio_row(outcomes, seed, other, low, high, text, why):
    ratios = {}
    for run, outcome in outcomes.items():
        beside = outcomes.get(replace(run, machine=other))
        if run.machine == "jupiter" and beside:
            ratios[run] = outcome.throughput / beside.throughput
    held = sum(low <= ratio <= high for ratio in ratios.values())
    ours = (f"median {statistics.median(ratios.values()):.2f} ({min(ratios.values()):.2f} to {max(ratios.values()):.2f}); "
            f"{held} of {len(ratios)} runs")
    return Row(seed, f"throughput of JUPITER over {other.capitalize()}, all plans: {text}", ours,
               HELD if 2 * held > len(ratios) else NOT_HELD, why)


def sought_alone(outcomes):
    """What issue 5 asks of single jobs, with our figures."""
    value = {run: outcome for run, outcome in outcomes.items()}
    dp = {run.machine: outcome for run, outcome in value.items() if run.plan == "dp" and run.ranks == 64}
    hybrids = [outcome for run, outcome in value.items() if run.plan in paper.HYBRIDS and run.several_nodes
               and run.machine in paper.SUPERCOMPUTERS]
    bubbles = [outcome.parts[2] for outcome in hybrids]
    without = [outcome.parts[0] + outcome.parts[1] for outcome in hybrids]
    fsdp = [outcome.communication for run, outcome in value.items() if run.plan == "fsdp"]
    efficiency = paper.efficiencies({run: outcome.throughput for run, outcome in outcomes.items()})
    drops = paper.drops(efficiency)
    dgx = {run: each for run, each in efficiency.items() if run.machine == "dgx-a100"}
    no_pipeline = [each for run, each in dgx.items() if run.plan != "dp+pp"]
    rack = [each for run, each in efficiency.items()
            if run.machine == "gb300-nvl72" and run.plan == "dp" and run.ranks in (32, 64)]
    supercomputers = {machine: dp[machine].communication for machine in paper.SUPERCOMPUTERS}
    above = sum(each > 70 for each in supercomputers.values())
    in_range = sum(30 <= outcome.communication <= 60 for outcome in hybrids)
    drop = {machine: [each for run, each in drops.items() if run.plan == "dp" and run.machine == machine]
            for machine in paper.SUPERCOMPUTERS}
    return [
        ["communication of DP over 70 % at 64 GPUs on the supercomputers",
         ", ".join(f"{machine} {each:.0f} %" for machine, each in supercomputers.items()), f"{above} of 4"],
        ["communication of FSDP under 10 %", f"{min(fsdp):.1f} to {max(fsdp):.1f} %", HELD if max(fsdp) < 10 else NOT_HELD],
        ["hybrids 30 to 60 % on several nodes, the bubble shown apart",
         f"{min(o.communication for o in hybrids):.0f} to {max(o.communication for o in hybrids):.0f} %, of which the bubble "
         f"{min(bubbles):.0f} to {max(bubbles):.0f} and the rest {min(without):.0f} to {max(without):.0f}",
         f"{in_range} of {len(hybrids)}"],
        ["efficiency on DGX A100 99 % and more", f"{min(no_pipeline):.1f} to 100 % without DP+PP, whose bubble alone costs 17 %: "
         f"{min(dgx.values()):.1f} %", f"{sum(each >= 98.95 for each in dgx.values())} of {len(dgx)}"],
        ["efficiency of DP on NVL72 80 to 85 % at 32 to 64 GPUs", f"{min(rack):.1f} to {max(rack):.1f} %", NOT_HELD
         if max(rack) > 85 else HELD],
        ["efficiency of DP lost per doubling, 10 to 30 points",
         "; ".join(f"{machine} " + ", ".join(f"{abs(each):.0f}" for each in sorted(values)) for machine, values in drop.items()),
         f"{sum(10 <= round(each, 1) <= 30 for values in drop.values() for each in values)} of "
         f"{sum(map(len, drop.values()))}"],
    ]


# ---- co-scheduling

def kind_of(placement):
    for kind in ("intra-l1", "intra-group", "inter-group", "reservation"):
        if placement.startswith(kind):
            return kind
    return "one fabric"


def losses(outcomes):
    """Percent of throughput lost, by the paper's (sigma − 1) · 100."""
    return sorted(round(100 * (outcome.slowdown - 1), 4) + 0 for outcome in outcomes)


def spread_cells(outcomes):
    lost = losses(outcomes)
    if not lost:
        return ["0", "–", "–", "–", "–"]
    return [str(len(lost)), f"{statistics.median(lost):.1f}", f"{mean(lost):.1f}", f"{lost[-1]:.1f}",
            f"{sum(each > 10 for each in lost)}"]


class Campaign:
    """All that was simulated side by side."""

    def __init__(self, laboratory):
        self.by_machine, self.redrawn = {}, {}
        for system in coscheduling.SYSTEMS:
            count = ONE_FABRIC_EXPERIMENTS if system.one_fabric else EXPERIMENTS
            done = coscheduling.experiments(laboratory, system, count)
            self.by_machine[system.machine] = [outcome for outcomes, _ in done for outcome in outcomes]
            self.redrawn[system.machine] = sum(attempts for _, attempts in done)

    def of(self, machine, kind=None, plan=None, ranks=None, model=None):
        return [outcome for outcome in self.by_machine[machine]
                if (kind is None or kind_of(outcome.job.placement) == kind)
                and (plan is None or outcome.job.plan in plan)
                and (ranks is None or outcome.job.ranks == ranks) and (model is None or outcome.job.model == model)]

    def placement_alone(self):
        """How far the same job alone differs between placement classes: the largest over machines and jobs."""
        times = defaultdict(list)
        for machine, outcomes in self.by_machine.items():
            for outcome in outcomes:
                times[machine, outcome.job.plan, outcome.job.model, outcome.job.ranks].append(outcome.alone)
        spreads = {key: max(each) / min(each) - 1 for key, each in times.items() if len(each) > 1}
        worst = max(spreads, key=spreads.get)
        return worst, spreads[worst], statistics.median(spreads.values()), len(spreads)


def starts(jobs, seed):
    """The same jobs, each begun within its first three seconds."""
    draw = random.Random(seed)
    return [replace(job, start=3 * draw.random()) for job in jobs]


NEIGHBOUR = Job("dp+pp", "minerva-7b", 32, "inter-group")
VICTIM = Job("dp+pp+tp", "llama3-70b", 224, "inter-group")


class Contrasts:
    """One thing varied at a time, on JUPITER and Leonardo: mean and largest slowdown of the victims."""

    def __init__(self, laboratory, folder):
        self.laboratory = laboratory
        systems = {system.machine: system for system in coscheduling.SYSTEMS}
        self.jupiter, self.leonardo = systems["jupiter"], systems["leonardo"]
        text = (MACHINES / "jupiter.toml").read_text()
        files = {}
        for routing in ("minimal", "ecmp", "spray"):
            files[routing] = folder / f"jupiter-{routing}.toml"
            files[routing].write_text(text.replace('routing = "adaptive"', f'routing = "{routing}"'))
        files["wide"] = folder / "jupiter-wide.toml"
        files["wide"].write_text(paper_table.widened(text))
        victims, around = [VICTIM] * 5, [NEIGHBOUR] * 35
        self.placements = {kind: self.run(self.jupiter, [replace(job, placement=kind) for job in victims] + around)
                           for kind in ("random", "reservation", "inter-group", "inter-group-same-l1-4")}
        self.placements |= {kind: self.run(self.jupiter, [replace(job, placement=kind) for job in victims[:3]] + around)
                            for kind in ("intra-group", "intra-group-same-l1-4")}
        self.alike = {kind: self.run(self.jupiter, [replace(VICTIM, placement=kind)] * 10)
                      for kind in ("random", "inter-group", "inter-group-same-l1-4")}
        self.routing = {name: self.run(self.jupiter, victims + around, str(path)) for name, path in files.items()}
        self.neighbours = {count: self.run(self.jupiter, victims + around[:count]) for count in (5, 15, 25)}
        experts = Job("dp+pp+ep", "mixtral-8x7b", 1024, "inter-group")
        self.groups = {"3 groups, 67 % filled": self.run(self.leonardo, [experts] + [NEIGHBOUR] * 13),
                       "all 20 groups, 88 % filled": self.run(replace(self.leonardo, nodes=0),
                                                             [experts] * 10 + [NEIGHBOUR] * 60)}
        self.alps = self.alps_runs(systems["alps"], folder)
        others = [NEIGHBOUR] * 15 + [Job("dp", "vit-h", 16, "inter-group")] * 10
        self.on_alps = {job.plan: self.run(systems["alps"], [job] * count + others) for job, count in
                        ((Job("fsdp", "minerva-7b", 32, "inter-group"), 10), (Job("dp+pp+ep", "mixtral-8x7b", 512, "inter-group"), 1))}
        small = Job("dp", "vit-h", 8, "inter-group")
        self.small = {kind: self.run(self.jupiter, [replace(small, placement=kind)] * 10 + [VICTIM] * 5 + [NEIGHBOUR] * 20)
                      for kind in ("intra-group", "inter-group")}
        self.small |= {f"inter-group, {routing}": self.run(
            self.jupiter, [small] * 10 + [VICTIM] * 5 + [NEIGHBOUR] * 20, str(files[routing]))
            for routing in ("ecmp", "minimal")}

        never_full = folder / "jupiter-wide-between-groups.toml"
        never_full.write_text(re.sub('global_capacity = "(.*) Gbit/s"', 'global_capacity = "40000 Gbit/s"', text))
        done = coscheduling.experiments(laboratory, self.jupiter, EXPERIMENTS, str(never_full))
        self.inside_groups = [outcome for outcomes, _ in done for outcome in outcomes
                              if kind_of(outcome.job.placement) == "intra-group"]

    def alps_runs(self, system, folder):
        """DP+PP inside groups of Alps, by what limits it."""
        text = (MACHINES / "alps.toml").read_text()
        minimal, wide = folder / "alps-minimal.toml", folder / "alps-wide.toml"
        minimal.write_text(text.replace('routing = "adaptive"', 'routing = "minimal"'))
        wide.write_text(text.replace('local_capacity = "200 Gbit/s"', 'local_capacity = "20000 Gbit/s"'))
        jobs = [replace(NEIGHBOUR, placement="intra-group")] * 40
        return {"adaptive": self.run(system, jobs), "adaptive, 20 jobs": self.run(system, jobs[:20]),
                "minimal": self.run(system, jobs, str(minimal)), "wide cables in groups": self.run(system, jobs, str(wide)),
                "adaptive, blocks of 4 on a switch": self.run(system, [replace(NEIGHBOUR, placement="intra-group-same-l1-4")] * 40)}

    def run(self, system, jobs, machine=None):
        """The slowdowns of the jobs that are like the first."""
        outcomes = self.laboratory.together(system, starts(jobs, 7), 7, machine)
        if isinstance(outcomes, str):
            raise RuntimeError(outcomes)
        return [outcome for outcome in outcomes if outcome.job.plan == jobs[0].plan]


def contrast_table(what, cases):
    return plots.table([what, "jobs", "mean, %", "largest, %"],
                       [[name, len(each), f"{mean(losses(each)):.1f}", f"{losses(each)[-1]:.1f}"] for name, each in cases.items()])


def within(outcomes, bound):
    return HELD if losses(outcomes)[-1] <= bound else NOT_HELD


def slowdown_rows(campaign, contrasts):
    rows = []

    def largest(seed, says, outcomes, bound, why=""):
        lost = losses(outcomes)
        rows.append(Row(seed, says, f"mean {mean(lost):.1f} %, largest {lost[-1]:.1f} %; {len(lost)} jobs",
                        within(outcomes, bound), why if lost[-1] > bound else ""))

    largest("045", "slowdown on DGX A100: below 10 to 15 %, outliers to 21 ×", campaign.of("dgx-a100"), 15)
    largest("046", "slowdown on NVL72: below 1.5 %, rarely 4 %", campaign.of("gb300-nvl72"), 1.5)
    largest("047", "slowdown on JUPITER, intra-L1: at most 15 %", campaign.of("jupiter", "intra-l1"), 15)

    def extreme(seed, says, outcomes, factor):
        most = losses(outcomes)[-1] / 100 + 1 if outcomes else float("nan")
        held = most >= 0.8 * factor
        rows.append(Row(seed, says, f"largest {most:.2f} ×; {len(outcomes)} jobs", HELD if held else NOT_HELD,
                        "" if held else "see DP on 8 GPUs and Outliers"))

    extreme("048", "slowdown of DP on 8 GPUs of JUPITER, intra-group: up to 8.6 ×",
            campaign.of("jupiter", "intra-group", ["dp"], 8) + contrasts.small["intra-group"], 8.6)
    extreme("049", "slowdown of DP on 8 GPUs of JUPITER, inter-group: up to 23.6 ×",
            campaign.of("jupiter", "inter-group", ["dp"], 8) + contrasts.small["inter-group"], 23.6)
    irregular, blocks = contrasts.placements["random"], contrasts.placements["inter-group-same-l1-4"]
    lost, cut = mean(losses(irregular)), mean(losses(blocks))
    same = mean(losses(contrasts.alike["inter-group"]))
    rows.append(Row("050", "mean slowdown of DP+PP+TP on 224 GPUs of JUPITER, inter-group, irregular: about 15 %",
                    f"{lost:.1f} % beside 35 jobs of DP+PP, {same:.1f} % beside its like (nodes in the machine's order)",
                    HELD if 10 <= same <= 20 or 10 <= lost <= 20 else NOT_HELD, "depends on the neighbours, see Placement"))
    rows.append(Row("051", "the same in blocks of 4 nodes per switch: 5 %",
                    f"{cut:.1f} % beside the same jobs, {mean(losses(contrasts.alike['inter-group-same-l1-4'])):.1f} % beside its "
                    "like", HELD if 3 <= cut <= 7 else NOT_HELD, "see Placement"))
    pipelines = [outcome for kind in ("reservation", "inter-group", "intra-group")
                 for outcome in campaign.of("jupiter", kind, ["dp+pp"])]
    over = sum(each > 10 for each in losses(pipelines)) / len(pipelines)
    rows.append(Row("052", "DP+PP in the reservation of JUPITER: 25 % of runs slowed down more",
                    f"{percent(over, 0)} of {len(pipelines)} jobs over 10 %, largest {losses(pipelines)[-1]:.0f} %",
                    HELD if 0.15 <= over <= 0.35 else NOT_HELD, "" if 0.15 <= over <= 0.35 else "see Placement"))
    extreme("053", "slowdown of DP on 8 GPUs of Leonardo, inter-group: up to 106 ×",
            campaign.of("leonardo", "inter-group", ["dp"], 8) + campaign.of("leonardo", "reservation", ["dp"], 8), 106)
    few, many = (mean(losses(each)) for each in contrasts.groups.values())
    rows.append(Row("054", "mean slowdown of DP+PP+EP on 1024 GPUs of Leonardo over more than 10 groups: 65 %; none on 3 groups",
                    f"{many:.1f} % over 20 groups, {few:.1f} % on 3", HELD if 50 <= many <= 80 else NOT_HELD,
                    "right order; other users of the queue are not known"))
    fsdp = campaign.of("alps", plan=["fsdp"], model="minerva-7b")
    extreme("055", "slowdown of FSDP (Minerva) on Alps: up to 1.6 × in 8 runs, rarely",
            campaign.of("alps", plan=["fsdp"], model="minerva-7b") + contrasts.on_alps["fsdp"], 1.6)
    experts = campaign.of("alps", plan=["dp+pp+ep"], ranks=512) + contrasts.on_alps["dp+pp+ep"]
    some = sum(each >= 10 for each in losses(experts))
    rows.append(Row("056", "DP+PP+EP on 512 GPUs of Alps: some of 10 % and more, in the production queue only",
                    f"mean {mean(losses(experts)):.1f} %, largest {losses(experts)[-1]:.1f} %; {some} of "
                    f"{len(experts)} jobs in a reservation", HELD if some == 0 else NOT_HELD, "see Alps and LUMI"))
    hybrids = campaign.of("lumi", plan=paper.HYBRIDS)
    largest("057", "slowdown of hybrids on LUMI: none outside 10 %", hybrids, 10, "see Alps and LUMI")
    rows.append(Row("058", "RCCL's all-reduce on LUMI settles after 500 of 2000 calls, NCCL's on Alps never", "–", NOT_MODELLED,
                    "state of the library and noise of the host, not of the network"))
    return rows


def sought_slowdowns(campaign, contrasts):
    key, most, middle, count = campaign.placement_alone()
    cells = {}
    for kind in ("intra-l1", "intra-group", "inter-group", "reservation"):
        lost = [each for machine in paper.SUPERCOMPUTERS for each in losses(campaign.of(machine, kind))]
        cells[kind] = (mean(lost), max(lost))
    jupiter, leonardo = losses(campaign.by_machine["jupiter"]), losses(campaign.by_machine["leonardo"])
    several = mean(losses(contrasts.placements["random"])) / mean(losses(contrasts.placements["inter-group-same-l1-4"]))
    return [
        ["placement alone changes little", f"the same job alone: median {percent(middle, 2)} between classes, at most "
         f"{percent(most)} ({key[0]}, {key[1]}, {key[3]} GPUs; {count} jobs)", HELD if most < 0.1 else NOT_HELD],
        ["contention hits inter-group, not intra-L1", "; ".join(f"{kind} mean {low:.1f} %, largest {high:.0f} %"
                                                              for kind, (low, high) in cells.items()),
         HELD if cells["intra-l1"][1] <= 15 < cells["inter-group"][1] else NOT_HELD],
        ["same-L1 blocks cut the slowdown of DP+PP+TP several-fold", f"{several:.1f}-fold against nodes in drawn order, "
         f"{mean(losses(contrasts.placements['inter-group'])) / mean(losses(contrasts.placements['inter-group-same-l1-4'])):.1f}-fold "
         "against drawn nodes in the machine's order", HELD if several >= 2 else NOT_HELD],
        ["Leonardo less affected than JUPITER", f"mean {mean(leonardo):.1f} and {mean(jupiter):.1f} %, largest {leonardo[-1]:.0f} "
         f"and {jupiter[-1]:.0f} %, over 10 %: {sum(e > 10 for e in leonardo)} of {len(leonardo)} and "
         f"{sum(e > 10 for e in jupiter)} of {len(jupiter)} jobs", HELD if mean(leonardo) < mean(jupiter) else NOT_HELD],
    ]


# ---- scaling study

class Scaling:
    """The study's runs with a set of constants."""

    def __init__(self, study):
        self.grid = {machine: study.grid(machine, 256, 512) for machine in ("dgx-h100", "dgx-a100")}
        self.weak = {gpus: study.best(Run("dgx-h100", gpus, 2 * gpus)) for gpus in (128, 2048)}

    def best(self, machine):
        return scaling_study.fastest(self.grid[machine])

    def loss(self):
        return self.weak[2048].tokens / self.weak[128].tokens - 1


class Rest:
    """Runs of the study that are done with one set of constants only, the shipped one but for `exposed`."""

    def __init__(self, study, other):
        fastest, grid = scaling_study.fastest, study.grid
        self.exposed = scaling_study.by_degree(other.grid("dgx-h100", 2048, 4096))
        self.strong = {nodes: fastest(grid("dgx-h100", 8 * nodes, 32)) for nodes in (2, 16, 32)}
        self.pretraining = {model: {gpus: fastest(grid("dgx-h100", gpus, batch, model)) for gpus in (512, 2048)}
                            for model, batch in (("llama2-7b", 1024), ("llama2-70b", 1024))}
        self.sizes = {model: fastest(grid("dgx-h100", 256, 512, model)) for model in scaling_study.MODELS}
        self.lengths = {tokens: study.best(Run("dgx-h100", 256, 256, sequence=tokens)) for tokens in (2048, 4096, 8192)}
        self.small_batch = grid("dgx-h100", 256, 256)
        self.large = grid("dgx-h100", 2048, 4096)
        self.volta = grid("dgx-v100", 256, 256)


def plan_name(outcome):
    return f"tensor {outcome.run.tensor}, {outcome.run.stages} stage{'s' if outcome.run.stages > 1 else ''}"


def better_than_fsdp(outcomes):
    """How many plans with model parallelism are faster than FSDP alone; all of them where that does not fit."""
    alone = [each for each in outcomes if each.run.degree == 1]
    others = [each for each in outcomes if each.run.degree > 1]
    return sum(each.time < alone[0].time for each in others) if alone else len(others), len(others)


def falls(values):
    return all(a > b for a, b in zip(values, values[1:]))


def study_rows(shipped, slower, rest, bandwidths):
    h100, a100 = shipped.best("dgx-h100"), shipped.best("dgx-a100")
    degrees = scaling_study.by_degree(shipped.grid["dgx-h100"])
    others = scaling_study.by_degree(slower.grid["dgx-h100"])
    low_exposure = "collectives hide: see Scaling study"
    rows = [
        Row("083", "tokens/s and GPU from 128 to 2,048 H100, Llama-2 7B, FSDP: −37.2 %", f"{percent(shipped.loss())}; "
            f"{percent(slower.loss())} with llm-foundry's constants", HELD if -0.45 < shipped.loss() < -0.3 else NOT_HELD,
            low_exposure),
        Row("084, 085, 090", "power of a GPU 658 W at 128 and 620 W at 2,048 GPUs; of the cluster +40 % from 16 to 32 nodes", "–",
            NOT_MODELLED, "simulated results have no power"),
        Row("086", "MFU on 2 nodes, global batch 32, best plan: 40 %", percent(rest.strong[2].mfu), HELD
            if 0.36 < rest.strong[2].mfu < 0.44 else NOT_HELD, "kernels: see Scaling study"),
        Row("087", "the same on 32 nodes: below 15 %", f"{percent(rest.strong[32].mfu)} ({plan_name(rest.strong[32])}), a fall by "
            f"{percent(1 - rest.strong[32].mfu / rest.strong[2].mfu, 0)} (paper: more than 62 %)",
            HELD if rest.strong[32].mfu < 0.15 else NOT_HELD, "kernels: see Scaling study"),
    ]
    for seed, model in (("088", "llama2-7b"), ("089", "llama2-70b")):
        two = rest.pretraining[model]
        change = two[2048].mfu / two[512].mfu - 1
        rows.append(Row(seed, f"MFU of {model} from 512 to 2,048 H100, fixed global batch: at least −30 %",
                        f"{percent(change)} with 1,024 sequences a step", HELD if change <= -0.3 else NOT_HELD,
                        "" if change <= -0.3 else "the paper does not state its batch"))
    gain = rest.strong[32].run.batch / rest.strong[32].time / (rest.strong[16].run.batch / rest.strong[16].time) - 1
    beats = [f"{degree}: {others[degree].tokens / others[1].tokens - 1:+.0%}" for degree in others if degree > 1]
    rows += [
        Row("091", "throughput from 16 to 32 nodes at fixed batch: +10 %", percent(gain), HELD if 0.05 < gain < 0.15 else NOT_HELD,
            "the batch of 32 of figure 7 is taken; the paper does not state it here"),
        Row("092", "MFU of the best plan, 256 A100, 512 sequences: 59.7 %", f"{percent(a100.mfu)} ({plan_name(a100)}); "
            f"{percent(slower.best('dgx-a100').mfu)} with llm-foundry's constants", HELD if abs(a100.mfu - 0.5967) < 0.06
            else NOT_HELD, "kernels: see Scaling study"),
        Row("093", "the same on H100: 40.8 %", f"{percent(h100.mfu)} ({plan_name(h100)}); {percent(slower.best('dgx-h100').mfu)} with "
            "llm-foundry's constants", HELD if abs(h100.mfu - 0.4077) < 0.04 else NOT_HELD, "kernels: see Scaling study"),
        Row("094", "exposed communication of the best plan, A100 to H100: +12.8 points",
            f"{100 * (h100.exposed - a100.exposed):+.1f} points; "
            f"{100 * (slower.best('dgx-h100').exposed - slower.best('dgx-a100').exposed):+.1f} with llm-foundry's constants",
            HELD if 8 < 100 * (h100.exposed - a100.exposed) < 18 else NOT_HELD, low_exposure),
        Row("095", "tensor or pipeline degrees of 2 or 4 beat FSDP alone (256 GPUs, 512 sequences)",
            f"2: {degrees[2].tokens / degrees[1].tokens - 1:+.0%}; with llm-foundry's constants {', '.join(beats)}",
            HELD if degrees[2].time < degrees[1].time else NOT_HELD, low_exposure),
        Row("096", "degrees over 8, which cross nodes, expose more communication",
            ", ".join(f"{degree}: {percent(each.exposed, 0)}" for degree, each in degrees.items()),
            HELD if degrees[16].exposed > degrees[8].exposed else NOT_HELD),
    ]
    counts = [better_than_fsdp(grid) for grid in (shipped.grid["dgx-h100"], rest.small_batch, rest.large)]
    rows += [
        Row("097", "more plans beat FSDP alone with a local batch of 1, and on 2,048 GPUs",
            ", ".join(f"{some} of {all_of}" for some, all_of in counts) + " (256 GPUs, batch of 1, 2,048 GPUs)",
            HELD if counts[1][0] > counts[0][0] and counts[2][0] > counts[0][0] else NOT_HELD, low_exposure
            if not counts[1][0] > counts[0][0] or not counts[2][0] > counts[0][0] else ""),
        Row("098", "all-reduce holds its bandwidth from 4 to 512 nodes, all-gather and reduce-scatter lose it",
            "bus bandwidth of 1 GiB, GB/s: " + "; ".join(
                f"{operation} {', '.join(f'{each:.0f}' for each in values)}" for operation, values in bandwidths.items()) +
            " on 4, 32, 256 and 512 nodes",
            HELD if bandwidths["all-reduce"][-1] > 0.7 * bandwidths["all-reduce"][0]
            and bandwidths["all-gather"][-1] < 0.5 * bandwidths["all-gather"][0] else NOT_HELD),
        Row("099", "memory over 60 GB (256 H100, FSDP, local batch of 2)",
            f"{(degrees[1].needed + scaling_study.MARGIN) / 1e9:.0f} GB, 1 GB of driver and NCCL included",
            HELD if degrees[1].needed + scaling_study.MARGIN > 60e9 else NOT_HELD,
            "activations that the framework keeps besides ours are not described"),
        Row("100", "longer sequences: more MFU, less exposed communication",
            ", ".join(f"{tokens}: {percent(each.mfu)}, {percent(each.exposed)}" if not each.error else f"{tokens}: {each.error}"
                      for tokens, each in rest.lengths.items()), HELD
            if falls([-each.mfu for each in rest.lengths.values() if not each.error])
            and falls([each.exposed for each in rest.lengths.values() if not each.error]) else NOT_HELD),
        Row("101", "exposed communication grows and MFU falls from 1B to 70B, best plans",
            ", ".join(f"{model}: {percent(each.mfu)}, {percent(each.exposed)}" for model, each in rest.sizes.items()),
            HELD if falls([each.mfu for each in rest.sizes.values()])
            and falls([-each.exposed for each in rest.sizes.values()]) else NOT_HELD,
            "TinyLlama's shape for 1B: its small matrices reach less of the peak"),
    ]
    return rows


def all_bandwidths(program):
    """GB/s of bus bandwidth at 1 GiB by operation on 4, 32, 256 and 512 DGX H100."""
    found = defaultdict(list)
    for operation in ("all-reduce", "all-gather", "reduce-scatter"):
        for nodes in (4, 32, 256, 512):
            command = [program, "coll", "--machine", "dgx-h100", "--nodes", str(nodes), "--ranks", str(8 * nodes), "--operation",
                       operation, "--min-size", "1GiB", "--max-size", "1GiB", "--format", "json"]
            done = subprocess.run(command, capture_output=True, text=True)
            if done.returncode != 0:
                raise RuntimeError(f"{' '.join(command)}\n{done.stderr}")
            found[operation].append(json.loads(done.stdout)["rows"][0]["bus_bandwidth"] / 1e9)
    return found


OTHERS = [
    Row("114 to 117", "compression of messages in 3-D training on Lassen: +12.7 to +23.6 %", "–", NOT_MODELLED,
        "no compressed collectives"),
    Row("118, 119", "FPDT: MFU over 55 % at 2 M tokens, sequences 16 × as long", "–", NOT_MODELLED,
        "offloading of activations to the host is no pass"),
    Row("120", "inference: tensor parallelism moves more and answers short prompts sooner, pipelining the reverse", "–", NOT_MODELLED,
        "serving is not simulated"),
    Row("121 to 125", "TensorFlow with Horovod, gRPC and CUDA-aware MPI on Piz Daint: efficiency 90 % at 64 GPUs, ratios of 1.8 to "
        "17 ×", "–", NOT_MODELLED, "the abstract states neither batch nor library versions; remote calls are not simulated"),
    Row("126 to 128", "MVAPICH2-GDR's pipelined chain beside NCCL 1: 14 and 16.6 ×, VGG +7 %", "–", NOT_MODELLED,
        "libraries of 2016 without a published tuning model; ours are NCCL 2 and RCCL"),
    Row("129 to 134", "barriers on NICs of Quadrics and Myrinet: 5.6 to 38.9 us", "–", NOT_MODELLED, "neither network has a machine "
        "file"),
    Row("135 to 138", "checkpoints of 29 TB in 10 min, overhead below 1 %", "–", NOT_MODELLED, "storage is not simulated"),
]


def numbers(text):
    """"114 to 117" and "084, 085" as numbers."""
    found = []
    for part in text.split(", "):
        ends = [int(number) for number in part.split(" to ")]
        found += range(ends[0], ends[-1] + 1)
    return found


def check_complete(rows, data):
    """Every collected range has a row or is structure; a new one stops the run."""
    collected = {int(row["id"].removeprefix("seed-")) for row in plots.read(data / "seeds_checks.csv")}
    judged = {number for row in rows for number in numbers(row.seeds)} | set(STRUCTURE)
    if collected != judged:
        raise RuntimeError(f"ranges without a row: {sorted(collected - judged)}, rows without a range: {sorted(judged - collected)}")


def plot(campaign, path):
    points = []
    for kind in ("one fabric", "intra-l1", "intra-group", "reservation", "inter-group"):
        slow = sorted(outcome.slowdown for machine in campaign.by_machine for outcome in campaign.of(machine, kind))
        points += [(kind, 100 * (i + 1) / len(slow), each) for i, each in enumerate(slow)]
    plots.scatter(path, points, "per cent of jobs", "throughput alone / beside others", log_x=False)


def slowdown_tables(campaign):
    by_place, by_plan = [], []
    for machine in campaign.by_machine:
        for kind in ("one fabric", "intra-l1", "intra-group", "reservation", "inter-group"):
            outcomes = campaign.of(machine, kind)
            if outcomes:
                by_place.append([machine, kind, *spread_cells(outcomes)])
        for plan in paper.MODELS:
            outcomes = campaign.of(machine, plan=[plan])
            if outcomes:
                by_plan.append([machine, plan.upper(), *spread_cells(outcomes)])
    heads = ["jobs", "median, %", "mean, %", "largest, %", "over 10 %"]
    return plots.table(["machine", "placement", *heads], by_place), plots.table(["machine", "plan", *heads], by_plan)


def limiting(campaign):
    """Seconds of moving data lost, by class of the full link: where jobs meet."""
    lost = defaultdict(float)
    for machine in paper.SUPERCOMPUTERS:
        for outcome in campaign.by_machine[machine]:
            for link, by, _, seconds in outcome.lost:
                if by != "itself":
                    lost[machine, link] += seconds
    rows = []
    for machine in paper.SUPERCOMPUTERS:
        whole = sum(each for (name, _), each in lost.items() if name == machine) or 1
        rows.append([machine, *[f"{100 * lost[machine, link] / whole:.0f}" for link in ("nic", "leaf", "group", "global")]])
    return plots.table(["machine", "NIC, %", "leaf to spine, %", "in the group, %", "between groups, %"], rows)


def measure(context):
    """Everything that is simulated for the page."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        alone = {run: paper_table.simulate(context.program, run) for run in paper.runs()}
        laboratory = coscheduling.Laboratory(context.program, folder)
        campaign = Campaign(laboratory)
        contrasts = Contrasts(laboratory, folder)
        study = scaling_study.Study(context.program, folder)
        other = scaling_study.Study(context.program, folder, *scaling_study.other_constants(context, folder))
        shipped, slower, rest = Scaling(study), Scaling(other), Rest(study, other)
        return alone, campaign, contrasts, shipped, slower, rest, all_bandwidths(context.program)


def sections(context):
    return page(context, *measure(context))


def page(context, alone, campaign, contrasts, shipped, slower, rest, bandwidths):
    rows = [*alone_rows(alone), *slowdown_rows(campaign, contrasts), *study_rows(shipped, slower, rest, bandwidths), *OTHERS]
    check_complete(rows, context.data)
    plot(campaign, context.figures / "slowdown.svg")
    by_place, by_plan = slowdown_tables(campaign)
    verdicts = [row.verdict for row in rows]
    sought = sought_alone(alone) + sought_slowdowns(campaign, contrasts)
    jobs = sum(map(len, campaign.by_machine.values()))
    redrawn = ", ".join(f"{machine} {count}" for machine, count in campaign.redrawn.items() if count)
    degrees = [scaling_study.by_degree(each.grid[machine]) for each in (shipped, slower) for machine in ("dgx-h100", "dgx-a100")]
    grid = [[f"{degree}", *[f"{percent(each[degree].mfu)}, {percent(each[degree].exposed)} ({each[degree].run.tensor} × "
                            f"{each[degree].run.stages})" if degree in each else "–" for each in degrees]]
            for degree in degrees[0]]
    volta = scaling_study.by_degree(rest.volta)
    return [
        "## Ranges of the papers",
        "Each range that was collected from the papers about communication, efficiency and slowdown, by its number. "
        f"{verdicts.count(HELD)} rows hold, {verdicts.count(NOT_HELD)} do not, {verdicts.count(NOT_MODELLED)} are not modelled. "
        "**No constant was chosen to reach them.** Rows of single jobs (27 to 44) are those of "
        "[paper_ranges.md](paper_ranges.md), where every run stands. A range of all runs holds where all do. \"About\" is ± 10 % of "
        "a ratio, ± 5 points of a percentage.",
        plots.table(["check", "paper", "simulated", "held", "why not"],
                    [[row.seeds, row.says, row.ours, row.verdict, row.why] for row in rows]),
        "What is sought of the simulator, with its figures:",
        plots.table(["sought", "simulated", "held"], sought),
        "### Jobs side by side",
        f"Experiments of the kind of the DLNetBench paper (section IV-A): sizes uniform or drawn by tier that fill 80 % and more of a "
        f"reservation of three groups (2,400 GPUs of JUPITER, 1,860 of Leonardo, 1,320 of Alps, 2,720 GCDs of LUMI), plans and "
        f"placement classes drawn, {EXPERIMENTS} on each supercomputer and {ONE_FABRIC_EXPERIMENTS} on the others, {jobs} jobs "
        f"in all; each job begins at a moment drawn from its first iteration and goes on until the slowest has done two. Slowdown is "
        f"the paper's: throughput alone at the same place over throughput beside the others, geometric means. Draws that could not "
        f"be placed and were drawn again: {redrawn or 'none'}. There is no noise.",
        "![slowdown by placement](validation/slowdown.svg)",
        by_place, by_plan,
        "Where jobs lose time to one another, in per cent of the seconds of data moving that are lost:",
        limiting(campaign),
        "### Placement, routing and neighbours, one at a time",
        "Five DP+PP+TP jobs on 224 GPUs (of three where they stay in a group) beside 35 DP+PP jobs of Minerva-7B on 32 GPUs, on three "
        "groups of JUPITER:",
        contrast_table("placement of DP+PP+TP", contrasts.placements),
        "Ten such jobs and nobody else:", contrast_table("placement", contrasts.alike),
        "The first five between groups again, with other routing and with cables between switches that never limit:",
        contrast_table("routing", {"adaptive": contrasts.placements["inter-group"], **contrasts.routing}),
        "and with fewer neighbours:", contrast_table("neighbours", {**contrasts.neighbours, 35: contrasts.placements["inter-group"]}),
        "DP+PP+EP on 1,024 GPUs of Leonardo:", contrast_table("where", contrasts.groups),
        "DP on 8 GPUs of JUPITER, ten jobs beside five DP+PP+TP and twenty DP+PP:", contrast_table("where", contrasts.small),
        "DP+PP (Minerva-7B) on 32 GPUs inside groups of Alps, 40 jobs unless said:", contrast_table("how", contrasts.alps),
        reasons(campaign, contrasts),
        "### Scaling study",
        "MFU and exposed communication (bubble included) of the fastest plan by degree of model parallelism, Llama-2 7B, 256 GPUs, "
        "512 sequences of 4,096 tokens, FSDP that keeps what it gathered; in brackets tensor × stages. Shipped constants, and those "
        "that llm-foundry's steps were fitted with (matrix, attention, memory and network of [FSDP](#fsdp-llm-foundry)):",
        plots.table(["degree", "H100, shipped", "A100, shipped", "H100, llm-foundry", "A100, llm-foundry"], grid),
        "V100, 256 GPUs, local batch of 1 (figure 14; no efficiencies of kernels are published for the device): " +
        ("; ".join(f"{degree}: {percent(each.mfu)}" for degree, each in volta.items()) or "nothing fits") + ".",
        study_reasons(shipped, slower, rest),
    ]


def reasons(campaign, contrasts):
    largest = max((outcome for each in campaign.by_machine.values() for outcome in each), key=lambda each: each.slowdown)
    mean_of = lambda cases, name: f"{mean(losses(cases[name])):.2g} %"
    alps = losses(campaign.of("alps", plan=["dp+pp", "dp+pp+tp"]))
    eight = lambda machine: campaign.of(machine, plan=["dp"], ranks=8)
    return "Why not, by what these runs vary:\n\n" + bullets(f"""
* **DP on 8 GPUs.** Alone on two nodes of two groups it sends at the rate of its NICs for most of an iteration. Where all jobs are like
  that one loses {losses(eight("jupiter"))[-1] / 100 + 1:.1f} × at most on JUPITER, {losses(eight("leonardo"))[-1] / 100 + 1:.2f} × on
  Leonardo and {losses(eight("alps"))[-1] / 100 + 1:.1f} × on Alps, and beside other plans
  {losses(contrasts.small["inter-group"])[-1] / 100 + 1:.2f} ×, with hashed routes
  {losses(contrasts.small["inter-group, ecmp"])[-1] / 100 + 1:.2f} ×. Routes that give way find cables that are free; with routes that see
  their own job only it was 6.3, 5.1 and 6.3 ×. Contention gives no more here.
* **Leaves and detours.** On JUPITER jobs inside one group lose {mean(losses(campaign.of("jupiter", "intra-group"))):.0f} % on average. With
  cables between groups that never limit it is {mean(losses(contrasts.inside_groups)):.0f} %: neighbours that nothing holds back load the
  leaves, whose cables to the spines carry half of what their nodes send. The rest is those that go round over the group, on its one cable
  from each leaf to each spine. With routes that see their own job only it was 7 %, because the neighbours waited between groups. On
  Leonardo, whose nodes have half the NICs' rate, it is {mean(losses(campaign.of("leonardo", "intra-group"))):.1f} %.
* **Outliers.** The paper's 8.6 to 106 × are single runs beyond that. A fluid shares a full link in equal parts and at once; the
  largest slowdown of all jobs is {largest.slowdown:.1f} × ({largest.job.plan.upper()} on {largest.job.ranks} GPUs,
  {largest.job.placement}). The paper suspects ranks out of step and libraries that have not settled (V-C4), which show on one
  switch too, where nothing is shared. There is no noise in these runs, and none was chosen to reach the figures.
* **Placement.** What these jobs lose they lose in all-reduces of gradients. With wide cables between switches it is
  {mean_of(contrasts.routing, "wide")}, inside one group {mean_of(contrasts.placements, "intra-group")} and between groups
  {mean_of(contrasts.placements, "inter-group")}. **Blocks on
  first-level switches do not help here** ({mean_of(contrasts.placements, "inter-group-same-l1-4")}): the ring over the replicas
  crosses the three groups as often with blocks as without, and what blocks shorten, the pipeline's messages, does not queue. Drawn
  nodes left in that order, whose rings cross groups at nearly every step, lose {mean_of(contrasts.placements, "random")}; alike jobs
  only: {mean_of(contrasts.alike, "random")} against {mean_of(contrasts.alike, "inter-group")} in order. The paper's 15 and 5 % lie
  between routes that see every neighbour and those that see none (31 %); which neighbours its jobs had it does not say.
* **Routing.** Adaptive routes give way to what other jobs take and have
  under way ([simulator.md](simulator.md#routing)), and with them these jobs lose {mean_of(contrasts.placements, "inter-group")}. Static
  ones lose {mean_of(contrasts.routing, "minimal")}, hashed {mean_of(contrasts.routing, "ecmp")}, traffic spread evenly over all
  minimal routes {mean_of(contrasts.routing, "spray")}; routes that were adaptive among a job's own flows only lost 31 % here, 14 % on
  Alps and 42 % on all of Leonardo. Ours know every queue at once and for nothing; what the paper measured lies between the two.
* **Neighbours.** 5, 15, 25 and 35 jobs of DP+PP beside the five cost them {", ".join(f"{mean(losses(each)):.0f}" for each in
  contrasts.neighbours.values())} and {mean_of(contrasts.placements, "inter-group")}.
* **Leonardo, many groups.** The order is the paper's: {" and ".join(f"{mean(losses(each)):.0f} % on {name}" for name, each in
  contrasts.groups.items())}. Its 65 % was on a machine whose other users are not known.
* **Alps and LUMI.** LUMI's replicas stay in nodes of eight, as the paper says, and lose at most
  {losses(campaign.of("lumi", plan=paper.HYBRIDS))[-1]:.0f} %. On **Alps** DP+PP and DP+PP+TP lose {mean(alps):.0f} % on average and
  {alps[-1]:.0f} % at most, where the paper sees no significant slowdown: most of it on the cables inside groups, one of 25 GB/s
  between each two switches of four nodes. With these cables wide {mean_of(contrasts.alps, "adaptive")} become
  {mean_of(contrasts.alps, "wide cables in groups")}; in blocks of 4 nodes a switch, {mean_of(contrasts.alps,
  "adaptive, blocks of 4 on a switch")}; on minimal routes only, {mean_of(contrasts.alps, "minimal")}. Slingshot detours
  packet by packet, our routes operation by operation.""")


def study_reasons(shipped, slower, rest):
    own, other = shipped.weak, slower.weak
    gains = ", ".join(f"{degree}: {each.tokens / rest.exposed[1].tokens - 1:+.0%}" for degree, each in rest.exposed.items()
                      if degree > 1)
    return bullets(f"""
* **Kernels.** The devices' constants are fitted to kernels that run alone and back to back. FSDP on 128 H100 comes to
  {percent(own[128].mfu)} MFU with them and to {percent(other[128].mfu)} with those that llm-foundry's steps on H100 were fitted
  with, near what the study measured; in the difference are clocks under load, launches and the framework. On A100 both are
  too high: {percent(shipped.best("dgx-a100").mfu)} and {percent(slower.best("dgx-a100").mfu)}, paper 59.7 %.
* **Exposed communication.** From 128 to 2,048 GPUs a gather of a layer grows to 5.7 ms in a ring of 2,048, and 96 of them nearly
  fill the {1000 * own[2048].time:.0f} ms of a step; a prefetch that starts exactly in time hides most of it
  ({percent(own[2048].exposed)} exposed). With llm-foundry's network, at {other_network()} of the nominal rate,
  {percent(other[2048].exposed)} are exposed and {percent(-slower.loss())} lost (paper 37.2 %), and model parallelism on 2,048 GPUs
  gives, by degree, {gains}. What hides decides the orderings: as FSDP alone exposes only
  {percent(shipped.best("dgx-h100").exposed)} at 256 GPUs, tensor and pipeline parallelism have nothing to win there. Kernels of NCCL
  that take multiprocessors from those of the model, and ranks out of step, would expose more; neither is in these runs.""")


def other_network():
    return percent(json.loads(scaling_study.steps.FITS.read_text())["llm-foundry, H100-80GB SXM"]["network"], 0)
