#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the containment-domains authors

# install.sh CMAKE BUILD_TREE TARGET: installs the build tree elsewhere and moves it to TARGET. The
# licence, which every copy has to bring with it, is there.
set -euo pipefail
cmake=$1 build=$2 target=$3

rm -rf "$target" "$target.staging"
"$cmake" --install "$build" --prefix "$target.staging"
mv "$target.staging" "$target"

# Whatever names the first place would break when moved.
if grep -rl --binary-files=text -F "$target.staging" "$target"; then
    echo "these files name the place they were installed to" >&2
    exit 1
fi

cmp LICENSE "$target/share/doc/containment-domains/LICENSE"
