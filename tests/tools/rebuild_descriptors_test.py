#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the containment-domains authors
"""rebuild_descriptors_test.py CDCTL VECTORS: where descriptors are all that is left of a set that may be newer, cdctl rebuild writes over no newer file; older ones, as a program leaves that is killed when it takes a set back, keep nothing from being brought back."""

import json
import os
import shutil
import sys
import unittest

from rebuild_case import GOOD, OLDER, UNREADABLE, VECTORS, Case, image_of, sorted_tree, tree_image

APPLIED = 1700000000  # when redset wrote the set


class DescriptorsTest(Case):
    """One set, and descriptors of another one of the same division."""

    case = "xor_4"

    def setUp(self):
        super().setUp()
        self.keep_times()
        for name in os.listdir(self.path("red")):
            os.utime(self.path("red", name), (0, APPLIED))

    def path(self, *parts):
        return os.path.join(self.directory, *parts)

    def leave_descriptors(self, prefix, time, case="xor_4"):
        os.makedirs(self.path(os.path.dirname(prefix)), exist_ok=True)
        for rank in range(4):
            path = self.path(f"{prefix}{rank}.redset")
            shutil.copy(os.path.join(VECTORS, case, "red", f"{rank}.redset"), path)
            os.utime(path, (0, time))

    def rewrite(self, name, data=b"shorter, and newer"):
        self.write(self.path(name), data)

    def verdict(self, *options):
        status, one = self.only_set(*options)
        self.problem = one["problem"]
        return status, one["verdict"]

    def check_nothing_changes(self, status, verdict):
        left = self.files()
        for options in ["--dry-run"], [], []:
            self.assertEqual(self.verdict(*options), (status, verdict))
            self.assertEqual(self.files(), left)

    def check_is_rebuilt(self, before):
        self.assertEqual(self.verdict("--dry-run"), (OLDER, "rebuildable"))
        self.assertEqual(self.verdict(), (GOOD, "rebuilt"))
        self.assertEqual(self.files(), before)
        self.check_nothing_changes(GOOD, "whole")

    def check_newer_one_stays(self, prefix, file="in/r1_f0.dat"):
        self.check_nothing_changes(UNREADABLE, "failed")
        for part in f"{prefix}0.redset tells of set 1 of 1 (XOR, 4 members, 1 checksum)", f"{file} is not there as this set", "move descriptors":
            self.assertIn(part, self.problem)
        for rank in range(4):
            os.remove(self.path(f"{prefix}{rank}.redset"))
        self.assertEqual(self.verdict(), (GOOD, "rebuilt"))

    def test_of_two_prefixes_the_newer_one_may_be_the_other(self):
        self.leave_descriptors("red/p.", APPLIED + 10)
        self.rewrite("in/r1_f0.dat")
        self.check_newer_one_stays("red/p.")

    def test_so_may_an_empty_file_be(self):
        self.leave_descriptors("red/p.", APPLIED + 10)
        self.rewrite("in/r1_f0.dat", b"")
        self.check_newer_one_stays("red/p.")

    # Times alone tell of it, and all files of this set have others.
    def test_so_may_one_of_the_same_size_be(self):
        self.leave_descriptors("red/p.", APPLIED + 10)
        for name in os.listdir(self.path("in")):
            os.utime(self.path("in", name), (0, APPLIED + 5))
        os.remove(self.path("in", "r0_f0.dat"))
        self.check_newer_one_stays("red/p.", "in/r0_f1.dat")

    def test_so_it_is_in_directories_of_their_own(self):
        os.rename(self.path("red"), self.path("t0"))
        for prefix in "t1/q.", "t1/", "t1/red/":
            self.leave_descriptors(prefix, APPLIED + 10)
            self.rewrite("in/r1_f0.dat")
            self.check_newer_one_stays(prefix)

    def test_and_with_another_division(self):
        os.rename(self.path("red"), self.path("t0"))
        self.leave_descriptors("t1/", APPLIED + 10, "rs_4_k2")
        self.rewrite("in/r1_f0.dat")
        self.check_nothing_changes(UNREADABLE, "failed")
        self.assertIn("t1/0.redset tells of set 1 of 1 (RS, 4 members, 2 checksums)", self.problem)

    # A set between had the same names, and its scheme files are there.
    def test_and_in_the_place_of_those_of_another_set(self):
        os.rename(self.path("red"), self.path("t0"))
        for name in os.listdir(self.path("t0")):
            os.rename(self.path("t0", name), self.path("t0", "p." + name))
        os.mkdir(self.path("t1"))
        for name in os.listdir(os.path.join(VECTORS, "rs_4_k2", "red")):
            shutil.copy(os.path.join(VECTORS, "rs_4_k2", "red", name), self.path("t1", name))
            os.utime(self.path("t1", name), (0, APPLIED))
        self.leave_descriptors("t1/", APPLIED + 10, "partner_4_r1")
        self.rewrite("in/r1_f0.dat")
        left = self.files()
        for options in ["--dry-run"], []:
            status, out, _ = self.rebuild("--json", *options, self.directory)
            sets = json.loads(out)["sets"]
            self.assertEqual((status, {each["verdict"] for each in sets}), (UNREADABLE, {"failed"}))
            for each in sets:
                self.assertIn("t1/0.redset tells of set 1 of 1 (PARTNER, 4 members, 1 copy)", each["problem"])
            self.assertEqual(self.files(), left)

    # A time that is not later by more than clocks of files tell is no older one.
    def test_one_of_the_same_moment_may_be_newer(self):
        self.leave_descriptors("red/p.", APPLIED)
        self.rewrite("in/r1_f0.dat")
        self.check_newer_one_stays("red/p.")

    # As where a program takes its older set back, and is killed in the middle of that.
    def test_descriptors_older_than_the_scheme_files_do_not_matter(self):
        self.leave_descriptors("red/p.", APPLIED - 10)
        self.leave_descriptors("t1/", APPLIED - 10)
        before = self.files()
        self.rewrite("in/r1_f0.dat")
        self.check_is_rebuilt(before)

    def test_they_do_where_copies_have_lost_times(self):
        self.leave_descriptors("red/p.", APPLIED - 10)
        for name in os.listdir(self.path("in")):
            os.utime(self.path("in", name))
        self.rewrite("in/r1_f0.dat")
        self.check_newer_one_stays("red/p.")

    def test_nor_do_any_where_all_files_of_a_rank_are_gone(self):
        self.leave_descriptors("red/p.", APPLIED + 10)
        self.leave_descriptors("t1/", APPLIED + 10)
        before = self.files()
        for name in "r0_f0.dat", "r0_f1.dat":
            os.remove(self.path("in", name))
        self.check_is_rebuilt(before)

    def test_nor_where_it_was_cut_and_has_its_time(self):
        self.leave_descriptors("red/p.", APPLIED + 10)
        before = self.files()
        self.rewrite("in/r1_f0.dat")
        self.keep_times()
        self.check_is_rebuilt(before)

    def test_nor_where_nothing_is_lost(self):
        for prefix in "red/p.", "t1/", "x/y/z.":
            self.leave_descriptors(prefix, APPLIED + 10)
        self.check_nothing_changes(GOOD, "whole")

    # Nothing tells where that one's files were.
    def test_nor_where_files_are_not_above_them(self):
        os.mkdir(self.path("job"))
        for name in "in", "red":
            shutil.move(self.path(name), self.path("job", name))
        self.leave_descriptors("x/p.", APPLIED + 10)
        before = self.files()
        self.rewrite("job/in/r1_f0.dat")
        self.check_is_rebuilt(before)


