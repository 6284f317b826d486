# SPDX-License-Identifier: Apache-2.0
"""Runs the program under test, named by the environment variable DLNETBENCH, as its users do."""
import json
import os
import subprocess
import unittest

PROGRAM = os.environ["DLNETBENCH"]


def run(*words, cwd=None, environment=None, stdin=None, timeout=120):
    """The finished process of `dlnetbench words…`, its output as text."""
    env = dict(os.environ, NO_COLOR="1", OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
    env.update(environment or {})
    return subprocess.run([PROGRAM, *map(str, words)], cwd=cwd, env=env, stdin=stdin, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, timeout=timeout, check=False)


def has_page():
    """Whether this build carries the report page."""
    rows = json.loads(run("doctor", "--format", "json").stdout)
    return any(row["subject"] == "report page" and row["state"] == "ok" for row in rows)


class ProgramTest(unittest.TestCase):
    """Assertions on finished processes that show what was said."""

    def succeed(self, *words, **options):
        done = run(*words, **options)
        self.assertEqual(done.returncode, 0, f"{words}\n{done.stdout}\n{done.stderr}")
        return done

    def fail_with(self, code, words, mentions, **options):
        done = run(*words, **options)
        said = f"dlnetbench {' '.join(map(str, words))}\nstdout: {done.stdout}\nstderr: {done.stderr}"
        self.assertEqual(done.returncode, code, said)
        self.assertRegex(done.stderr, r"(?m)^error: ", said)
        for mention in mentions:
            self.assertIn(mention, done.stderr, said)
        self.assertNotIn("terminate called", done.stderr, said)
        return done
