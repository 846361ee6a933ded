#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the containment-domains authors

# check_headers.sh CC CXX: each public header compiles by itself, without a warning, as C99 and as
# C++17, there also inside of extern "C"; all of them together also as C++20, and with the short names and without them.
set -euo pipefail
cc=$1 cxx=$2
strict=(-Wall -Wextra -pedantic -Werror -fsyntax-only -Iinclude)
failed=0

check() { # PROGRAM COMMAND...
    "${@:2}" "${strict[@]}" - <<<"$1" || {
        printf 'failed: %s\n%s\n' "${*:2}" "$1" >&2
        failed=1
    }
}

all="" all_c=""
for path in include/cd/*.h include/cd/*.hpp; do
    header=${path#include/}
    # Parts of cd.h and cd.hpp, not headers by themselves.
    [[ $header != cd/overloads.hpp && $header != cd/run.hpp ]] || continue
    include="#include \"$header\""$'\n'
    all+=$include
    check "$include" "$cxx" -std=c++17 -x c++
    [[ $header != *.hpp ]] || continue
    all_c+=$include
    check "$include" "$cc" -std=c99 -x c
    check "extern \"C\" {"$'\n'"$include}" "$cxx" -std=c++17 -x c++
done
for names in -DSHORT_NAMES -DCD_NO_SHORT_NAMES; do
    check "$all_c" "$cc" -std=c99 -x c "$names"
    check "$all" "$cxx" -std=c++17 -x c++ "$names"
    check "$all" "$cxx" -std=c++20 -x c++ "$names"
done
exit $failed
