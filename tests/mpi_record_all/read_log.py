#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the containment-domains authors
"""read_log.py FUNCTION=COUNT... [vain=COUNT] [missed=COUNT] FILE...: reads log files as
docs/inside/format-log.md says, and fails if one is not like that, has not so many entries of the functions,
not so many polls that found nothing, if that is given, or has missed others than so many (none)."""

import struct
import sys

def make_table():
    table = []
    for byte in range(256):
        crc = byte
        for _ in range(8):
            crc = (crc >> 1) ^ (0x82F63B78 if crc & 1 else 0)
        table.append(crc)
    return table


TABLE = make_table()


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc = (crc >> 8) ^ TABLE[(crc ^ byte) & 0xFF]
    return crc ^ 0xFFFFFFFF


def read(path):
    with open(path, "rb") as file:
        data = file.read()
    magic, version, rank, names_size, names_sum, begun = struct.unpack_from("<8sIiIIq", data)
    assert magic == b"CDMPILOG" and version == 4, "not a log"
    assert begun > 1_700_000_000, "it was begun before there was such a format"
    at = 32
    names = data[at:at + names_size]
    assert crc32c(names) == names_sum, "the names are damaged"
    names = names.decode().split("\0")[:-1]
    at += names_size
    counts = {}
    vain = 0
    missed = 0
    while at < len(data):
        block_magic, block_sum, size, entries, missed = struct.unpack_from("<4sIQQQ", data, at)
        assert block_magic == b"CDLB", "no block where one should be"
        block = data[at + 32:at + 32 + size]
        assert len(block) == size, "a block is cut off"
        assert crc32c(data[at + 8:at + 32] + block) == block_sum, "a block is damaged"
        at += 32 + size
        inside = 0
        while inside < size:
            length, function, _, flags, _, _, repeats = struct.unpack_from("<QHBBiQQ", block, inside)
            assert length >= 24 and inside + 8 + length <= size, "an entry runs out of its block"
            counts[names[function]] = counts.get(names[function], 0) + 1
            vain += repeats if flags & 1 else 0
            inside += 8 + length
        assert entries == sum(counts.values()), "a block is missing"
    return rank, counts, vain, missed


expected = dict(argument.split("=") for argument in sys.argv[1:] if argument.startswith(("MPI_", "vain=", "missed=")))
paths = sys.argv[1 + len(expected):]
assert paths, "no file to read"
expected_missed = int(expected.pop("missed", 0))
expected_vain = int(expected.pop("vain", -1))
for path in paths:
    rank, counts, vain, missed = read(path)
    assert missed == expected_missed, f"{path}: {missed} calls could not be recorded"
    assert expected_vain in (vain, -1), f"{path}: {vain} polls found nothing"
    assert f"/rank-{rank}." in path, f"{path} says that it is of rank {rank}"
    for name, count in expected.items():
        assert counts.get(name, 0) == int(count), f"{path}: {name}: {counts.get(name, 0)}"
