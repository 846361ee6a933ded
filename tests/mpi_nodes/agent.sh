#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the containment-domains authors

# agent.sh [OPTIONS] ADDRESS COMMAND...: what ssh would do, for the nodes of nodes.sh.
while [[ $1 == -* ]]; do shift; done
address=$1
shift
holder=$(awk -v address="$address" '$1 == address {print $2}' "$CD_NODES_HOSTS")
[ -n "$holder" ] || {
    echo "agent.sh: there is no node $address" >&2
    exit 255
}
exec nsenter -t "$holder" -u -m -n -p bash -c "$*"
