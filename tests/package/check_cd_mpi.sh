#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the containment-domains authors

# check_cd_mpi.sh PREFIX FLAVOUR: the libcd_mpi that is installed at PREFIX exports MPI_Finalize and
# nothing else, needs its own MPI, and finds libcd beside it.
set -euo pipefail
prefix=$1 flavour=$2
library=$(find "$prefix" -path "*/cd/$flavour/libcd_mpi.so")
failed=0

complain() {
    echo "$1" >&2
    failed=1
}

exported=$(nm -D --defined-only "$library" | awk '{print $3}' | LC_ALL=C sort | xargs)
[ "$exported" = 'MPI_Finalize PMPI_Finalize' ] || complain "$library exports what it should not: $exported"
case $flavour in
openmpi) mpi='^libmpi\.so' ;;
mpich) mpi='^libmpich\.so' ;;
esac
readelf -d --wide "$library" | sed -nE 's/.*\(NEEDED\).*\[(.*)\]/\1/p' | grep -E "$mpi" >/dev/null ||
    complain "$library does not need its MPI"
nm -D --undefined-only "$library" | grep ' cd_protect_by$' >/dev/null ||
    complain "$library brings a libcd of its own"
found=$(ldd "$library" | awk '$1 ~ /^libcd\.so/ {print $3}')
[ "$(realpath "$found")" = "$(realpath "$(find "$prefix" -name libcd.so)")" ] ||
    complain "$library takes '$found' for libcd"
exit $failed
