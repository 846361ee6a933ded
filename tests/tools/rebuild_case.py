# SPDX-License-Identifier: BSD-3-Clause
# Copyright the containment-domains authors
"""What the tests of cdctl rebuild share: a set that upstream wrote, and ways to lose parts of it. argv: CDCTL VECTORS."""

import json
import os
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest
import zlib

CDCTL, VECTORS = (os.path.abspath(path) for path in sys.argv[1:3])
GOOD, DAMAGED, USAGE, UNREADABLE, OLDER = range(5)


def content(rank, file, size):
    return bytes((rank * 131 + file * 17 + j * 7 + (j >> 8)) & 255 for j in range(size))


def tree_image(tree):
    def packed(tree):
        return struct.pack(">I", len(tree)) + b"".join(key.encode() + b"\0" + packed(below) for key, below in tree.items())

    body = packed(tree)
    image = struct.pack(">IHHQI", 0x951FC3F5, 1, 1, 24 + len(body), 1) + body
    return image + struct.pack(">I", zlib.crc32(image))


def image_of(data):
    """The tree at the beginning of a file, and what follows it."""

    def unpacked(at):
        (count,) = struct.unpack_from(">I", data, at)
        at += 4
        tree = {}
        for _ in range(count):
            end = data.index(b"\0", at)
            key = data[at:end].decode()
            tree[key], at = unpacked(end + 1)
        return tree, at

    (length,) = struct.unpack_from(">Q", data, 8)
    return unpacked(20)[0], data[length:]


def crc32c(data):
    table = CRC32C_TABLE
    crc = 0xFFFFFFFF
    for byte in data:
        crc = table[(crc ^ byte) & 255] ^ crc >> 8
    return crc ^ 0xFFFFFFFF


def crc32c_of_byte(crc):
    for _ in range(8):
        crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc


CRC32C_TABLE = [crc32c_of_byte(byte) for byte in range(256)]


def sorted_tree(tree):
    return {key: sorted_tree(tree[key]) for key in sorted(tree)}


class Case(unittest.TestCase):
    case = ""  # which of the vectors

    def setUp(self):
        self.directory = tempfile.mkdtemp()
        os.mkdir(os.path.join(self.directory, "in"))
        case = os.path.join(VECTORS, self.case)
        shutil.copytree(os.path.join(case, "red"), os.path.join(self.directory, "red"))
        with open(os.path.join(case, "sizes.txt"), encoding="utf-8") as lines:
            for rank, line in enumerate(lines):
                for file, size in enumerate(line.split(":")[1].split()):
                    name = os.path.join(self.directory, "in", f"r{rank}_f{file}.dat")
                    with open(name, "wb") as data:
                        data.write(content(rank, file, int(size)))

    def tearDown(self):
        shutil.rmtree(self.directory)

    def rebuild(self, *options):
        done = subprocess.run(
            [CDCTL, "rebuild", *options], capture_output=True, text=True, timeout=60, check=False
        )
        return done.returncode, done.stdout, done.stderr

    def files(self):
        found = {}
        for folder, _, names in os.walk(self.directory):
            for name in names:
                if not os.path.exists(os.path.join(folder, name)):  # a link to nothing
                    continue
                with open(os.path.join(folder, name), "rb") as file:
                    found[os.path.join(os.path.relpath(folder, self.directory), name)] = file.read()
        return found

    def lose(self, *ranks):
        for path in list(self.files()):
            name = os.path.basename(path)
            if any(name.startswith((f"{rank}.", f"r{rank}_")) for rank in ranks):
                os.remove(os.path.join(self.directory, path))

    def write(self, path, data):
        with open(path, "wb") as file:
            file.write(data)

    def rename_in(self, path, name):
        """Lets a scheme file tell of files by other names."""

        def renamed(tree):
            return {name(key): renamed(below) for key, below in tree.items()}

        with open(path, "rb") as file:
            tree, payload = image_of(file.read())
        self.write(path, tree_image(renamed(tree)) + payload)

    def move_to_attempt(self):
        points = os.path.join(self.directory, "heat.points")
        os.mkdir(points)
        attempt = os.path.join(points, "epoch-7.7.0.00000000000000ab")
        shutil.move(os.path.join(self.directory, "red"), attempt)
        shutil.move(os.path.join(self.directory, "in"), attempt)
        return attempt

    def move_to_attempt_that_counts(self):
        attempt = self.move_to_attempt()
        self.assertEqual(self.rebuild("--agree", self.directory)[0], GOOD)
        return attempt

    def lose_scheme_files(self, attempt, *ranks):
        for name in os.listdir(attempt):
            if name.endswith(".redset") and int(name.split(".")[0]) in ranks:
                os.remove(os.path.join(attempt, name))

    def sets(self, *options):
        """Returns the exit status of cdctl rebuild --json and the sets that it reports."""
        status, out, _ = self.rebuild("--json", *options, self.directory)
        return status, json.loads(out)["sets"]

    def only_set(self, *options):
        status, (one,) = self.sets(*options)
        return status, one

    def unchanged(self, *calls):
        """Yields the options of each call, and expects that no file changes meanwhile."""
        left = self.files()
        for options in calls:
            yield options
            self.assertEqual(self.files(), left)
