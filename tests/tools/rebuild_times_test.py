#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the containment-domains authors
"""rebuild_times_test.py CDCTL VECTORS: of jobs that gave their files to redset several times, in several sets each time, cdctl rebuild brings back nothing older."""

import json
import os
import shutil
import sys
import unittest

from rebuild_case import DAMAGED, GOOD, OLDER, UNREADABLE, VECTORS, Case


class TimesTest(Case):
    """Four sets of two, and two older ones of four that tell of another file of rank 1."""

    case = "partner_8_halves_r1"

    def setUp(self):
        super().setUp()
        for name in os.listdir(os.path.join(VECTORS, "xor_8_sets4", "red")):
            if ".xor." in name:
                shutil.copy(os.path.join(VECTORS, "xor_8_sets4", "red", name), self.red(name))
        self.keep_times()

    def red(self, name=""):
        return os.path.join(self.directory, "red", name)

    def let_older_tell_otherwise(self, of="2137"):
        for name in os.listdir(self.red()):
            if ".xor." in name:
                self.rename_in(self.red(name), lambda key: "2000" if key == of else key)

    def verdicts(self, *options):
        status, out, _ = self.rebuild("--json", *options, self.directory)
        found = json.loads(out)
        self.missing = found["missing_sets"]
        self.problems = [each["problem"] for each in found["sets"] if each["problem"]]
        return status, {(each["scheme"], each["set"]): each["verdict"] for each in found["sets"] if each["verdict"] != "whole"}

    def check_nothing_changes(self, status, **verdicts):
        left = self.files()
        for options in ["--dry-run"], [], []:
            self.assertEqual(self.verdicts(*options), (status, self.by_set(verdicts)))
            self.assertEqual(self.files(), left)

    @staticmethod
    def by_set(verdicts):
        return {(name.split("_")[0], int(name.split("_")[1])): verdict for name, verdict in verdicts.items()}

    def remove(self, rank):
        os.remove(os.path.join(self.directory, "in", f"r{rank}_f0.dat"))

    # What these bring back of it makes the older one recoverable, but for the file that is newer.
    def test_several_sets_take_the_place_of_an_older_one_with_all_of_their_files(self):
        self.let_older_tell_otherwise()
        before = self.files()
        self.remove(2)
        self.assertEqual(self.verdicts("--dry-run"), (OLDER, self.by_set({"XOR_0": "superseded", "PARTNER_2": "rebuildable"})))
        self.assertEqual(self.verdicts(), (GOOD, self.by_set({"XOR_0": "superseded", "PARTNER_2": "rebuilt"})))
        self.assertEqual(self.files(), before)
        self.check_nothing_changes(GOOD, XOR_0="superseded")

    def test_where_all_tell_the_same_one_set_builds_on_what_another_brings_back(self):
        before = self.files()
        self.remove(1)
        self.remove(2)
        verdicts = {"PARTNER_1": "rebuildable", "PARTNER_2": "rebuildable", "XOR_0": "rebuildable"}
        self.assertEqual(self.verdicts("--dry-run"), (OLDER, self.by_set(verdicts)))
        self.assertEqual(self.verdicts(), (GOOD, self.by_set({"PARTNER_1": "rebuilt", "PARTNER_2": "rebuilt"})))
        self.assertEqual(self.files(), before)
        self.check_nothing_changes(GOOD)

    # All of a set may be gone, and it may have had anything.
    def test_a_set_of_which_nothing_is_left_is_not_known(self):
        self.let_older_tell_otherwise()
        for name in os.listdir(self.red()):
            if ".partner.grp_2_" in name or name in ("1.redset", "5.redset"):
                os.remove(self.red(name))
        before = self.files()
        for options in ["--dry-run"], [], []:
            status, verdicts = self.verdicts(*options)
            self.assertEqual((status, verdicts["XOR", 0]), (DAMAGED, "failed"))
            self.assertIn("what there was in set 2 of 4 of the time of ", self.problems[0])
            self.assertIn("in/r1_f0.dat is not there as this set tells", self.problems[0])
            self.assertEqual({path: data for path, data in self.files().items() if path in before}, before)

    def move_to_nodes(self):
        for path in self.files():
            folder, name = os.path.split(path)
            node = os.path.join(self.directory, "n" + name.split("_")[0].split(".")[0].removeprefix("r"), folder)
            os.makedirs(node, exist_ok=True)
            shutil.move(os.path.join(self.directory, path), os.path.join(node, name))

    # They would put it below different nodes.
    def test_a_lost_file_of_which_two_sets_tell_otherwise_comes_from_neither(self):
        self.let_older_tell_otherwise("2274")
        self.move_to_nodes()
        shutil.rmtree(os.path.join(self.directory, "n2"))
        before = self.files()
        for options in ["--dry-run"], [], []:
            status, verdicts = self.verdicts(*options)
            self.assertEqual((status, verdicts["XOR", 0], verdicts["PARTNER", 2]), (UNREADABLE, "failed", "failed"))
            for problem in self.problems:
                self.assertIn("in/r2_f0.dat is told of otherwise by set ", problem)
            self.assertEqual(self.files().keys(), before.keys())
            self.assertEqual([data for path, data in self.files().items() if path.endswith(".dat")], [data for path, data in before.items() if path.endswith(".dat")])

    def test_lost_files_go_beside_scheme_files_of_their_ranks(self):
        for name in os.listdir(self.red()):
            if ".xor." in name:
                os.remove(self.red(name))
        self.move_to_nodes()
        before = self.files()
        for rank in 3, 7:
            os.remove(os.path.join(self.directory, f"n{rank}", "in", f"r{rank}_f0.dat"))
        self.assertEqual(self.verdicts(), (GOOD, self.by_set({"PARTNER_3": "rebuilt"})))
        self.assertEqual(self.files(), before)

    def move_scheme_files(self, part, to):
        os.mkdir(os.path.join(self.directory, to))
        for name in os.listdir(self.red()):
            if part in name:
                shutil.move(self.red(name), os.path.join(self.directory, to, name))

    # Though no file says that the one that is left of either is not of the other's time.
    def test_halves_of_two_times_are_no_job(self):
        self.move_scheme_files(".xor.grp_1_", "red0")
        self.move_scheme_files(".xor.grp_2_", "red1")
        shutil.rmtree(self.red())
        for folder, ranks in ("red0", range(4)), ("red1", range(4, 8)):
            for rank in ranks:
                shutil.copy(os.path.join(VECTORS, "xor_8_sets4", "red", f"{rank}.redset"), os.path.join(self.directory, folder))
        self.check_nothing_changes(DAMAGED)
        self.remove(2)
        self.check_nothing_changes(DAMAGED, XOR_0="failed")
        self.assertIn("what there was in set 1 of 2 of the time of ", self.problems[0])
        self.assertEqual(len(self.missing), 2)
        for sentence, set in zip(self.missing, (2, 1)):
            self.assertIn(f"nothing was found of set {set}, ", sentence)

    def test_times_with_directories_of_their_own_do_not_matter_to_each_other(self):
        other = os.path.join(self.directory, "t2")
        self.let_older_tell_otherwise()
        os.makedirs(os.path.join(other, "red"))
        shutil.copytree(os.path.join(self.directory, "in"), os.path.join(other, "in"))
        for name in os.listdir(self.red()):
            if ".xor." in name:
                shutil.move(self.red(name), os.path.join(other, "red", name))
        os.truncate(os.path.join(other, "in", "r1_f0.dat"), 2000)
        self.assertEqual(self.verdicts()[0], GOOD)
        before = self.files()
        self.remove(1)
        self.assertEqual(self.verdicts(), (GOOD, self.by_set({"PARTNER_1": "rebuilt"})))
        self.assertEqual(self.files(), before)
        self.check_nothing_changes(GOOD)

    # It has nothing to do with what another set builds on.
    def test_a_lost_set_elsewhere_does_not_make_a_run_do_less_than_its_dry_run(self):
        other = os.path.join(self.directory, "other")
        shutil.copytree(os.path.join(VECTORS, "rs_4_k2", "red"), other)
        for name in os.listdir(other):
            self.rename_in(os.path.join(other, name), lambda key: key.replace("in/", "out/"))
            if ".mem_4_" in name:
                os.remove(os.path.join(other, name))
        before = self.files()
        self.remove(1)
        self.remove(2)
        verdicts = {"PARTNER_1": "rebuildable", "PARTNER_2": "rebuildable", "XOR_0": "rebuildable", "RS_0": "lost"}
        self.assertEqual(self.verdicts("--dry-run"), (DAMAGED, self.by_set(verdicts)))
        self.assertEqual(self.verdicts(), (DAMAGED, self.by_set({"PARTNER_1": "rebuilt", "PARTNER_2": "rebuilt", "RS_0": "lost"})))
        self.assertEqual(self.files(), before)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