class RanksApartTest(Case):
    """Each rank has what redset writes in a directory of its own, and all have their files in one."""

    case = "rs_4_k2"

    def setUp(self):
        super().setUp()
        self.keep_times()
        self.red = os.path.join(self.directory, "red")

    def let_rank_1_be_10(self):
        """Of 11, in which rank 0 is its neighbour to the left."""

        def renumbered(tree, above=""):
            numbers = {"WRANK": {"1": "10"}, "WRANKS": {"4": "11"}}.get(above, {})
            return {numbers.get(key, key): renumbered(below, key) for key, below in tree.items()}

        for name in os.listdir(self.red):
            path = os.path.join(self.red, name)
            with open(path, "rb") as file:
                tree, payload = image_of(file.read())
            tree = renumbered(tree)
            if "GROUP" in tree:
                tree["GROUP"]["RANK"]["1"] = {"10": {}}
            elif "1" in tree:
                tree["10"] = tree.pop("1")
            self.write(path, tree_image(sorted_tree(tree)) + payload)
            if name.startswith("1."):
                os.rename(path, os.path.join(self.red, "10." + name.removeprefix("1.")))

    def check_descriptor_is_its(self, rank):
        for name in os.listdir(self.red):
            node = os.path.join(self.red, "n" + name.split(".")[0])
            os.makedirs(node, exist_ok=True)
            shutil.move(os.path.join(self.red, name), node)
        before = self.files()
        os.remove(os.path.join(self.red, f"n{rank}", f"{rank}.rs.grp_1_of_1.mem_2_of_4.redset"))
        self.write(os.path.join(self.directory, "in", "r0_f0.dat"), b"cut, and newer")
        status, one = self.only_set("--dry-run")
        self.assertEqual((status, one["verdict"], one["problem"]), (OLDER, "rebuildable", None))
        status, one = self.only_set()
        self.assertEqual((status, one["verdict"]), (GOOD, "rebuilt"))
        self.assertEqual(self.files()["in/r0_f0.dat"], before["in/r0_f0.dat"])

    def test_the_descriptor_of_a_rank_that_has_lost_its_scheme_file_is_no_other_set_s(self):
        self.check_descriptor_is_its(1)

    # Its descriptors are of ranks 0, 3 and 10.
    def test_nor_is_it_where_the_name_of_another_rank_ends_as_its_own(self):
        self.let_rank_1_be_10()
        self.check_descriptor_is_its(10)


