# SPDX-License-Identifier: Apache-2.0
"""The shape of a testbed: a small TOML file in shapes/, or one of the user's, with changes from the command line."""
import dataclasses
import difflib
import pathlib
import tomllib

from .problems import UserError
from .quantities import bits_per_second, rate_text, size_in_bytes

FOLDER = pathlib.Path(__file__).resolve().parent.parent / "shapes"
ETHERNET_HEADER = 14
# IPv4 and TCP with the time stamps that Linux sends: 20 + 20 + 12 bytes.
SEGMENT_HEADERS = 52


def _count(low, high):
    def read(value):
        if isinstance(value, str) and value.isdecimal():
            value = int(value)  # from the command line
        if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
            raise ValueError(f"expected an integer from {low} to {high}, found {value!r}")
        return value

    return read


def _within(read, low, high):
    def read_within(value):
        number = read(value)
        if not read(low) <= number <= read(high):
            raise ValueError(f"expected {low} to {high}, found {value!r}")
        return number

    return read_within


def _word(value):
    if not isinstance(value, str) or not value:
        raise ValueError(f"expected text, found {value!r}")
    return value


def _one_of(*words):
    def read(value):
        if value not in words:
            raise ValueError(f"expected {' or '.join(words)}, found {value!r}")
        return value

    return read


# Every host that sends has a queue of its own at every port.
MOST_FAIR_HOSTS = 64

_rate = _within(bits_per_second, "1 Mbit/s", "100 Gbit/s")


def _field(read, explanation, **default):
    return dataclasses.field(metadata={"read": read, "help": explanation}, **default)


@dataclasses.dataclass(frozen=True)
class Shape:
    """Rates in bit/s of Ethernet frames, header included; sizes in bytes."""

    leaves: int = _field(_count(1, 100), "leaf switches")
    hosts_per_leaf: int = _field(_count(1, 100), "hosts on each of them")
    link: int = _field(_rate, "rate of a host's link, per direction")
    spines: int = _field(_count(0, 100), "spine switches, each joined to every leaf", default=0)
    uplink: int = _field(_rate, "rate of each cable between leaf and spine, per direction", default=0)
    mtu: int = _field(_count(576, 9000), "bytes of an IP packet", default=1500)
    queue: int = _field(_within(size_in_bytes, "16 KiB", "1 GiB"), "waiting room of a port", default=1_000_000)
    burst: int = _field(
        _within(size_in_bytes, "2 KiB", "16 MiB"), "sent at once by a port that was idle", default=65_536
    )
    sharing: str = _field(
        _one_of("fifo", "fair"),
        "of a port: fifo, one queue for all; fair, a queue for every host that sends, each in its turn",
        default="fifo",
    )
    congestion_control: str = _field(_word, "of TCP on the hosts; default: this machine's own", default="")
    summary: str = _field(_word, "one line", default="")

    @property
    def hosts(self):
        return self.leaves * self.hosts_per_leaf

    @property
    def payload_share(self):
        """Of a full frame's bytes, those that TCP delivers: 1448 of 1514 with an MTU of 1500."""
        return (self.mtu - SEGMENT_HEADERS) / (self.mtu + ETHERNET_HEADER)

    def described(self):
        """One line of numbers."""
        text = f"{self.leaves} × {self.hosts_per_leaf} hosts at {rate_text(self.link)}"
        if self.spines:
            text += f", {self.spines} spine{'s' if self.spines > 1 else ''} at {rate_text(self.uplink)}"
        if self.sharing == "fair":
            text += ", senders in turn"
        return text


FIELDS = dataclasses.fields(Shape)
CHANGEABLE = [field for field in FIELDS if field.name != "summary"]


def flag_of(field):
    return "--" + field.name.replace("_", "-")


def shipped():
    """Names of the files in shapes/."""
    return sorted(file.stem for file in FOLDER.glob("*.toml"))


def file_of(name_or_file):
    """A shipped shape by name, or any file that ends in .toml."""
    if name_or_file.endswith(".toml"):
        return pathlib.Path(name_or_file)
    if name_or_file not in shipped():
        near = difflib.get_close_matches(name_or_file, shipped(), 1)
        raise UserError(
            "shape",
            f"nothing is called {name_or_file!r}",
            f"did you mean {near[0]}?" if near else f"choose one of: {', '.join(shipped())}, or give a .toml file",
        )
    return FOLDER / f"{name_or_file}.toml"


def load(name_or_file, changes=None):
    """Reads a shape; `changes` are texts by field name. Throws UserError with file and key, or the flag."""
    file = file_of(name_or_file)
    try:
        with file.open("rb") as stream:
            table = tomllib.load(stream)
    except OSError as failure:
        raise UserError(file, failure.strerror) from failure
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as failure:
        raise UserError(file, f"is no TOML: {failure}") from failure

    known = {field.name: field for field in FIELDS}
    for key in table:
        if key not in known:
            near = difflib.get_close_matches(key, known, 1)
            hint = f"did you mean {near[0]}?" if near else f"choose one of: {', '.join(known)}"
            raise UserError(f"{file}: {key}", f"nothing is called {key!r}", hint)

    values = {}
    written = [(f"{file}: {key}", key, value) for key, value in table.items()]
    written += [(flag_of(known[key]), key, value) for key, value in (changes or {}).items()]
    for where, key, value in written:
        try:
            values[key] = known[key].metadata["read"](value)
        except ValueError as failure:
            raise UserError(where, str(failure)) from failure
    for field in FIELDS:
        if field.default is dataclasses.MISSING and field.name not in values:
            raise UserError(f"{file}: {field.name}", "is missing", field.metadata["help"])
    shape = Shape(**values)
    if shape.leaves > 1 and not shape.spines:
        raise UserError(f"{file}: spines", f"{shape.leaves} leaves need at least one spine")
    if shape.spines and not shape.uplink:
        raise UserError(f"{file}: uplink", "is missing", known["uplink"].metadata["help"])
    if shape.sharing == "fair" and shape.hosts > MOST_FAIR_HOSTS:
        raise UserError(f"{file}: sharing", f"{shape.hosts} hosts are too many to be fair to: at most {MOST_FAIR_HOSTS}")
    return shape
