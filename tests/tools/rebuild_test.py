#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the containment-domains authors
"""rebuild_test.py CDCTL VECTORS: cdctl rebuild brings back what upstream wrote, and says what it cannot."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

CDCTL, VECTORS = (os.path.abspath(path) for path in sys.argv[1:3])
GOOD, DAMAGED, USAGE, UNREADABLE, OLDER = range(5)


def content(rank, file, size):
    return bytes((rank * 131 + file * 17 + j * 7 + (j >> 8)) & 255 for j in range(size))


class RebuildTest(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.mkdtemp()
        os.mkdir(os.path.join(self.directory, "in"))
        case = os.path.join(VECTORS, "rs_4_k2")
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
                with open(os.path.join(folder, name), "rb") as file:
                    found[os.path.join(os.path.relpath(folder, self.directory), name)] = file.read()
        return found

    def lose(self, *ranks):
        for path in list(self.files()):
            name = os.path.basename(path)
            if any(name.startswith((f"{rank}.", f"r{rank}_")) for rank in ranks):
                os.remove(os.path.join(self.directory, path))

    def test_two_of_four_come_back(self):
        before = self.files()
        self.assertEqual(self.rebuild(self.directory)[0], GOOD)
        self.lose(0, 1)
        left = self.files()
        status, out, _ = self.rebuild("--dry-run", "--json", self.directory)
        self.assertEqual(status, OLDER)
        answer = json.loads(out)
        self.assertEqual(answer["sets"][0]["verdict"], "rebuildable")
        self.assertIn("r0_f0.dat", answer["sets"][0]["ranks"][0]["files_lost"])
        self.assertIsNone(answer["sets"][0]["ranks"][2]["scheme_file_lost"])
        self.assertEqual(self.files(), left)
        status, out, _ = self.rebuild(self.directory)
        self.assertEqual(status, GOOD)
        self.assertIn(": rebuilt", out)
        self.assertEqual(self.files(), before)

    def test_three_of_four_do_not_and_nothing_changes(self):
        self.lose(0, 1, 2)
        left = self.files()
        status, out, _ = self.rebuild(self.directory)
        self.assertEqual(status, DAMAGED)
        self.assertIn(": lost", out)
        self.assertEqual(self.files(), left)

    def test_where_there_is_nothing_it_says_so(self):
        self.assertEqual(self.rebuild()[0], USAGE)
        self.assertEqual(self.rebuild(os.path.join(self.directory, "in"))[0], UNREADABLE)
        self.assertEqual(self.rebuild(os.path.join(self.directory, "absent"))[0], UNREADABLE)


unittest.main(argv=sys.argv[:1])
