#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the containment-domains authors

# check_report.sh NAME=RESULTS...: report.py understands what the programs print, and its document has
# a line for each case, each step and each program's advances.
set -euo pipefail
document=$(mktemp)
trap 'rm -f "$document"' EXIT
python3 "$(dirname "$0")/report.py" --document "$document" "$@"

has() { # HOW_MANY LINES_LIKE
    local lines
    lines=$(grep -cE -- "$2" "$document" || true)
    [ "$lines" -ge "$1" ] || {
        echo "the document has $lines lines like '$2', not $1"
        exit 1
    }
}
for what in encode rebuild; do
    for code in "XOR k=1" "RS k=2"; do # the cases that the page shows
        for members in 4 8; do
            has 1 "^\\| $what $code, $members members \\|"
        done
    done
done
has "$(($# - 1))" '^\| (openmpi|mpich), 2 ranks with 1 MiB each( \| [0-9.]+){3} \|$'
