#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the containment-domains authors

# lost_nodes.sh NAME FLAVOUR SOLVER LIBCD_MPI FINALIZE_MPICH CDCTL: a solver on nodes with network, host
# name and local directory of their own, of which some are lost with all that they have; others take
# their places, and the answer is that of a run that nobody disturbed. Where this machine allows no
# such nodes, or with CD_TEST_NODES=directories, they are directories, and that is said. With
# CD_TEST_LONG=1 ranks are lost at each of their calls that writes, not at one.
set -euo pipefail
name=$1 flavour=$2 solver=$3 library=$4
# shellcheck disable=SC2034 # of nodes.sh
finalize_mpich=$5
cdctl=$6
here=$(dirname "$0")
scratch=$(mktemp -d "${TMPDIR:-/tmp}/cd-nodes.XXXXXX")
local_directory=$scratch/local
lost=$scratch/lost # written by a process that waits for its node to be lost
mkdir "$local_directory"
steps=6
limit=60 # seconds for a run
source "$here/nodes.sh"
if [ "${CD_TEST_NODES-}" = directories ] || ! nodes_are_possible; then
    echo "Nodes are directories: namespaces are not permitted here, or not wanted."
    source "$here/directories.sh"
fi
trap 'remove_nodes; rm -rf "$scratch"' EXIT

die() {
    echo "$*" >&2
    for log in "$scratch"/*.log; do sed "s|^|$(basename "$log"): |" "$log" >&2; done
    exit 1
}

run() { # LOG NODES STORAGE NAME=VALUE...
    local log=$scratch/$1.log nodes=$2 storage=$3
    shift 3
    run_on_nodes "$flavour" "$nodes" "$library" "DIRECTORY=$local_directory" "$@" \
        "$solver" "$steps" "$storage" >"$log" 2>&1 </dev/null
}
must_run() { run "$@" || die "the run $1 failed"; }
# The launcher of MPICH 4.2 may exit with 0 after its ranks were killed.
must_not_answer() { [ -z "$(answer "$1")" ] || die "the run $1 did not fail"; }
must_fail() { ! run "$@" || must_not_answer "$1"; }
must_die() {
    limit=20 must_fail "$@"
    end_all
}

# When a rank comes to where DIE says, and CHECK finds it there, nodes are lost, its own first; the
# others learn what they learn. False when all come to the end.
loses() { # CHECK NODES LOG NODES STORAGE NAME=VALUE...
    local check=$1 nodes=$2 node started
    shift 2
    limit=20 run "$@" "LOST=$lost" &
    started=$!
    while [ ! -e "$lost" ] && kill -0 "$started" 2>/dev/null; do sleep 0.05; done
    if [ -e "$lost" ]; then
        $check
        for node in $nodes; do lose_node "$node"; done
        rm "$lost"
        for _ in {1..10}; do # the launcher may notice
            kill -0 "$started" 2>/dev/null || break
            sleep 0.1
        done
        end_all
        wait "$started" && must_not_answer "$1"
        return 0
    fi
    wait "$started" || die "the run $1 failed before $nodes were lost"
    return 1
}

# Rank 1, which waits for its node to be lost, is about to write into the middle of a file that it
# codes; the file has its beginning, and not its name.
is_coding() { # EPOCH NAME
    local path offset node unfinished finished
    read -r path offset < <(sed -n 2p "$lost")
    [[ $path == */epoch-$1.*/.cd-draft.1-* && $offset -ge 65536 ]] ||
        die "rank 1 is not in the middle of coding epoch $1: it is at $path $offset"
    node=$(node_of 1)
    unfinished=$(files_of_node "$node" -path "*/epoch-$1.*" -name "${path##*/}" -printf %k)
    [ "${unfinished:-0}" -ge 64 ] || die "rank 1 has ${unfinished:-0} KiB of what it codes"
    finished=$(files_of_node "$node" -path "*/epoch-$1.*" -name "$2")
    [ -z "$finished" ] || die "rank 1 has coded $finished already"
}

now='' # who runs where
use() {
    local node
    now=$1
    for node in $(nodes); do start_node "$node"; done
}
nodes() { tr ' ' '\n' <<<"$now" | awk '!seen[$0]++'; }
spares=0
replace() { # NODE: that is lost already
    local spare=spare$((++spares))
    start_node "$spare"
    # shellcheck disable=SC2001 # whole names
    now=$(sed "s/\\<$1\\>/$spare/g" <<<"$now")
}
lose() {
    local node
    for node in "$@"; do lose_node "$node"; done
    for node in "$@"; do replace "$node"; done
}
node_of() { cut -d ' ' -f $(($1 + 1)) <<<"$now"; } # RANK

count() { grep -cE -- "$2" "$scratch/$1.log" || true; }
by_all() { # LOG WHAT
    [ "$(count "$1" "$2")" -eq "$(wc -w <<<"$now")" ] || die "not all ranks of the run $1 said '$2'"
}
answer() { grep '^answer' "$scratch/$1.log" || true; }

