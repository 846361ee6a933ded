# shellcheck shell=bash disable=SC2154 # scratch, local_directory and limit are those of who sources it
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the containment-domains authors

# To be sourced: several nodes on this machine. Each has a network namespace, a host name, a mount
# namespace, and a tmpfs at $local_directory that nobody else sees; a bridge joins them. A process
# for each node keeps that alive; losing the node ends all that runs in it. Needs root.

subnet=10.77.$((RANDOM % 250 + 1))
prefix=cd$((RANDOM % 9000 + 1000))
declare -A holders=() addresses=()
next_address=2

nodes_are_possible() {
    [ "$(id -u)" -eq 0 ] && command -v ip nsenter unshare >/dev/null &&
        ip netns add "$prefix-try" 2>/dev/null && ip netns delete "$prefix-try" &&
        unshare -u -m --propagation private true 2>/dev/null &&
        ip link add "${prefix}try" type bridge 2>/dev/null && ip link delete "${prefix}try"
}

# Of itself it would take the address of a port, and another one when that is gone: nodes would look
# for it in vain.
start_bridge() {
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
    ip netns exec "$namespace" unshare -u -m --propagation private bash -c \
        "hostname $name && mount -t tmpfs -o mode=0700 none '$local_directory' && echo \$\$ >'$ready' && exec sleep infinity" &
    disown # that it is killed is no news
    holders[$name]=$(cat "$ready")
    addresses[$name]=$subnet.$number
    echo "${addresses[$name]} ${holders[$name]}" >>"$scratch/hosts"
}

# What runs on a node, but for the process that keeps it alive.
end_processes_on() { # NAME
    local holder=${holders[$1]} mount process
    mount=$(readlink "/proc/$holder/ns/mnt" || true)
    for process in /proc/[0-9]*; do
        process=${process#/proc/}
        [ -z "$mount" ] || [ "$process" = "$holder" ] ||
            [ "$(readlink "/proc/$process/ns/mnt" 2>/dev/null)" != "$mount" ] ||
            kill -KILL "$process" 2>/dev/null || true
    done
}

lose_node() { # NAME
    local name=$1
    end_processes_on "$name"
    kill -KILL "${holders[$name]}" 2>/dev/null || true
    ip netns delete "$prefix-$name"
    unset "holders[$name]" "addresses[$name]"
}

remove_nodes() {
    local name
    for name in "${!holders[@]}"; do lose_node "$name"; done
    ip link delete "$prefix" 2>/dev/null || true
}

# run_on_nodes FLAVOUR NAMES COMMAND...: a rank on each node, in the order of the names.
run_on_nodes() {
    local flavour=$1 hosts='' name here
    here=$(dirname "${BASH_SOURCE[0]}")
    for name in $2; do hosts+=${hosts:+,}${addresses[$name]}:1; done
    local count
    count=$(wc -w <<<"$2")
    shift 2
    export CD_NODES_HOSTS=$scratch/hosts
    case $flavour in
    openmpi)
        OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 \
            timeout -k 2 "$limit" mpirun.openmpi --mca plm_rsh_agent "bash $here/agent.sh" --mca btl tcp,self \
            --mca btl_tcp_if_include "$subnet.0/24" --mca oob_tcp_if_include "$subnet.0/24" \
            --mca mpi_yield_when_idle 1 --host "$hosts" -n "$count" "$@"
        ;;
    mpich)
        UCX_TLS=tcp,self timeout -k 2 "$limit" mpirun.mpich -launcher ssh -launcher-exec "$here/agent.sh" \
            -iface "$prefix" -hosts "$hosts" -n "$count" "$@"
        ;;
    esac
}
