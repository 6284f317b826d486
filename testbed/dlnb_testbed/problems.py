# SPDX-License-Identifier: Apache-2.0
"""What ends a command, with the exit codes of dlnetbench."""


class Problem(Exception):
    """Says where, what and, if there is one, the way out."""

    exit_code = 1

    def __init__(self, where, problem, hint=""):
        super().__init__(f"{where}: {problem}" + (f"\n  {hint}" if hint else ""))


class UserError(Problem):
    """A wrong word, key or size."""

    exit_code = 2


class Unavailable(Problem):
    """Right, but not possible on this machine or now."""

    exit_code = 3
