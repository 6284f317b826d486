# SPDX-License-Identifier: Apache-2.0
"""listeners.py COMMAND...: runs a live run of two ranks and fails unless they listen, and at the loopback only."""
import pathlib
import signal
import subprocess
import sys
import time


def descendants(process):
    try:
        found = [int(child) for child in pathlib.Path(f"/proc/{process}/task/{process}/children").read_text().split()]
    except OSError:
        found = []  # ended since
    return found + [further for child in found for further in descendants(child)]


def sockets(process):
    """Inodes of its sockets."""
    links = []
    for descriptor in pathlib.Path(f"/proc/{process}/fd").iterdir():
        try:
            links.append(str(descriptor.readlink()))
        except OSError:
            pass  # closed since
    return {link[len("socket:["):-1] for link in links if link.startswith("socket:[")}


def listeners(process):
    """Addresses in the kernel's notation."""
    own = sockets(process)
    for table in ("tcp", "tcp6"):
        for row in pathlib.Path(f"/proc/{process}/net/{table}").read_text().splitlines()[1:]:
            columns = row.split()
            if columns[3] == "0A" and columns[9] in own:
                yield columns[1].split(":")[0]


LOOPBACK = {"0100007F", "00000000000000000000000001000000"}

run = subprocess.Popen(sys.argv[1:])
try:
    limit = time.monotonic() + 60
    ranks, found = [], {}
    while time.monotonic() < limit and (len(ranks) < 2 or not all(found.values())) and run.poll() is None:
        time.sleep(0.2)
        ranks = descendants(run.pid)
        try:
            found = {rank: list(listeners(rank)) for rank in ranks}
        except OSError:
            ranks = []  # what looks whether the library is there has ended since
    elsewhere = {address for addresses in found.values() for address in addresses} - LOOPBACK
    print("listening:", found)
finally:
    run.send_signal(signal.SIGTERM)
    code = run.wait(60)
if len(ranks) < 2 or not all(found.values()):
    sys.exit("the ranks do not listen: what is looked for is not what they do")
if elsewhere:
    sys.exit(f"not at the loopback: {elsewhere}")
sys.exit(code)
