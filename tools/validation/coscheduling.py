# SPDX-License-Identifier: Apache-2.0
"""Jobs side by side on one machine, as the DLNetBench paper ran them (section IV-A), simulated.

An experiment is a pattern of job sizes (uniform or drawn in tiers) that fills most of a reservation of three groups, a plan
for every job and a placement class for every job, drawn until the mean locality lies in the bin that is wanted. All jobs
run for as long as the slowest of them takes for a few iterations. The slowdown of a job is that of the paper: throughput
alone at the same place over throughput beside the others, by geometric means over iterations.
"""

import concurrent.futures
import json
import math
import pathlib
import random
import re
import subprocess
import threading
from dataclasses import dataclass, field

AT_A_TIME = 2
LONGEST_RUNS = (2, 4, 8, 16)   # measured iterations of the slowest job; more where others then have none yet
CANNOT_BE_PLACED = re.compile(r"\.toml:\d+ (ranks|placement): ")
UNMEASURED = "had no measured iteration"
TRIES = 30         # draws of placements until one can be had

MODELS = {"dp": ["vit-h"], "fsdp": ["llama3-8b", "minerva-7b"], "dp+pp": ["llama3-8b", "minerva-7b"],
          "dp+pp+tp": ["llama3-70b"], "dp+pp+ep": ["mixtral-8x7b"]}
# Section IV-A1: counts of concurrent experiments (bold), and of those in one node or rack (italics).
COUNTS = {"dp": [8, 16], "fsdp": [16, 32], "dp+pp": [16, 32, 64], "dp+pp+tp": [256, 512], "dp+pp+ep": [512, 1024]}
ONE_FABRIC_COUNTS = {"dp": [2, 4], "fsdp": [4, 8], "dp+pp": [4, 8], "dp+pp+tp": [], "dp+pp+ep": []}
SMALLER = {("fsdp", 4): ("fsdp", "degree"), ("dp+pp", 4): ("pipeline", "stages")}
# Section IV-A2: tiers, their sizes and how often each is drawn.
TIERS = [(0.75, [8]), (0.20, [16, 32, 64, 512]), (0.05, [1024])]
# Section IV-A4 and the campaigns' locality scores.
LOCALITY = {"intra-l1": 1.0, "intra-group-same-l1-4": 1.2, "intra-group-same-l1-2": 1.5, "intra-group": 2.0,
            "inter-group-same-l1-4": 2.25, "inter-group-same-l1-2": 2.5, "reservation": 3.0, "inter-group": 3.0}
BINS = [(0, 1.67), (1.67, 2.33), (2.33, 3.01)]


@dataclass(frozen=True)
class System:
    """Where the paper ran: three groups of a machine (section V), or all of a node or rack."""
    machine: str
    nodes: int            # 0: as the machine has
    gpus: int             # of the reservation
    node: int             # GPUs of one
    switch: int = 0       # nodes whose first NIC is on one first-level switch
    group: int = 0        # nodes
    scale: int = 1        # of all GPU counts (section IV-A2: doubled on LUMI)

    @property
    def one_fabric(self):
        return self.group == 0


SYSTEMS = [System("dgx-a100", 0, 8, 8), System("gb300-nvl72", 0, 72, 72),
           System("jupiter", 720, 2400, 4, 16, 240), System("leonardo", 540, 1860, 4, 10, 180),
           System("alps", 384, 1320, 4, 4, 128), System("lumi", 372, 2720, 8, 4, 124, 2)]


@dataclass(frozen=True)
class Job:
    plan: str
    model: str
    ranks: int
    placement: str
    start: float = 0      # seconds

    @property
    def name(self):
        return f"{self.plan} {self.model} {self.ranks}"


@dataclass
class Outcome:
    """One job of one experiment."""
    job: Job
    slowdown: float       # 1: none
    worst: float          # its longest iteration over the mean one alone
    alone: float          # seconds of an iteration
    iterations: int
    lost: list = field(default_factory=list)  # (class of links, neighbour's plan or "itself", operation, seconds)


