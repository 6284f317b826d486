# SPDX-License-Identifier: Apache-2.0
"""A shape as a machine file of the simulator."""
from .quantities import rate_text

# Assumed, of one Linux machine that forwards between namespaces: its scheduler and its TCP, not a wire.
ENDPOINT_LATENCY = "20 us"
SWITCH_LATENCY = "5 us"
STEP = "50 us"


def machine_file(name, shape):
    """TOML text: capacities follow from the shape, latencies are assumed."""
    capacity = rate_text(shape.link)
    if shape.spines:
        network = f"""topology = "fat_tree"
leaves = {shape.leaves}
spines = {shape.spines}
ports = {shape.hosts_per_leaf}
endpoint_capacity = "{capacity}"
leaf_capacity = "{rate_text(shape.uplink)}"
"""
    else:
        network = f"""topology = "switch"
port = "nic"
capacity = "{capacity}"
"""
    return f"""# Written by testbed/testbed machine. One rank per host.
name = "testbed-{name}"
summary = "testbed of network namespaces: {shape.described()}"
source = "the shape of the testbed"
device = "a100"               # compute is emulated: any will do
nodes = {shape.hosts}
devices_per_node = 1
nics_per_node = 1

[network]
{network}# Assumed; dlnetbench calibrate measures them.
endpoint_latency = "{ENDPOINT_LATENCY}"
switch_latency = "{SWITCH_LATENCY}"

[software]
step = "{STEP}"
message_start = "{STEP}"
# What TCP delivers of a frame's bytes: {shape.mtu - 52} of {shape.mtu + 14}.
efficiency = {shape.payload_share:.4f}
source = "latencies assumed; efficiency from the sizes of headers"
"""
