#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs a command whose ranks use the stand-in and looks at what it has written down.

Whatever the command: no violation, nothing listens beyond loopback, one stream for every communicator, and behind every launch an event that waits for
it before the next one in its stream. Where the command succeeds, nothing is left over. Expectations:

  --code N          how it ends
  --says PATTERN    in its output, a regular expression; may be repeated
  --library FOLDER  where the stand-in is
  --aborts          some rank aborts every communicator it has made
  --exchanges N,M   every all-to-all is one launch of N (or M) sends and receives, and there are some of each
  --overlaps        operations of different communicators are under way together
  --pairs           messages between two ranks take a communicator of two for every direction
  --kernels SHAPE   compute phases are kernels of this shape, on one stream without communication, an event behind each
  --preload FILE    into the ranks: an MPI library that takes device memory
  --calls A,B       of MPI, that every rank gives device memory to, and no others
"""
import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile

parser = argparse.ArgumentParser()
parser.add_argument("--code", type=int, default=0)
parser.add_argument("--says", action="append", default=[])
parser.add_argument("--library", required=True)
parser.add_argument("--exchanges", type=lambda text: {int(word) for word in text.split(",")})
parser.add_argument("--kernels")
parser.add_argument("--preload")
parser.add_argument("--calls", type=lambda text: set(text.split(",")))
for flag in ("aborts", "overlaps", "pairs"):
    parser.add_argument("--" + flag, action="store_true")
parser.add_argument("command", nargs="+")
asked = parser.parse_args()

LAUNCH = re.compile(r"launch stream=(\d+) at=(\d+) communicator=(\d+) launch=\d+ (.*)")
RECORD = re.compile(r"record event=\d+ stream=(\d+) behind=(\d+)")
MADE = re.compile(r"made communicator=(\d+) members=(\d+) me=(\d+)")
problems = []


def launches(lines):
    return [match.groups() for match in map(LAUNCH.match, lines) if match]


def look_at_streams(rank, lines):
    stream_of, communicator_of, awaiting = {}, {}, {}
    for line in lines:
        if launch := LAUNCH.match(line):
            stream, at, communicator, _ = launch.groups()
            if stream_of.setdefault(communicator, stream) != stream or communicator_of.setdefault(stream, communicator) != communicator:
                problems.append(f"rank {rank}: communicators and streams do not belong together: {line}")
            if stream in awaiting:
                problems.append(f"rank {rank}: no event behind launch {awaiting[stream]} of stream {stream}")
            awaiting[stream] = int(at)
        elif event := RECORD.match(line):
            if int(event[2]) >= awaiting.get(event[1], 0):
                awaiting.pop(event[1], None)
    if awaiting:
        problems.append(f"rank {rank}: no event behind the last launches: {awaiting}")


def overlapping(lines):
    """Whether two launches on different streams were under way together."""
    under_way = set()
    for line in lines:
        if match := re.match(r"(begin|end) stream=(\d+) (?:communicator|kernel)", line):
            (under_way.add if match[1] == "begin" else under_way.discard)(match[2])
            if len(under_way) > 1:
                return True
    return False


def expect(claim, what):
    if not claim:
        problems.append(what)


with tempfile.TemporaryDirectory() as folder:
    environment = dict(os.environ, DLNB_STAND_IN_RECORD=folder)
    environment["LD_LIBRARY_PATH"] = ":".join(filter(None, [asked.library, os.environ.get("LD_LIBRARY_PATH")]))
    if asked.preload:
        environment["LD_PRELOAD"] = ":".join(filter(None, [os.environ.get("LD_PRELOAD"), asked.preload]))
    ended = subprocess.run(asked.command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    print(ended.stdout)
    records = {int(file.stem): file.read_text().splitlines() for file in pathlib.Path(folder).glob("*.txt")}

expect(ended.returncode == asked.code, f"it ended with {ended.returncode}, not {asked.code}")
for pattern in asked.says:
    expect(re.search(pattern, ended.stdout), f"it does not say: {pattern}")
for rank, lines in sorted(records.items()):
    problems += [f"rank {rank}: {line}" for line in lines if line.startswith("violation")]
    expect(not any(line.startswith("identifier") and not line.endswith("network=lo") for line in lines),
           f"rank {rank}: it listens beyond loopback")
    if asked.code == 0:
        look_at_streams(rank, lines)
        left = [line for line in lines if line.startswith("left: ")]
        expect(len(left) == 5 and not any(re.search(r"=[1-9]", line) for line in left), f"rank {rank}: {left}")
    if asked.exchanges:
        groups = [[kind.split(":")[0] for kind in kinds.split()] for _, _, _, kinds in launches(lines) if " " in kinds]
        sizes = {len(kinds) // 2 for kinds in groups if kinds == ["send", "receive"] * (len(kinds) // 2)}
        expect(sizes == asked.exchanges and all(kinds[0] == "send" for kinds in groups),
               f"rank {rank}: all-to-alls are groups of {sizes} sends and receives")
    if asked.calls:
        calls = {line.split(" ")[1] for line in lines if line.startswith("mpi ")}
        expect(calls == asked.calls, f"rank {rank}: device memory is given to {sorted(calls)}")
    if asked.pairs:
        # The first is for what ranks tell each other besides.
        members = {made[1]: int(made[2]) for made in map(MADE.match, lines) if made and made[1] != "1"}
        kinds_of = {}
        for _, _, communicator, kinds in launches(lines):
            if communicator in members and re.match(r"(send|receive):", kinds) and " " not in kinds:
                kinds_of.setdefault(communicator, set()).add(kinds.split(":")[0])
        expect(kinds_of and all(len(kinds) == 1 and members[communicator] == 2 for communicator, kinds in kinds_of.items()),
               f"rank {rank}: messages by communicator: {kinds_of}")
expect(records or asked.code in (2, 3), "no rank has written anything down")
if asked.aborts:
    expect(any({made[1] for made in map(MADE.match, lines) if made}
               == {line.split("=")[1] for line in lines if line.startswith("abort")} != set() for lines in records.values()),
           "no rank aborts its communicators")
if asked.overlaps:
    expect(any(map(overlapping, records.values())), "no two communicators are ever busy together")
if asked.kernels:
    for rank, lines in records.items():
        kernels = [match.groups() for match in (re.match(r"begin stream=(\d+) kernel \S+ (.*) ns=\d+", line) for line in lines) if match]
        streams = {stream for stream, _ in kernels}
        expect({shape for _, shape in kernels} == {asked.kernels}, f"rank {rank}: kernels are {set(kernels)}")
        expect(len(streams) == 1 and not streams & {stream for stream, *_ in launches(lines)},
               f"rank {rank}: kernels are on streams {streams}")
        behind = [event[2] for event in map(RECORD.match, lines) if event and event[1] in streams]
        expect(behind == [str(number + 1) for number in range(len(kernels))], f"rank {rank}: {len(kernels)} kernels, events behind {behind}")
print(*problems, sep="\n", file=sys.stderr)
sys.exit(1 if problems else 0)
