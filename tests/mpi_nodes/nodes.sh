# shellcheck shell=bash disable=SC2154 # scratch, local_directory and limit are those of who sources it
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the containment-domains authors

# To be sourced: several nodes on this machine. Each has a network, a host name, processes and a
# tmpfs at $local_directory that nobody else sees; a bridge joins them. The first process of each
# node keeps that alive, and takes all with it when it is killed. Needs root.

# The process's number: the kernel removes the network of a node some time after it is lost, and what
# an earlier test has left there must not have the names that this one wants.
subnet=10.77.$(($$ % 250 + 1))
prefix=cd$$
# shellcheck disable=SC2034 # of who sources it
stores_of_node=$local_directory
declare -A holders=() addresses=()
next_address=2

nodes_are_possible() {
    [ "$(id -u)" -eq 0 ] && command -v ip nsenter unshare >/dev/null &&
        ip netns add "$prefix-try" 2>/dev/null && ip netns delete "$prefix-try" &&
        unshare -u -m -p --fork --propagation private true 2>/dev/null &&
        ip link add "${prefix}try" type bridge 2>/dev/null && ip link delete "${prefix}try"
}

nodes_have_names() { true; }

# Of itself it would take the address of a port, and another one when that is gone: nodes would look
# for it in vain.
start_network() {
    ip link add "$prefix" address 02:cd:00:00:00:01 type bridge
    ip address add "$subnet.1/24" dev "$prefix"
    ip link set "$prefix" up
}

start_node() { # NAME
    local name=$1 namespace=$prefix-$1 number=$((next_address++)) ready=$scratch/$1.ready
    ip netns add "$namespace"
    ip link add "$prefix.$number" type veth peer name eth0 netns "$namespace"
    ip link set "$prefix.$number" master "$prefix" up
    ip -n "$namespace" address add "$subnet.$number/24" dev eth0
    ip -n "$namespace" link set eth0 up
    ip -n "$namespace" link set lo up
    mkfifo "$ready"
    ip netns exec "$namespace" unshare -u -m -p --fork --propagation private bash -c "
        read -r holder _ </proc/self/stat &&
        hostname $name && mount -t proc proc /proc && mount -t tmpfs -o mode=0700 none '$local_directory' &&
        echo \$holder >'$ready' && exec sleep infinity" 2>"$scratch/node_$name.log" &
    disown # that it is killed is no news
    holders[$name]=$(cat "$ready")
    rm "$ready"
    addresses[$name]=$subnet.$number
    echo "${addresses[$name]} ${holders[$name]}" >>"$scratch/hosts"
}

on_node() { # NAME COMMAND...
    nsenter -t "${holders[$1]}" -u -m -n -p "${@:2}"
}

files_of_node() { # NAME [WHICH, as find has it]
    on_node "$1" find "$local_directory" -type f "${@:2}"
}

lose_node() { # NAME
    local name=$1
    kill -KILL "${holders[$name]}"
    ip netns delete "$prefix-$name"
    unset "holders[$name]" "addresses[$name]"
}

# The launchers do not always notice that a process on another node was killed.
end_all() {
    local name
    for name in "${!holders[@]}"; do
        on_node "$name" kill -KILL -1 2>/dev/null || true # nobody may be there
    done
}

remove_nodes() {
    local name
    for name in "${!holders[@]}"; do lose_node "$name"; done
    ip link delete "$prefix" 2>/dev/null || true
}

# run_on_nodes FLAVOUR NAMES PRELOADED COMMAND...: a rank for each name, on the node of that name, in
# the order of the names.
run_on_nodes() {
    local flavour=$1 names=$2 preloaded=$3 hosts='' name count launcher=CD_MPIRUN_$1
    launcher=${!launcher:-mpirun.$flavour}
    count=$(wc -w <<<"$names")
    shift 3
    for name in $names; do hosts+=${hosts:+,}${addresses[$name]}:1; done
    export CD_NODES_HOSTS=$scratch/hosts
    case $flavour in
    openmpi)
        OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 \
            timeout -k 2 "$limit" "$launcher" --mca plm_rsh_agent "bash $here/agent.sh" --mca btl tcp,self \
            --mca btl_tcp_if_include "$subnet.0/24" --mca oob_tcp_if_include "$subnet.0/24" \
            --mca mpi_yield_when_idle 1 --map-by slot --host "$hosts" -n "$count" env "LD_PRELOAD=$preloaded" "$@"
        ;;
    mpich)
        UCX_TLS=tcp,self UCX_NET_DEVICES=all timeout -k 2 "$limit" "$launcher" -launcher ssh -launcher-exec "$here/agent.sh" \
            -iface "$prefix" -hosts "$hosts" -n "$count" env "LD_PRELOAD=$preloaded:$finalize_mpich" "$@"
        ;;
    esac
}
