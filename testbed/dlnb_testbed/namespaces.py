# SPDX-License-Identifier: Apache-2.0
"""Linux namespaces: commands that change networks, and becoming a process of a host."""
import contextlib
import ctypes
import os
import socket
import subprocess

from .problems import Unavailable

FOLDER = "/run/netns"  # where `ip netns` keeps them
PREFIX = "dlnb-"

_CLONE_NEWNS, _CLONE_NEWUTS, _CLONE_NEWNET = 0x00020000, 0x04000000, 0x40000000
_MNT_DETACH = 2
_MS_BIND, _MS_REC, _MS_SLAVE = 4096, 16384, 1 << 19
_libc = ctypes.CDLL(None, use_errno=True)


def _checked(what, result):
    if result != 0:
        raise Unavailable("testbed", f"{what}: {os.strerror(ctypes.get_errno())}", "it takes root, with CAP_SYS_ADMIN")


def _unshare(flags, what):
    _checked(f"no {what} namespace of our own", _libc.unshare(flags))


def _mount(source, target, kind, flags=0):
    arguments = [os.fsencode(text) if text else None for text in (source, target, kind)]
    _checked(f"cannot mount {target}", _libc.mount(*arguments, ctypes.c_ulong(flags), None))


def mount_memory(folder):
    """A file system in memory."""
    _mount("dlnb-testbed", folder, "tmpfs")


def unmount(folder):
    """What is mounted there, if anything; for good once nobody uses it."""
    while _libc.umount2(os.fsencode(folder), _MNT_DETACH) == 0:
        pass


def _set_network(descriptor):
    _checked("cannot enter the network namespace", _libc.setns(descriptor, _CLONE_NEWNET))


def require_permission():
    """Throws Unavailable where networks of our own cannot be made."""
    if os.geteuid() != 0:
        raise Unavailable("testbed", "network namespaces take root", "run it with sudo")
    child = os.fork()
    if child == 0:
        made = _libc.unshare(_CLONE_NEWNS | _CLONE_NEWUTS | _CLONE_NEWNET)
        os._exit(ctypes.get_errno() if made != 0 else 0)
    failure = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if failure:
        raise Unavailable(
            "testbed",
            f"this machine gives no network namespace: {os.strerror(failure)}",
            "in a container, start it with CAP_SYS_ADMIN and CAP_NET_ADMIN",
        )


def change(tool, namespace, lines):
    """Runs lines of `ip` or `tc` in a namespace (None: where we are), all of them or an error."""
    within = ["-n", namespace] if namespace else []
    try:
        done = subprocess.run(
            [tool, *within, "-batch", "-"], input="\n".join(lines) + "\n", capture_output=True, text=True, check=False
        )
    except FileNotFoundError as failure:
        raise Unavailable("testbed", f"there is no command {tool}", "apt install iproute2") from failure
    if done.returncode != 0:
        raise Unavailable(f"{tool} {' '.join(within)}".strip(), done.stderr.strip() or f"exit {done.returncode}")


def existing():
    """Names of all namespaces that carry our prefix."""
    with contextlib.suppress(FileNotFoundError):
        return sorted(name for name in os.listdir(FOLDER) if name.startswith(PREFIX))
    return []


def processes_in(namespaces):
    """Identities of the processes whose network is one of these."""
    def identity(file):
        status = os.stat(file)
        return status.st_dev, status.st_ino

    networks = {identity(f"{FOLDER}/{name}") for name in namespaces}
    found = []
    for entry in os.listdir("/proc"):
        with contextlib.suppress(OSError):  # it may have ended
            if entry.isdecimal() and identity(f"/proc/{entry}/ns/net") in networks:
                found.append(int(entry))
    return found


@contextlib.contextmanager
def network(namespace):
    """This thread uses that network meanwhile, /proc/sys/net included."""
    before = os.open("/proc/thread-self/ns/net", os.O_RDONLY | os.O_CLOEXEC)
    there = os.open(f"{FOLDER}/{namespace}", os.O_RDONLY | os.O_CLOEXEC)
    try:
        _set_network(there)
        yield
    finally:
        _set_network(before)
        os.close(there)
        os.close(before)


def become(namespace, host, hosts_file, shared_memory):
    """Makes this process one of that host: its network, name, /etc/hosts, /sys and /dev/shm. For good."""
    there = os.open(f"{FOLDER}/{namespace}", os.O_RDONLY | os.O_CLOEXEC)
    _set_network(there)
    os.close(there)
    _unshare(_CLONE_NEWUTS | _CLONE_NEWNS, "mount")
    socket.sethostname(host)
    _mount(None, "/", None, _MS_REC | _MS_SLAVE)
    _mount(hosts_file, "/etc/hosts", None, _MS_BIND)
    _mount(shared_memory, "/dev/shm", None, _MS_BIND)
    # /sys/class/net shows the network that /sys was mounted in. Control groups stay in sight.
    groups = None
    with contextlib.suppress(FileNotFoundError):
        groups = os.open("/sys/fs/cgroup", os.O_PATH | os.O_CLOEXEC)
    _mount("sysfs", "/sys", "sysfs")
    if groups is not None:
        _mount(f"/proc/self/fd/{groups}", "/sys/fs/cgroup", None, _MS_BIND | _MS_REC)
        os.close(groups)
