# SPDX-License-Identifier: Apache-2.0
"""Runs `dlnetbench simulate` for one training configuration after the other."""

import concurrent.futures
import hashlib
import json
import pathlib
import shutil
import subprocess
import tempfile
import tomllib
import weakref
from dataclasses import dataclass, field

AT_A_TIME = 2
HERE = pathlib.Path(__file__).resolve().parent
DEVICES = HERE.parent.parent / "data" / "devices"


@dataclass(frozen=True)
class Job:
    """One training step; micro-batches beyond `stages` repeat, so that a few of them give the time of many."""
    model: str                 # text of a HuggingFace config.json
    machine: str               # name of a file in machines/
    ranks: int
    plan: str                  # with {microbatches} where their number belongs
    microbatches: int
    samples: int               # of one micro-batch
    sequence: int
    stages: int = 1
    options: tuple = ()
    devices: str = ""


@dataclass
class Outcome:
    time: float = 0            # seconds of a step
    memory: dict = field(default_factory=dict)
    error: str = ""


@dataclass(frozen=True)
class Constants:
    """What is fitted, a machine and framework at a time; the rest is the device's and machine's own file."""
    matrix: float = 0          # share of the peak; 0: the device file's
    attention: float = 0
    memory: float = 0          # share of the bandwidth
    dispatch: float = 0        # seconds of the host per kernel
    network: float = 0         # achieved / nominal bandwidth; 0: the machine file's
    latency: float = 0         # seconds of a NIC, either end


def digest(value):
    return hashlib.sha1(repr(value).encode()).hexdigest()[:12]


class Simulator:
    def __init__(self, program):
        self.program = program
        self.folder = tempfile.mkdtemp(prefix="dlnb-validation-")
        weakref.finalize(self, shutil.rmtree, self.folder, ignore_errors=True)
        self.known = {}

    def file(self, name, text):
        path = pathlib.Path(self.folder) / name
        if not path.exists():
            path.write_text(text)
        return str(path)

    def device(self, name, constants):
        """The device's file with constants in its table of efficiencies, which stands last."""
        head, table = (DEVICES / f"{name}.toml").read_text().split("[efficiency]\n")
        changes = {key: repr(share) for key in ("matrix", "attention", "memory") if (share := getattr(constants, key))}
        changes["dispatch"] = f'"{constants.dispatch * 1e6!r} us"'
        kept = [line for line in table.splitlines() if line.split("=")[0].strip() not in changes]
        lines = [f"{key} = {value}" for key, value in changes.items()] + kept
        return self.file(f"{name}-{digest(constants)}.toml", head + "[efficiency]\n" + "\n".join(lines) + "\n")

    def machine(self, name, constants):
        """The machine's file with constants in place of its own, and the device of that machine with constants."""
        lines = (HERE / "machines" / f"{name}.toml").read_text().splitlines()
        for i, line in enumerate(lines):
            key = line.split("=")[0].strip()
            if key == "efficiency" and constants.network:
                lines[i] = f"efficiency = {constants.network!r}"
            if key == "endpoint_latency" and constants.latency:
                lines[i] = f'endpoint_latency = "{constants.latency * 1e6!r} us"'
        text = "\n".join(lines) + "\n"
        return (self.file(f"machine-{name}-{digest(constants)}.toml", text),
                self.device(tomllib.loads(text)["device"], constants))

    def once(self, job, microbatches, constants):
        model = self.file(f"model-{digest(job.model)}.json", job.model)
        machine, device = self.machine(job.machine, constants)
        command = [self.program, "simulate", "--quiet", "--json", "--model", model, "--machine", machine, "--device",
                   device, "--ranks", str(job.ranks), "--plan", job.plan.replace("{microbatches}", str(microbatches)),
                   "--batch", str(job.samples * microbatches), "--sequence", str(job.sequence), "--cost-model", "exact",
                   "--iterations", "1", "--warmup", "0", *job.options]
        if job.devices:
            command += ["--devices", job.devices]
        key = tuple(command)
        if key not in self.known:
            done = subprocess.run(command, capture_output=True, text=True)
            if done.returncode != 0:
                self.known[key] = Outcome(error=done.stderr.strip())
            else:
                metrics = json.loads(done.stdout)["metrics"]
                memory = {name.removeprefix("memory_"): metric["value"] for name, metric in metrics.items()
                          if name.startswith("memory_")}
                self.known[key] = Outcome(metrics["iteration_time"]["value"], memory)
        return self.known[key]

    def memory(self, job, constants=Constants()):
        """Of a step with as many micro-batches as stages can have under way at once."""
        return self.once(job, min(job.microbatches, max(2 * job.stages, 2)), constants)

    def run(self, job, constants=Constants()):
        few, more = max(2 * job.stages, 2), max(3 * job.stages, 4)
        if job.microbatches <= more:
            return self.once(job, job.microbatches, constants)
        first = self.once(job, few, constants)
        second = self.once(job, more, constants)
        if first.error or second.error:
            return first if first.error else second
        each = (second.time - first.time) / (more - few)
        return Outcome(second.time + (job.microbatches - more) * each, second.memory)

    def run_all(self, jobs):
        """jobs: pairs of Job and Constants."""
        with concurrent.futures.ThreadPoolExecutor(AT_A_TIME) as pool:
            return list(pool.map(lambda pair: self.run(*pair), jobs))
