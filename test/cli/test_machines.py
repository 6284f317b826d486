# SPDX-License-Identifier: Apache-2.0
"""Backends on machines that lack things: the program alone in a root folder, with what each machine has."""
import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

from program import PROGRAM

BUILD = pathlib.Path(PROGRAM).parent
MODULES = BUILD / "lib" / "dlnetbench"
STAND_IN = BUILD / "test" / "stand-in" / "nccl" / "libnccl.so.2"
DATA = os.environ["DLNETBENCH_DATA"]
DP = ["--plan", "dp", "--model", "vit-h", "--ranks", "2", "--scale", "1/4096", "--iterations", "2"]
ENTER = """set -e
root=$1 data=$2; shift 2
mount --rbind /proc "$root/proc"
mount --bind "$data" "$root/data"
exec chroot "$root" /opt/dlnetbench "$@"
"""


def why_no_root_folder():
    """Why a process cannot be put into a root folder of its own here; empty where it can."""
    done = subprocess.run(["unshare", "--map-root-user", "--mount", "true"], capture_output=True, text=True, check=False)
    return done.stderr.strip()


def libraries_of(file):
    """Everything the loader loads for a program or library, itself included where it is one."""
    said = subprocess.run(["ldd", file], capture_output=True, text=True, check=True).stdout
    return [pathlib.Path(path) for path in re.findall(r"(/\S+) \(0x", said)]


class Machine:
    """A root folder with the program, its data, and what is put there besides."""

    def __init__(self, folder):
        self.root = pathlib.Path(folder)
        for name in ("proc", "data", "tmp", "dev/shm", "opt/lib/dlnetbench"):
            (self.root / name).mkdir(parents=True)
        self.put(PROGRAM, "/opt/dlnetbench")
        self.put_libraries_of(PROGRAM)

    def put(self, file, place=None):
        """A file at its own place or another one; links become what they lead to."""
        target = self.root / str(place or file).lstrip("/")
        if target.exists():
            return
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(file, target)

    def put_libraries_of(self, file):
        for library in libraries_of(file):
            self.put(library)

    def put_module(self, name, libraries=True):
        self.put(MODULES / name, f"/opt/lib/dlnetbench/{name}")
        if libraries:
            self.put_libraries_of(MODULES / name)

    def run(self, *words, **environment):
        kept = {name: value for name, value in os.environ.items() if name == "PATH" or name.endswith("SAN_OPTIONS")}
        return subprocess.run(["unshare", "--map-root-user", "--mount", "sh", "-c", ENTER, "enter", self.root, DATA, *words],
                              env={**kept, "DLNETBENCH_DATA": "/data", "NO_COLOR": "1", **environment},
                              capture_output=True, text=True, timeout=120, check=False)


