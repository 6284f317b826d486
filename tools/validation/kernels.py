# SPDX-License-Identifier: Apache-2.0
"""Efficiency curves of devices against published kernel times: fitted on every second kernel, checked on the others.

A kernel of f FLOP and b bytes takes launch + sqrt((f / (peak * matrix))^2 + (b / (bandwidth * memory))^2), with three
constants per device: the [efficiency] table of data/devices/.
"""

import math
import re
import statistics
import tomllib
from dataclasses import dataclass

from . import plots
from .plots import read

# The measured device, and ours. The MI210 is one MI250X die with 104 of its 110 compute units switched on.
DEVICES = {"A100": ("a100", 1), "H100": ("h100", 1), "MI210": ("mi250x-gcd", 104 / 110), "MI300X": ("mi300x", 1)}
SECONDS = {"s": 1, "ms": 1e-3, "us": 1e-6}
LARGE = 1e9  # FLOP; smaller products are launches more than work


@dataclass(frozen=True)
class Kernel:
    device: str
    kind: str        # "product", "gelu", "layernorm", "softmax"
    source: str
    flops: float
    bytes: float
    time: float      # seconds


def product(device, source, m, n, k, time):
    return Kernel(device, "product", source, 2 * m * n * k, 2 * (m * n + m * k + n * k), time)


def micro(path):
    for row in read(path):
        device = row["gpu"].split()[0].removesuffix("-80")
        if device not in DEVICES:
            continue
        size = re.search(r"\bM=(\d+) N=(\d+) K=(\d+)", row["shape"])
        batch = re.search(r"\bB=(\d+)", row["shape"])
        if size and "float'" not in row["dtype"] and (not batch or batch[1] == "1"):
            m, n, k = map(int, size.groups())
            source = row["source"].split("/")[-1]
            yield product(device, source, m, n, k, float(row["value"]) * SECONDS[row["unit"]])
        elif row["op"] in ("gelu", "layernorm", "softmax"):
            elements = math.prod(int(part) for part in row["shape"].split(" x "))
            yield Kernel(device, row["op"], "LLMCompass", 0, 4 * elements, elements / (float(row["value"]) * 1e9))


def layers(path):
    for row in read(path):
        tokens, tp = int(row["num_tokens"]), int(row["tp"])
        hidden, wide = int(row["n_embd"]), int(row["n_expanded_embd"]) // tp
        head = hidden // int(row["n_head"])
        queries = int(row["n_head"]) * head // tp
        keys = int(row["n_kv_head"]) * head // tp
        gated = 2 if row["use_gated_mlp"] == "True" else 1
        for column, n, k in [("attn_pre_proj_ms", queries + 2 * keys, hidden), ("attn_post_proj_ms", hidden, queries),
                             ("mlp_up_proj_ms", gated * wide, hidden), ("mlp_down_proj_ms", hidden, wide)]:
            if row[column] and float(row[column]) > 0:
                yield product(row["gpu"], "vidur", tokens, n, k, float(row[column]) * 1e-3)


def predicted(kernel, peak, bandwidth, shares):
    matrix, memory, launch = shares
    return launch + math.hypot(kernel.flops / (peak * matrix), kernel.bytes / (bandwidth * memory))


def loss(kernels, peak, bandwidth, shares):
    """Sum of log errors, beyond 10 % linear, so that outliers do not decide."""
    total = 0
    for kernel in kernels:
        error = math.log(predicted(kernel, peak, bandwidth, shares) / kernel.time) / 0.1
        total += math.sqrt(1 + error * error) - 1
    return total


def fit(kernels, peak, bandwidth):
    """matrix and memory share of the peaks, launch in seconds; coordinate descent with shrinking factors."""
    shares = [0.7, 0.8, 5e-6]
    best = loss(kernels, peak, bandwidth, shares)
    factor = 1.2
    while factor > 1.001:
        moved = False
        for i in range(3):
            for step in (factor, 1 / factor):
                trial = list(shares)
                trial[i] = min(trial[i] * step, 1)
                there = loss(kernels, peak, bandwidth, trial)
                if there < best:
                    shares, best, moved = trial, there, True
        if not moved:
            factor = math.sqrt(factor)
    return shares


def errors(kernels, peak, bandwidth, shares):
    return [abs(predicted(k, peak, bandwidth, shares) / k.time - 1) for k in kernels]


def percent(values):
    return f"{100 * statistics.median(values):.1f} %" if values else "–"


def high(values):
    return f"{100 * sorted(values)[int(0.9 * (len(values) - 1))]:.0f} %" if values else "–"


def quantity(text):
    number, unit = text.split()
    factors = {"T": 1e12, "G": 1e9, "u": 1e-6, "m": 1e-3}
    return float(number) * factors.get(unit[0], 1)


def shipped(devices, name):
    file = tomllib.loads((devices / f"{name}.toml").read_text())
    return file, quantity(file["peak"]), quantity(file["memory_bandwidth"])


def sections(context):
    """context.data: folder of measurements; context.devices: data/devices; context.figures: where plots go."""
    kernels = list(micro(context.data / "micro_compute.csv"))
    kernels += layers(context.data / "micro_compute_vidur_mlp.csv")
    rows, points = [], []
    for measured, (name, share) in DEVICES.items():
        file, peak, bandwidth = shipped(context.devices, name)
        peak *= share
        products = [k for k in kernels if k.device == measured and k.kind == "product"]
        fitted = fit(products[::2], peak, bandwidth)
        curve = file["efficiency"]
        ours = [curve["matrix"], curve["memory"], quantity(curve["launch"])]
        checked = products[1::2]
        large = [k for k in checked if k.flops >= LARGE]
        moving = [k for k in kernels if k.device == measured and k.kind != "product" and k.bytes > 32e6]
        rows.append([f"`{name}`", measured, f"{fitted[0]:.3f} · {fitted[1]:.3f} · {fitted[2] * 1e6:.1f} us",
                     f"{ours[0]:g} · {ours[1]:g} · {ours[2] * 1e6:g} us", str(len(products)),
                     percent(errors(products[::2], peak, bandwidth, ours)),
                     f"{percent(errors(checked, peak, bandwidth, ours))}, {high(errors(checked, peak, bandwidth, ours))}",
                     percent(errors(large, peak, bandwidth, ours)), percent(errors(moving, peak, bandwidth, ours))])
        points += [(measured, k.flops, predicted(k, peak, bandwidth, ours) / k.time) for k in checked]
    plots.scatter(context.figures / "kernels.svg", points, "FLOP of the product", "predicted / measured time", log_x=True)
    table = plots.table(["device", "measured on", "fitted matrix · memory · launch", "shipped", "products",
                         "error, fitted half", "error, other half: median, 90th percentile", "of ≥ 1 GFLOP",
                         "element-wise kernels ≥ 32 MB (not fitted)"], rows)
    return ["## Kernels\n\nMatrix products in 16 bits from LLMCompass (A100, MI210), Vidur (A100, H100) and TraceLens "
            "(H100, MI300X); every second one, in the order of the files, is fitted. Three constants a device, in "
            "`data/devices/`; the model is in [compute.md](compute.md#efficiency). Errors are |predicted / measured − 1|, "
            "median. LLMCompass times element-wise kernels one by one from Python, 30 to 50 us apart, which is most of the last "
            "column.\n\n" + table + "\n\n![products: predicted / measured](validation/kernels.svg)"]
