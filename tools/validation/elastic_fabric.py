# SPDX-License-Identifier: Apache-2.0
"""AWS p5 nodes over EFA: bandwidths of one size on 1 to 64 nodes, and what of the machine's file is fitted to them."""

import itertools
import pathlib
import re
import statistics
import tempfile

from . import plots

MACHINE = pathlib.Path(__file__).resolve().parent / "machines" / "p5.toml"
SIZE = 256 << 20
FITTED_NODES = (2, 8, 32)
FITTED = ("all-gather", "reduce-scatter")
EFFICIENCIES = [share / 100 for share in range(50, 101, 5)]
STEPS = range(10, 61, 2)     # us


def bandwidths(data):
    """(operation, nodes, ranks, GB/s: low, mean, high)."""
    return [(row["what"].replace("_", "-"), int(row["n_nodes"]), int(row["n_gpus"]),
             tuple(float(row[key]) for key in ("low", "value", "high")))
            for row in plots.read(data / "ultrascale_h100_extra.csv") if row["metric"] == "bandwidth mean"]


def predicted(sweep, program, machine, operation, ranks):
    """GB/s of bus bandwidth."""
    seconds = sweep(program, machine, operation, ranks, [SIZE])[SIZE]
    return (2 if operation == "all-reduce" else 1) * (ranks - 1) / ranks * SIZE / seconds / 1e9


def text_of(efficiency, step):
    text = MACHINE.read_text()
    text, links = re.subn(r"(?m)^efficiency = [^#\n]*", f"efficiency = {efficiency}", text)
    text, steps = re.subn(r'(?m)^mean_step = "[^"]*"', f'mean_step = "{step} us"', text)
    if links != 1 or not steps:
        raise RuntimeError(f"{MACHINE.name}: {links} lines set efficiency and {steps} mean_step")
    return text


def refit(sweep, context):
    """The efficiency between nodes and the time of a step on a grid whose bandwidths have the least mean error; the median of six
    would be that of two numbers of nodes. Written to the machine's file."""
    rows = [row for row in bandwidths(context.data) if row[0] in FITTED and row[1] in FITTED_NODES]
    with tempfile.TemporaryDirectory(prefix="dlnb-validation-") as folder:
        file = pathlib.Path(folder) / MACHINE.name

        def error(constants):
            file.write_text(text_of(*constants))
            return statistics.mean(abs(predicted(sweep, context.program, file, operation, ranks) / mean - 1)
                                   for operation, _, ranks, (_, mean, _) in rows)

        MACHINE.write_text(text_of(*min(itertools.product(EFFICIENCIES, STEPS), key=error)))
