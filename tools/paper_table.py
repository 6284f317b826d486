#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Simulates the paper's runs and writes what comes out beside the paper's ranges.

usage: tools/paper_table.py DLNETBENCH -o docs/models/paper_ranges.md

Two runs at a time; about a minute on two cores. The same program and data give the same bytes. Exit 1: a
run failed.
"""

import argparse
import concurrent.futures
import json
import pathlib
import subprocess
import sys
import tempfile
from dataclasses import dataclass

import paper_claims as paper
from paper_claims import COMMUNICATION, DROP, EFFICIENCY, Run
from paper_reasons import EXPERIMENTS, experiments_section

AT_A_TIME = 2
MACHINE_FILES = pathlib.Path(__file__).resolve().parent.parent / "data" / "machines"
PARTS = ["transfer", "straggler_wait", "pipeline_bubble"]


@dataclass(frozen=True)
class Outcome:
    iteration: float      # seconds, slowest rank
    throughput: float     # samples/s
    communication: float  # percent
    parts: tuple          # percent of that iteration: PARTS
    compute: float        # seconds of that iteration
    reduced: int          # bytes that a rank of role 0 all-reduces per iteration
    exchanged: int        # bytes that it sends in all-to-alls, its own part included


def outcome(result):
    value = {name: metric["value"] for name, metric in result["metrics"].items()}
    whole = value["compute"] + sum(value[part] for part in PARTS)
    role = [entry for entry in result["ledger"] if entry["role"] == 0]
    reduced = sum(entry["bytes_total"] for entry in role if entry["operation"] == "all-reduce")
    exchanged = sum(entry["bytes_each"] * entry["count"] * entry["group_size"] for entry in role
                    if entry["operation"] == "all-to-all")
    return Outcome(value["iteration_time"], value["throughput"], 100 * value["communication_fraction"],
                   tuple(100 * value[part] / whole for part in PARTS), value["compute"], reduced, exchanged)


def simulate(program, run, changes=(), machine=None):
    """One run of the program; changes: further options; machine: a file instead of the run's machine."""
    command = [program, "simulate", "--quiet", "--json", "--plan", run.plan, "--model", run.model,
               "--machine", machine or run.machine, "--ranks", str(run.ranks), *changes]
    for setting in paper.settings(run.plan, run.ranks):
        command += ["--set", setting]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(command)}\nexit {done.returncode}\n{done.stderr}")
    return outcome(json.loads(done.stdout))


def widened(text):
    """A machine file whose cables between switches carry 100 times as much and so never limit."""
    lines = []
    for line in text.splitlines():
        key = line.split("=")[0].strip()
        if key in ("local_capacity", "leaf_capacity", "global_capacity"):
            number, unit = line.split('"')[1].split()
            line = f'{key} = "{100 * float(number):g} {unit}"'
        lines.append(line)
    return "\n".join(lines) + "\n"


def simulate_all(program, wide):
    """(the paper's runs, the experiments): {Run: Outcome}, {(Run, variant): Outcome}."""
    with concurrent.futures.ThreadPoolExecutor(AT_A_TIME) as pool:
        runs = {run: pool.submit(simulate, program, run) for run in paper.runs()}
        experiments = {}
        for run, variant in EXPERIMENTS:
            machine = str(wide / f"{run.machine}.toml") if variant.wide else None
            experiments[run, variant.name] = pool.submit(simulate, program, run, variant.options, machine)
        try:
            return ({run: future.result() for run, future in runs.items()},
                    {key: future.result() for key, future in experiments.items()})
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise


