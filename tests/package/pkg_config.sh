#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the containment-domains authors

# pkg_config.sh PREFIX COMPILER STANDARD SOURCE [PACKAGE]: builds and runs SOURCE (in this folder)
# against the tree installed at PREFIX, with nothing but the compiler and pkg-config.
set -euo pipefail
prefix=$1 compiler=$2 standard=$3 source=$(dirname "$0")/$4 package=${5:-containment-domains}

pc=$(find "$prefix" -name containment-domains.pc)
PKG_CONFIG_PATH=$(dirname "$pc")
export PKG_CONFIG_PATH
libdir=$(pkg-config --variable=libdir containment-domains)
read -ra flags < <(pkg-config --cflags --libs "$package")

program=$(mktemp)
trap 'rm -f "$program"' EXIT
"$compiler" "$standard" -Wall -Wextra -pedantic -Werror "$source" -o "$program" \
    "${flags[@]}" "-Wl,-rpath,$libdir"
"$program"
