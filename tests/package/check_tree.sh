#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the containment-domains authors

# Each folder says what it is for in a README.md, and each file under which licence it stands.
set -euo pipefail
failed=0

complain() {
    echo "$1" >&2
    failed=1
}

# The data of two folders are described where all of them lie.
folders() {
    find .ci cmake include libcd fortran pmpi_logger tools tests bench examples docs -type d \
        \( -path 'tests/fuzz/corpus/*' -o -path 'tests/redset_vectors/*' -o -name __pycache__ \) -prune \
        -o -type d -print
}
[ "$(folders | wc -l)" -gt 20 ] || complain "found hardly any folder: the check is broken"
while IFS= read -r folder; do
    [ -s "$folder/README.md" ] || complain "$folder has no README.md"
done < <(folders)

sources() {
    find CMakeLists.txt dev .ci cmake include libcd fortran pmpi_logger tools tests bench examples docs -type f \
        \( -name '*.c' -o -name '*.h' -o -name '*.cpp' -o -name '*.hpp' -o -name '*.cmake' \
        -o -name '*.cmake.in' -o -name '*.cpp.in' -o -name '*.f90' -o -name '*.F90' -o -name '*.def' -o -name '*.pc.in' -o -name '*.sh' -o -name '*.py' -o -name '*.map' \
        -o -name CMakeLists.txt -o -name dev -o -path '.ci/*' -o -path bench/run \)
}

[ "$(sources | wc -l)" -gt 20 ] || complain "found hardly any source file: the check is broken"
# The names of those files that do not have the text in their first lines.
without() { # TEXT
    sources | tr '\n' '\0' | xargs -0 awk -v text="$1" '
        BEGIN { for (i = 1; i < ARGC; i++) without[ARGV[i]] }
        index($0, text) { delete without[FILENAME] }
        FNR == 4 { nextfile }
        END { for (file in without) print file }'
}
while IFS= read -r file; do
    complain "$file does not name its licence in its first lines"
done < <(without 'SPDX-License-Identifier: BSD-3-Clause')
while IFS= read -r file; do
    complain "$file does not name its copyright in its first lines"
done < <(without 'Copyright the containment-domains authors')
exit $failed