# Goes on from one of these steps, the same on all ranks, to the same answer as undisturbed.
must_go_on() { # LOG STEPS STORAGE NAME=VALUE...
    must_run "$1" "$now" "${@:3}"
    by_all "$1" "starts from step $2\$"
    [ "$(grep -oE 'starts from step .*' "$scratch/$1.log" | sort -u | wc -l)" -eq 1 ] ||
        die "the ranks of the run $1 started from different steps"
    answer_is_that_of_an_undisturbed_run "$1"
}
answer_is_that_of_an_undisturbed_run() {
    [ -e "$scratch/undisturbed.log" ] || run_undisturbed || die "the undisturbed run failed"
    [ -n "$(answer undisturbed)" ] || die "there is no answer to compare with"
    diff <(answer undisturbed) <(answer "$1") >&2 || die "the run $1 came to another answer"
}
run_undisturbed() {
    timeout "$limit" bash "$here/../../examples/mpirun.sh" "$flavour" "$(wc -w <<<"$now")" \
        env "LD_PRELOAD=$library" "NODES=$now" "DIRECTORY=$scratch/undisturbed" \
        "$solver" "$steps" sync=none,redundancy=single >"$scratch/undisturbed.log" 2>&1
}

survives() { # STORAGE LOST...
    local storage=$1
    shift
    must_die died "$now" "$storage" DIE=1:4
    lose "$@"
    must_go_on again 4 "$storage"
}

loses_too_much() { # STORAGE NODES WHAT
    local storage=$1 before
    must_die died "$now" "$storage" DIE=1:4
    # shellcheck disable=SC2086 # several
    lose $2
    before=$(all_files)
    SECONDS=0
    must_fail again "$now" "$storage"
    [ "$SECONDS" -le 20 ] || die "it took $SECONDS seconds to find that too much is lost"
    by_all again "$3"
    [ "$(all_files)" = "$before" ] || die "the run again made, deleted or changed files"
}
give_room() { on_node "$1" mount -o "remount,size=$2" "$local_directory"; } # NODE SIZE
# FILES: not the locks of a run that has ended, nor stores, in whose place is the checkpoint that all start from
files_that_count() { sort <<<"$1" | grep -v -e /in-use- -e '\.cds'; }
all_files() {
    local node
    for node in $(nodes); do files_of_node "$node" -exec cksum {} + | sort; done
}

# The calls before which rank 1 is lost: one in the middle of coding, or one after the other.
calls() { # IN_THE_MIDDLE
    echo "$1"
    if [ "${CD_TEST_LONG-}" ]; then
        printf 'pwrite:%d\n' {1..12}
    else
        echo "Not run without CD_TEST_LONG=1: nodes lost before each of the other writes." >&2
    fi
}
check_of() { # CALL EPOCH NAME: whether it is in the middle has to be checked
    [[ $1 == code:* ]] && echo "is_coding $2 $3" || echo :
}

# By the commands of docs/howto/redundancy.md, with the names that are used here; the last one takes the place
# of the second where there are several stores.
save_what_is_left() { # [STORES]
    local commands
    # shellcheck disable=SC2154 # stores_of_node is of nodes.sh
    mapfile -t commands < <(sed -n '/^## Saving what is left/,/^## /s/^    //p' "$here/../../docs/howto/redundancy.md" |
        grep -v mpirun | sed "s|/local/stores|$stores_of_node|; s|/local/ssd|$local_directory/ssd|; s|/parallel|$scratch/parallel|g")
    [ "${#commands[@]}" -eq 5 ] || die "docs/howto/redundancy.md has other commands now: ${commands[*]}"
    [ -z "${1-}" ] || commands[1]=${commands[4]}
    ssh() { on_node "$@"; }
    cdctl() { "$cdctl" "$@"; }
    (eval "$(printf '%s\n' "${commands[@]:0:4}")") >"$scratch/saving.log" 2>&1 || die "what is left cannot be saved"
    unset -f ssh cdctl
}

# Directories have no names that a rank finds, nor a size, and the STORE of a level is the same one for all.
if [[ $name = @(switches|saved_stores|no_room) ]] && ! nodes_have_names; then
    echo "$name: not run, since nodes that are directories have no host names and sizes"
    exit 77
fi

few="n0 n1 n2 n3"
many="$few n4 n5"
start_network
case $name in
xor)
    use "$few"
    survives redundancy=xor n2
    ;;
rs)
    use "$many"
    survives redundancy=rs:2 n1 n2
    ;;
partner) # neighbours
    use "$many"
    survives redundancy=partner:2 n1 n2
    ;;
too_much)
    use "$few"
    loses_too_much redundancy=xor "n0 n2" 'epoch 4: set 1 of 1 .*files of ranks 0, 2 are lost'
    ;;
