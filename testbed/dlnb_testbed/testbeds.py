# SPDX-License-Identifier: Apache-2.0
"""Testbeds of this machine: brought up, taken down, looked at.

All that exists of the testbed NAME:
    /run/netns/dlnb-NAME.HOST         its namespaces; cables and queues live in them
    /run/dlnb-testbed/NAME/           testbed.json (what `dlnetbench run --testbed` reads), agent, hosts
    /run/dlnb-testbed/NAME/shm/HOST   what a host sees as /dev/shm; shm is a file system of its own
"""
import contextlib
import dataclasses
import fcntl
import json
import os
import pathlib
import re
import shutil
import signal
import time

from . import namespaces
from .layout import hosts_of, layout
from .problems import UserError, Unavailable
from .shape import Shape, file_of

FOLDER = pathlib.Path("/run/dlnb-testbed")
PROGRAM = pathlib.Path(__file__).resolve().parent.parent / "testbed"
BUILDING, UP = "building", "up"

# What the communication libraries must know of this network, where the user's environment says nothing else. The hosts
# have TCP and share the cores of one machine. UCX takes two hosts of one kernel for one host, so it gets no shared
# memory; Open MPI and MPICH tell hosts apart by name and use it inside a host.
ENVIRONMENT = {
    "OMPI_MCA_pml": "ob1",
    "OMPI_MCA_btl": "self,vader,tcp",
    "OMPI_MCA_btl_tcp_if_include": "eth0",
    "OMPI_MCA_oob_tcp_if_include": "eth0",
    "OMPI_MCA_mpi_yield_when_idle": "1",
    "UCX_TLS": "self,tcp",
    "UCX_NET_DEVICES": "eth0",
    "HYDRA_IFACE": "eth0",
    "GLOO_SOCKET_IFNAME": "eth0",
    "FI_PROVIDER": "tcp",
    "FI_TCP_IFACE": "eth0",
}


def check_name(name):
    """Names become parts of file names."""
    if not re.fullmatch(r"[a-z0-9][a-z0-9-]{0,62}", name):
        raise UserError("testbed", f"{name!r} cannot be a name", "use lower-case letters, digits and -")


def namespace_of(name, host):
    # No name has a dot, so that those of one testbed are told from another's.
    return f"{namespaces.PREFIX}{name}.{host}"


def _namespaces_of(name):
    return [one for one in namespaces.existing() if one.startswith(namespace_of(name, ""))]


def _shared_memory(name, host):
    return FOLDER / name / "shm" / host


def _state(name):
    with contextlib.suppress(FileNotFoundError, json.JSONDecodeError):
        return json.loads((FOLDER / name / "testbed.json").read_text())
    return {}


def _write_state(name, shape, state):
    folder = FOLDER / name
    folder.mkdir(parents=True, exist_ok=True)
    content = {
        "name": name,
        "state": state,
        "shape": dataclasses.asdict(shape),
        "hosts": hosts_of(shape),
        "agent": str(folder / "agent"),
        "environment": ENVIRONMENT,
    }
    whole = folder / "testbed.json.new"
    whole.write_text(json.dumps(content, indent=2, ensure_ascii=False) + "\n")
    whole.rename(folder / "testbed.json")


@contextlib.contextmanager
def _alone():
    """One up or down at a time: the folder is the lock, which ends with the process."""
    while True:
        FOLDER.mkdir(parents=True, exist_ok=True)
        lock = os.open(FOLDER, os.O_RDONLY | os.O_CLOEXEC)
        fcntl.flock(lock, fcntl.LOCK_EX)
        with contextlib.suppress(FileNotFoundError):
            if os.path.samestat(os.fstat(lock), os.stat(FOLDER)):
                break
        os.close(lock)  # whoever held it has removed it
    try:
        yield
    finally:
        with contextlib.suppress(OSError):  # not empty
            FOLDER.rmdir()
        os.close(lock)


def names():
    """Of all testbeds of which anything is there."""
    found = {one.removeprefix(namespaces.PREFIX).partition(".")[0] for one in namespaces.existing()}
    with contextlib.suppress(FileNotFoundError):
        found |= {entry.name for entry in FOLDER.iterdir() if entry.is_dir()}
    return sorted(found)


def shape_of(name):
    """Of a testbed that is up."""
    return Shape(**_state(name)["shape"])


def condition(name):
    """"up", or what is wrong with it."""
    state = _state(name).get("state")
    if state != UP:
        return "incomplete"
    absent = {namespace_of(name, one) for one in layout(shape_of(name)).namespaces} - set(_namespaces_of(name))
    return f"broken: {len(absent)} namespaces are gone" if absent else UP


def require_up(name):
    if name not in names():
        raise Unavailable("testbed", f"{name} is not up", f"testbed/testbed up {name}")
    if condition(name) != UP:
        raise Unavailable("testbed", f"{name} is {condition(name)}", f"testbed/testbed up {name}")


def the_only_one():
    """The name of the testbed that is up, where there is one."""
    up = [name for name in names() if condition(name) == UP]
    if len(up) != 1:
        raise Unavailable(
            "testbed",
            f"{len(up)} testbeds are up" if up else "no testbed is up",
            f"say which: {', '.join(f'{name}:h1' for name in up)}" if up else "testbed/testbed up two-level",
        )
    return up[0]


def up(name, shape):
    """Returns what was done, as a word. A testbed that is up with this shape stays as it is."""
    check_name(name)
    namespaces.require_permission()
    with _alone():
        before = "made"
        if name in names():
            same = _state(name).get("shape") == dataclasses.asdict(shape)
            if same and condition(name) == UP:
                return "kept"
            before = "rebuilt"
            _remove(name)
        try:
            _build(name, shape)
        except BaseException:
            _remove(name)
            raise
    return before


