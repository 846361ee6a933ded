#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the containment-domains authors

# check_exports.sh PREFIX: libcd.so exports the names in exported_names.txt, which are the functions
# that the public headers declare with CD_API: no more and no fewer.
set -euo pipefail
prefix=$1
listed=$(dirname "$0")/exported_names.txt
library=$(find "$prefix" -name libcd.so)

expected() { grep -v '^#' "$listed"; }

exported() { nm -D --defined-only "$library" | awk '{print $NF}' | LC_ALL=C sort; }

# The function's name is the word before the arguments.
declared() {
    cat "$prefix"/include/cd/*.h | grep -v '^#' | tr '\n' ' ' | grep -o '\bCD_API [^;(]*(' |
        sed -E 's/.*[ *]([A-Za-z_0-9]+)\($/\1/' | LC_ALL=C sort
}

diff -u --label exported_names.txt --label "exported by libcd.so" <(expected) <(exported)
diff -u --label exported_names.txt --label "declared in include/cd" <(expected) <(declared)