def table(heads, rows):
    """A Markdown table; the heads that end in a space are of text, the others of numbers (right-aligned)."""
    rule = ["---" if head.endswith(" ") else "--:" for head in heads]
    lines = [[head.strip() for head in heads], rule, *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def milliseconds(seconds):
    return f"{1000 * seconds:.1f}" if seconds < 1 else f"{1000 * seconds:.0f}"


def verdict(claim, value):
    """What stands beside a run: the paper's range and whether it holds."""
    if claim is None or value is None:
        return ["–", "–"]
    miss = claim.miss(value)
    return [claim.text, "held" if miss == 0 else f"**{abs(miss):.1f} {'over' if miss > 0 else 'under'}**"]


def efficiency_verdict(run, efficiency, drop):
    dropping = paper.claim_beside(run, DROP)
    if dropping is None:
        return verdict(paper.claim_beside(run, EFFICIENCY), efficiency[run])
    text, held = verdict(dropping, drop.get(run))
    return [f"{text} lost per doubling" if run in drop else text, held]


def plan_table(plan, results, efficiency, drop):
    rows = []
    for run, result in results.items():
        if run.plan == plan:
            rows.append([run.machine, run.model, str(run.ranks), milliseconds(result.iteration),
                         f"{result.communication:.1f}", *[f"{part:.1f}" for part in result.parts],
                         *verdict(paper.claim_beside(run, COMMUNICATION), result.communication),
                         f"{efficiency[run]:.1f}", *efficiency_verdict(run, efficiency, drop)])
    return table(["machine ", "model ", "GPUs", "iteration, ms", "communication, %", "transfer",
                  "straggler wait", "bubble", "paper ", "held ", "efficiency, %", "paper ", "held "], rows)


def claims_table(values):
    rows = []
    for claim in paper.CLAIMS:
        judged = paper.judge(claim, values[claim.quantity])
        if judged is None:
            continue
        covered, held, low, high, miss = judged
        what = claim.quantity if claim.of == "every" else f"{claim.quantity}, {claim.of}"
        where = "the supercomputers" if claim.machines == paper.SUPERCOMPUTERS else ", ".join(claim.machines)
        where = "all machines" if claim.machines == paper.MACHINES else where
        plans = "all plans" if claim.plans == paper.EVERY_PLAN else ", ".join(claim.plans)
        span = f"{low:.1f}–{high:.1f}" if covered > 1 else f"{low:.1f}"
        rows.append([claim.place, f"{plans} on {where}{sizes(claim.ranks)}", what,
                     claim.text + (f" ({claim.note})" if claim.note else ""), span, f"{held} of {covered}",
                     f"{miss:+.1f}" if miss else "held"])
    heads = ["section ", "runs ", "quantity, % ", "paper ", "simulated ", "held", "farthest miss, points"]
    return table(heads, rows)


def sizes(ranks):
    if len(ranks) > 5000:
        return ""
    return f", {ranks[0]} GPUs" if len(ranks) == 1 else f", {ranks[0]}–{ranks[-1]} GPUs"


HEAD = """# The paper's runs, simulated

Written by `tools/paper_table.py DLNETBENCH -o docs/models/paper_ranges.md`; do not edit. The paper is Raffi
et al., "Characterizing the Scalability and Performance of Large-Scale AI Training Under Multi-Tenancy". Its
ranges are quoted with the section they stand in; beside it the figure they are shown in.
**No constant was chosen to reach them**: machine files, cost model and collectives are what docs/models says,
and where a range is missed the table says by how much and the end of this page why.

* Linear placement on an idle machine, cost model `paper`, 1 warm-up and 2 measured iterations.
* GPU counts: section IV-A1, with those for one node or rack only on DGX A100 and NVL72. On LUMI all are
  doubled (IV-A2 says so of allocations); 8 and less are one node, and from 16 on efficiency is against 16
  GPUs where the plan has them (caption of Fig. 3). FSDP on 4 GPUs has a sharding factor of 4 and DP+PP on 4
  GPUs 4 stages, because the degree of 8 does not fit; the paper does not say what it did. Efficiencies from
  such a run compare two different pipelines.
* The reservations of the paper (section V) had 2400 GPUs on JUPITER, 1860 on Leonardo and 1320 on Alps: 2048
  on the latter two has no counterpart there.
* *Communication* is the paper's sync_time / total on the rank where it is largest (section IV-B2), and
  transfer, straggler wait and bubble are its parts ([metrics](metrics.md)). *Efficiency* is throughput per
  GPU against the smallest run. Drops per doubling are percentage points of it, where a run of half the size
  exists.
* held, over, under: percentage points to the range, after rounding to a tenth. "About" a figure is taken as
  ±5 points.
"""


def page(results, experiments):
    efficiency = paper.efficiencies({run: result.throughput for run, result in results.items()})
    drop = paper.drops(efficiency)
    values = {COMMUNICATION: {run: result.communication for run, result in results.items()},
              EFFICIENCY: efficiency, DROP: drop}
    text = [HEAD, "## Statement by statement\n", claims_table(values)]
    for plan in paper.MODELS:
        text += [f"## {plan}\n", plan_table(plan, results, efficiency, drop)]
    return "\n".join([*text, experiments_section(results, experiments, table)])


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", metavar="DLNETBENCH")
    parser.add_argument("-o", "--output", type=pathlib.Path, required=True, metavar="PAGE.md")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for machine in paper.SUPERCOMPUTERS:
            text = widened((MACHINE_FILES / f"{machine}.toml").read_text(encoding="utf-8"))
            (pathlib.Path(folder) / f"{machine}.toml").write_text(text, encoding="utf-8")
        try:
            results, experiments = simulate_all(arguments.program, pathlib.Path(folder))
        except (OSError, RuntimeError) as error:
            sys.exit(f"paper_table: {error}")
    arguments.output.write_text(page(results, experiments), encoding="utf-8")


if __name__ == "__main__":
    main()
