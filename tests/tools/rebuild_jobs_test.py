#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the containment-domains authors
"""rebuild_jobs_test.py CDCTL VECTORS: jobs with the same names, in directories of their own, do not matter to each other; cdctl rebuild compares those that share directories."""

import json
import os
import shutil
import sys
import unittest

from rebuild_case import DAMAGED, GOOD, OLDER, VECTORS, Case


class JobsTest(Case):
    def verdicts(self, *options):
        status, out, _ = self.rebuild("--json", *options, self.directory)
        found = json.loads(out)
        self.problems = [each["problem"] for each in found["sets"] if each["problem"]]
        self.missing = found["missing_sets"]
        return status, {self.title(each): each["verdict"] for each in found["sets"]}

    def title(self, each):
        folder = os.path.relpath(each["scheme_files"][0], self.directory).split("/")[0]
        return folder, each["scheme"], each["set"]

    def lose_files(self, folder, *ranks):
        for name in os.listdir(os.path.join(self.directory, folder)):
            if any(name.startswith(f"r{rank}_") for rank in ranks):
                os.remove(os.path.join(self.directory, folder, name))

    def each_scheme_file(self, folder, part="."):
        for name in sorted(os.listdir(os.path.join(self.directory, folder))):
            if part in name and name.count(".") > 1:
                yield os.path.join(self.directory, folder, name)

    def check_nothing_changes(self, *expected):
        left = self.files()
        for options in ["--dry-run"], [], []:
            self.assertEqual(self.verdicts(*options), expected)
            self.assertEqual(self.files(), left)


class TwoJobsTest(JobsTest):
    """Of the same names and numbers of ranks; only ranks 0 and 1 have files."""

    case = "rs_4_k2"
    A, B = ("a", "RS", 0), ("b", "RS", 0)

    def setUp(self):
        super().setUp()
        for path in self.each_scheme_file("red"):
            self.drop_files_in(path, 2)
        for name in os.listdir(self.directory):
            shutil.copytree(os.path.join(self.directory, name), os.path.join(self.directory, "b", name))
            shutil.move(os.path.join(self.directory, name), os.path.join(self.directory, "a", name))
        for path in self.each_scheme_file("b/red"):
            self.rename_in(path, lambda key: "1400000000" if key == "1600000000" else key)

    # Nothing is known by names alone, though no file is left that tells where it has them.
    def test_what_one_has_lost_is_brought_back_beside_one_that_is_whole(self):
        before = self.files()
        self.lose_files("a/in", 0, 1)
        self.assertEqual(self.verdicts("--dry-run"), (OLDER, {self.A: "rebuildable", self.B: "whole"}))
        self.assertEqual(self.verdicts(), (GOOD, {self.A: "rebuilt", self.B: "whole"}))
        self.assertEqual(self.files(), before)
        self.check_nothing_changes(GOOD, {self.A: "whole", self.B: "whole"})

    def test_so_it_is_where_each_has_lost_some(self):
        before = self.files()
        self.lose_files("a/in", 0, 1)
        self.lose_files("b/in", 1)
        self.assertEqual(self.verdicts(), (GOOD, {self.A: "rebuilt", self.B: "rebuilt"}))
        self.assertEqual(self.files(), before)

    def test_one_beyond_recovery_is_lost(self):
        self.lose_files("a/in", 0, 1)
        for path in self.each_scheme_file("a/red", ".mem_4_"):
            os.remove(path)
        self.check_nothing_changes(DAMAGED, {self.A: "lost", self.B: "whole"})


class OneJobBelowAnother(JobsTest):
    case = "xor_4"

    # In the directory above, as of a job that has gone on.
    def test_files_of_the_other_are_not_taken_for_lost_ones(self):
        old = os.path.join(self.directory, "old")
        shutil.copytree(os.path.join(self.directory, "in"), os.path.join(old, "in"))
        shutil.move(os.path.join(self.directory, "red"), old)
        with open(os.path.join(self.directory, "in", "r1_f0.dat"), "ab") as file:
            file.write(b"newer")
        before = self.files()
        self.lose_files("old/in", 1)
        self.assertEqual(self.verdicts(), (GOOD, {("old", "XOR", 0): "rebuilt"}))
        self.assertEqual(self.files(), before)