class HalfTakenBackTest(Case):
    """Two points in time in directories of their own, of which a program has taken the older back by half."""

    case = "xor_8_sets4"

    def setUp(self):
        super().setUp()
        self.keep_times()
        for point in "ckpt.1", "ckpt.2":
            for name in "in", "red":
                shutil.copytree(os.path.join(self.directory, name), os.path.join(self.directory, point, name))
        for name in "in", "red":
            shutil.rmtree(os.path.join(self.directory, name))
        red = os.path.join(self.directory, "ckpt.1", "red")
        for name in os.listdir(red):
            if ".grp_2_" in name:
                os.remove(os.path.join(red, name))

    def verdicts(self, *options):
        status, out, _ = self.rebuild("--json", *options, self.directory)
        found = json.loads(out)
        self.assertEqual(found["missing_sets"], [])
        return status, sorted(each["verdict"] for each in found["sets"])

    def test_the_newer_one_is_good_and_comes_back(self):
        self.assertEqual(self.verdicts(), (GOOD, ["whole", "whole", "whole"]))
        before = self.files()
        for name in "r0_f0.dat", "r5_f0.dat":
            os.truncate(os.path.join(self.directory, "ckpt.2", "in", name), 10)
        self.assertEqual(self.verdicts("--dry-run"), (OLDER, ["rebuildable", "rebuildable", "whole"]))
        self.assertEqual(self.verdicts(), (GOOD, ["rebuilt", "rebuilt", "whole"]))
        self.assertEqual(self.files(), before)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
