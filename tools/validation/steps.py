# SPDX-License-Identifier: Apache-2.0
"""Training steps: what `simulate` predicts beside published measurements, configuration by configuration.

Each study has a few constants of its framework and machine, fitted to every second of its rows (in the order of the
file) and checked on the others. `fits.json` keeps them; `refit_all` finds them again.
"""

import json
import math
import statistics
from collections import defaultdict
from dataclasses import dataclass, replace

from . import plots
from .fits import FITS, keep_fits, read_fits  # noqa: F401  (FITS: for other modules)
from .plots import read
from .simulator import Constants, Job, Simulator
from .text import bullets

GB = 1e9


@dataclass(frozen=True)
class Step:
    row: dict
    measured: float            # seconds of a step
    allocated: float = 0       # bytes, where measured


@dataclass(frozen=True)
class Study:
    name: str
    job: object                # row -> Job
    constants: object          # row, fitted -> Constants
    steps: list
    fitted: tuple              # names of the constants
    outlier: object = lambda step, seconds: False   # whether a step beside its prediction is none to fit to


def gpt2(row):
    return json.dumps({"model_type": "gpt2", "n_embd": int(row["hidden"]), "n_layer": int(row["layers"]),
                       "n_head": int(row["heads"]), "n_inner": int(row["ffn"]), "vocab_size": int(row["vocab"]),
                       "n_positions": int(row["seq"])})


def llama(row):
    return json.dumps({"model_type": "llama", "hidden_size": int(row["hidden"]), "num_hidden_layers": int(row["layers"]),
                       "num_attention_heads": int(row["heads"]), "num_key_value_heads": int(row["kv_heads"]),
                       "intermediate_size": int(row["ffn"]), "vocab_size": int(row["vocab"]),
                       "max_position_embeddings": int(row["seq"]), "tie_word_embeddings": row["tied_embeddings"] == "1"})


# ---- FSDP: MosaicML llm-foundry

FSDP = {"A100-40GB SXM": "a100-40-roce", "A100-80GB SXM": "a100-80-roce", "H100-80GB SXM": "h100-ib"}


def fsdp_job(row):
    reshard = "true" if row["sharding"].endswith("FULL_SHARD") else "false"
    plan = (f"fsdp={{degree={row['n_gpus']},reshard_after_forward={reshard},every_microbatch=true}},"
            "pipeline={stages=1,microbatches={microbatches},schedule='1f1b'}")
    options = ("--recompute", "full") if row["activation_checkpointing"] == "True" else ()
    return Job(gpt2(row), FSDP[row["gpu"]], int(row["n_gpus"]), plan, int(row["grad_accum"]), int(row["micro_batch"]),
               int(row["seq"]), 1, options)


def fsdp_needs(row, memory):
    """llm-foundry's loss is one kernel (FlashAttention's cross entropy) that writes no logits in 32 bits: 4 bytes per
    logit where the model has 12."""
    return memory["needed"] - 8 * int(row["micro_batch"]) * int(row["seq"]) * int(row["vocab"]) + 1 * GB


def fsdp(folder, gpu):
    rows = [row for row in read(folder / "fsdp_llmfoundry_wide.csv")
            if row["gpu"] == gpu and "fp8" not in row["precision"]]
    steps = [Step(row, int(row["global_batch"]) * int(row["seq"]) / float(row["tokens_per_s"])) for row in rows]
    return Study(f"llm-foundry, {gpu}", fsdp_job, lambda row, fitted: Constants(**fitted), steps,
                 ("matrix", "attention", "memory", "network"))


# ---- 3-D: nanotron, ultrascale playbook

