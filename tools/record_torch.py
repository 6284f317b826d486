#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Records the collectives of one training step of PyTorch (CPU, Gloo) as test/golden/torch does.

    tools/record_torch.py OUTPUT-FOLDER ddp-2-n4 fsdp-n3 pp-interleaved-4-n4 …

Needs torch 2.13 (pip install torch==2.13.0 numpy). A name says its configuration; see test/golden/torch/README.md.
"""

import csv
import json
import pathlib
import sys
import tempfile

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
import torch.nn as nn
import torch.nn.functional as F

HIDDEN, HEADS, KV_HEADS, FEED_FORWARD, VOCABULARY, SEQUENCE, BATCH = 256, 4, 2, 512, 1024, 64, 8
HEAD_SIZE = HIDDEN // HEADS


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.q = nn.Linear(HIDDEN, HEADS * HEAD_SIZE, bias=False)
        self.k = nn.Linear(HIDDEN, KV_HEADS * HEAD_SIZE, bias=False)
        self.v = nn.Linear(HIDDEN, KV_HEADS * HEAD_SIZE, bias=False)
        self.o = nn.Linear(HEADS * HEAD_SIZE, HIDDEN, bias=False)

    def forward(self, x):
        batch, tokens, _ = x.shape
        heads = lambda y: y.view(batch, tokens, -1, HEAD_SIZE).transpose(1, 2)
        q, k, v = heads(self.q(x)), heads(self.k(x)), heads(self.v(x))
        groups = q.shape[1] // k.shape[1]
        k, v = k.repeat_interleave(groups, 1), v.repeat_interleave(groups, 1)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.o(y.transpose(1, 2).reshape(batch, tokens, -1))


class FeedForward(nn.Module):
    def __init__(self):
        super().__init__()
        self.gate = nn.Linear(HIDDEN, FEED_FORWARD, bias=False)
        self.up = nn.Linear(HIDDEN, FEED_FORWARD, bias=False)
        self.down = nn.Linear(FEED_FORWARD, HIDDEN, bias=False)

    def forward(self, x):
        return self.down(F.silu(self.gate(x)) * self.up(x))


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.n1 = nn.RMSNorm(HIDDEN)
        self.attention = Attention()
        self.n2 = nn.RMSNorm(HIDDEN)
        self.feed_forward = FeedForward()

    def forward(self, x):
        x = x + self.attention(self.n1(x))
        return x + self.feed_forward(self.n2(x))


class Llama(nn.Module):
    """The layers from `first` up to `last`; embedding and head only at the ends."""

    def __init__(self, layers, first=0, last=None):
        super().__init__()
        last = layers if last is None else last
        self.embed = nn.Embedding(VOCABULARY, HIDDEN) if first == 0 else None
        self.layers = nn.ModuleList(Layer() for _ in range(first, last))
        self.norm = nn.RMSNorm(HIDDEN) if last == layers else None
        self.head = nn.Linear(HIDDEN, VOCABULARY, bias=False) if last == layers else None

    def forward(self, x):
        if self.embed is not None:
            x = self.embed(x)
        for layer in self.layers:
            x = layer(x)
        return x if self.head is None else self.head(self.norm(x))


def loss_of(logits, targets):
    return F.cross_entropy(logits.float().flatten(0, 1), targets.flatten())


def tensor_parallel(model, mesh, sequence_parallel):
    from torch.distributed.tensor import Replicate, Shard
    from torch.distributed.tensor.parallel import (ColwiseParallel, PrepareModuleInput, RowwiseParallel,
                                                   SequenceParallel, parallelize_module)

    if sequence_parallel:
        parallelize_module(model, mesh, {
            "embed": RowwiseParallel(input_layouts=Replicate(), output_layouts=Shard(1)),
            "norm": SequenceParallel(),
            "head": ColwiseParallel(input_layouts=Shard(1), output_layouts=Replicate()),
        })
    outer = Shard(1) if sequence_parallel else Replicate()
    for layer in model.layers:
        plan = {
            "attention": PrepareModuleInput(input_layouts=(outer,), desired_input_layouts=(Replicate(),)),
            "attention.q": ColwiseParallel(), "attention.k": ColwiseParallel(), "attention.v": ColwiseParallel(),
            "attention.o": RowwiseParallel(output_layouts=outer),
            "feed_forward": PrepareModuleInput(input_layouts=(outer,), desired_input_layouts=(Replicate(),)),
            "feed_forward.gate": ColwiseParallel(), "feed_forward.up": ColwiseParallel(),
            "feed_forward.down": RowwiseParallel(output_layouts=outer),
        }
        if sequence_parallel:
            plan |= {"n1": SequenceParallel(), "n2": SequenceParallel()}
        parallelize_module(layer, mesh, plan)


def fully_shard_layers(model, mesh, **options):
    from torch.distributed.fsdp import fully_shard

    for layer in model.layers:
        fully_shard(layer, mesh=mesh, **options)
    fully_shard(model, mesh=mesh, **options)


def plain_step(model, recorder):
    def step(tokens, targets):
        model.zero_grad(set_to_none=True)
        recorder.phase = "forward"
        loss = loss_of(model(tokens), targets)
        recorder.phase = "backward"
        loss.backward()

    return step


def pipeline_step(words, ranks, rank):
    from torch.distributed.pipelining import PipelineStage, Schedule1F1B, ScheduleGPipe, ScheduleInterleaved1F1B

    kind, microbatches = words[1], int(words[2])
    chunks = 2 if kind == "interleaved" else 1
    stages = ranks * chunks
    layers = 8 if stages == 8 else 4
    each = layers // stages
    device = torch.device("cpu")
    mine = [PipelineStage(Llama(layers, s * each, (s + 1) * each), s, stages, device)
            for s in range(rank, stages, ranks)]
    schedule = {"gpipe": ScheduleGPipe, "f1b": Schedule1F1B, "interleaved": ScheduleInterleaved1F1B}[kind](
        mine if kind == "interleaved" else mine[0], n_microbatches=microbatches, loss_fn=loss_of)
    first, last = rank == 0, rank == ranks - 1

    def step(tokens, targets):
        schedule.step(*([tokens] if first else []), **({"target": targets} if last else {}))

    return step


def step_of(words, ranks, rank, recorder):
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.fsdp import MixedPrecisionPolicy
    from torch.nn.parallel import DistributedDataParallel

    kind = words[0]
    mesh = lambda *sizes, names: init_device_mesh("cpu", sizes, mesh_dim_names=names)
    if kind == "pp":
        return pipeline_step(words, ranks, rank)
    model = Llama(4)
    if kind == "ddp":
        model = DistributedDataParallel(model, bucket_cap_mb=float(words[1]))
        model.register_comm_hook(None, recorder.bucket_hook)
        return plain_step(model, recorder)
    if kind in ("fsdp", "fsdpnr"):
        options = {"reshard_after_forward": kind == "fsdp"}
        if "bf16" in words:
            options["mp_policy"] = MixedPrecisionPolicy(param_dtype=torch.bfloat16, reduce_dtype=torch.float32)
        fully_shard_layers(model, mesh(ranks, names=("shard",)), **options)
    elif kind == "hsdp":
        fully_shard_layers(model, mesh(2, ranks // 2, names=("replica", "shard")), reshard_after_forward=True)
    elif kind in ("tp", "tpsp"):
        tensor_parallel(model, mesh(ranks, names=("tensor",)), kind == "tpsp")
    elif kind == "tpfsdp":
        both = mesh(ranks // 2, 2, names=("shard", "tensor"))
        tensor_parallel(model, both["tensor"], False)
        fully_shard_layers(model, both["shard"], reshard_after_forward=True)
    else:
        raise SystemExit(f"nothing is called '{kind}'")
    return plain_step(model, recorder)


TYPES = {torch.float32: "float32", torch.bfloat16: "bfloat16", torch.float16: "float16"}


class Recorder:
    """Notes every collective and message where Python hands it to torch.distributed, in issue order."""

    def __init__(self, rank):
        self.rank, self.rows, self.phase = rank, [], "step"
        self.wrap(dist, "all_gather_single", lambda output_tensor, input_tensor, group, **_: ("all-gather", input_tensor, output_tensor, group))
        self.wrap(dist, "reduce_scatter_single", lambda output, input, group, **_: ("reduce-scatter", input, output, group))
        self.wrap(dist, "all_reduce", lambda tensor, *_, group=None, **__: ("all-reduce", tensor, tensor, group))
        for name in ("isend", "irecv"):
            self.wrap_message(name)
        from torch.distributed import _functional_collectives as functional

        self.wrap_functional(functional, "all_reduce", "all-reduce", lambda n, size: n)
        self.wrap_functional(functional, "all_gather_single", "all-gather", lambda n, size: n * size)
        self.wrap_functional(functional, "reduce_scatter_single", "reduce-scatter", lambda n, size: n // size)

    def note(self, operation, sent, received, dtype, group, peer=""):
        ranks = dist.get_process_group_ranks(group or dist.group.WORLD)
        self.rows.append([self.rank, len(self.rows), self.phase, operation, sent, received, TYPES.get(dtype, str(dtype)),
                          " ".join(map(str, ranks)), peer])

    def wrap(self, module, name, arguments):
        original = getattr(module, name)

        def wrapped(*args, **kwargs):
            operation, sent, received, group = arguments(*args, **kwargs)
            self.note(operation, sent.numel(), received.numel(), sent.dtype, group)
            return original(*args, **kwargs)

        setattr(module, name, wrapped)

    def wrap_message(self, name):
        original = getattr(dist, name)

        def wrapped(tensor, *args, group=None, group_dst=None, group_src=None, **kwargs):
            member = group_dst if name == "isend" else group_src
            peer = dist.get_global_rank(group or dist.group.WORLD, member)
            count = tensor.numel()
            self.note(name[1:], *((count, 0) if name == "isend" else (0, count)), tensor.dtype, group, peer)
            where = {"group_dst": member} if name == "isend" else {"group_src": member}
            return original(tensor, *args, group=group, **where, **kwargs)

        setattr(dist, name, wrapped)
        setattr(dist.distributed_c10d, name, wrapped)

    def wrap_functional(self, module, name, operation, received):
        original = getattr(module, name)

        def wrapped(tensor, *args, **kwargs):
            where = kwargs["group"] if "group" in kwargs else args[-1]
            mesh, dim = where if isinstance(where, tuple) else (where, 0)
            group = mesh if isinstance(mesh, dist.ProcessGroup) else mesh.get_group(dim)
            count = tensor.numel()
            self.note(operation, count, received(count, dist.get_world_size(group)), tensor.dtype, group)
            return original(tensor, *args, **kwargs)

        setattr(module, name, wrapped)

    def bucket_hook(self, _, bucket):
        """DistributedDataParallel reduces in C++; its communication hook sees every bucket in order."""
        tensor = bucket.buffer()
        self.note("all-reduce", tensor.numel(), tensor.numel(), tensor.dtype, None)
        work = dist.group.WORLD.allreduce([tensor])
        return work.get_future().then(lambda future: future.value()[0])


def worker(rank, ranks, name, folder, store):
    torch.manual_seed(1)
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"file://{store}", rank=rank, world_size=ranks)
    recorder = Recorder(rank)
    step = step_of(name.split("-"), ranks, rank, recorder)
    tokens = torch.randint(VOCABULARY, (BATCH, SEQUENCE))
    step(tokens, tokens)
    step(tokens, tokens)
    recorder.rows.clear()
    step(tokens, tokens)
    (folder / f"{rank}.json").write_text(json.dumps(recorder.rows))
    dist.barrier()
    dist.destroy_process_group()


def main():
    if len(sys.argv) < 3:
        raise SystemExit(__doc__)
    output = pathlib.Path(sys.argv[1])
    for name in sys.argv[2:]:
        ranks = int(name.split("-")[-1][1:])
        with tempfile.TemporaryDirectory() as scratch:
            folder = pathlib.Path(scratch)
            mp.spawn(worker, (ranks, name, folder, folder / "store"), nprocs=ranks)
            rows = [row for rank in range(ranks) for row in json.loads((folder / f"{rank}.json").read_text())]
        with open(output / f"{name}.csv", "w", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow("rank order phase operation elements_sent elements_received dtype group peer".split())
            writer.writerows(rows)
        print(f"{name}: {len(rows)} rows")


if __name__ == "__main__":
    main()
