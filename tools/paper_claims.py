# SPDX-License-Identifier: Apache-2.0
"""What the DLNetBench paper ran alone on a machine, and what it says came out of it.

Raffi et al., "Characterizing the Scalability and Performance of Large-Scale AI Training Under Multi-Tenancy".
GPU counts are those of section IV-A1, statements those of sections V-A to V-C, beside which the figure stands
that shows them. Everything here is in percent. Nothing here runs or prints anything.
"""

from dataclasses import dataclass

MODELS = {
    "dp": ["vit-h"],
    "fsdp": ["llama3-8b", "minerva-7b"],
    "dp+pp": ["llama3-8b", "minerva-7b"],
    "dp+pp+tp": ["llama3-70b"],
    "dp+pp+ep": ["mixtral-8x7b"],
}
# Section IV-A1: the counts in italics (one node or rack only), and all others.
ONE_FABRIC_COUNTS = {"dp": [2, 4], "fsdp": [4, 8], "dp+pp": [4, 8], "dp+pp+tp": [], "dp+pp+ep": []}
COUNTS = {
    "dp": [8, 16, 32, 64],
    "fsdp": [16, 32, 128, 256],
    "dp+pp": [16, 32, 64, 128, 256],
    "dp+pp+tp": [256, 512, 1024],
    "dp+pp+ep": [512, 1024, 2048],
}
# The smallest model replica, and the option that makes it smaller: some counts of section IV-A1 lie below it.
DEGREE = {"fsdp": (8, "plan.fsdp.degree"), "dp+pp": (8, "plan.pipeline.stages")}

ONE_FABRIC = {"dgx-a100": 8, "gb300-nvl72": 72}  # all GPUs behind one NVSwitch level
SUPERCOMPUTERS = ["leonardo", "alps", "jupiter", "lumi"]
MACHINES = [*ONE_FABRIC, *SUPERCOMPUTERS]
LUMI_NODE = 8
HYBRIDS = ["dp+pp", "dp+pp+tp", "dp+pp+ep"]


def counts(plan, machine):
    """GPU counts of a plan on a machine. On LUMI all are doubled (section IV-A2): 8 and less then fill one
    node, and 16 is the first count on several, the one by which Fig. 3 normalises."""
    every = ONE_FABRIC_COUNTS[plan] + COUNTS[plan]
    if machine in ONE_FABRIC:
        return [count for count in every if count <= ONE_FABRIC[machine]]
    if machine == "lumi":
        return [2 * count for count in every]
    return COUNTS[plan]


def settings(plan, ranks):
    """Changes of the plan without which it needs more ranks than there are."""
    degree, key = DEGREE.get(plan, (1, ""))
    return [f"{key}={ranks}"] if ranks < degree else []


@dataclass(frozen=True)
class Run:
    plan: str
    model: str
    machine: str
    ranks: int

    @property
    def several_nodes(self):
        return self.machine in SUPERCOMPUTERS and (self.machine != "lumi" or self.ranks > LUMI_NODE)

    @property
    def series(self):
        """Runs that share the smallest one by which efficiency is normalised."""
        return (self.plan, self.model, self.machine, self.several_nodes)


def runs():
    return [Run(plan, model, machine, ranks) for plan, models in MODELS.items() for model in models
            for machine in MACHINES for ranks in counts(plan, machine)]


COMMUNICATION, EFFICIENCY, DROP = "communication", "efficiency", "drop of efficiency per doubling"


@dataclass(frozen=True)
class Claim:
    """A range of the paper. `of`: it is about `every` run, or the `largest` or `smallest` value of them."""

    quantity: str
    place: str
    plans: list
    machines: list
    low: float = 0
    high: float = 100
    ranks: range = range(1, 10000)
    of: str = "every"
    several_nodes: bool = False
    note: str = ""
    seed: str = ""  # its row among the checks collected from the paper

    def covers(self, run):
        return (run.plan in self.plans and run.machine in self.machines and run.ranks in self.ranks
                and (run.several_nodes or not self.several_nodes))

    @property
    def text(self):
        if self.low <= 0:
            return f"≤ {self.high:g}"
        return f"≥ {self.low:g}" if self.high >= 100 else f"{self.low:g}–{self.high:g}"

    def miss(self, value):
        """Percentage points outside of the range after rounding to a tenth; negative below it, 0 inside. 100
        is no upper end: efficiency may exceed it."""
        value = round(value, 1)
        return value - self.high if self.high < 100 and value > self.high else min(value - self.low, 0.0)


