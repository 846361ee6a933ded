#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the containment-domains authors
"""rebuild_nodes_test.py CDCTL VECTORS: cdctl rebuild of what moved ranks and several runs left on nodes."""

import fcntl
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

from rebuild_case import CDCTL, GOOD, OLDER, UNREADABLE, Case


# Each node has a directory of its own; a restart leaves what it copies to another one.
class OfNodes(Case):
    case = "xor_4"
    name = "epoch-7.7.0.00000000000000ab"
    scheme_file = f"{name}/0.xor.grp_1_of_1.mem_1_of_4.redset"

    def setUp(self):
        super().setUp()
        self.move_to_attempt()
        self.source = os.path.join(self.directory, "heat.points")
        aside = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, aside)
        shutil.move(self.source, aside)
        self.source = os.path.join(aside, "heat.points")

    def put(self, node, *ranks, name=None):
        for folder, _, files in os.walk(self.source):
            below = os.path.relpath(folder, self.source).replace(self.name, name or self.name)
            to = os.path.normpath(os.path.join(self.directory, node, "heat.points", below))
            os.makedirs(to, exist_ok=True)
            for file in files:
                if file.startswith(tuple(f"{rank}." for rank in ranks) + tuple(f"r{rank}_" for rank in ranks)):
                    shutil.copy2(os.path.join(folder, file), to)

    def path(self, node, file):
        return os.path.join(self.directory, node, "heat.points", file)

    def records(self):
        return sorted(path for path in self.files() if path.endswith(".agreed"))

    def agree(self, *below):
        paths = [os.path.join(self.directory, each) for each in below] or [self.directory]
        for path in paths:
            self.assertEqual(self.rebuild("--agree", path)[0], GOOD)


class MovedRanks(OfNodes):
    def setUp(self):
        super().setUp()
        for rank in range(4):
            self.put(f"n{rank}", rank)
        self.agree()
        self.put("s0", 0)

    def test_of_copies_the_first_whole_one_counts(self):
        for file in f"{self.name}/in/r0_f0.dat", self.scheme_file:
            damaged = self.path("n0", file)
            with open(damaged, "rb") as whole:
                before = whole.read()
            self.write(damaged, before[:-1])
            for options in ("--dry-run",), ():
                status, one = self.only_set(*options)
                self.assertEqual((status, one["verdict"]), (GOOD, "whole"))
                self.assertIn("/s0/", one["ranks"][0]["directory"])
            self.write(damaged, before)

    # Both names lead to one file, and one of them is lost with what is around it.
    def test_a_copy_by_another_name_of_the_file_counts(self):
        subprocess.run(["cp", "-al", os.path.join(self.directory, "n1"), os.path.join(self.directory, "s1")], check=True)
        os.remove(self.path("n1", f"{self.name}/in/r1_f0.dat"))
        shutil.rmtree(os.path.join(self.directory, "n2"))
        left = self.files()
        status, one = self.only_set("--dry-run")
        self.assertEqual((status, one["verdict"]), (OLDER, "rebuildable"))
        self.assertIn("/s1/", one["ranks"][1]["directory"])
        self.assertEqual(self.only_set()[0], GOOD)
        now = self.files()
        self.assertEqual({path: now[path] for path in left}, left)

    def test_agreeing_takes_one_of_the_copies(self):
        for path in self.records():
            os.remove(os.path.join(self.directory, path))
        left = self.files()
        status, one = self.only_set("--dry-run", "--agree")
        self.assertEqual((status, one["verdict"], one["agreed"]), (OLDER, "whole", False))
        self.assertEqual(self.files(), left)
        status, one = self.only_set("--agree")
        self.assertEqual((status, one["verdict"], one["agreed"]), (GOOD, "whole", True))
        self.assertEqual(len(self.records()), 4)


class LostSchemeFile(OfNodes):
    def setUp(self):
        super().setUp()
        for rank in range(4):
            self.put(f"n{rank}", rank)
        self.agree()

    def test_a_job_that_uses_any_of_the_copies_is_in_the_way(self):
        self.put("s0", 0)
        for node in "n0", "s0":
            os.remove(self.path(node, self.scheme_file))
        left = self.files()
        with open(self.path("s0", "in-use-00000000000000ab-2"), "w", encoding="utf-8") as user:
            fcntl.lockf(user, fcntl.LOCK_EX)
            status, one = self.only_set()
            os.remove(user.name)
        self.assertEqual((status, one["verdict"], self.files()), (UNREADABLE, "failed", left))


unittest.main(argv=sys.argv[:1])
