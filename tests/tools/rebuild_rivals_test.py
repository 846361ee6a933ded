#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the containment-domains authors
"""rebuild_rivals_test.py CDCTL VECTORS: of sets of different times that tell of the same files, cdctl rebuild brings back one at most."""

import json
import os
import shutil
import sys
import unittest

from rebuild_case import DAMAGED, GOOD, OLDER, UNREADABLE, VECTORS, Case

OTHER_SIZE = {"1000": "900"}
OTHER_TIME = {"1600000000": "1500000000"}


class RivalsTest(Case):
    """Reed-Solomon wrote the descriptors, and XOR's scheme files are beside its own, as upstream leaves them."""

    case = "rs_4_k2"

    def setUp(self):
        super().setUp()
        self.add("xor_4", ".xor.")

    def red(self, name=""):
        return os.path.join(self.directory, "red", name)

    def add(self, case, part):
        for name in os.listdir(os.path.join(VECTORS, case, "red")):
            if part in name:
                shutil.copy(os.path.join(VECTORS, case, "red", name), self.red(name))

    def add_descriptors(self, case):
        for rank in range(4):
            self.add(case, f"{rank}.redset")

    def remove_descriptors(self):
        for rank in range(4):
            os.remove(self.red(f"{rank}.redset"))

    def let_tell(self, scheme, other):
        for name in os.listdir(self.red()):
            if scheme in name:
                self.rename_in(self.red(name), lambda key: other.get(key, key))

    def verdicts(self, *options):
        status, out, _ = self.rebuild("--json", *options, self.directory)
        sets = json.loads(out)["sets"]
        self.problems = {each["scheme"]: each["problem"] for each in sets}
        return status, {each["scheme"]: each["verdict"] for each in sets}

    def check_nothing_changes(self, status, **verdicts):
        left = self.files()
        for options in ["--dry-run"], [], []:
            self.assertEqual(self.verdicts(*options), (status, verdicts))
            self.assertEqual(self.files(), left)

    def check_is_rebuilt(self, before, **verdicts):
        self.assertEqual(self.verdicts("--dry-run"), (OLDER, verdicts | {"RS": "rebuildable"}))
        self.assertEqual(self.verdicts(), (GOOD, verdicts | {"RS": "rebuilt"}))
        self.assertEqual(self.files(), before)
        self.check_nothing_changes(GOOD, **verdicts | {"RS": "whole"})

    def test_two_schemes_of_the_same_files_stay_whole(self):
        self.check_nothing_changes(GOOD, RS="whole", XOR="superseded")
        self.add_descriptors("xor_4")
        self.check_nothing_changes(GOOD, RS="superseded", XOR="whole")

    def test_nothing_of_the_set_that_the_descriptors_do_not_tell_of_is_brought_back(self):
        self.let_tell(".xor.", OTHER_SIZE)
        self.check_nothing_changes(GOOD, RS="whole", XOR="superseded")
        self.assertIn("r0_f0.dat belongs to set 1 of 1 (RS, 4 members, 2 checksums) of ", self.problems["XOR"])
        self.assertIn("as the descriptors tell of that one", self.problems["XOR"])
        self.assertIn(": superseded\n  ", self.rebuild(self.directory)[1])

    def test_what_is_lost_comes_from_the_set_that_the_descriptors_tell_of(self):
        self.let_tell(".xor.", OTHER_SIZE)
        before = self.files()
        self.lose(1, 0)
        for rank in 0, 1:
            del before[f"red/{rank}.xor.grp_1_of_1.mem_{rank + 1}_of_4.redset"]
        self.check_is_rebuilt(before, XOR="superseded")

    def test_an_older_set_that_covers_more_is_no_way_out(self):
        self.add_descriptors("xor_4")
        self.let_tell(".rs.", OTHER_SIZE)
        self.lose(2, 3)
        self.check_nothing_changes(DAMAGED, RS="superseded", XOR="lost")
        for name in os.listdir(self.red()):
            if ".xor." in name and not name.startswith("0."):
                os.remove(self.red(name))  # nothing tells of rank 2 any more
        self.check_nothing_changes(DAMAGED, RS="superseded", XOR="lost")

    def test_without_descriptors_sizes_tell(self):
        before = self.files()
        self.let_tell(".xor.", OTHER_SIZE)
        before |= {path: data for path, data in self.files().items() if ".xor." in path}
        self.remove_descriptors()
        os.remove(os.path.join(self.directory, "in", "r1_f0.dat"))
        self.check_is_rebuilt(before, XOR="superseded")
        self.assertIn("as the descriptors tell", self.problems["XOR"])

    def test_without_descriptors_and_with_the_same_sizes_times_tell(self):
        self.let_tell(".xor.", OTHER_TIME)
        os.utime(os.path.join(self.directory, "in", "r0_f0.dat"), ns=(0, 1600000000222000000))
        before = self.files()
        self.remove_descriptors()
        self.check_is_rebuilt(before, XOR="superseded")

    def test_where_descriptors_contradict_files_tell(self):
        self.let_tell(".xor.", OTHER_SIZE)
        before = self.files()
        self.add("xor_4", "3.redset")
        self.assertNotEqual(self.files(), before)
        self.assertEqual(self.verdicts("--dry-run"), (OLDER, {"RS": "rebuildable", "XOR": "superseded"}))
        self.assertIn("as the files that are there are as that one tells", self.problems["XOR"])
        self.check_is_rebuilt(before, XOR="superseded")

    def test_where_nothing_tells_both_have_failed(self):
        before = self.files()
        for name in list(before):
            if ".xor." in name:
                del before[name]
        self.let_tell(".xor.", OTHER_TIME)
        self.remove_descriptors()
        os.remove(os.path.join(self.directory, "in", "r1_f0.dat"))
        self.check_nothing_changes(UNREADABLE, RS="failed", XOR="failed")
        for scheme, other in ("RS", ".xor."), ("XOR", ".rs."):
            self.assertIn("in/r0_f0.dat belongs to this set and to set 1 of 1 (", self.problems[scheme])
            self.assertIn(f"/red/0{other}", self.problems[scheme])
            self.assertIn("Move the scheme files of the one that does not", self.problems[scheme])
        for name in os.listdir(self.red()):
            if ".xor." in name:
                os.remove(self.red(name))
        self.check_is_rebuilt(before)

    # A truncated file fits none; that the rest fits one of them by its time is not enough to replace anything.
    def test_a_set_that_contradicts_a_file_does_not_count_by_others(self):
        self.let_tell(".xor.", OTHER_SIZE)
        self.remove_descriptors()
        os.truncate(os.path.join(self.directory, "in", "r1_f0.dat"), 10)
        self.check_nothing_changes(UNREADABLE, RS="failed", XOR="failed")

    def test_a_link_to_the_files_makes_no_others_of_them(self):
        self.let_tell(".xor.", OTHER_SIZE)
        os.mkdir(os.path.join(self.directory, "old"))
        for name in os.listdir(self.red()):
            if ".xor." in name:
                shutil.move(self.red(name), os.path.join(self.directory, "old", name))
        os.symlink("../in", os.path.join(self.directory, "old", "in"))
        self.check_nothing_changes(GOOD, RS="whole", XOR="superseded")

    def test_sets_of_other_directories_that_tell_the_same_all_count(self):
        shutil.move(self.red(), os.path.join(self.directory, "old"))
        shutil.copytree(os.path.join(VECTORS, "xor_4", "red"), self.red())
        for name in os.listdir(os.path.join(self.directory, "old")):
            if ".xor." in name:
                os.remove(os.path.join(self.directory, "old", name))
        self.check_nothing_changes(GOOD, RS="whole", XOR="whole")
        before = self.files()
        os.remove(os.path.join(self.directory, "in", "r1_f0.dat"))
        self.assertEqual(self.rebuild(self.directory)[0], GOOD)
        self.assertEqual(self.files(), before)


class OlderDivisionTest(Case):
    case = "rs_8_pairs_sets2_k1"

    def test_the_rest_of_an_older_division_is_not_missed(self):
        old = "4.xor.grp_2_of_2.mem_1_of_4.redset"
        shutil.copy(os.path.join(VECTORS, "xor_8_sets4", "red", old), os.path.join(self.directory, "red"))
        left = self.files()
        for options in [], ["--dry-run"]:
            status, out, told = self.rebuild("--json", *options, self.directory)
            answer = json.loads(out)
            self.assertEqual((status, answer["missing_sets"], told), (GOOD, [], ""))
            self.assertEqual(sorted(each["verdict"] for each in answer["sets"]), ["superseded"] + 4 * ["whole"])
            self.assertEqual(self.files(), left)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