def nanotron_job(row):
    tp, pp, dp = int(row["tp"]), int(row["pp"]), int(row["dp"])
    passes = []
    if tp > 1:
        passes.append(f"tensor={{degree={tp},sequence_parallel=true,loss_parallel=true}}")
    passes.append(f"pipeline={{stages={pp},microbatches={{microbatches}},schedule='1f1b',split='cost'}}")
    if dp > 1:
        passes.append(f"data={{degree={dp},zero={row['sharding'][-1]}}}")
    # nanotron puts replicas next to each other and stages apart; here stages come first.
    devices = ""
    if pp > 1 and dp > 1:
        devices = ",".join(str((stage * dp + replica) * tp + rank)
                           for replica in range(dp) for stage in range(pp) for rank in range(tp))
    return Job(llama(row), "p5", tp * pp * dp, ",".join(passes), int(row["grad_accum"]), int(row["micro_batch"]),
               int(row["seq"]), pp, ("--gradient-dtype", "fp32"), devices)


def nanotron_constants(row, fitted):
    """Where stages lie on several nodes, the host takes (1 + crossing · t) times as long for each of its kernels."""
    values = dict(fitted)
    crossing = values.pop("crossing")
    tp, pp, ranks = int(row["tp"]), int(row["pp"]), int(row["n_gpus"])
    if tp > 1 and pp > 1 and ranks > 8:
        values["dispatch"] *= 1 + crossing * tp
    return Constants(**values)


STALL = 0.12                   # seconds: between the two clouds of what a message of a pipeline is late by
LAYER_STALL = 0.02             # seconds: a layer of a micro-batch, where tensor parallelism crosses nodes


def messages(row):
    """Of the busiest stage for one micro-batch: activations and gradients, in and out."""
    return {1: 0, 2: 2}.get(int(row["pp"]), 4)


def lateness(step, predicted):
    """Seconds by which a pipeline's step is late, for each message of the busiest stage."""
    rounds = int(step.row["grad_accum"]) + int(step.row["pp"]) - 1
    return (step.measured - predicted) / rounds / messages(step.row)


def layer_lateness(step, predicted):
    """Seconds by which a step without stages is late, for each layer and micro-batch."""
    return (step.measured - predicted) / int(step.row["grad_accum"]) / int(step.row["layers"])


def is_consistent(row):
    return int(row["dp"]) * int(row["micro_batch"]) * int(row["grad_accum"]) == int(row["global_batch"])


def stalls(step, predicted):
    return messages(step.row) > 0 and lateness(step, predicted) > STALL


def nanotron(folder):
    """Steps that ran."""
    rows = [row for row in read(folder / "train_3d_ultrascale_h100.csv") if row["status"] == "ok"]
    steps = [Step(row, int(row["global_batch"]) * int(row["seq"]) / float(row["tok_s"]), float(row["gpu_mem_GB"]) * GB)
             for row in rows]
    return Study("nanotron, H100", nanotron_job, nanotron_constants, steps, ("memory", "dispatch", "crossing"), stalls)


def nanotron_regathers(row):
    """The same plan where gathered inputs are not kept (nanotron's tp_recompute_allgather)."""
    job = nanotron_job(row)
    return replace(job, plan=job.plan.replace("loss_parallel=true", "loss_parallel=true,regather=true"))


def two_versions(simulator, study, fitted, needs):
    """How the steps' memory falls apart into those that kept what they gathered and those that gathered it again."""
    nearer, off = 0, []
    for step, need in needs:
        if step.row["tp"] == "1":
            continue
        result = simulator.memory(nanotron_regathers(step.row), nanotron_constants(step.row, fitted))
        kept = abs(need / step.allocated - 1)
        again = abs(nanotron_needs(step.row, result.memory) / step.allocated - 1)
        nearer += again < kept
        off.append(min(kept, again))
    return (f"With tensor parallelism the {len(off)} steps fall apart in two, which the data do not name: {nearer} lie nearer to "
            "a plan that gathers the inputs of matrices again for the backward pass (`regather`), the others to one that "
            f"keeps them; the nearer of the two is off by {100 * statistics.median(off):.1f} % (median). "
            "The figures here are those of keeping.")


def nanotron_needs(row, memory):
    """nanotron's ZeRO-1 keeps a buffer of the parameters it gathers; 1 GB is the driver's and NCCL's."""
    return memory["needed"] + (memory["parameters"] if row["sharding"] == "ZeRO-1" else 0) + 1 * GB