def _build(name, shape):
    plan = layout(shape)
    at = {one: namespace_of(name, one) for one in plan.namespaces}
    _write_state(name, shape, BUILDING)
    (FOLDER / name / "agent").symlink_to(PROGRAM)
    lines = ["127.0.0.1 localhost", *(f"{address} {host}" for host, address in plan.addresses.items())]
    (FOLDER / name / "hosts").write_text("\n".join(lines) + "\n")

    namespaces.change("ip", None, [f"netns add {namespace}" for namespace in at.values()])
    for one, namespace in at.items():
        with namespaces.network(namespace):
            _set_up_kernel(shape, one in plan.switches)
    (FOLDER / name / "shm").mkdir()
    namespaces.mount_memory(FOLDER / name / "shm")
    for host in plan.addresses:
        _shared_memory(name, host).mkdir()
        _shared_memory(name, host).chmod(0o1777)
    commands = {one: ["link set lo up"] for one in at}
    queues = {one: [] for one in at}
    senders = list(plan.addresses.values()) if shape.sharing == "fair" else []
    for cable in plan.cables:
        (here, there), (device, other) = cable.ends, cable.devices
        namespaces.change(
            "ip", at[here], [f"link add {device} mtu {shape.mtu} type veth peer name {other} mtu {shape.mtu} "
                             f"netns {at[there]}"]
        )
        for end, port in zip(cable.ends, cable.devices):
            commands[end].append(f"link set {port} up")
            queues[end] += _queue(port, cable.rate, shape, senders)
    for one, namespace in at.items():
        namespaces.change("ip", namespace, commands[one])
        namespaces.change("tc", namespace, queues[one])
    for one, namespace in at.items():
        namespaces.change("ip", namespace, plan.settings[one])
    _write_state(name, shape, UP)


def _queue(port, rate, shape, senders):
    """A token bucket (HTB, which counts whole frames, of merged segments each header) before one first-in-first-out queue, or
    before one per address of `senders`: those that wait then send in turn, 64 KiB each, as switches do whose inputs have
    queues of their own."""

    def bucket(assured):
        return f"htb rate {assured} ceil {rate} burst {shape.burst} cburst {shape.burst} quantum 65536"

    lines = [
        f"qdisc replace dev {port} root handle 1: htb default ffff",
        f"class add dev {port} parent 1: classid 1:1 {bucket(rate)}",
    ]
    share = rate // (len(senders) + 1)  # what does not come from a host has one as well
    for number, sender in enumerate([*senders, None], 2):
        queue = f"{number:x}" if sender else "ffff"
        lines += [
            f"class add dev {port} parent 1:1 classid 1:{queue} {bucket(share)}",
            f"qdisc add dev {port} parent 1:{queue} handle {queue}: bfifo limit {shape.queue}",
        ]
        if sender:
            lines.append(
                f"filter add dev {port} parent 1: protocol ip prio 1 u32 match ip src {sender}/32 flowid 1:{queue}"
            )
    return lines


def _set_up_kernel(shape, is_switch):
    """Of the network this thread is in."""
    settings = {"ipv6/conf/all/disable_ipv6": 1, "ipv6/conf/default/disable_ipv6": 1}
    if is_switch:
        settings |= {
            "ipv4/ip_forward": 1,
            "ipv4/conf/all/rp_filter": 0,
            "ipv4/conf/default/rp_filter": 0,
            "ipv4/fib_multipath_hash_policy": 1,  # addresses and ports
        }
    elif shape.congestion_control:
        settings["ipv4/tcp_congestion_control"] = shape.congestion_control
    for file, value in settings.items():
        path = pathlib.Path("/proc/sys/net") / file
        if file.startswith("ipv6") and not path.exists():
            continue
        try:
            path.write_text(f"{value}\n")
        except OSError as failure:
            hint = ""
            if path.name == "tcp_congestion_control":
                allowed = path.with_name("tcp_allowed_congestion_control").read_text().split()
                hint = f"this kernel allows namespaces: {', '.join(allowed)}"
            raise Unavailable(path, f"cannot be {value}: {failure.strerror}", hint) from failure


def down(name):
    """Removes all that exists of it. Returns whether there was anything."""
    namespaces.require_permission()
    with _alone():
        there = name in names()
        if there:
            _remove(name)
    return there


def _remove(name):
    ours = _namespaces_of(name)
    _end_processes(ours)
    for one in ours:
        # A namespace that was being made when `up` was killed is a file that is not mounted.
        with contextlib.suppress(Unavailable):
            namespaces.change("ip", None, [f"netns del {one}"])
        with contextlib.suppress(FileNotFoundError):
            os.unlink(f"{namespaces.FOLDER}/{one}")
    namespaces.unmount(FOLDER / name / "shm")
    shutil.rmtree(FOLDER / name, ignore_errors=True)


def _end_processes(ours):
    """Politely, then not."""
    if not ours:
        return
    for sign, patience in ((signal.SIGTERM, 2.0), (signal.SIGKILL, 10.0)):
        limit = time.monotonic() + patience
        running = namespaces.processes_in(ours)
        for process in running:
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, sign)
        while running and time.monotonic() < limit:
            time.sleep(0.02)
            running = namespaces.processes_in(ours)
        if not running:
            return


def become(name, host):
    """Makes this process one of the host."""
    require_up(name)
    hosts = hosts_of(shape_of(name))
    if host not in hosts:
        raise UserError("host", f"{name} has no {host!r}", f"it has {hosts[0]} to {hosts[-1]}")
    namespaces.require_permission()
    for variable, value in ENVIRONMENT.items():
        os.environ.setdefault(variable, value)
    namespaces.become(namespace_of(name, host), host, str(FOLDER / name / "hosts"), str(_shared_memory(name, host)))
