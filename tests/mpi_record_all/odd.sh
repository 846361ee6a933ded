#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the containment-domains authors

# odd.sh LOGGER COMMAND... ODDITY: runs COMMAND bare and under CD_LOG=all, with "@ENVIRONMENT@" in it
# replaced; its own output and its exit code have to be the same, and all its calls in whole log files.
set -euo pipefail
logger=$1
shift
oddity=${*: -1}
here=$(dirname "${BASH_SOURCE[0]}")

directory=$(mktemp -d "${TMPDIR:-/tmp}/cd_odd.XXXXXX")
trap 'rm -rf "$directory"' EXIT

# Launchers name processes where they report how one has ended.
behaviour() {
    local code=0
    "$@" 2>"$directory/errors" || code=$?
    echo "exit code $code"
}
own_output() { grep -E '^(the child|the tool|threads|its own file|exit code)'; }

tool=
[ "$oddity" != has_a_tool ] || tool=$CD_TOOL
preloading() { # LIBRARIES COMMAND...
    local libraries=$1 answer try
    shift
    # MPICH's launcher gives back 1 for one in a hundred programs that abort with 7, bare ones too.
    for ((try = 0; try < 5; ++try)); do
        answer=$(behaviour "${@/@ENVIRONMENT@/LD_PRELOAD=$libraries}" | own_output)
        [[ $oddity = aborts && $answer = *"exit code 1" ]] || break
    done
    echo "$answer"
}
bare=$(preloading "$tool" "$@")
mkdir "$directory/log"
if [ "$oddity" = is_beside_another_job ]; then
    exec 9>"$directory/log/rank-0.cdmpilog"
    flock 9
fi
log=$directory/log
export CD_LOG=all CD_LOG_FILE=$log
# What is meant for domains of the program's own, and none in memory can have.
export CD_STORAGE_INFO="store=file,dir=$directory/not_there,redundancy=xor,flush=/pfs,config=/not_there"
recorded=$(preloading "${tool:+$tool:}$logger" "$@")
if [ "$bare" != "$recorded" ]; then
    diff <(echo "$bare") <(echo "$recorded") || true
    cat "$directory/errors"
    exit 1
fi
case $oddity in
is_beside_another_job) grep -q 'another process has it open' "$directory/errors"; exit ;;
forks) [ "$(ls "$directory/log")" = rank-0.cdmpilog ] ;;
binds_at_once) [ ! -s "$directory/errors" ] ;;
has_a_tool) [[ $recorded = *"the tool: 10"* ]] ;;
closes_descriptors) grep -q 'cannot write the log file' "$directory/errors" ;;
starts_threads)
    [ "$(ls "$directory/log")" = "rank-0.cdmpilog
rank-0.thread-2.cdmpilog
rank-0.thread-3.cdmpilog
rank-0.thread-4.cdmpilog" ] ;;
esac
recorded=10 missed=0
case $oddity in
closes_descriptors) recorded=0 ;;
lacks_memory_for_the_log) recorded=0 missed=10 ;;
lacks_memory_for_the_file) missed=1 ;;
esac
python3 "$here/read_log.py" MPI_Allreduce=$recorded missed=$missed "$log"/*
