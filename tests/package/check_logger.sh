#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the containment-domains authors

# check_logger.sh PREFIX FLAVOUR FUNCTIONS_INC: the logger that is installed at PREFIX takes over each
# function in FUNCTIONS_INC that is not Local, under both its names, and exports nothing else. It
# needs its own MPI and finds libcd beside it.
set -euo pipefail
prefix=$1 flavour=$2 table=$3
library=$(find "$prefix" -path "*/cd/$flavour/libpmpi_logger.so")
failed=0

complain() {
    echo "$1" >&2
    failed=1
}

promised() {
    sed -nE 's/^CD_FUNCTION\(([A-Za-z0-9_]+), *([A-Za-z]+),.*/\1 \2/p' "$table" |
        awk '$2 != "Local" {print $1; print "P" $1}' | LC_ALL=C sort
}
exported() { nm -D --defined-only "$library" | awk '{print $NF}' | LC_ALL=C sort; }

[ "$(promised | wc -l)" -gt 500 ] || complain "$table names hardly any function: the check is broken"
diff -u --label "$table" --label "exported by $library" <(promised) <(exported) || failed=1

case $flavour in
openmpi) mpi='^libmpi\.so' ;;
mpich) mpi='^libmpich\.so' ;;
esac
readelf -d --wide "$library" | sed -nE 's/.*\(NEEDED\).*\[(.*)\]/\1/p' | grep -qE "$mpi" ||
    complain "$library does not need its MPI"
found=$(ldd "$library" | awk '$1 ~ /^libcd\.so/ {print $3}')
[ "$(realpath "$found")" = "$(realpath "$(find "$prefix" -name libcd.so)")" ] ||
    complain "$library takes '$found' for libcd"
exit $failed
