#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the containment-domains authors

# outside_mpi.sh WAY PREFIX FLAVOUR: outside MPI programs get what is for their MPI from the tree
# installed at PREFIX: the logger, with which one replays, and libcd_mpi, which protects another. WAY:
# cmake links it through the package, pkg-config through its file, preload runs programs that are
# not linked with it.
set -euo pipefail
way=$1 prefix=$2 flavour=$3
here=$(dirname "${BASH_SOURCE[0]}")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name containment-domains.pc)")
export PKG_CONFIG_PATH
mpicc=CD_MPICC_$flavour
mpicc=${!mpicc:-mpicc.$flavour}
strict=(-std=c99 -Wall -Wextra -pedantic -Werror)

compile() { # PROGRAM PACKAGE RPATH...
    local program=$1 flags rpath rpaths=()
    read -ra flags < <(pkg-config --cflags --libs "$2")
    shift 2
    for rpath in "$@"; do
        rpaths+=("-Wl,-rpath,$rpath")
    done
    "$mpicc" "${strict[@]}" "$here/programs/$program.c" -o "$scratch/$program" \
        "${flags[@]}" "${rpaths[@]}"
}

libdir=$(pkg-config --variable=libdir containment-domains)

# try PROGRAM PART RANKS ARGUMENTS...: PART is what the program needs for its MPI.
try() {
    local program=$1 name=containment-domains-$2-$flavour ranks=$3 environment=()
    shift 3
    case $way in
    pkg-config)
        compile "$program" "$name" "$libdir" "$(pkg-config --variable=libdir "$name")"
        ;;
    preload)
        compile "$program" containment-domains "$libdir"
        environment=(env "LD_PRELOAD=$(pkg-config --variable=preload "$name")")
        ;;
    esac
    timeout 60 "$here/../../examples/mpirun.sh" "$flavour" "$ranks" "${environment[@]}" \
        "$scratch/$program" "$@"
}

if [ "$way" = cmake ]; then
    cmake -G Ninja -S "$here/find_package_mpi" -B "$scratch" -DCMAKE_PREFIX_PATH="$prefix" \
        -DMPI_C_COMPILER="$mpicc" >"$scratch/log" && cmake --build "$scratch" >>"$scratch/log" || {
        cat "$scratch/log" >&2
        exit 1
    }
fi
try use_logger pmpi-logger 2
try use_cd_mpi mpi 1 "$scratch/stores"
