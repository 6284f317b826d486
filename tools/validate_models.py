#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the models with published measurements and writes what comes out, misses included.

usage: tools/validate_models.py DLNETBENCH DATA_FOLDER -o docs/models/validation.md [--only SECTION...] [--refit]

DATA_FOLDER holds the measurements (CSV); they are not part of this project. Plots go into a folder beside the page that
is called like it. Each section is a module of tools/validation/ with `sections(context)`, which returns blocks of
Markdown. --only rewrites some sections of an existing page. --refit first fits again what these sections keep in fits.json and
machines/ of tools/validation (collectives: minutes; steps: half an hour). Exit 1: a run failed.
"""

import argparse
import importlib
import pathlib
import re
import sys
from dataclasses import dataclass

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

SECTIONS = ["collectives", "kernels", "steps", "ranges"]
HEAD = """# Validation: the models beside published measurements

Written by `tools/validate_models.py`; the measurements are public and cited where they are used. What is fitted is fitted on
one half of the data and checked on the other. Errors are |predicted / measured − 1|.
"""


@dataclass(frozen=True)
class Context:
    program: str
    data: pathlib.Path      # the folder of measurements
    devices: pathlib.Path   # data/devices
    figures: pathlib.Path   # where plots go


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("program")
    parser.add_argument("data", type=pathlib.Path)
    parser.add_argument("-o", "--output", type=pathlib.Path, required=True)
    parser.add_argument("--only", nargs="+", choices=SECTIONS, default=SECTIONS)
    parser.add_argument("--refit", action="store_true")
    asked = parser.parse_args()
    context = Context(str(pathlib.Path(asked.program).resolve()), asked.data, HERE.parent / "data" / "devices",
                      asked.output.with_suffix(""))
    for name in asked.only if asked.refit else []:
        if refit_all := getattr(importlib.import_module(f"validation.{name}"), "refit_all", None):
            refit_all(context)
    old = asked.output.read_text() if asked.output.exists() else ""
    page = [HEAD]
    for name in SECTIONS:
        if name in asked.only:
            body = "\n\n".join(importlib.import_module(f"validation.{name}").sections(context))
        else:
            kept = re.search(f"<!-- {name} -->\n(.*?)<!-- end -->", old, re.DOTALL)
            body = kept[1].strip() if kept else ""
        page.append(f"<!-- {name} -->\n{body}\n<!-- end -->\n")
    asked.output.write_text("\n".join(page))


if __name__ == "__main__":
    main()
