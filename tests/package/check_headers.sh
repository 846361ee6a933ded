#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the containment-domains authors

# check_headers.sh CC CXX: each public header compiles by itself, without a warning, as C99 and as
# C++17; with the short names and without them.
set -euo pipefail
cc=$1 cxx=$2
strict=(-Wall -Wextra -pedantic -Werror -fsyntax-only -Iinclude)
failed=0

check() { # COMMAND...: reads the program from standard input
    "$@" "${strict[@]}" - <<<"#include \"$header\"" || {
        echo "failed: $* $header" >&2
        failed=1
    }
}

for path in include/cd/*.h include/cd/*.hpp; do
    header=${path#include/}
    # Parts of cd.h and cd.hpp, not headers by themselves.
    [[ $header != cd/overloads.hpp && $header != cd/run.hpp ]] || continue
    for names in -DSHORT_NAMES -DCD_NO_SHORT_NAMES; do
        [[ $header == *.hpp ]] || check "$cc" -std=c99 -x c "$names"
        check "$cxx" -std=c++17 -x c++ "$names"
        check "$cxx" -std=c++20 -x c++ "$names"
    done
done
exit $failed
