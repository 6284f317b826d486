# SPDX-License-Identifier: Apache-2.0
"""What every cable of a testbed has carried, per direction."""
import json
import subprocess

from .layout import layout
from .testbeds import namespace_of, require_up, shape_of


def counters(name):
    """One row per direction of each cable: bytes are those of Ethernet frames, as the links' rates are."""
    require_up(name)
    plan = layout(shape_of(name))
    sent = {}
    for one in plan.namespaces:
        done = subprocess.run(
            ["tc", "-n", namespace_of(name, one), "-s", "-j", "qdisc", "show"], capture_output=True, text=True, check=True
        )
        for queue in json.loads(done.stdout):
            if queue.get("root") and queue["kind"] == "htb":
                sent[one, queue["dev"]] = queue
    rows = []
    for cable in plan.cables:
        for (here, there), port in ((cable.ends, cable.devices[0]), (cable.ends[::-1], cable.devices[1])):
            queue = sent[here, port]
            rows.append(
                {"from": here, "to": there, "bytes": queue["bytes"], "packets": queue["packets"], "drops": queue["drops"]}
            )
    return rows
