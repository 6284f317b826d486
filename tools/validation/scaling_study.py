# SPDX-License-Identifier: Apache-2.0
"""The runs of "Hardware Scaling Trends and Diminishing Returns in Large-Scale Distributed Training", simulated.

arXiv:2411.13055.

Llama-2 models, FSDP that keeps what it gathered for the backward pass, tensor and pipeline parallelism (1F1B), 4096 tokens,
cost model exact with the constants of the device's file. Of a plan the fastest micro-batch that fits into memory counts.

    MFU = tokens/s and GPU · (6 · parameters + 12 · layers · hidden · tokens) / peak      (Chowdhery et al., PaLM, appendix B)
"""

import concurrent.futures
import json
import pathlib
import subprocess
from dataclasses import dataclass

from . import steps
from .simulator import Constants, Simulator

AT_A_TIME = 2
SEQUENCE = 4096
PEAK = {"dgx-h100": 989.4e12, "dgx-a100": 312e12, "dgx-v100": 125e12}
# parameters, layers, hidden size: Llama 2, tables 1 and 2; 1B is TinyLlama's shape (huggingface.co/TinyLlama config.json).
MODELS = {"1b": (1.100e9, 22, 2048), "llama2-7b": (6.738e9, 32, 4096), "llama2-13b": (13.016e9, 40, 5120),
          "llama2-70b": (68.977e9, 80, 8192)}
ONE_BILLION = {"model_type": "llama", "hidden_size": 2048, "num_hidden_layers": 22, "num_attention_heads": 32,
               "num_key_value_heads": 4, "intermediate_size": 5632, "vocab_size": 32000, "max_position_embeddings": 4096,
               "tie_word_embeddings": False}
DEGREES = [1, 2, 4, 8, 16]
MARGIN = 1e9           # bytes of driver and NCCL, as in the study of nanotron


@dataclass(frozen=True)
class Run:
    machine: str
    gpus: int
    batch: int         # samples a step, all replicas together
    model: str = "llama2-7b"
    tensor: int = 1
    stages: int = 1
    sequence: int = SEQUENCE

    @property
    def replicas(self):
        return self.gpus // (self.tensor * self.stages)

    @property
    def degree(self):
        return self.tensor * self.stages


@dataclass(frozen=True)
class Outcome:
    run: Run
    micro_batch: int
    time: float        # seconds of a step
    exposed: float     # part of it in which a rank does not compute, the bubble included
    needed: float      # bytes
    error: str = ""

    @property
    def tokens(self):
        """A second and GPU."""
        return self.run.batch * self.run.sequence / self.time / self.run.gpus

    @property
    def mfu(self):
        parameters, layers, hidden = MODELS[self.run.model]
        work = 6 * parameters + 12 * layers * hidden * self.run.sequence
        return self.tokens * work / PEAK[self.run.machine]


class Study:
    """Runs of the program, each once. `machines`: files to take instead of shipped ones, by name; `device` likewise."""

    def __init__(self, program, folder, machines=None, devices=None):
        self.program = program
        self.machines = machines or {}
        self.devices = devices or {}
        self.known = {}
        self.one_billion = folder / "llama-1b.json"
        self.one_billion.write_text(json.dumps(ONE_BILLION))

    def once(self, run, micro_batch):
        samples = run.batch // run.replicas
        plan = f"fsdp={{degree={run.replicas},reshard_after_forward=false}}"
        if run.tensor > 1:
            plan = f"tensor={run.tensor}," + plan
        if run.stages > 1 or micro_batch < samples:
            plan += f",pipeline={{stages={run.stages},microbatches={samples // micro_batch},schedule='1f1b'}}"
        model = str(self.one_billion) if run.model == "1b" else run.model
        command = [self.program, "simulate", "--quiet", "--json", "--flavour", "pytorch", "--cost-model", "exact",
                   "--machine", self.machines.get(run.machine, run.machine), "--nodes", str(run.gpus // 8), "--model", model,
                   "--ranks", str(run.gpus), "--batch", str(samples), "--sequence", str(run.sequence), "--plan", plan,
                   "--iterations", "1"]
        if run.machine in self.devices:
            command += ["--device", self.devices[run.machine]]
        if run.machine == "dgx-v100":  # no bf16, no FlashAttention (appendix B)
            command += ["--dtype", "float16", "--fused-attention", "false"]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode == 2:
            return Outcome(run, micro_batch, 0, 0, 0, done.stderr.strip())
        if done.returncode != 0:
            raise RuntimeError(f"{' '.join(command)}\nexit {done.returncode}\n{done.stderr}")
        metrics = {name: metric["value"] for name, metric in json.loads(done.stdout)["metrics"].items()}
        fits = metrics["memory_needed"] + MARGIN <= metrics["memory_capacity"]
        return Outcome(run, micro_batch, metrics["iteration_time"], metrics["communication_fraction"],
                       metrics["memory_needed"], "" if fits else "does not fit")

    def best(self, run):
        """The fastest micro-batch that fits, or an outcome that says why there is none."""
        if run not in self.known:
            samples = run.batch // run.replicas
            if samples < 1 or run.replicas < 1 or run.batch % run.replicas:
                return Outcome(run, 0, 0, 0, 0, "no whole sample for a replica")
            sizes = [size for size in (1, 2, 4, 8) if samples % size == 0]
            every = [self.once(run, size) for size in sizes]
            fit = [each for each in every if not each.error]
            self.known[run] = min(fit, key=lambda each: each.time) if fit else every[0]
        return self.known[run]

    def all(self, runs):
        with concurrent.futures.ThreadPoolExecutor(AT_A_TIME) as pool:
            return [each for each in pool.map(self.best, runs) if not each.error]

    def grid(self, machine, gpus, batch, model="llama2-7b", sequence=SEQUENCE):
        """Every plan of tensor and pipeline degrees up to 16 together that fits."""
        return self.all([Run(machine, gpus, batch, model, tensor, stages, sequence)
                         for tensor in DEGREES for stages in DEGREES if tensor * stages <= 16])


def fastest(outcomes):
    return min(outcomes, key=lambda each: each.time / each.run.batch)


def by_degree(outcomes):
    """The fastest plan of each degree of model parallelism: {degree: Outcome}."""
    degrees = sorted({each.run.degree for each in outcomes})
    return {degree: fastest([each for each in outcomes if each.run.degree == degree]) for degree in degrees}


def other_constants(context, folder):
    """Devices and machines with what llm-foundry's steps were fitted with: (machines, devices) for a Study."""
    fits = steps.read_fits()
    machines, devices = {}, {}
    simulator = Simulator(context.program)  # whose files are gone with it
    for machine, device, study in (("dgx-h100", "h100", "llm-foundry, H100-80GB SXM"),
                                   ("dgx-a100", "a100", "llm-foundry, A100-80GB SXM")):
        fitted = fits[study]
        constants = Constants(**{**fitted, "network": 1})
        path = folder / f"{device}-other.toml"
        path.write_text(pathlib.Path(simulator.device(device, constants)).read_text())
        devices[machine] = str(path)
        text = (context.devices.parent / "machines" / f"{machine}.toml").read_text()
        lines = [line for line in text.splitlines() if line.split("=")[0].strip() != "efficiency"]
        at = lines.index("[software]") + 1
        path = folder / f"{machine}-other.toml"
        path.write_text("\n".join([*lines[:at], f"efficiency = {fitted['network']!r}", *lines[at:]]) + "\n")
        machines[machine] = str(path)
    return machines, devices
