# SPDX-License-Identifier: Apache-2.0
"""Networks of namespaces: they come, carry what they should, and go."""
import json
import os
import pathlib
import signal
import subprocess
import time
import tomllib
import unittest

from program import NAME, TOOL, counters, have_testbed, on_host, tool, transfer

SIZE = 20_000_000
PAYLOAD = 1448 / 1514  # of a frame


def setUpModule():
    have_testbed("--shape", "two-level")


def tearDownModule():
    tool("down", NAME)


def left_overs():
    """All that the testbed could leave behind."""
    places = [*pathlib.Path("/run/netns").glob(f"dlnb-{NAME}.*"), pathlib.Path("/run/dlnb-testbed") / NAME]
    mounts = [line for line in pathlib.Path("/proc/mounts").read_text().splitlines() if f"dlnb-testbed/{NAME}" in line]
    return [str(place) for place in places if place.exists()] + mounts


class Network(unittest.TestCase):
    def setUp(self):
        have_testbed("--shape", "two-level")

    def test_up_and_down_are_idempotent(self):
        self.assertIn("was up already", tool("up", NAME, "--shape", "two-level").stderr)
        self.assertIn("was rebuilt", tool("up", NAME, "--shape", "two-level", "--uplink", "200 Mbit/s").stderr)
        rows = {row["name"]: row for row in json.loads(tool("status", "--json").stdout)}
        self.assertEqual(rows[NAME]["state"], "up")
        self.assertEqual(rows[NAME]["hosts"], [f"h{number}" for number in range(1, 9)])
        self.assertIn("200 Mbit/s", rows[NAME]["shape"])

        first, second = tool("down", NAME), tool("down", NAME)

        self.assertEqual((first.returncode, second.returncode), (0, 0))
        self.assertIn("was not up", second.stderr)
        self.assertEqual(left_overs(), [])
        self.assertNotIn(NAME, [row["name"] for row in json.loads(tool("status", "--json").stdout)])

    def test_down_ends_what_runs_there(self):
        sleeper = on_host("h1", "sleep", "600")
        while os.readlink(f"/proc/{sleeper.pid}/ns/net") == os.readlink("/proc/self/ns/net"):
            time.sleep(0.01)

        tool("down", NAME)

        self.assertEqual(sleeper.wait(timeout=30), -signal.SIGTERM)
        self.assertEqual(left_overs(), [])

    def test_down_cleans_after_a_killed_up(self):
        for delay in (0.12, 0.16, 0.2, 0.25):
            tool("down", NAME)
            with subprocess.Popen([TOOL, "up", NAME, "--shape", "two-level"], stderr=subprocess.DEVNULL) as up:
                time.sleep(delay)
                up.kill()
            tool("down", NAME)
            self.assertEqual(left_overs(), [], f"killed after {delay} s")

    def test_a_broken_testbed_is_rebuilt(self):
        subprocess.run(["ip", "netns", "del", f"dlnb-{NAME}.h3"], check=True)

        broken = tool("status").stdout
        refused = tool("exec", f"{NAME}:h1", "true")
        done = tool("up", NAME, "--shape", "two-level")

        self.assertIn("broken", broken)
        self.assertEqual(refused.returncode, 3)
        self.assertIn("was rebuilt", done.stderr)

    def test_hosts_know_and_reach_each_other(self):
        hosts = [f"h{number}" for number in range(1, 9)]
        pings = [
            on_host(host, "sh", "-c", 'hostname; for other; do ping -c 1 -W 20 -q "$other" > /dev/null || echo "$other"; done',
                    "-", *hosts, stdout=subprocess.PIPE)
            for host in hosts
        ]
        self.assertEqual([ping.communicate(timeout=120)[0].split() for ping in pings], [[host] for host in hosts])

    def test_hosts_have_their_own_shared_memory_and_network_devices(self):
        on_host("h1", "touch", "/dev/shm/mine").wait(timeout=30)
        listing = {
            host: on_host(host, "ls", "/dev/shm", "/sys/class/net", stdout=subprocess.PIPE).communicate(timeout=30)[0]
            for host in ("h1", "h2")
        }
        self.assertIn("mine", listing["h1"])
        self.assertNotIn("mine", listing["h2"])
        self.assertIn("eth0\nlo", listing["h2"])
        self.assertFalse(pathlib.Path("/dev/shm/mine").exists())

    def test_links_have_their_rate(self):
        # Slow enough for a busy machine; one link, then a slower uplink.
        have_testbed("--shape", "two-level", "--link", "200 Mbit/s", "--uplink", "100 Mbit/s")
        [near] = transfer([("h1", "h2")], SIZE)
        [far] = transfer([("h1", "h5")], SIZE)
        self.assertAlmostEqual(near / (200 * PAYLOAD), 1, delta=0.1)
        self.assertAlmostEqual(far / (100 * PAYLOAD), 1, delta=0.1)

    def test_the_machine_file_is_of_what_is_up(self):
        have_testbed("--shape", "two-level", "--link", "200 Mbit/s", "--uplink", "100 Mbit/s")
        done = tool("machine", NAME)
        self.assertEqual(done.returncode, 0, done.stderr)
        machine = tomllib.loads(done.stdout)
        self.assertEqual(machine["network"]["endpoint_capacity"], "200 Mbit/s")
        self.assertEqual(machine["network"]["leaf_capacity"], "100 Mbit/s")

    def test_two_connections_share_an_uplink(self):
        have_testbed("--shape", "two-level", "--link", "100 Mbit/s", "--uplink", "100 Mbit/s")
        before = counters()
        rates = transfer([("h1", "h5"), ("h2", "h6")], SIZE)
        after = counters()
        # Together they have what one would have alone.
        self.assertAlmostEqual(sum(rates) / (100 * PAYLOAD), 1, delta=0.25)
        crossed = after["leaf1", "spine1"] - before["leaf1", "spine1"]
        self.assertGreaterEqual(crossed, 2 * SIZE / PAYLOAD)
        self.assertLess(crossed, 1.2 * 2 * SIZE / PAYLOAD)

    def test_hosts_share_an_uplink_fairly_where_asked(self):
        shares = {}
        for sharing in ("fifo", "fair"):
            have_testbed("--shape", "two-level", "--link", "100 Mbit/s", "--uplink", "50 Mbit/s", "--sharing", sharing,
                         "--congestion-control", "reno")
            # Eight connections of one host, which outlast the one of another that begins after them.
            rates = transfer([("h1", "h5")] * 8 + [("h2", "h6")], 3_000_000)
            shares[sharing] = rates[-1] / (50 * PAYLOAD)
        # One of nine in one queue, one of two in turn.
        self.assertLess(shares["fifo"], 0.35)
        self.assertAlmostEqual(shares["fair"], 0.5, delta=0.12)

    def test_connections_are_spread_over_spines(self):
        have_testbed("--shape", "leaf-spine")
        # Sixteen connections miss one of two spines with a chance of 2 / 2¹⁶.
        pairs = [(f"h{1 + one % 4}", f"h{5 + one % 4}") for one in range(16)]
        before = counters()
        transfer(pairs, 500_000)
        after = counters()
        crossed = [after["leaf1", f"spine{spine}"] - before["leaf1", f"spine{spine}"] for spine in (1, 2)]
        self.assertGreater(min(crossed), 500_000)
        self.assertGreaterEqual(sum(crossed), 16 * 500_000)

    def test_the_agent_is_a_remote_shell(self):
        agent = f"/run/dlnb-testbed/{NAME}/agent"
        done = subprocess.run([agent, "-x", "h3", "echo", '"$(hostname) $OMPI_MCA_btl"'],
                              capture_output=True, text=True, timeout=60, check=False,
                              env={**os.environ, "OMPI_MCA_btl": "self,tcp"})
        self.assertEqual(done.stdout, "h3 self,tcp\n")  # what the user says comes first

    def test_refusals(self):
        for words, code, mention in (
            (["exec", f"{NAME}:h99", "true"], 2, "h99"),
            (["exec", "nowhere:h1", "true"], 3, "testbed/testbed up nowhere"),
            (["exec", f"{NAME}:h1", "no-such-program"], 3, "no-such-program"),
            (["up", "Upper"], 2, "lower-case"),
            (["up", NAME, "--shape", "two-level", "--congestion-control", "none-such"], 3, "tcp_congestion_control"),
        ):
            done = tool(*words)
            self.assertEqual(done.returncode, code, done.stderr)
            self.assertIn(mention, done.stderr)

    def test_it_takes_root(self):
        done = subprocess.run([TOOL, "up", NAME, "--shape", "two-level", "--mtu", "1400"], user="nobody", group="nogroup",
                              extra_groups=[], capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertIn("root", done.stderr)


if __name__ == "__main__":
    unittest.main()
