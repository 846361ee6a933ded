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

places=(.ci cmake include libcd fortran pmpi_logger tools tests bench examples docs)
# Data without a place for words: what they are, and whose, stands where all of them lie.
data=(\( -path 'tests/fuzz/corpus/*/*' -o -path 'tests/redset_vectors/*/*' -o -name '*.packed' \))
made=(-name __pycache__ -prune -o) # by Python, beside its sources

while IFS= read -r folder; do
    [ -s "$folder/README.md" ] || complain "$folder has no README.md"
done < <(find "${places[@]}" "${made[@]}" -type d ! -path 'tests/fuzz/corpus/*' ! -path 'tests/redset_vectors/*' -print)

files() {
    find .clang-format .clang-tidy .gitignore CMakeLists.txt CMakePresets.json README.md dev "${places[@]}" \
        "${made[@]}" -type f ! "${data[@]}" -print
}

[ "$(files | wc -l)" -gt 20 ] || complain "found hardly any file: the check is broken"
# The names of those files that do not have the text in their first lines.
without() { # TEXT
    files | tr '\n' '\0' | xargs -0 awk -v text="$1" '
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