EVERY_PLAN = list(MODELS)
# "About 20 %" is taken as 15 to 25: half of the ten to which the paper rounds such figures.
# From general to special: of several that cover a run, the last one stands beside it.
CLAIMS = [
    Claim(COMMUNICATION, "V-A", EVERY_PLAN, ["dgx-a100"], high=10, seed="027"),
    Claim(COMMUNICATION, "V-A", EVERY_PLAN, ["gb300-nvl72"], high=58, seed="028"),
    Claim(COMMUNICATION, "V-A", EVERY_PLAN, ["gb300-nvl72"], 41, 58, of="largest", seed="028"),
    Claim(COMMUNICATION, "V-B", ["dp"], ["gb300-nvl72"], 15, 25, range(32, 65), note="about 20", seed="029"),
    Claim(COMMUNICATION, "V-A", ["dp", *HYBRIDS], SUPERCOMPUTERS, 30, 80, several_nodes=True, seed="030"),
    Claim(COMMUNICATION, "V-A", ["dp"], SUPERCOMPUTERS, 70, 100, range(64, 129), several_nodes=True,
          note="often, at larger scales", seed="037"),
    Claim(COMMUNICATION, "V-A", ["fsdp"], MACHINES, high=10, seed="031"),
    Claim(COMMUNICATION, "V-C4, Fig. 2", ["fsdp"], ["alps"], 3, 7, seed="032"),
    Claim(COMMUNICATION, "V-A", HYBRIDS, SUPERCOMPUTERS, 30, 50, several_nodes=True, note="generally", seed="033"),
    Claim(COMMUNICATION, "V-C4, Fig. 2", ["dp+pp", "dp+pp+tp"], ["alps"], 40, 60, seed="034"),
    Claim(COMMUNICATION, "V-C5, Fig. 2", HYBRIDS, ["lumi"], 30, 40, several_nodes=True, seed="035"),
    Claim(COMMUNICATION, "V-C3, Fig. 2", ["dp+pp+ep"], ["leonardo"], 45, 55, range(1024, 1025),
          note="almost half", seed="036"),
    Claim(EFFICIENCY, "V-B", EVERY_PLAN, ["dgx-a100"], low=99, seed="038"),
    Claim(EFFICIENCY, "V-B", ["dp"], ["gb300-nvl72"], 80, 85, range(32, 65), seed="039"),
    Claim(EFFICIENCY, "V-B", ["fsdp", *HYBRIDS], SUPERCOMPUTERS, low=80, several_nodes=True,
          note="typically", seed="040"),
    Claim(EFFICIENCY, "V-B", HYBRIDS, ["jupiter"], low=75, note="drops to around", seed="041"),
    Claim(EFFICIENCY, "V-B", HYBRIDS, ["jupiter"], 70, 80, of="smallest", note="around 75, 17 or 18 groups", seed="041"),
    Claim(EFFICIENCY, "V-B", ["dp"], SUPERCOMPUTERS, high=50, ranks=range(64, 65), of="smallest",
          several_nodes=True, note="in some cases", seed="042"),
    Claim(DROP, "V-B", ["dp"], SUPERCOMPUTERS, 10, 30, several_nodes=True, seed="042"),
]


def claim_beside(run, quantity):
    """The most special claim about every run that covers this one, or None."""
    covering = [claim for claim in CLAIMS
                if claim.of == "every" and claim.quantity == quantity and claim.covers(run)]
    return covering[-1] if covering else None


def efficiencies(throughput):
    """Percent of ideal scaling from the smallest run of the series; {Run: samples/s} → {Run: percent}."""
    smallest = {}
    for run in throughput:
        if run.series not in smallest or run.ranks < smallest[run.series].ranks:
            smallest[run.series] = run
    per_rank = {run: value / run.ranks for run, value in throughput.items()}
    return {run: 100 * per_rank[run] / per_rank[smallest[run.series]] for run in throughput}


def drops(efficiency):
    """Percentage points lost from the run of half the size, where there is one in the same series."""
    by_size = {(run.series, run.ranks): value for run, value in efficiency.items()}
    return {run: by_size[run.series, run.ranks // 2] - value for run, value in efficiency.items()
            if run.ranks % 2 == 0 and (run.series, run.ranks // 2) in by_size}


def judge(claim, values):
    """How a claim fares against {Run: percent}: runs it covers, runs that hold, low, high, farthest miss."""
    covered = [value for run, value in values.items() if claim.covers(run)]
    if not covered:
        return None
    judged = {"every": covered, "largest": [max(covered)], "smallest": [min(covered)]}[claim.of]
    misses = [claim.miss(value) for value in judged]
    return len(judged), misses.count(0), min(judged), max(judged), max(misses, key=abs)
