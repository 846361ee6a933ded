#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the containment-domains authors

# check_layers.sh refuses what it should, and accepts what it should.
set -euo pipefail
checker=$(dirname "$0")/check_layers.sh
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
failed=0

# verdict LAYER INCLUDE TREE: "accepted" or "refused", for a tree with one file.
verdict() {
    rm -rf "${scratch:?}/$3"
    mkdir -p "$scratch/$3/$1"
    echo "#include $2" >"$scratch/$3/$1/file.cpp"
    if bash "$checker" "$scratch/$3" 2>"$scratch/message"; then echo accepted; else echo refused; fi
}

expect() { # VERDICT LAYER INCLUDE [TREE]
    local got
    got=$(verdict "$2" "$3" "${4:-tree}")
    [ "$got" = "$1" ] || {
        echo "#include $3 in $2 was $got, expected $1" >&2
        failed=1
    }
}

expect accepted api '"runtime/registry.h"'
expect accepted domains '"ranges/range_map.h"'
expect accepted domains '"domains/domain.h"'
expect accepted ranges '"memory/block.h"'
expect accepted os '<unistd.h>'
expect accepted base '"cd/cd.h"'
expect refused domains '"runtime/registry.h"'
expect refused domains '"os/system.h"'
expect refused domains '<sys/mman.h>'
expect accepted base '"os/system.h"'
expect refused base '"memory/block.h"'
expect refused os '"base/status.h"'
expect refused store '"ranges/range_map.h"'
expect refused runtime '"api/cd_api.h"'
expect refused store '"block.h"'
expect refused os '<mpi.h>'
expect refused base '<isa-l/crc.h>'
expect refused store '<isa-l.h>'
expect accepted mpi '<mpi.h>'
expect accepted mpi '"checkpoint/checkpoint.h"'
expect refused protection '<mpi.h>'
expect refused protection '"mpi/pmpi_table.h"'
expect refused runtime '"checkpoint/checkpoint.h"'
expect refused elsewhere '"base/status.h"'
expect accepted payload '"mpi/real.h"' pmpi_logger
expect accepted payload '<mpi.h>' pmpi_logger
expect refused payload '"log_entry/writer.h"' pmpi_logger
expect refused mpi '"call/call.h"' pmpi_logger
exit $failed
