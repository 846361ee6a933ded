#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the containment-domains authors

# check_layers.sh ROOT: in the folders below ROOT (libcd or pmpi_logger), includes point downward
# only. In libcd, MPI appears in mpi/ only, ISA-L in its wrapper only, and the rules in domains/
# neither touch the operating system nor know the runtime.
set -euo pipefail
root=$1

# What each folder may include, besides itself and public headers.
declare -A below=(
    [os]=""
    [base]="os"
    [config]="os base"
    [memory]="os base"
    [ranges]="memory os base"
    [mpi_log]="memory os base"
    [domains]="ranges memory mpi_log config base"
    [file_store]="domains ranges memory config os base"
    [redset]="file_store memory config os base"
    [restart]="file_store domains ranges memory config os base"
    [runtime]="restart redset file_store domains ranges memory mpi_log config os base"
    [checkpoint]="redset file_store memory config os base"
    [mpi]="checkpoint redset file_store memory config os base"
    [api]="runtime restart redset file_store domains ranges memory mpi_log config os base"
)
# Those of the logger may also include what they link of libcd.
of_libcd="memory mpi_log os config"
is_logger=$([ "$(basename "$root")" = pmpi_logger ] && echo yes || echo no)
[ "$is_logger" = no ] || below=(
    [mpi]=""
    [settings]="$of_libcd"
    [record_all]="settings mpi $of_libcd"
    [call]="mpi $of_libcd"
    [payload]="call settings mpi $of_libcd"
    [objects]="payload call settings mpi"
    [log_entry]="objects payload record_all call settings mpi $of_libcd"
    [requests]="log_entry objects payload record_all call settings mpi $of_libcd"
    [rma]="requests log_entry objects payload record_all call settings mpi $of_libcd"
    [replay]="rma requests log_entry objects payload record_all call settings mpi $of_libcd"
    [handlers]="replay rma requests log_entry objects payload record_all call settings mpi $of_libcd"
    [intercept]="handlers replay rma requests log_entry objects payload record_all call settings mpi $of_libcd"
)

# Prints FILE:LINE: and the reason for each include that breaks a rule.
violations() {
    local file line include layer target
    while IFS=: read -r file line include; do
        layer=${file#"$root"/}
        layer=${layer%%/*}
        include=${include#*include}
        include=${include#"${include%%[![:space:]]*}"}
        include=${include%%[[:space:]]*}
        case $include in
        *[\</\"]mpi.h[\"\>])
            [ "$layer" = mpi ] || [ "$is_logger" = yes ] ||
                echo "$file:$line: $include: the core knows nothing of MPI"
            ;;
        \<isa-l*)
            [ "$file" = "$root/base/isa_l.h" ] ||
                echo "$file:$line: $include: call it by base/isa_l.h, which tidies up after it"
            ;;
        \"cd/*) ;;
        \"*/*)
            target=${include#\"}
            target=${target%%/*}
            [ "$target" = "$layer" ] || [[ " ${below[$layer]-} " == *" $target "* ]] ||
                echo "$file:$line: $include: '$layer' is not above '$target'"
            ;;
        \"functions.inc\" | \"fortran.inc\" | \"mpi_has.inc\") ;; # generated
        \"*) echo "$file:$line: $include: write the path from $root/" ;;
        \<sys/*\> | \<unistd.h\> | \<fcntl.h\> | \<chrono\> | \<time.h\> | \<ctime\>)
            [ "$layer" != domains ] ||
                echo "$file:$line: $include: the rules call no operating system and read no clock"
            ;;
        esac
    done < <(grep -rnE '^[[:space:]]*#[[:space:]]*include\b' "$root" --include='*.h' --include='*.cpp')
}

for folder in "$root"/*/; do
    layer=$(basename "$folder")
    [ -n "${below[$layer]+known}" ] || {
        echo "$folder is not a layer that $0 knows" >&2
        exit 1
    }
done

found=$(violations)
[ -z "$found" ] || {
    echo "$found" >&2
    exit 1
}
