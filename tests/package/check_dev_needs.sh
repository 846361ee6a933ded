#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the containment-domains authors

# Where packages are missing and the user may not install any, each command of ./dev that needs them
# prints the command that installs just those, fails, and has installed nothing.
set -euo pipefail
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir "$scratch/bin"
cp dev "$scratch"

# The machine: two packages are missing, and who is not root gets no farther by sudo.
program() { # NAME: that does what it reads
    { echo '#!/bin/sh'; cat; } >"$scratch/bin/$1"
}
program dpkg-query <<'END'
for package; do :; done
case $package in
libisal-dev | mpich) exit 1 ;;
esac
printf installed
END
program sudo <<<'exit 1'
program apt-get <<<'echo "apt-get $*"'
chmod -R a+rX "$scratch" "$scratch/bin"
chmod a+x "$scratch"/bin/*

# Root becomes a user without rights, wherever the tree lies.
as_user=()
[ "$(id -u)" -ne 0 ] || as_user=(setpriv --reuid=65534 --regid=65534 --clear-groups)
if ! "${as_user[@]}" test -x "$scratch/dev"; then
    echo "skipped: no user without rights can be had here, or it does not come to $scratch"
    exit 77
fi

expected="dev: packages are missing, and installing them needs root. Please run:
  sudo apt-get update && sudo apt-get install -y libisal-dev mpich"
for command in demo test bench lint; do
    code=0
    said=$(PATH=$scratch/bin:$PATH "${as_user[@]}" "$scratch/dev" "$command" 2>&1) || code=$?
    diff -u --label "expected" --label "./dev $command" <(echo "$expected") <(echo "$said")
    [ "$code" -ne 0 ] || {
        echo "./dev $command succeeded without what it needs" >&2
        exit 1
    }
done