@unittest.skipIf(why_no_root_folder(), f"no root folder of its own: {why_no_root_folder()}")
class Machines(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.machine = Machine(folder.name)

    def reasons(self, **environment):
        """Of every backend, why it cannot be used; empty where it can. `list` and `doctor` say the same."""
        done = self.machine.run("list", "backends", "--format", "json", **environment)
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = json.loads(done.stdout)
        for row in rows:
            self.assertEqual(row["usable"], not row["reason"], row)
        listed = {row["name"]: row["reason"] or "" for row in rows}
        done = self.machine.run("doctor", "--format", "json", **environment)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.rows = {row["subject"]: row for row in json.loads(done.stdout)}
        for name, reason in listed.items():
            row = self.rows[f"backend {name}"]
            self.assertEqual(row["state"], "no" if reason else "ok", row)
            self.assertIn(reason, row["detail"])
        return listed

    def usable(self, **environment):
        return {name for name, reason in self.reasons(**environment).items() if not reason}

    def refused(self, backend, *mentions, **environment):
        """Asked for, it ends with exit 3 and what `list` says."""
        reason = self.reasons(**environment)[backend]
        done = self.machine.run("run", *DP, "--backend", backend, **environment)
        self.assertEqual(done.returncode, 3, f"{backend}\n{done.stdout}\n{done.stderr}")
        for mention in (reason, *mentions):
            self.assertIn(mention, done.stderr)

    def need_module(self, name):
        if not (MODULES / name).exists():
            self.skipTest(f"this build has no {name}")

    def test_with_nothing(self):
        self.assertEqual(self.usable(), {"threads"})
        self.assertEqual({self.rows[name]["state"] for name in ("MPI libraries", "launchers")}, {"missing"})
        self.assertEqual(self.rows["topology"]["state"], "ok")
        self.assertEqual({row["state"] for name, row in self.rows.items() if name.startswith("energy nvml")}, {"no"})
        for backend, hint in {"mpi": "apt install libopenmpi-dev", "mpi-openmpi": "apt install libopenmpi-dev",
                              "mpi-mpich": "apt install libmpich-dev", "gloo": "apt install libgloo-dev",
                              "oneccl": "scripts/install oneccl", "nccl": "install libnccl2",
                              "rccl": "install rccl"}.items():
            with self.subTest(backend):
                self.refused(backend, hint)
        done = self.machine.run("run", *DP)
        self.assertEqual(done.returncode, 3, done.stderr)
        done = self.machine.run("run", *DP, "--backend", "threads")
        self.assertIn(done.returncode, (0, 4), done.stderr)
        text = self.machine.run("list", "backends").stdout
        self.assertRegex(text, r"(?m)^threads +yes ")
        self.assertRegex(text, r"(?m)^gloo +no .*apt install libgloo-dev")

    def test_with_modules_and_none_of_their_libraries(self):
        modules = sorted(file.name for file in MODULES.glob("*.so"))
        for name in modules:
            self.machine.put_module(name, libraries=False)

        self.assertEqual(self.usable(), {"threads"})
        for name, backend in {"dlnb_mpi_openmpi.so": "mpi-openmpi", "dlnb_mpi_mpich.so": "mpi-mpich",
                              "dlnb_gloo.so": "gloo"}.items():
            if name in modules:
                with self.subTest(backend):
                    self.refused(backend, "cannot open shared object file", "apt install")

    def test_with_a_file_that_is_no_module(self):
        (self.machine.root / "opt/lib/dlnetbench/dlnb_gloo.so").write_text("a text, and not a short one\n" * 100)
        self.refused("gloo", "dlnb_gloo.so: invalid ELF header")

    def test_with_one_mpi_only(self):
        for name, backend, launcher in (("dlnb_mpi_openmpi.so", "mpi-openmpi", "mpirun.openmpi"),
                                        ("dlnb_mpi_mpich.so", "mpi-mpich", "mpiexec.mpich")):
            with self.subTest(backend), tempfile.TemporaryDirectory() as folder:
                self.need_module(name)
                self.machine = Machine(folder)
                self.machine.put_module(name)
                self.refused(backend, "is not in PATH", "apt install")
                # The library alone is enough for ranks that somebody else starts.
                started = {"OMPI_COMM_WORLD_RANK": "0"} if backend == "mpi-openmpi" else {"PMI_RANK": "0"}
                self.assertIn(backend, self.usable(**started))
                program = shutil.which(launcher)
                self.machine.put(program)
                self.assertEqual(self.usable(), {"threads", "mpi", backend})
                self.assertEqual(self.rows["launchers"]["state"], "ok")

    def test_with_gloo(self):
        self.need_module("dlnb_gloo.so")
        self.machine.put_module("dlnb_gloo.so")
        self.assertEqual(self.usable(), {"threads", "gloo"})

    def test_with_oneccl(self):
        self.need_module("dlnb_oneccl.so")
        self.machine.put_module("dlnb_oneccl.so")
        self.refused("oneccl", "libfabric.so.1", "apt install libfabric1")
        loader = subprocess.run(["/sbin/ldconfig", "-p"], capture_output=True, text=True, check=True).stdout
        fabric = re.search(r"libfabric\.so\.1 .*=> (\S+)", loader)
        self.assertTrue(fabric, "the module was built, so libfabric is on this machine")
        self.machine.put(fabric[1])
        self.machine.put_libraries_of(fabric[1])
        self.assertEqual(self.usable(), {"threads", "oneccl"})

    def test_with_nccl_and_no_gpu(self):
        if not STAND_IN.exists():
            self.skipTest(f"{STAND_IN} is not built")
        self.machine.put(STAND_IN, "/usr/lib/libnccl.so.2")
        self.machine.put_libraries_of(STAND_IN)
        self.assertEqual(self.usable(), {"threads"})
        self.refused("nccl", "is there, but no accelerator that it can use", "libcuda.so.1")
        # A driver that sees no device.
        self.machine.put(STAND_IN, "/usr/lib/libcuda.so.1")
        self.refused("nccl", "is there, but no accelerator that it can use", DLNB_STAND_IN_DEVICES="0")


if __name__ == "__main__":
    unittest.main()
