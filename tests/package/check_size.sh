#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the containment-domains authors

# Prints the size of product, tests and documents, and fails above their limits.
set -euo pipefail
failed=0

# check NAME LIMIT UNIT COUNT
check() {
    printf '%-10s %6d of %6d %s\n' "$1" "$4" "$2" "$3"
    [ "$4" -le "$2" ] || {
        echo "$1: $4 $3, the limit is $2: delete what no user would miss" >&2
        failed=1
    }
}

code=(-name '*.c' -o -name '*.cpp' -o -name '*.h' -o -name '*.hpp' -o -name '*.f90' -o -name '*.def'
    -o -name '*.in' -o -name '*.cmake' -o -name CMakeLists.txt)
product=$(find libcd pmpi_logger fortran include tools -type f \( "${code[@]}" \) -exec cat {} + | wc -l)
tests=$(find tests -name __pycache__ -prune -o -type f -exec cat {} + | wc -l)
words=$(find README.md docs -name __pycache__ -prune -o -type f -exec cat {} + | wc -w)

check product 50000 lines "$product"
check tests 69000 lines "$tests"
check documents 25000 words "$words"
exit $failed
