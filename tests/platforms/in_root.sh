#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the containment-domains authors

# in_root.sh debian13|sid COMMAND...: runs a command on this tree in a root file system of that release. The root
# file system lies in CD_ROOTS, is made once, and keeps the packages that the command installs. What the command
# builds lies in build/on-RELEASE. Needs root, for mounts of its own. Exits with 77 where it may not mount.
set -euo pipefail
release=$1
shift
tree=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
roots=${CD_ROOTS:-/var/cache/containment-domains}
root=$roots/$release

case $release in
debian13) suite=trixie ;;
sid) suite=sid ;;
*)
    echo "in_root.sh: no release '$release': debian13 or sid" >&2
    exit 2
    ;;
esac

if ! unshare --mount true 2>/dev/null; then
    echo "in_root.sh: cannot mount here: run as root, in a container with CAP_SYS_ADMIN" >&2
    exit 77
fi

# Prints the address of the Debian mirror that this machine's apt uses.
mirror() {
    local found
    found=$(apt-get indextargets --format '$(REPO_URI)' 'Identifier: Packages' 2>/dev/null | grep '/debian/*$' | head -n 1)
    echo "${found:-http://deb.debian.org/debian}"
}

make_root() {
    mkdir -p "$roots"
    rm -rf --one-file-system "$root.part"
    # A mirror may be an older copy, whose index has expired.
    mmdebstrap --variant=apt --aptopt='Acquire::Check-Valid-Until "false"' --include=ca-certificates \
        "$suite" "$root.part" "$(mirror)"
    # Packages must not start services in here.
    printf '#!/bin/sh\nexit 101\n' >"$root.part/usr/sbin/policy-rc.d"
    chmod +x "$root.part/usr/sbin/policy-rc.d"
    mkdir -p "$root.part/src"
    mv "$root.part" "$root"
}

[ -d "$root" ] || make_root

mkdir -p "$tree/build/on-$release"
export root tree release
# shellcheck disable=SC2016 # for the inner shell
exec unshare --mount --propagation private bash -euc '
    mount --bind "$tree" "$root/src"
    mount --bind "$tree/build/on-$release" "$root/src/build"
    for place in dev proc sys; do mount --rbind "/$place" "$root/$place"; done
    mount -t tmpfs tmpfs "$root/dev/shm"
    mount -t tmpfs tmpfs "$root/tmp"
    exec chroot "$root" /usr/bin/env -C /src HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin "$@"' in_root "$@"