class TwoPointsOnNodes(JobsTest):
    """In directories of their own, with which names begin that are taken from those of nodes. Of two nodes the first one cannot bring back anything."""

    case = "xor_8_sets4"

    def setUp(self):
        super().setUp()
        self.keep_times()
        for point, case in ("c1", self.case), ("c2", "partner_8_halves_r1"):
            shutil.copytree(os.path.join(self.directory, "in"), os.path.join(self.directory, point, "in"))
            shutil.copytree(os.path.join(VECTORS, case, "red"), os.path.join(self.directory, point, "red"))
            for path in self.each_scheme_file(os.path.join(point, "red")):
                self.rename_in(path, lambda key: key.replace("in/", point + "/in/"))
        for folder in "in", "red":
            shutil.rmtree(os.path.join(self.directory, folder))
        for path in self.files():
            folder, name = os.path.split(path)
            node = os.path.join(self.directory, "n" + name.removeprefix("r")[0], folder)
            os.makedirs(node, exist_ok=True)
            shutil.move(os.path.join(self.directory, path), node)

    def test_what_the_one_has_lost_keeps_nothing_of_the_other_from_coming_back(self):
        before = self.files()
        for node in "n0", "n1":
            shutil.rmtree(os.path.join(self.directory, node))
        expected = {("n2", "XOR", 0): "lost", ("n4", "XOR", 1): "whole", ("n2", "PARTNER", 2): "whole", ("n3", "PARTNER", 3): "whole"}
        rebuilt = {("n4", "PARTNER", 0): "rebuilt", ("n5", "PARTNER", 1): "rebuilt"}
        self.assertEqual(self.verdicts(), (DAMAGED, expected | rebuilt))
        after = self.files().values()
        for name in "n0/c2/in/r0_f0.dat", "n1/c2/in/r1_f0.dat":
            self.assertIn(before[name], after)


class ManySetsTest(JobsTest):
    case = "xor_8_sets4"

    # Nearer to the directory that is given than those of the other set.
    def test_files_that_were_brought_back_tell_of_no_other_time(self):
        for path in self.each_scheme_file("red"):
            self.rename_in(path, lambda key: key.removeprefix("in/"))
            self.drop_files_in(path, 4, 5, 6)
        job = os.path.join(self.directory, "job")
        shutil.move(os.path.join(self.directory, "in"), job)
        shutil.move(os.path.join(self.directory, "red"), job)
        self.lose_files("job", 1, 7)
        sets = [("job", "XOR", set) for set in range(2)]
        self.assertEqual(self.verdicts(), (GOOD, {set: "rebuilt" for set in sets}))
        self.check_nothing_changes(GOOD, {set: "whole" for set in sets})

    # Which knew not where its files were, so that they are above the nodes.
    def test_what_one_time_brings_back_does_not_tell_it_apart_from_another(self):
        for path in self.each_scheme_file("red"):
            self.rename_in(path, lambda key: "2000" if key == "2548" else key)
            self.drop_files_in(path, 0)
        for path in list(self.files()):
            name = os.path.basename(path)
            node = os.path.join(self.directory, "n" + name.removeprefix("r")[0], os.path.dirname(path))
            os.makedirs(node, exist_ok=True)
            shutil.move(os.path.join(self.directory, path), node)
        shutil.rmtree(os.path.join(self.directory, "n0", "in"))
        newer = os.path.join(self.directory, "n0", "red1")
        os.mkdir(newer)
        name = "0.partner.grp_1_of_4.mem_1_of_2.redset"
        shutil.copy(os.path.join(VECTORS, "partner_8_halves_r1", "red", name), newer)
        self.drop_files_in(os.path.join(newer, name), 0)
        before = self.files()
        for options in ["--dry-run"], [], []:
            status, verdicts = self.verdicts(*options)
            self.assertEqual((status, verdicts["n4", "XOR", 1]), (DAMAGED, "failed"))
            self.assertIn("r4_f0.dat is told of otherwise by set 1 of 4 (PARTNER", self.problems[0])
            after = self.files()
            self.assertEqual({path: after[path] for path in before}, before)
        self.assertIn("in/r4_f0.dat", after)

    # One of its scheme files is enough to tell by.
    def test_scheme_files_of_other_prefixes_are_of_other_times(self):
        red = os.path.join(self.directory, "red")
        for name in os.listdir(red):
            if ".grp_1_" in name or (name.count(".") == 1 and name[0] in "0123"):
                os.rename(os.path.join(red, name), os.path.join(red, "p." + name))
            elif ".mem_1_" not in name and name.count(".") > 1:
                os.remove(os.path.join(red, name))
        self.lose_files("in", 2)
        self.check_nothing_changes(DAMAGED, {("red", "XOR", 0): "failed", ("red", "XOR", 1): "lost"})
        self.assertEqual(len(self.missing), 2)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
