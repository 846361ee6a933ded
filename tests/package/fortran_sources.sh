#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the containment-domains authors

# fortran_sources.sh PREFIX FORTRAN_COMPILER C_COMPILER: another compiler than the one that the installed
# module is for: the module is built from the sources at PREFIX, as docs/howto/fortran.md says, and programs
# of this tree run with it. Units are those that no compiler's descriptor is known of.
set -euo pipefail
prefix=$1 fortran=$2 cc=$3
tree=$PWD
programs=("$tree/tests/package/programs/use_cd.f90" "$tree/tests/package/programs/unknown_units.f90"
    "$tree"/tests/fortran/{appendix,variables,strings_and_errors}.f90)

PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name containment-domains.pc)")
export PKG_CONFIG_PATH
sources=$(cd "$prefix" && pwd)/share/containment-domains/fortran
libdir=$(pkg-config --variable=libdir containment-domains)

# Where the compiler has ISO_Fortran_binding.h: Flang beside its programs, GNU Fortran in its own folder.
binding=$(dirname "$(realpath "$(command -v "$fortran")")")/../include/flang
[ -d "$binding" ] || binding=$("$fortran" -print-file-name=include)
[ -f "$binding/ISO_Fortran_binding.h" ] || {
    echo "$fortran has no ISO_Fortran_binding.h" >&2
    exit 1
}

own=$(mktemp -d)
trap 'rm -rf "$own"' EXIT
cd "$own"
read -ra cflags < <(pkg-config --cflags containment-domains)
read -ra libs < <(pkg-config --libs containment-domains)

"$cc" -c -I "$binding" "${cflags[@]}" "$sources/variables.c"
for source in containment_domains calls units_unknown; do
    "$fortran" -c "$sources/$source.f90"
done
"$fortran" -c "$tree/tests/fortran/checks.f90"

for program in "${programs[@]}"; do
    name=$(basename "$program" .f90)
    "$fortran" "$program" ./*.o "${libs[@]}" "-Wl,-rpath,$libdir" -o "$name"
    "./$name" || { echo "$name, made by $fortran, fails" >&2; exit 1; }
done
