#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the containment-domains authors

# check_needed.sh PREFIX: libcd.so needs the C and C++ runtimes and perhaps ISA-L, and nothing else;
# MPI least of all. It finds all it needs, and has a name that tells its interface's version.
set -euo pipefail
library=$(find "$1" -name libcd.so)
allowed='^(libisal|libstdc\+\+|libm|libgcc_s|libc|libpthread|ld-linux[-a-z0-9_]*)\.so\.[0-9]+$'
failed=0

dynamic() { readelf -d --wide "$library" | sed -nE "s/.*\($1\).*\[(.*)\]/\1/p"; }

needed=$(dynamic NEEDED)
if [ -z "$needed" ]; then
    echo "readelf shows no needed library at all: the check itself is broken" >&2
    failed=1
fi
if unexpected=$(grep -vE "$allowed" <<<"$needed"); then
    echo "libcd.so needs what it should do without:" "$unexpected" >&2
    failed=1
fi
if missing=$(ldd -r "$library" 2>&1 | grep -E 'undefined symbol|not found'); then
    echo "$missing" >&2
    failed=1
fi
if [ "$(dynamic SONAME)" != libcd.so.0 ]; then
    echo "libcd.so has the SONAME '$(dynamic SONAME)', expected libcd.so.0" >&2
    failed=1
fi
exit $failed