def feasible(size, system):
    """Plans that exist at a size (section IV-A1)."""
    counts = {plan: COUNTS[plan] + (ONE_FABRIC_COUNTS[plan] if system.one_fabric else []) for plan in COUNTS}
    return [plan for plan in MODELS if size in [system.scale * count for count in counts[plan]]]


def classes(size, system):
    """Placement classes that a job of this size can have on an empty machine."""
    if system.one_fabric:
        return ["linear", "random"]
    nodes = math.ceil(size / system.node)
    kinds = ["inter-group", "reservation"] if nodes > 1 else []
    if 1 < nodes <= system.switch:
        kinds.append("intra-l1")
    if 1 < nodes <= system.group:
        kinds.append("intra-group")
    for block in (2, 4):
        if nodes % block == 0 and nodes > block and block <= system.switch:
            kinds.append(f"inter-group-same-l1-{block}")
            if nodes <= system.group:
                kinds.append(f"intra-group-same-l1-{block}")
    return kinds or ["linear"]


def tier_sampled(draw, budget, scale):
    """Sizes drawn by tier until nothing that is drawn fits any more."""
    sizes = []
    while True:
        tier = draw.choices(TIERS, [share for share, _ in TIERS])[0][1]
        size = scale * draw.choice(tier)
        if size > budget:
            return sizes
        sizes.append(size)
        budget -= size