# ---- Megatron: Korthikanti et al., nothing fitted

def megatron_job(row):
    tp, pp, virtual = int(row["tp"]), int(row["pp"]), int(row["vpp"])
    cut = ",sequence_parallel=true,regather=true" if "sequence parallel" in row["activation_checkpointing"] else ""
    order = f"schedule='interleaved',virtual_stages={virtual}" if virtual > 1 else "schedule='1f1b'"
    plan = (f"tensor={{degree={tp},loss_parallel=true{cut}}},"
            f"pipeline={{stages={pp},microbatches={{microbatches}},{order}}}")
    recompute = next((kind for kind in ("full", "selective") if kind in row["activation_checkpointing"]), "none")
    return Job(gpt2(row), "a100-80-roce", int(row["n_gpus"]), plan, int(row["grad_accum"]), int(row["micro_batch"]),
               int(row["seq"]), pp, ("--recompute", recompute, "--fused-attention", "false", "--dtype", "fp16"))


def megatron(folder, metric):
    return [row for row in read(folder / "train_3d_other.csv")
            if row["source"].startswith("Korthikanti") and row["metric"] == metric]


# ---- fitting and judging

def outcomes(simulator, study, steps, fitted):
    return simulator.run_all([(study.job(step.row), study.constants(step.row, fitted)) for step in steps])


def ratios(steps, results):
    return [(step, result, result.time / step.measured) for step, result in zip(steps, results) if not result.error]


def loss(judged):
    """Errors beyond 15 % count ever less, so that the bulk of the steps decides and no group that is missed."""
    squares = [(math.log(ratio) / 0.15) ** 2 for _, _, ratio in judged]
    return statistics.mean(square / (1 + square) for square in squares)


