# SPDX-License-Identifier: Apache-2.0
"""The testbed's tool as its users run it, and the program under test on it."""
import json
import os
import pathlib
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
TOOL = ROOT / "testbed" / "testbed"
TRAFFIC = pathlib.Path(__file__).with_name("traffic.py")
PROGRAM = os.environ["DLNETBENCH"]
NAME = "test"
sys.path.insert(0, str(TOOL.parent))


def tool(*words, timeout=120):
    return subprocess.run([TOOL, *map(str, words)], capture_output=True, text=True, timeout=timeout, check=False)


def have_testbed(*shape):
    """Brings the testbed up; skips the module, with the reason, where this machine has none."""
    done = tool("up", NAME, *shape)
    if done.returncode == 3:
        print(f"testbed skipped: {done.stderr.strip()}", flush=True)
        raise unittest.SkipTest(done.stderr.strip())
    assert done.returncode == 0, done.stderr


def on_host(host, *command, **options):
    return subprocess.Popen([TOOL, "exec", f"{NAME}:{host}", *map(str, command)], text=True, **options)


def counters():
    """Bytes by (from, to)."""
    rows = json.loads(tool("counters", NAME, "--json").stdout)
    return {(row["from"], row["to"]): row["bytes"] for row in rows}


def transfer(pairs, size):
    """Mbit/s of the payload of simultaneous connections between these pairs of hosts."""
    receivers = []
    for number, (_, host) in enumerate(pairs):
        receiver = on_host(host, sys.executable, TRAFFIC, "receive", 5000 + number, size, stdout=subprocess.PIPE)
        assert receiver.stdout.readline() == "listening\n"
        receivers.append(receiver)
    senders = [
        on_host(source, sys.executable, TRAFFIC, "send", target, 5000 + number, size)
        for number, (source, target) in enumerate(pairs)
    ]
    rates = [float(receiver.communicate(timeout=300)[0]) / 1e6 for receiver in receivers]
    assert all(sender.wait(timeout=60) == 0 for sender in senders)
    return rates
