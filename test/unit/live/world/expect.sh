#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# expect.sh [--signal NAME] <exit code> <pattern>... -- <command>: runs the command, sends it the signal once its
# ranks have met, and fails unless it ends with the code and says every pattern.
signal=
if [ "$1" = --signal ]; then signal=$2; shift 2; fi
code=$1; shift
said=$(mktemp) && patterns=$(mktemp) || exit 1
trap 'rm -f "$said" "$patterns"' EXIT
while [ "$1" != -- ]; do echo "$1" >>"$patterns"; shift; done
shift

if [ -n "$signal" ]; then
  # A shell has its background commands ignore SIGINT, and what ignores it at its start may go on doing so.
  python3 -c 'import os, signal, sys; signal.signal(signal.SIGINT, signal.SIG_DFL); os.execvp(sys.argv[1], sys.argv[1:])' \
    "$@" >"$said" 2>&1 &
  command=$!
  waited=0
  until grep -q 'memory on' "$said" || [ $waited -gt 60 ]; do sleep 1; waited=$((waited + 1)); done
  sleep 1
  kill -s "$signal" $command
  wait $command
else
  "$@" >"$said" 2>&1
fi
ended=$?

cat "$said"
[ $ended -eq "$code" ] || { echo "exit $ended, not $code"; exit 1; }
while read -r pattern; do
  grep -q -- "$pattern" "$said" || { echo "does not say: $pattern"; exit 1; }
done <"$patterns"
