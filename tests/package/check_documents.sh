#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the containment-domains authors

# Checks that what the documents show exists: README's example is the one that is compiled and run,
# commands of ./dev and presets have the names given, links and names of pages lead to files.
set -euo pipefail
failed=0

complain() {
    echo "$1" >&2
    failed=1
}

documents() { find README.md docs include libcd fortran pmpi_logger tools tests bench examples -name '*.md'; }

# The first block of C in README.md, and the example without its licence lines.
shown() { awk '/^```c$/ {inside = 1; next} /^```$/ {if (inside) exit} inside' README.md; }
compiled() { sed '1,/^$/d' examples/ten_lines.c; }
diff -u --label README.md --label examples/ten_lines.c <(shown) <(compiled) ||
    complain "README.md does not show examples/ten_lines.c as it is"

while read -r command; do
    grep -q "^command_$command()" dev || complain "a document names ./dev $command"
done < <(documents | xargs grep -ohE '\./dev [a-z]+' | awk '{print $2}' | sort -u)

while read -r preset; do
    grep -q "\"name\": \"$preset\"" CMakePresets.json || complain "a document names preset $preset"
done < <(documents | xargs grep -ohE -e '--preset [a-z]+' | awk '{print $2}' | sort -u)

while IFS=: read -r document link; do
    target=${link#](}
    target=${target%%[)#]*}
    [ -z "$target" ] || [ -e "$(dirname "$document")/$target" ] ||
        complain "$document: $target does not exist"
done < <(documents | xargs grep -oE '\]\([^)]*' | grep -v ':\](https\?://')

# The README.md of each folder lists its pages, that of docs its folders too.
for document in docs/*.md docs/*/*.md; do
    name=$(basename "$document")
    list=$(dirname "$document")/README.md
    [ "$name" = README.md ] || grep -q "($name)" "$list" || complain "$list does not mention $name"
done
for folder in docs/*/; do
    folder=$(basename "$folder")
    grep -q "($folder/README.md)" docs/README.md || complain "docs/README.md does not mention $folder"
done

# Every rule in docs/inside/semantics.md names code and tests that exist. Tests that are programs of their
# own are named with a small letter.
while read -r file; do
    [ -e "$file" ] || complain "docs/inside/semantics.md names $file, which does not exist"
done < <(grep -oE '`(libcd|include|examples|tests)/[A-Za-z0-9_/.]+`' docs/inside/semantics.md | tr -d '`' | sort -u)
while IFS=. read -r suite name; do
    grep -rqE "TEST(_F|_P)?\\($suite, $name\\)" tests ||
        complain "docs/inside/semantics.md names the test $suite.$name, which does not exist"
done < <(grep -oE '`[A-Z][A-Za-z0-9]+\.[A-Z][A-Za-z0-9]*`' docs/inside/semantics.md | tr -d '`' | sort -u)
while IFS=. read -r group name; do
    grep -rqsw "$name" "tests/$group" ||
        complain "docs/inside/semantics.md names the test $group.$name, which does not exist"
done < <(grep -oE '`[a-z][a-z0-9_]*\.[a-z][a-z0-9_]*`' docs/inside/semantics.md | tr -d '`' | sort -u)

while read -r document; do
    [ -e "$document" ] || complain "a comment names $document, which does not exist"
done < <(grep -rhoE 'docs/[a-z/-]+\.md' include libcd fortran pmpi_logger tools tests bench examples | sort -u)
exit $failed
