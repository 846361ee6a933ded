#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the containment-domains authors

# Settings that are not understood are told, once each, with what is allowed; the program goes on.
# use: told_once.sh RANKS COMMAND...   runs hazards of settings.cpp with it
set -euo pipefail

# HAZARD SETTING...: its input has lines of variable|value|allowed; the hazard holds with them
tells() {
    local hazard=$1 environment=("${@:2}") rows=() row said
    readarray -t rows
    for row in "${rows[@]}"; do
        IFS='|' read -r variable value _ <<<"$row"
        environment+=("$variable=$value")
    done
    said=$(env "${environment[@]}" "${command[@]}" "$hazard" 2>&1) || {
        echo "$said"
        exit 1
    }
    for row in "${rows[@]}"; do
        IFS='|' read -r variable value allowed <<<"$row"
        row="$variable is \"$value\", which counts as not set; allowed: $allowed"
        [ "$(grep -cF "$row" <<<"$said")" = "$ranks" ] || {
            echo "not told once by each rank: $row"
            echo "$said"
            exit 1
        }
    done
}
ranks=$1
shift
command=("$@")

tells settings_that_are_not_understood_count_as_not_set <<'END'
CD_LOG|x|cd, all
CD_ON_DIVERGENCE|live|error, abort
CD_SENT_DATA|maybe|compare, ignore
CD_SEND_SHADOW|yes|on, off
CD_QUIESCE_TIMEOUT|soon|seconds, such as 2.5
CD_WINDOWS|open|separate, direct
END
tells limit_that_is_not_understood_counts_as_not_set CD_LOG=all <<'END'
CD_LOG_LIMIT|1x|a size in bytes, or with K, M or G, such as 64M
END
