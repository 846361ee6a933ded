#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the containment-domains authors

# outside_mpi.sh WAY PREFIX FLAVOUR: an outside MPI program gets the logger of its MPI from the tree
# installed at PREFIX, and replays. WAY: cmake links it through the package, pkg-config through its
# file, preload runs a program that is not linked with it.
set -euo pipefail
way=$1 prefix=$2 flavour=$3
here=$(dirname "${BASH_SOURCE[0]}")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

name=containment-domains-pmpi-logger-$flavour
PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name "$name.pc")")
export PKG_CONFIG_PATH
strict=(-std=c99 -Wall -Wextra -pedantic -Werror)

compile() { # PACKAGE RPATH...
    local flags rpath rpaths=()
    read -ra flags < <(pkg-config --cflags --libs "$1")
    shift
    for rpath in "$@"; do
        rpaths+=("-Wl,-rpath,$rpath")
    done
    "mpicc.$flavour" "${strict[@]}" "$here/programs/use_logger.c" -o "$scratch/use_logger" \
        "${flags[@]}" "${rpaths[@]}"
}

libdir=$(pkg-config --variable=libdir containment-domains)
environment=()
case $way in
cmake)
    cmake -S "$here/find_package_mpi" -B "$scratch" -DCMAKE_PREFIX_PATH="$prefix" \
        -DMPI_C_COMPILER="mpicc.$flavour" >"$scratch/log" && cmake --build "$scratch" >>"$scratch/log" || {
        cat "$scratch/log" >&2
        exit 1
    }
    ;;
pkg-config)
    compile "$name" "$libdir" "$(pkg-config --variable=libdir "$name")"
    ;;
preload)
    compile containment-domains "$libdir"
    environment=(env "LD_PRELOAD=$(pkg-config --variable=preload "$name")")
    ;;
esac
timeout 60 "$here/../../examples/mpirun.sh" "$flavour" 2 "${environment[@]}" "$scratch/use_logger"
