#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the containment-domains authors

# `./dev help` has one line for each command, names no command that does not exist, and anything
# else is refused.
set -euo pipefail
commands=$(sed -nE 's/^command_([a-z]+)\(\).*/\1/p' dev | sort)
helped=$(./dev help | sed -nE 's/^  \.\/dev ([a-z]+) .*/\1/p' | sort)
expected=$(printf '%s\n' bench demo help lint test)

diff -u --label "promised" --label "defined in dev" <(echo "$expected") <(echo "$commands")
diff -u --label "promised" --label "shown by ./dev help" <(echo "$expected") <(echo "$helped")

if ./dev nonsense >/dev/null 2>&1; then
    echo "./dev nonsense succeeded" >&2
    exit 1
fi
