# SPDX-License-Identifier: Apache-2.0
"""What is fitted to measurements and stands in no machine's or device's file, by study."""

import json
import pathlib

FITS = pathlib.Path(__file__).resolve().parent / "fits.json"


def read_fits():
    return json.loads(FITS.read_text())


def keep_fits(fits):
    lines = ",\n".join(f"  {json.dumps(name)}: {json.dumps(fitted)}" for name, fitted in fits.items())
    FITS.write_text("{\n" + lines + "\n}\n")
