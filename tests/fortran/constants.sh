#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the containment-domains authors

# constants.sh CC FC LINK_FLAGS...: each enumerator of include/cd/cd.h has its value in the module, and
# each public function of cd.h and control.h is there. Runs in the source tree's root; FLAGS find the module.
set -euo pipefail
cc=$1 fc=$2
shift 2
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
header=include/cd/cd.h
failed=0

names() { sed -nE 's/^ +(([A-Z]+_)*[A-Z]+)( = [^,;]*)?,.*$/\1/p; s/^ +(CD_[A-Z_]+)( = -?[0-9]+)?( +\/\*.*)?$/\1/p' "$header" | sort -u; }
[ "$(names | wc -l)" -gt 60 ] || {
    echo "found hardly any enumerator in $header: the check is broken" >&2
    exit 1
}

{
    printf '#include <cd/cd.h>\n#include <stdio.h>\nint main(void) {\n'
    names | sed -E 's/.*/printf("& %d\\n", (int)&);/'
    printf 'return 0; }\n'
} >"$scratch/c.c"
{
    printf 'program constants\nuse Containment_Domains\n'
    names | sed -E 's/.*/print "(a, 1x, i0)", "&", &/'
    printf 'end program\n'
} >"$scratch/fortran.f90"
"$cc" -Iinclude "$scratch/c.c" -o "$scratch/c"
"$fc" "$scratch/fortran.f90" -o "$scratch/fortran" -J "$scratch" "$@" || {
    echo "fortran/containment_domains.f90 lacks a constant of $header" >&2
    exit 1
}
diff -u --label "$header" --label fortran/containment_domains.f90 \
    <("$scratch/c") <("$scratch/fortran") || failed=1

# The forms with variable arguments are for the macros of C.
while read -r function; do
    grep -qE "(interface|function|name=') *$function\b" fortran/containment_domains.f90 || {
        echo "fortran/containment_domains.f90 lacks $function of include/cd" >&2
        failed=1
    }
done < <(cat "$header" include/cd/control.h | grep -v '^#' | grep -oE 'CD_API [^;(]*\(' | sed -E 's/.*[ *]([A-Za-z_0-9]+)\($/\1/' | grep -v '_va$')
exit $failed