def refit(simulator, study, start, rows=48):
    """Coordinate descent over factors, on at most `rows` of every second step."""
    steps = study.steps[::2]
    steps = steps[::max(1, len(steps) // rows)]
    first = ratios(steps, outcomes(simulator, study, steps, start))
    steps = [step for step, result, _ in first if not study.outlier(step, result.time)]
    best, fitted = loss(ratios(steps, outcomes(simulator, study, steps, start))), dict(start)
    for factor in (1.25, 1.08):
        for name in study.fitted:
            for step in (factor, 1 / factor):
                while True:
                    trial = fitted | {name: float(f"{fitted[name] * step:.3g}")}
                    if name in ("matrix", "attention", "memory", "network") and trial[name] > 1:
                        break
                    there = loss(ratios(steps, outcomes(simulator, study, steps, trial)))
                    if there >= best - 1e-4:
                        break
                    best, fitted = there, trial
    return fitted


def ranks(values):
    order = sorted(range(len(values)), key=lambda i: values[i])
    place = [0.0] * len(values)
    for position, i in enumerate(order):
        place[i] = position
    return place


def spearman(xs, ys):
    a, b = ranks(xs), ranks(ys)
    middle = (len(a) - 1) / 2
    return sum((x - middle) * (y - middle) for x, y in zip(a, b)) / sum((x - middle) ** 2 for x in a)


def correlation(judged, key, least=8):
    """Rank correlation of plans, median over groups that have a model, a size and the work of a step in common."""
    groups = defaultdict(list)
    for step, result, _ in judged:
        groups[key(step.row)].append((result.time, step.measured))
    each = [spearman(*zip(*pairs)) for pairs in groups.values() if len(pairs) >= least]
    return (f"{statistics.median(each):.2f} ({min(each):.2f} to {max(each):.2f}, {len(each)} groups)" if each else "–")


def error(judged):
    errors = sorted(abs(ratio - 1) for _, _, ratio in judged)
    if not errors:
        return "–"
    return f"{100 * statistics.median(errors):.1f} %, {100 * errors[int(0.9 * (len(errors) - 1))]:.0f} %"


def skipped(steps, results):
    reasons = defaultdict(int)
    for result in results:
        if result.error:
            text = result.error.split("\n")[0].split("plan.")[-1]
            reasons["fewer stages get layers than there are" if "get layers when" in text else text] += 1
    return "; ".join(f"{count}: {reason}" for reason, count in reasons.items())


def constants_text(fitted):
    units = {"dispatch": 1e6, "latency": 1e6}
    return " · ".join(f"{name} {value * units.get(name, 1):.3g}{' us' if name in units else ''}"
                      for name, value in fitted.items())


def fsdp_section(simulator, context, fits):
    rows, points = [], []
    for gpu in FSDP:
        study = fsdp(context.data, gpu)
        fitted = fits[study.name]
        results = outcomes(simulator, study, study.steps, fitted)
        judged = ratios(study.steps, results)
        unfitted = ratios(study.steps, outcomes(simulator, study, study.steps, {}))
        checked = ratios(study.steps[1::2], results[1::2])
        fits_in = sum(fsdp_needs(step.row, result.memory) <= result.memory["capacity"] for step, result, _ in judged)
        rows.append([gpu, len(judged), constants_text(fitted), error(unfitted),
                     error(ratios(study.steps[::2], results[::2])), error(checked),
                     correlation(judged, lambda row: (row["n_gpus"],)), f"{100 * fits_in / len(judged):.0f} %"])
        points += [(gpu, step.measured, ratio) for step, _, ratio in checked]
    plots.scatter(context.figures / "fsdp.svg", points, "measured step, s", "predicted / measured")
    table = plots.table(["GPU", "steps", "fitted", "error, nothing fitted", "error, fitted half", "error, other half",
                         "rank correlation at equal GPUs, models and lengths mixed", "predicted to fit (all did)"], rows)
    return ("### FSDP: llm-foundry\n\nMPT models of 125 M to 70 B parameters on 8 to 512 GPUs, PyTorch FSDP1, sequences of 512 "
            "to 65,536 tokens, with and without activation checkpointing (github.com/mosaicml/llm-foundry, "
            "scripts/train/benchmarking). Left out: 7 rows in fp8, whose peak the device files do not have. Errors are the "
            "median and the 90th percentile of |predicted / measured − 1|. In the fitted shares is also what is not modelled: clocks "
            "under load (H100: matrix 0.52 where short products reach 0.76), the first FlashAttention, gathers that wait for the "
            "host (network). Memory: 8 bytes a logit less than the model's, as llm-foundry's loss is one kernel, and 1 GB for "
            "driver and NCCL.\n\n" + table +
            "\n\n![FSDP: predicted / measured](validation/fsdp.svg)")


def tensor(row):
    return int(row["tp"])


GROUPS = [("no stages, tensor in a node", lambda row: row["pp"] == "1" and tensor(row) <= 8),
          ("no stages, tensor over nodes", lambda row: row["pp"] == "1" and tensor(row) > 8),
          ("stages, no tensor", lambda row: row["pp"] != "1" and tensor(row) == 1),
          ("stages, tensor in a node", lambda row: row["pp"] != "1" and 1 < tensor(row) <= 8),
          ("stages, tensor over nodes", lambda row: row["pp"] != "1" and tensor(row) > 8)]
NODES = [("– on 1 to 8 nodes", lambda row: int(row["n_nodes"]) <= 8),
         ("– on 16 and 32 nodes", lambda row: 8 < int(row["n_nodes"]) < 64),
         ("– on 64 nodes", lambda row: int(row["n_nodes"]) == 64)]


def with_stall(entry, stall):
    """A step that stalls, with so many seconds more for every message."""
    step, result, _ = entry
    rounds = int(step.row["grad_accum"]) + int(step.row["pp"]) - 1
    return step, result, (result.time + stall * rounds * messages(step.row)) / step.measured


def nanotron_section(simulator, context, fits):
    study = nanotron(context.data)
    fitted = fits[study.name]
    results = outcomes(simulator, study, study.steps, fitted)
    halves = [[entry for entry in ratios(study.steps[half::2], results[half::2]) if is_consistent(entry[0].row)]
              for half in (0, 1)]
    both = [entry for entry in ratios(study.steps, results) if is_consistent(entry[0].row)]
    rows = []

    def add(name, entries):
        middle = statistics.median(ratio for _, _, ratio in entries[0] + entries[1])
        rows.append([name, len(entries[0] + entries[1]), error(entries[0]), error(entries[1]), f"{middle:.2f}",
                     correlation(entries[0] + entries[1], lambda row: (row["model"], row["kv_heads"], row["n_gpus"]))])

    def those(chosen):
        return [[entry for entry in half if chosen(entry)] for half in halves]

    def is_stalled(entry):
        return stalls(entry[0], entry[1].time)

    late = those(is_stalled)
    stall = statistics.median(lateness(step, result.time) for step, result, _ in late[0])
    add("all that ran", halves)
    add("that do not stall", those(lambda entry: not is_stalled(entry)))
    for name, chosen in [(f"– {name}", chosen) for name, chosen in GROUPS] + NODES:
        add(name, those(lambda entry: not is_stalled(entry) and chosen(entry[0].row)))
    add("that stall", late)
    rows.append([f"– with {stall:.2f} s a message", len(late[0] + late[1]),
                 *(error([with_stall(entry, stall) for entry in half]) for half in late),
                 f"{statistics.median(with_stall(entry, stall)[2] for entry in late[0] + late[1]):.2f}", "–"])
    plots.scatter(context.figures / "nanotron.svg",
                  [(name, step.measured, ratio) for name, chosen in GROUPS
                   for step, result, ratio in halves[1] if chosen(step.row) and not stalls(step, result.time)] +
                  [("stall", step.measured, ratio) for step, _, ratio in late[1]], "measured step, s", "predicted / measured")
    plots.scatter(context.figures / "nanotron_stalls.svg",
                  [(f"{row_nodes} nodes", result.time, max(lateness(step, result.time), 1e-3))
                   for row_nodes, chosen in (("1 to 8", NODES[0][1]), ("16 and 32", NODES[1][1]), ("64", NODES[2][1]))
                   for step, result, _ in both if messages(step.row) and chosen(step.row)],
                  "predicted step, s", "late by, s a message (1 ms and less as 1 ms)", ratio=False)
    table = plots.table(["steps", "number", "error, fitted half", "error, other half", "median predicted / measured",
                         "rank correlation of plans"], rows)
    between = sum(0.05 < lateness(step, result.time) <= STALL for step, result, _ in both if messages(step.row))

    needs = [(step, nanotron_needs(step.row, result.memory)) for step, result, _ in both]
    off = sorted(abs(need / step.allocated - 1) for step, need in needs)
    capacity = 80 * GB
    ran = sum(need <= capacity for _, need in needs)
    failed = [row for row in read(context.data / "train_3d_ultrascale_h100.csv") if row["status"] != "ok"]
    too_large = small = unknown = 0
    for row in failed:
        result = simulator.memory(nanotron_job(row), nanotron_constants(row, fitted))
        if result.error:
            unknown += 1
        elif nanotron_needs(row, result.memory) > capacity:
            too_large += 1
        else:
            small += 1
    plots.scatter(context.figures / "memory.svg",
                  [("ZeRO-" + step.row["sharding"][-1], step.allocated / GB, need / step.allocated) for step, need in needs],
                  "allocated, GB", "predicted / allocated")
    memory = (f"**Memory.** Predicted against allocated bytes of {len(needs)} steps that ran: median error "
              f"{100 * statistics.median(off):.1f} %, 90th percentile {100 * off[int(0.9 * (len(off) - 1))]:.0f} %. "
              f"Predicted to fit: {ran} ({100 * ran / len(needs):.1f} %). Of {len(failed)} configurations that failed "
              f"(the data do not say whether of memory, a crash or time), {too_large} are predicted not to fit, {small} to "
              f"fit, {unknown} cannot be expressed. If every failure predicted to fit was of another kind, the prediction is "
              f"right in {100 * (ran + too_large + small) / (len(needs) + too_large + small):.1f} %; if all were of memory, in "
              f"{100 * (ran + too_large) / (len(needs) + too_large + small):.1f} %. To the model's bytes are added a buffer "
              "of the parameters under ZeRO-1 and 1 GB for driver and NCCL, both read off these data. "
              + two_versions(simulator, study, fitted, needs) +
              "\n\n![memory: predicted / allocated](validation/memory.svg)")
    return ("### Three dimensions: nanotron\n\n1, 3, 8 and 80 B Llama models on 8 to 512 H100 (AWS p5, EFA), 1F1B, tensor and "
            "sequence parallelism, ZeRO-0 and 1, 256 × 4096 tokens a step (nanotron's ultrascale playbook). The network is that of "
            "the [bandwidths](#aws-p5-over-efa-256-mb), two constants fitted to half of them and nothing to steps. Fitted to steps: "
            f"{constants_text(fitted)}. Plans are compared where model and GPUs are equal.\n\n{table}\n\n"
            "![nanotron: predicted / measured](validation/nanotron.svg)\n\n"
            "![how late pipelines are](validation/nanotron_stalls.svg)\n\n"
            f"Cannot be expressed: {skipped(study.steps, results) or 'none'}. Left out: "
            f"{sum(not is_consistent(step.row) for step in study.steps)} rows whose replicas, micro-batches and accumulation do not "
            "multiply to their batch.\n\n"
            + stall_text(both, late, stall, between) + "\n\n" + memory)


def stall_text(both, late, stall, between):
    stages = [entry for entry in both if messages(entry[0].row)]
    every = late[0] + late[1]
    over = [entry for entry in both if GROUPS[1][1](entry[0].row)]
    crossing = [entry for entry in over if layer_lateness(entry[0], entry[1].time) > LAYER_STALL]

    def layer(ranks):
        some = [layer_lateness(step, result.time) for step, result, _ in crossing if tensor(step.row) == ranks]
        return f"{1000 * statistics.median(some):.0f}" if some else "–"

    def share(chosen):
        some = [entry for entry in stages if chosen(entry[0].row)]
        return f"{sum(stalls(entry[0], entry[1].time) for entry in some)} of {len(some)}"

    def middle(chosen):
        some = [lateness(step, result.time) for step, result, _ in every if chosen(step.row)]
        return f"{statistics.median(some):.2f}" if some else "–"

    return "What is missed, and why:\n\n" + bullets(f"""
* **Pipelines that stall.** Of {len(stages)} steps with stages {len(every)} are late by a quarter of a second for each message of the
  busiest stage ({stall:.2f} s, median of the fitted half; 2 messages a micro-batch where there are 2 stages, else 4), whatever the
  messages' size: {middle(lambda row: row["model"] == "1B")}, {middle(lambda row: row["model"] == "3B")} and
  {middle(lambda row: row["model"] == "8B")} s with models of 1, 3 and 8 B, {middle(lambda row: tensor(row) == 1)} s without
  tensor parallelism and {middle(lambda row: tensor(row) == 8)} s with 8 ranks. The others are not late, and {between} lie between 0.05
  and {STALL} s, which is what tells them apart here. It is {share(lambda row: int(row["n_nodes"]) == 1)} steps on 1 node,
  {share(lambda row: int(row["n_nodes"]) in (2, 4, 8))} on 2 to 8, {share(lambda row: int(row["n_nodes"]) in (16, 32))} on 16 and 32 and
  {share(lambda row: int(row["n_nodes"]) == 64)} on 64, of like plans one and not the other. So it is a property of the run or the machine's
  state and none of a plan, and no constant of the model; the playbook tells of slow and failing nodes in this sweep, and nanotron's
  benchmark takes one step, the fourth (its trainer, `NANOTRON_BENCHMARK`). Which steps stall is read off their residuals and not
  predicted: the table's second row is what is left without them. With this one time for all of them they are predicted as well as the
  others.
* **Tensor parallelism over nodes that stalls.** The same shows without stages where a layer's collectives cross nodes:
  {len(crossing)} of {len(over)} such steps are late by more than {1000 * LAYER_STALL:.0f} ms a layer and micro-batch, medians {layer(16)} ms at
  16 tensor ranks and {layer(32)} ms at 32; the {sum(int(step.row["n_nodes"]) == 64 for step, _, _ in crossing)} of them on 64 nodes whatever model and
  micro-batch. They count in the table, and are why its 90th percentiles are what they are. Without them such steps are off by
  {error([entry for entry in over if entry not in crossing])} (median, 90th percentile).
* **Stages on several nodes with tensor parallelism.** Without stages the host needs 4.6 ms a layer and micro-batch, whatever is
  computed; with stages on several nodes 11, 15 and 25 ms at 2, 4 and 8 tensor ranks, and nothing more without tensor parallelism.
  The constant `crossing` says this; its cause in nanotron is not known.
* **The host and collectives.** The model adds the time of collectives to the host's, where a host that issues ahead of the device would
  hide it. A layer of micro-batches of one sample takes 8.0 ms with 16 tensor ranks and 15.3 ms with 32 (8 B, few nodes; predicted: 8.7
  and 13.3), as if each step of a ring took 58 us and the host nothing.
""")


def megatron_section(simulator, context):
    rows = []
    for row in megatron(context.data, "iteration time"):
        result = simulator.run(megatron_job(row))
        measured = float(row["value"])
        rows.append([row["model"], row["n_gpus"], row["activation_checkpointing"], f"{measured:.2f}",
                     result.error.split("\n")[0] if result.error else f"{result.time:.2f}",
                     "–" if result.error else f"{100 * (result.time / measured - 1):+.0f} %"])
    memory = []
    for row in megatron(context.data, "activation memory per GPU (stage 0)"):
        result = simulator.memory(megatron_job(row))
        measured = float(row["value"]) * 2 ** 30
        got = result.memory.get("activations", 0)
        memory.append([row["model"], row["activation_checkpointing"], f"{measured / 2 ** 30:.1f}", f"{got / 2 ** 30:.1f}",
                       f"{100 * (got / measured - 1):+.0f} %"])
    return ("### Megatron-LM: recomputation\n\nGPT of 22 B to 1 T parameters on A100 (Korthikanti et al., arXiv:2205.05198, table 5 and "
            "figure 1), without FlashAttention, nothing fitted; the machine is the A100 cluster above.\n\n" +
            plots.table(["model", "GPUs", "activations", "measured, s", "predicted, s", "error"], rows) +
            "\n\nActivations of the first stage, published in the same paper:\n\n" +
            plots.table(["model", "activations", "published, GiB", "predicted, GiB", "error"], memory))


LEFT_OUT = """### Left out

* `train_3d_megatron.csv`: its tables give no micro-batch, on which step times and memory depend; `train_megatron_ci_golden.csv`:
  the number of GPUs is not public. `train_3d_bloom_a100.csv`: Omni-Path, uneven stages, a batch that ramps up; fp8 rows of
  `train_3d_other.csv`: the device files have no such peak; NeMo AutoModel: mixtures with a balanced stand-in for routing."""


def refit_all(context):
    """Fits every study again, beginning with the present constants, and keeps what comes out."""
    simulator = Simulator(context.program)
    fits = read_fits()
    for study in [fsdp(context.data, gpu) for gpu in FSDP] + [nanotron(context.data)]:
        fits[study.name] = refit(simulator, study, fits[study.name])
        keep_fits(fits)


def sections(context):
    """context.program; context.data: folder of measurements; context.figures: where plots go."""
    simulator = Simulator(context.program)
    fits = read_fits()
    return ["## Training steps\n\nEvery configuration is one `dlnetbench simulate --cost-model exact`; of plans with many "
            "micro-batches two shorter steps are simulated and extended, which is exact once the pipeline is full. "
            "Constants that are fitted are those of `[efficiency]` in the device's file (matrix, attention, memory, "
            "dispatch), the network's efficiency and its latency; they are fitted to every second row and checked on the "
            "others, and stand in `tools/validation/fits.json`.",
            fsdp_section(simulator, context, fits), nanotron_section(simulator, context, fits),
            megatron_section(simulator, context), LEFT_OUT]
