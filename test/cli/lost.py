# SPDX-License-Identifier: Apache-2.0
"""What tests of lost ranks share: which backends are here, and which processes ranks were."""
import json
import pathlib
import struct
import subprocess
import sys
import time

from program import ProgramTest, run

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
ENVIRONMENT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "NO_COLOR": "1"}
SINCE, ITERATION = 2496, 2520  # bytes into a flight recorder (RecorderHead)


def usable(backend):
    """Whether this machine has the backend; `threads` always is."""
    rows = json.loads(run("list", "backends", "--format", "json").stdout)
    return any(row["name"] == backend and row["usable"] for row in rows)


def processes_of(folder):
    """The process of every rank, from the heads of the flight recorders: magic, run, rank, process."""
    found = {}
    for file in pathlib.Path(folder).glob("rank-*.record"):
        head = file.read_bytes()[:32]
        if len(head) == 32 and head[:8] == b"dlnbrec1":
            _, rank, process = struct.unpack("<Qqq", head[8:])
            found[rank] = process
    return found


def number_in_record(folder, rank, offset):
    file = pathlib.Path(folder) / f"rank-{rank}.record"
    head = file.read_bytes()[:offset + 8] if file.exists() else b""
    return struct.unpack("<q", head[offset:])[0] if head[:8] == b"dlnbrec1" else None


def iteration_of(folder, rank):
    """What the rank is in: an iteration, or a part of a benchmark's row; None where it has not begun."""
    return number_in_record(folder, rank, ITERATION)


def since(folder, rank):
    """Seconds since the rank came to where it is, or was when it ended."""
    return time.monotonic() - number_in_record(folder, rank, SINCE) / 1e9


def is_there(process):
    try:
        state = pathlib.Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state not in "ZX"


class LossTest(ProgramTest):
    def need(self, backend):
        if not usable(backend):
            self.skipTest(f"{backend} is not usable here")

    def check_valid(self, file):
        checked = subprocess.run([sys.executable, ROOT / "tools" / "validate_result", file], capture_output=True,
                                 text=True, check=False)
        self.assertEqual(checked.returncode, 0, checked.stdout + checked.stderr)
        return json.loads(pathlib.Path(file).read_text(encoding="utf-8"))

    def check_nothing_is_left(self, processes, patience=15):
        self.assertTrue(processes)
        for _ in range(20 * patience):
            left = {rank: process for rank, process in processes.items() if is_there(process)}
            if not left:
                return
            time.sleep(0.05)
        self.fail(f"still there: {left}")