no_room) # on the node that takes a lost one's place: none for the image, for what protects it, or for the store
    use "$few"
    must_die died "$now" redundancy=xor DIE=1:4
    lose n2
    before=$(all_files)
    for size in 256k 640k 1000k; do
        give_room "$(node_of 2)" "$size"
        SECONDS=0
        must_fail "with_$size" "$now" redundancy=xor
        [ "$SECONDS" -le 20 ] || die "it took $SECONDS seconds to find that there is no room"
        by_all "with_$size" 'code [0-9]+: rank 2: .*No space left on device'
        after=$(all_files)
        [ "$size" = 1000k ] || [ "$after" = "$before" ] || die "the run with_$size left or changed files"
    done
    [ -z "$(comm -23 <(files_that_count "$before") <(files_that_count "$after"))" ] || die "files are gone that were whole"
    give_room "$(node_of 2)" 50%
    must_go_on again 4 redundancy=xor
    ;;
while_protecting) # the fourth step, so that the third one is what remains
    use "$few"
    for call in $(calls code:1); do
        node=$(node_of 1)
        loses "$(check_of "$call" 4 '1.xor.*')" "$node" died "$now" redundancy=xor "DIE=1:3:$call" ||
            die "rank 1 does not come to $call"
        replace "$node"
        must_go_on again "$([ "$call" = pwrite:12 ] && echo '[34]' || echo 3)" redundancy=xor
    done
    ;;
while_rebuilding) # the node that has taken a lost one's place, and one more
    use "$few"
    for call in $(calls code:3); do
        must_die died "$now" redundancy=rs:2 DIE=1:4
        lose "$(node_of 1)"
        both="$(node_of 1) $(node_of 2)"
        loses "$(check_of "$call" 4 1.image)" "$both" rebuilding "$now" redundancy=rs:2 "DIE=1:$call" ||
            die "rank 1 does not come to $call"
        for node in $both; do replace "$node"; done
        must_go_on again '[4-6]' redundancy=rs:2
    done
    ;;
pairs) # two ranks on each node, which are in different sets
    use "n0 n0 n1 n1 n2 n2 n3 n3"
    survives redundancy=xor n2
    ;;
switches) # of two nodes each, of which all is lost; a node that nobody has put anywhere is told to all
    use "$few"
    groups=CD_GROUPS_FILE=$scratch/groups
    printf '%s\n' 'n0 left' 'n1 left' 'n2 right' >"$scratch/groups"
    must_fail unknown "$now" redundancy=xor "$groups"
    by_all unknown 'rank 3: .*no line "n3 GROUP"'
    printf '%s\n' 'n3 right' 'spare1 left # in the places of n0' 'spare2 left # and n1' >>"$scratch/groups"
    must_die died "$now" redundancy=xor DIE=1:4 "$groups"
    lose n0 n1
    must_go_on again 4 redundancy=xor "$groups"
    ;;
saved) # from what is left, in another place
    use "$few"
    must_die died "$now" redundancy=xor DIE=1:4
    image=$(files_of_node n2 -path '*/epoch-4.*/2.image')
    image=$(on_node n2 cat "$image" | cksum)
    lose_node n2
    mkdir "$scratch/parallel"
    save_what_is_left
    [ "$(grep -oE ': (rebuildable|rebuilt)' "$scratch/saving.log" | xargs)" = ': rebuildable : rebuilt' ] ||
        die "what is left is not rebuilt"
    [ "$(cksum <"$(find "$scratch/parallel" -path '*/epoch-4.*/2.image')")" = "$image" ] ||
        die "what is rebuilt is not what rank 2 had"
    for node in n0 n1 n3; do lose_node "$node"; done
    use "m0 m1 m2 m3"
    cp -a "$scratch/parallel/saved" "$scratch/parallel/as_well"
    must_go_on again 4 redundancy=xor "DIRECTORY=$scratch/parallel/saved" NODES=
    must_go_on as_well 4 "redundancy=xor,flush=$scratch/parallel/as_well"
    ;;
saved_stores) # the same, where the level of the fourth step has a store of its own
    use "$few"
    printf '%s\n' 'CKPT=0 TYPE=XOR' "CKPT=1 INTERVAL=2 TYPE=XOR STORE=$local_directory/ssd" >"$scratch/levels"
    must_die died "$now" "config=$scratch/levels" DIE=1:4
    lose_node n2
    mkdir "$scratch/parallel"
    save_what_is_left stores
    for node in n0 n1 n3; do lose_node "$node"; done
    use "m0 m1 m2 m3"
    must_go_on again 4 redundancy=xor "DIRECTORY=$scratch/parallel/saved" NODES=
    [ "$(count again 'earlier programs had')" -eq 0 ] || die "the stores of the nodes are looked for"
    ;;
flushed) # the copy of step 4 may not have counted yet
    use "$few"
    storage=redundancy=xor,flush=$scratch/parallel,flush_interval=2
    must_die died "$now" "$storage" DIE=1:5
    # shellcheck disable=SC2086 # several
    lose $few
    must_go_on again '[24]' "$storage"
    ;;
*) die "there is no scenario $name" ;;
esac
echo "$name: as it should be"
