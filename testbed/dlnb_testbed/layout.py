# SPDX-License-Identifier: Apache-2.0
"""What a shape becomes: namespaces, cables between them, addresses and routes. Knows no kernel.

    host eth0 ─ leaf: bridge "hosts" with the gateway's address ─ routed cables ─ spine

Hosts of a leaf are one subnet, 198.18.LEAF.0/24, and are switched; between leaves packets are routed, and where there
are several spines the leaf chooses by a hash of addresses and ports (ECMP), as leaf switches do. The addresses are
those set aside for benchmarks of networks (RFC 2544) and exist inside the namespaces only.
"""
import dataclasses

GATEWAY = 254  # last byte


@dataclasses.dataclass(frozen=True)
class Cable:
    """Two ends, each the name of a namespace and of the device in it; `rate` in bit/s holds in both directions."""

    ends: tuple
    devices: tuple
    rate: int


@dataclasses.dataclass(frozen=True)
class Layout:
    """`addresses` by host, in the order of hosts; `settings` are lines for `ip -batch`, by namespace."""

    addresses: dict
    switches: list
    cables: list
    settings: dict

    @property
    def namespaces(self):
        return [*self.addresses, *self.switches]


def hosts_of(shape):
    """h1, h2, …: leaf after leaf."""
    return [f"h{number + 1}" for number in range(shape.hosts)]


def layout(shape):
    """A function of the shape alone."""
    leaves = [f"leaf{leaf + 1}" for leaf in range(shape.leaves)]
    spines = [f"spine{spine + 1}" for spine in range(shape.spines)]
    addresses, cables, settings = {}, [], {}
    for name in spines:
        settings[name] = []

    for leaf, switch in enumerate(leaves, 1):
        here = settings[switch] = [
            "link add hosts type bridge",
            f"link set hosts mtu {shape.mtu} up",
            f"addr add 198.18.{leaf}.{GATEWAY}/24 dev hosts",
        ]
        for place in range(1, shape.hosts_per_leaf + 1):
            host = f"h{len(addresses) + 1}"
            addresses[host] = f"198.18.{leaf}.{place}"
            cables.append(Cable((host, switch), ("eth0", host), shape.link))
            here.append(f"link set {host} master hosts")
            settings[host] = [
                f"addr add {addresses[host]}/24 dev eth0",
                f"route add default via 198.18.{leaf}.{GATEWAY}",
            ]
        for spine, other in enumerate(spines, 1):
            cables.append(Cable((switch, other), (other, switch), shape.uplink))
            here.append(f"addr add 198.19.{spine}.{2 * leaf}/31 dev {other}")
            settings[other] += [
                f"addr add 198.19.{spine}.{2 * leaf + 1}/31 dev {switch}",
                f"route add 198.18.{leaf}.0/24 via 198.19.{spine}.{2 * leaf}",
            ]

    for leaf, switch in enumerate(leaves, 1):
        ways = " ".join(f"nexthop via 198.19.{spine}.{2 * leaf + 1}" for spine in range(1, shape.spines + 1))
        settings[switch] += [
            f"route add 198.18.{other}.0/24 {ways}" for other in range(1, shape.leaves + 1) if other != leaf
        ]
    return Layout(addresses, [*leaves, *spines], cables, settings)
