# shellcheck shell=bash disable=SC2034,SC2154 # variables are those of who sources it
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the containment-domains authors

# To be sourced instead of nodes.sh: nodes are directories below $local_directory. What runs on a
# node that is lost is the process that asked for it.

stores_of_node="$local_directory/\$node" # of the node that is $node then
nodes_have_names() { false; }
start_network() { :; }
start_node() { mkdir "$local_directory/$1"; } # NAME
on_node() { "${@:2}"; } # NAME COMMAND...
files_of_node() { find "$local_directory/$1" -type f "${@:2}"; } # NAME [WHICH, as find has it]
end_all() { :; }
remove_nodes() { :; }

lose_node() { # NAME
    [ ! -e "$lost" ] || kill -KILL "$(head -n 1 "$lost")" 2>/dev/null || true
    rm -rf "${local_directory:?}/$1"
}

run_on_nodes() { # FLAVOUR NAMES PRELOADED COMMAND...
    local flavour=$1 names=$2 preloaded=$3
    shift 3
    timeout -k 2 "$limit" bash "$here/../../examples/mpirun.sh" "$flavour" "$(wc -w <<<"$names")" \
        env "LD_PRELOAD=$preloaded" "NODES=$names" "$@"
}
