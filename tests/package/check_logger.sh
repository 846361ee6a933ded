#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the containment-domains authors

# check_logger.sh PREFIX FLAVOUR TABLES: the logger that is installed at PREFIX takes over each
# function in TABLES/functions.inc that is not Local, under both its names, the Fortran names in
# TABLES/fortran.inc, and exports nothing else. It needs its own MPI, finds libcd beside it, and can
# be loaded late.
set -euo pipefail
prefix=$1 flavour=$2 tables=$3
library=$(find "$prefix" -path "*/cd/$flavour/libpmpi_logger.so")
failed=0

complain() {
    echo "$1" >&2
    failed=1
}

in_c() {
    sed -nE 's/^CD_FUNCTION\(([A-Za-z0-9_]+), *([A-Za-z]+),.*/\1 \2/p' "$tables/functions.inc" |
        awk '$2 != "Local" {print $1; print "P" $1}'
}
in_fortran() {
    sed -nE 's/^CD_ROUTINE_NAME\(([A-Za-z0-9_]+), ([A-Za-z0-9_]+)\)$/\2/p' "$tables/fortran.inc"
}
promised() { (in_c && in_fortran) | LC_ALL=C sort; }
exported() { nm -D --defined-only "$library" | awk '{print $NF}' | LC_ALL=C sort; }

[ "$(in_c | wc -l)" -gt 500 ] || complain "$tables names hardly any function: the check is broken"
[ "$(in_fortran | wc -l)" -gt 60 ] || complain "$tables names hardly any routine: the check is broken"
diff -u --label "$tables" --label "exported by $library" <(promised) <(exported) || failed=1

case $flavour in
openmpi) mpi='^libmpi\.so\.40' ;;
mpich) mpi='^libmpi.*\.so\.12' ;;
esac
readelf -d --wide "$library" | sed -nE 's/.*\(NEEDED\).*\[(.*)\]/\1/p' | grep -E "$mpi" >/dev/null ||
    complain "$library does not need its MPI"
found=$(ldd "$library" | awk '$1 ~ /^libcd\.so/ {print $3}')
[ "$(realpath "$found")" = "$(realpath "$(find "$prefix" -name libcd.so)")" ] ||
    complain "$library takes '$found' for libcd"

# Not preloaded but loaded late, after others that have taken of what there is for their
# thread-local memory.
python3 - libgomp.so.1 "$(find "$prefix" -name libcd.so)" "$library" <<'END' || complain "$library cannot be loaded late"
import ctypes, sys
for name in sys.argv[1:]:
    ctypes.CDLL(name)
END
exit $failed
