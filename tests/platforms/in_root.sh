#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the containment-domains authors

# in_root.sh debian13|sid|aarch64 COMMAND...: runs a command on this tree in a root file system of that release. The
# root file system lies in CD_ROOTS, is made once, and keeps the packages that the command installs. What the command
# builds lies in build/on-RELEASE. Needs root, for mounts of its own.
#
# aarch64: Debian 13 that also takes packages of arm64, whose programs qemu-user runs. The kernel starts it by
# binfmt_misc in a user namespace, so that nothing changes outside; this needs Linux 6.7.
set -euo pipefail
release=$1
shift
tree=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
roots=${CD_ROOTS:-/var/cache/containment-domains}
root=$roots/$release

architectures=$(dpkg --print-architecture)
packages=ca-certificates
case $release in
debian13) suite=trixie ;;
sid) suite=sid ;;
aarch64)
    suite=trixie
    architectures+=,arm64
    packages+=,qemu-user
    ;;
*)
    echo "in_root.sh: no release '$release': debian13, sid or aarch64" >&2
    exit 2
    ;;
esac

if ! unshare --mount true 2>/dev/null; then
    echo "in_root.sh: cannot mount here: run as root, in a container with CAP_SYS_ADMIN" >&2
    exit 1
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
    mmdebstrap --variant=apt --aptopt='Acquire::Check-Valid-Until "false"' --architectures="$architectures" \
        --include="$packages" "$suite" "$root.part" "$(mirror)"
    # Packages must not start services in here.
    printf '#!/bin/sh\nexit 101\n' >"$root.part/usr/sbin/policy-rc.d"
    chmod +x "$root.part/usr/sbin/policy-rc.d"
    mkdir -p "$root.part/src"
    mv "$root.part" "$root"
}

[ -d "$root" ] || make_root

mkdir -p "$tree/build/on-$release"
namespaces=(--mount --propagation private)
if [ "$release" = aarch64 ]; then
    namespaces+=(--user)
    # From outside: users in the namespace that the last line enters are those here.
    (for _ in {1..100}; do
        echo "0 0 4294967295" >"/proc/$$/uid_map" && echo "0 0 4294967295" >"/proc/$$/gid_map" && break
        sleep 0.1
    done) >/dev/null 2>&1 &
fi
export root tree release
# shellcheck disable=SC2016 # for the inner shell
exec unshare "${namespaces[@]}" bash -euc '
    for _ in {1..100}; do [ -z "$(cat /proc/self/gid_map)" ] || break; sleep 0.1; done
    mount --bind "$tree" "$root/src"
    mount --bind "$tree/build/on-$release" "$root/src/build"
    for place in dev proc sys; do mount --rbind "/$place" "$root/$place"; done
    mount -t tmpfs tmpfs "$root/dev/shm"
    mount -t tmpfs tmpfs "$root/tmp"
    if [ "$release" = aarch64 ]; then
        mount -t binfmt_misc binfmt_misc "$root/proc/sys/fs/binfmt_misc" || {
            echo "in_root.sh: cannot mount binfmt_misc in a user namespace: use Linux 6.7 or newer" >&2
            exit 1
        }
        magic="\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\xb7\x00"
        mask="\xff\xff\xff\xff\xff\xff\xff\x00\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff\xff\xff"
        echo ":aarch64:M::$magic:$mask:$root/usr/bin/qemu-aarch64:F" >"$root/proc/sys/fs/binfmt_misc/register"
    fi
    exec chroot "$root" /usr/bin/env -u TMPDIR -u MPI_ROOT -u MPI_HOME -u LD_LIBRARY_PATH -u CC -u CXX \
        -C /src HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin "$@"' in_root "$@"