def pattern(draw, system):
    """Sizes of an experiment that fill 80 % of the reservation at least (section IV-A2)."""
    counts = sorted({count * system.scale for plan in COUNTS
                     for count in COUNTS[plan] + (ONE_FABRIC_COUNTS[plan] if system.one_fabric else [])})
    counts = [count for count in counts if 2 * count <= system.gpus]
    while True:
        if system.one_fabric or draw.random() < 0.5:
            size = draw.choice(counts)
            sizes = [size] * (system.gpus // size)
        else:
            sizes = tier_sampled(draw, system.gpus, system.scale)
        if len(sizes) > 1 and sum(sizes) >= 0.8 * system.gpus and all(feasible(size, system) for size in sizes):
            return sizes


def draw_jobs(draw, system, bin_of_locality):
    """Plan and placement for every size; the most local and largest jobs are placed first."""
    sizes = pattern(draw, system)
    chosen = []
    for size in sizes:
        plan = draw.choice(feasible(size, system))
        chosen.append((plan, draw.choice(MODELS[plan]), size))
    kinds = {size: classes(size, system) for size in sizes}
    low, high = BINS[bin_of_locality]
    best = None
    for _ in range(2000):
        placements = [draw.choice(kinds[size]) for size in sizes]
        mean = sum(LOCALITY.get(kind, 1) for kind in placements) / len(placements)
        away = max(low - mean, mean - high, 0)
        if best is None or away < best[0]:
            best = (away, placements)
        if away == 0:
            break
    jobs = [Job(*what, placement) for what, placement in zip(chosen, best[1])]
    return sorted(jobs, key=lambda job: (LOCALITY.get(job.placement, 1), -job.ranks, job.name))


def plan_text(job):
    """The plan of a job in a spec file, made smaller where it needs more ranks than there are."""
    key = SMALLER.get((job.plan, job.ranks))
    if not key:
        return f'"{job.plan}"'
    passes, option = key
    return f'{{ name = "{job.plan}", {passes} = {{ {option} = {job.ranks} }} }}'


class Laboratory:
    """Runs jobs alone (once per plan, size and machine) and together."""

    def __init__(self, program, folder):
        self.program = program
        self.folder = pathlib.Path(folder)
        self.known = {}
        self.files = 0
        self.lock = threading.Lock()

    def alone(self, system, job, machine=None):
        """Seconds of an iteration of a job that has the machine to itself, placed one after the other."""
        key = (system.machine, job.plan, job.model, job.ranks)
        if key not in self.known:
            command = [self.program, "simulate", "--quiet", "--json", "--machine", system.machine, "--plan", job.plan,
                       "--model", job.model, "--ranks", str(job.ranks), "--iterations", "1"]
            if system.nodes:
                command += ["--nodes", str(system.nodes)]
            if (job.plan, job.ranks) in SMALLER:
                command += ["--set", f"plan.{'.'.join(SMALLER[job.plan, job.ranks])}={job.ranks}"]
            done = subprocess.run(command, capture_output=True, text=True)
            if done.returncode != 0:
                raise RuntimeError(f"{' '.join(command)}\n{done.stderr}")
            self.known[key] = json.loads(done.stdout)["metrics"]["iteration_time"]["value"]
        return self.known[key]

    def spec(self, system, jobs, seed, machine, options, longest=LONGEST_RUNS[0]):
        """The text of a spec file in which all jobs run for as long as the slowest takes for `longest` iterations."""
        times = [self.alone(system, job) for job in jobs]
        slowest = max(range(len(jobs)), key=lambda i: (times[i], i))  # of equals the least local, which others slow most
        lines = [f'machine = "{machine or system.machine}"', "warmup = 1", *options]
        if system.nodes:
            lines.append(f"nodes = {system.nodes}")
        for i, job in enumerate(jobs):
            runs = max(1, round(longest * times[slowest] / times[i]))
            lines += ["[[job]]", f'name = "j{i}"', f"plan = {plan_text(job)}", f'model = "{job.model}"',
                      f"ranks = {job.ranks}", f'placement = "{job.placement}"', f"seed = {seed + i}",
                      f"iterations = {runs}", f'start = "{job.start * 1e3:.3f} ms"']
            if i != slowest:
                lines.append("repeat = true")
        return "\n".join(lines) + "\n"

    def together(self, system, jobs, seed=1, machine=None, options=()):
        """Outcomes of jobs side by side, or as a string why they cannot be placed."""
        with self.lock:
            self.files += 1
            base = self.folder / f"experiment-{self.files}"
        spec = base.with_suffix(".toml")
        for longest in LONGEST_RUNS:
            spec.write_text(self.spec(system, jobs, seed, machine, options, longest))
            done = subprocess.run([self.program, "simulate", "--quiet", "--spec", str(spec), "-o", str(base) + ".json"],
                                  capture_output=True, text=True)
            if UNMEASURED not in done.stderr:
                break
        if done.returncode == 2 and CANNOT_BE_PLACED.search(done.stderr):
            return done.stderr.strip()
        if done.returncode != 0:
            raise RuntimeError(f"{len(jobs)} jobs on {system.machine}: exit {done.returncode}\n{done.stderr}")
        outcomes = []
        for i, job in enumerate(jobs):
            path = pathlib.Path(f"{base}.j{i}.json")
            outcomes.append(self.outcome(job, jobs, json.loads(path.read_text())))
            path.unlink()
        return outcomes

    @staticmethod
    def outcome(job, jobs, result):
        times = [iteration["time"] for iteration in result["iterations"]]
        slowdown = result["slowdown"]
        lost = []
        for part in result.get("links", {}).get("slowed", []):
            by = jobs[int(part["by"][1:])].plan if part["by"].startswith("j") else "itself"
            lost.append((part["class"], by, part["operation"], part["lost"]))
        return Outcome(job, slowdown["value"], max(times) / slowdown["alone"], slowdown["alone"], len(times), lost)


def experiment(laboratory, system, seed, bin_of_locality, machine=None):
    """One experiment of the paper's kind: outcomes of its jobs, and how many draws could not be placed."""
    for attempt in range(TRIES):
        draw = random.Random(f"{system.machine}/{seed}/{attempt}")
        jobs = draw_jobs(draw, system, bin_of_locality)
        jobs = [Job(job.plan, job.model, job.ranks, job.placement,
                    draw.random() * laboratory.alone(system, job)) for job in jobs]
        outcomes = laboratory.together(system, jobs, 1000 * seed + attempt, machine)
        if not isinstance(outcomes, str):
            return outcomes, attempt
    raise RuntimeError(f"{system.machine}, experiment {seed}: {TRIES} draws cannot be placed: {outcomes}")


def experiments(laboratory, system, count, machine=None):
    """`machine`: another file than the system's."""
    with concurrent.futures.ThreadPoolExecutor(AT_A_TIME) as pool:
        return list(pool.map(lambda seed: experiment(laboratory, system, seed, seed % len(BINS), machine), range(count)))
