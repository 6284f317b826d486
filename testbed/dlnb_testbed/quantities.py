# SPDX-License-Identifier: Apache-2.0
"""Texts with units, in the grammar of dlnetbench's own files: "1 Gbit/s", "64 KiB", "1.5 MB"."""
import re

_DECIMAL = {"": 1, "k": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
_BINARY = {"Ki": 2**10, "Mi": 2**20, "Gi": 2**30}
_RATES = {f"{prefix}bit/s": factor for prefix, factor in _DECIMAL.items()} | {
    f"{prefix}B/s": 8 * factor for prefix, factor in _DECIMAL.items()
}
_SIZES = {f"{prefix}B": factor for prefix, factor in (_DECIMAL | _BINARY).items()}


def _read(text, units, example):
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*(\S+)\s*", text) if isinstance(text, str) else None
    if not match or match[2] not in units:
        raise ValueError(f"expected a number and a unit such as '{example}', found {text!r}")
    return round(float(match[1]) * units[match[2]])


def bits_per_second(text):
    """Of "1 Gbit/s" or "125 MB/s"."""
    return _read(text, _RATES, "1 Gbit/s")


def size_in_bytes(text):
    """Of "64 KiB" or "1 MB"."""
    return _read(text, _SIZES, "64 KiB")


def rate_text(rate):
    """1000000000 → "1 Gbit/s"; reads back as the same number."""
    for prefix in ("T", "G", "M", "k"):
        if rate >= _DECIMAL[prefix]:
            text = f"{rate / _DECIMAL[prefix]:.12g} {prefix}bit/s"
            return text if bits_per_second(text) == rate else f"{rate} bit/s"
    return f"{rate} bit/s"
