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
OTHER_TIME = {str(1600000000 + each): str(1400000000 + each) for each in range(1000)}


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

    def test_an_older_set_of_the_same_files_is_left_alone(self):
        self.let_tell(".xor.", OTHER_SIZE)
        self.check_nothing_changes(GOOD, RS="whole", XOR="superseded")
        self.assertIn("is told of otherwise by set 1 of 1 (RS, 4 members, 2 checksums) of ", self.problems["XOR"])
        self.assertIn(": superseded\n  ", self.rebuild(self.directory)[1])

    def test_what_is_lost_comes_from_the_set_that_files_fit(self):
        self.let_tell(".xor.", OTHER_SIZE)
        before = self.files()
        self.lose(2)
        del before["red/2.xor.grp_1_of_1.mem_3_of_4.redset"]
        self.check_is_rebuilt(before, XOR="superseded")

    # It may have had a file of its own that nothing tells of any more.
    def test_an_older_set_of_which_not_all_files_are_known_is_lost(self):
        self.let_tell(".xor.", OTHER_SIZE)
        before = self.files()
        self.lose(1, 2)
        for rank in 1, 2:
            del before[f"red/{rank}.xor.grp_1_of_1.mem_{rank + 1}_of_4.redset"]
        self.assertEqual(self.verdicts("--dry-run"), (DAMAGED, {"XOR": "lost", "RS": "rebuildable"}))
        self.assertEqual(self.verdicts(), (DAMAGED, {"XOR": "lost", "RS": "rebuilt"}))
        self.assertIn("If this set does not count, move its scheme files", self.problems["XOR"])
        self.assertEqual(self.files(), before)
        self.check_nothing_changes(DAMAGED, XOR="lost", RS="whole")

    # In which the older one could do without more.
    def test_nor_does_it_come_from_the_older_one_that_covers_more(self):
        self.let_tell(".rs.", OTHER_SIZE)
        before = self.files()
        self.lose(3)
        self.assertEqual(self.verdicts("--dry-run"), (OLDER, {"RS": "superseded", "XOR": "rebuildable"}))
        self.assertEqual(self.verdicts(), (GOOD, {"RS": "superseded", "XOR": "rebuilt"}))
        after = self.files()
        users = [path for path in before if path.startswith("in/")]
        self.assertEqual([before[path] for path in users], [after[path] for path in users])

    def test_with_the_same_sizes_times_tell(self):
        self.let_tell(".xor.", OTHER_TIME)
        self.keep_times()
        before = self.files()
        os.remove(os.path.join(self.directory, "in", "r1_f0.dat"))
        verdicts = {"XOR": "superseded", "RS": "rebuildable"}
        self.assertEqual(self.verdicts("--dry-run"), (OLDER, verdicts))
        self.assertEqual(self.verdicts(), (GOOD, verdicts | {"RS": "rebuilt"}))
        self.assertEqual(self.files(), before)

    def test_where_nothing_tells_neither_is_written(self):
        self.let_tell(".xor.", OTHER_TIME)
        before = self.files()
        os.remove(os.path.join(self.directory, "in", "r1_f0.dat"))
        self.check_nothing_changes(UNREADABLE, RS="failed", XOR="failed")
        for scheme, other in ("RS", ".xor."), ("XOR", ".rs."):
            self.assertIn("in/r0_f0.dat is told of otherwise by set 1 of 1 (", self.problems[scheme])
            self.assertIn(f"/red/0{other}", self.problems[scheme])
            self.assertIn("Move the scheme files of the set that does not count", self.problems[scheme])
        for name in os.listdir(self.red()):
            if ".xor." in name:
                os.remove(self.red(name))
                del before[f"red/{name}"]
        self.check_is_rebuilt(before)

    # A file that is cut fits neither of them, and the others tell which set counts.
    def test_files_of_which_nothing_is_lost_tell_what_a_damaged_one_was(self):
        self.let_tell(".xor.", OTHER_SIZE)
        before = self.files()
        os.truncate(os.path.join(self.directory, "in", "r1_f0.dat"), 10)
        self.check_is_rebuilt(before, XOR="superseded")

    # Its other files may have changed, and from these it would make what never was.
    def test_a_file_that_did_not_change_does_not_come_from_a_set_of_which_others_did(self):
        self.let_tell(".xor.", {"1600000000": "1400000000"})
        self.keep_times()
        before = self.files()
        os.remove(os.path.join(self.directory, "in", "r1_f0.dat"))
        self.assertEqual(self.verdicts(), (GOOD, {"RS": "rebuilt", "XOR": "superseded"}))
        self.assertEqual(self.files(), before)

    def test_an_older_set_that_has_other_files_too_is_not_passed_over_in_silence(self):
        self.let_tell(".xor.", OTHER_SIZE | {"in/r2_f0.dat": "in/own.dat"})
        self.check_nothing_changes(UNREADABLE, RS="whole", XOR="failed")
        self.assertIn("is told of otherwise by set 1 of 1 (RS", self.problems["XOR"])

    # Of two sets of one name that both are whole.
    def test_descriptors_of_either_stay(self):
        self.check_nothing_changes(GOOD, RS="whole", XOR="whole")
        for rank in 0, 1:
            shutil.copy(os.path.join(VECTORS, "xor_4", "red", f"{rank}.redset"), self.red(f"{rank}.redset"))
            self.check_nothing_changes(GOOD, RS="whole", XOR="whole")
        os.remove(self.red("2.redset"))
        self.assertEqual(self.verdicts("--dry-run"), (OLDER, {"RS": "rebuildable", "XOR": "rebuildable"}))
        self.assertEqual(self.verdicts()[0], GOOD)
        self.check_nothing_changes(GOOD, RS="whole", XOR="whole")

    def test_descriptors_of_one_that_is_lost_do_not(self):
        for name in os.listdir(self.red()):
            if ".rs." in name and name[0] != "0":
                os.remove(self.red(name))
        self.assertEqual(self.verdicts(), (DAMAGED, {"RS": "lost", "XOR": "rebuilt"}))
        self.check_nothing_changes(DAMAGED, RS="lost", XOR="whole")

    def lose_all_scheme_files_of_the_newer(self):
        for name in os.listdir(self.red()):
            if ".rs." in name:
                os.remove(self.red(name))

    def test_a_set_that_descriptors_alone_tell_of_may_be_the_newer(self):
        self.let_tell(".xor.", OTHER_SIZE)
        self.lose_all_scheme_files_of_the_newer()
        self.check_nothing_changes(UNREADABLE, XOR="failed")
        for part in "red/0.redset tells of set 1 of 1 (RS, 4 members, 2 checksums)", "in/r0_f0.dat is not there as", "move descriptors":
            self.assertIn(part, self.problems["XOR"])
        for rank in range(4):
            os.remove(self.red(f"{rank}.redset"))
        self.assertEqual(self.verdicts("--dry-run"), (OLDER, {"XOR": "rebuildable"}))

    def test_so_may_one_with_another_prefix_in_that_directory(self):
        self.lose_all_scheme_files_of_the_newer()
        for name in os.listdir(self.red()):
            if ".xor." in name:
                os.rename(self.red(name), self.red("p." + name))
        os.remove(os.path.join(self.directory, "in", "r1_f0.dat"))
        self.check_nothing_changes(UNREADABLE, XOR="failed")
        self.assertIn("red/0.redset tells of set 1 of 1 (RS, 4 members, 2 checksums)", self.problems["XOR"])
        for rank in range(4):
            os.remove(self.red(f"{rank}.redset"))
        self.assertEqual(self.verdicts(), (GOOD, {"XOR": "rebuilt"}))

    def test_another_job_of_that_shape_does_not_stand_for_it(self):
        other = os.path.join(self.directory, "other")
        shutil.copytree(os.path.join(self.directory, "in"), os.path.join(other, "in"))
        os.mkdir(os.path.join(other, "red"))
        for name in os.listdir(self.red()):
            if ".rs." in name or name.count(".") == 1:
                shutil.copy2(self.red(name), os.path.join(other, "red", name))
        self.let_tell(".xor.", OTHER_SIZE)
        self.lose_all_scheme_files_of_the_newer()
        self.check_nothing_changes(UNREADABLE, RS="whole", XOR="failed")

    def test_it_does_not_matter_where_all_files_are_as_the_other_tells(self):
        self.keep_times()
        self.lose_all_scheme_files_of_the_newer()
        before = self.files()
        os.remove(self.red("2.xor.grp_1_of_1.mem_3_of_4.redset"))
        self.assertEqual(self.verdicts("--dry-run"), (OLDER, {"XOR": "rebuildable"}))
        self.assertEqual(self.verdicts(), (GOOD, {"XOR": "rebuilt"}))
        after = self.files()
        self.assertEqual({path for path in before if before[path] != after[path]}, {f"red/{rank}.redset" for rank in range(4)})

    def test_one_that_is_gone_may_have_been_otherwise(self):
        self.keep_times()
        self.lose_all_scheme_files_of_the_newer()
        os.remove(os.path.join(self.directory, "in", "r1_f0.dat"))
        self.check_nothing_changes(UNREADABLE, XOR="failed")

    def let_tell_of_another_file_of_rank_0(self):
        self.let_tell(".xor.", OTHER_SIZE)
        for rank in range(4):
            os.remove(self.red(f"{rank}.redset"))

    # Its header 3 tells of 2 and 1 besides.
    def test_a_newer_set_that_does_not_tell_of_a_file_any_more_may_have_had_it(self):
        self.let_tell_of_another_file_of_rank_0()
        for name in os.listdir(self.red()):
            if ".rs." in name and name[0] != "3":
                os.remove(self.red(name))
        self.check_nothing_changes(DAMAGED, RS="lost", XOR="failed")
        self.assertIn("in/r0_f0.dat is not there as this set tells, and nothing that is left tells what rank 0 had in set 1 of 1 (RS, ", self.problems["XOR"])

    def test_nor_does_one_whose_scheme_files_cannot_be_read(self):
        self.let_tell_of_another_file_of_rank_0()
        for name in os.listdir(self.red()):
            if ".rs." in name:
                os.truncate(self.red(name), 100)
        self.check_nothing_changes(DAMAGED, XOR="failed")
        for part in "in/r0_f0.dat is not there as", "0.rs.grp_1_of_1.mem_1_of_4.redset, which may have told of it, cannot be read":
            self.assertIn(part, self.problems["XOR"])

    # As where ranks were divided anew, and not all came to write theirs.
    def test_scheme_files_of_another_set_that_have_the_names_of_lost_ones_stay(self):
        for name in os.listdir(self.red()):
            if ".xor." in name or name == "3.redset":
                os.remove(self.red(name))
        for rank in range(3):
            for name in f"{rank}.rs.grp_1_of_1.mem_{rank + 1}_of_4.redset", f"{rank}.redset":
                shutil.copy(os.path.join(VECTORS, "rs_4_k1", "red", name), self.red(name))
        self.keep_times()
        left = self.files()
        for options in ["--dry-run"], [], []:
            status, out, _ = self.rebuild("--json", *options, self.directory)
            self.assertEqual((status, [each["verdict"] for each in json.loads(out)["sets"]]), (DAMAGED, ["failed", "lost"]))
            self.assertIn("3.rs.grp_1_of_1.mem_4_of_4.redset is that of another set, set 1 of 1 (RS, 4 members, 2 checksums)", out)
            self.assertEqual(self.files(), left)

    # Where times were kept one that has another may have been written to since.
    def test_without_checksums_files_with_another_time_are_no_sources(self):
        before = self.let_xor_alone_be_there("r0_f1.dat")
        os.remove(os.path.join(self.directory, "in", "r1_f0.dat"))
        self.check_nothing_changes(UNREADABLE, XOR="failed")
        self.assertIn("in/r0_f1.dat has another time than this set tells, and that size or more", self.problems["XOR"])
        self.assertEqual(self.verdicts("--by-size", "--dry-run"), (OLDER, {"XOR": "rebuildable"}))
        self.assertEqual(self.verdicts("--by-size"), (GOOD, {"XOR": "rebuilt"}))
        self.assertEqual({path: data for path, data in self.files().items() if path in before}, before)

    def let_xor_alone_be_there(self, *but):
        for name in os.listdir(self.red()):
            if ".rs." in name:
                os.remove(self.red(name))
        for rank in range(4):
            shutil.copy(os.path.join(VECTORS, "xor_4", "red", f"{rank}.redset"), self.red(f"{rank}.redset"))
        self.keep_times(*but)
        return self.files()

    def set_time(self, name, nanoseconds):
        path = os.path.join(self.directory, "in", name)
        os.utime(path, ns=(0, 1600000001 * 10**9 + nanoseconds))

    # Some copies keep less of a time, or round it as floating-point numbers; but none makes up more.
    def test_nor_is_one_that_was_written_to_in_the_same_second(self):
        before = self.let_xor_alone_be_there()
        os.remove(self.red("1.xor.grp_1_of_1.mem_2_of_4.redset"))
        for nanoseconds in 222001001, 221999001, 222100000, 900000000:
            self.set_time("r0_f1.dat", nanoseconds)
            self.check_nothing_changes(UNREADABLE, XOR="failed")
            self.assertIn("in/r0_f1.dat has another time than this set tells", self.problems["XOR"])
        for nanoseconds in 222000001, 222000120, 222001000, 221999002, 222000000, 0:
            self.set_time("r0_f1.dat", nanoseconds)
            self.assertEqual(self.verdicts("--dry-run"), (OLDER, {"XOR": "rebuildable"}))
        self.assertEqual(self.verdicts(), (GOOD, {"XOR": "rebuilt"}))
        self.assertEqual(self.files(), before)

    def test_what_floating_point_numbers_lose_may_be_in_the_next_second(self):
        before = self.let_xor_alone_be_there()
        self.let_tell(".xor.", {"222000001": "999999900"})
        os.remove(self.red("1.xor.grp_1_of_1.mem_2_of_4.redset"))
        for nanoseconds in 10**9 + 900, 999998900, 2 * 10**9 - 100:
            self.set_time("r0_f1.dat", nanoseconds)
            self.check_nothing_changes(UNREADABLE, XOR="failed")
        for nanoseconds in 10**9 + 899, 10**9, 999998901, 999999900:
            self.set_time("r0_f1.dat", nanoseconds)
            self.assertEqual(self.verdicts("--dry-run"), (OLDER, {"XOR": "rebuildable"}))
        self.assertEqual(self.verdicts(), (GOOD, {"XOR": "rebuilt"}))
        self.assertEqual(set(self.files()), set(before))

    # An empty one adds nothing to others.
    def test_the_time_of_an_empty_file_does_not_matter(self):
        before = self.let_xor_alone_be_there("r2_f0.dat")
        os.remove(os.path.join(self.directory, "in", "r1_f0.dat"))
        self.assertEqual(self.verdicts(), (GOOD, {"XOR": "rebuilt"}))
        self.assertEqual(self.files(), before)

    # What was brought back has the time that is told, the others have lost theirs.
    def test_what_was_brought_back_does_not_tell_that_times_were_kept(self):
        before = self.let_xor_alone_be_there("r0_f0.dat", "r0_f1.dat", "r2_f0.dat")
        os.remove(self.red("2.xor.grp_1_of_1.mem_3_of_4.redset"))
        self.assertEqual(self.verdicts(), (GOOD, {"XOR": "rebuilt"}))
        self.assertEqual(self.files(), before)

    def test_a_longer_and_newer_file_is_not_written_over_where_times_were_kept(self):
        self.let_xor_alone_be_there()
        path = os.path.join(self.directory, "in", "r1_f0.dat")
        with open(path, "ab") as file:
            file.write(b"more")
        self.check_nothing_changes(UNREADABLE, XOR="failed")
        self.assertIn("in/r1_f0.dat has another time than this set tells, and that size or more", self.problems["XOR"])
        self.assertEqual(self.verdicts("--by-size"), (GOOD, {"XOR": "rebuilt"}))
        self.assertEqual(os.path.getsize(path), 5003)

    def test_a_link_to_the_files_makes_no_others_of_them(self):
        self.let_tell(".xor.", OTHER_SIZE)
        os.mkdir(os.path.join(self.directory, "old"))
        for name in os.listdir(self.red()):
            if ".xor." in name:
                shutil.move(self.red(name), os.path.join(self.directory, "old", name))
        os.symlink("../in", os.path.join(self.directory, "old", "in"))
        self.check_nothing_changes(GOOD, RS="whole", XOR="superseded")

    def test_sets_that_tell_the_same_all_count(self):
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


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
