#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the containment-domains authors
"""rebuild_bounds_test.py CDCTL VECTORS: cdctl rebuild reads where names lead, and writes below what it was given alone."""

import json
import os
import shutil
import sys
import unittest

from rebuild_case import GOOD, OLDER, UNREADABLE, Case


class BoundsCase(Case):
    """The set is in scavenged/, and home/ is beside it."""

    def setUp(self):
        super().setUp()
        self.given = os.path.join(self.directory, "scavenged")
        self.home = os.path.join(self.directory, "home")
        os.mkdir(self.given)
        os.mkdir(self.home)
        for name in "in", "red":
            os.rename(os.path.join(self.directory, name), os.path.join(self.given, name))

    def call_files(self, name, *ranks):
        """Scheme files tell of the files of ranks, that were in in/, by names that name() gives."""
        for path in self.files():
            if path.endswith(".redset"):
                self.rename_in(
                    os.path.join(self.directory, path),
                    lambda key: name(key) if any(key.startswith(f"in/r{rank}_") for rank in ranks) else key,
                )

    def expect(self, verdict, exit_status, *directories, dry_run=False):
        options = ["--dry-run"] if dry_run else []
        status, out, told = self.rebuild("--json", *options, *directories)
        self.assertEqual(told, "")
        (one,) = json.loads(out)["sets"]
        self.assertEqual((one["verdict"], status), (verdict, exit_status), one["problem"])
        return one["problem"]

    def expect_refusal(self, file, directory, *directories):
        left = self.files()
        for dry_run in True, False:
            problem = self.expect("failed", UNREADABLE, *directories, dry_run=dry_run)
            self.assertRegex(problem, f'{file}" of rank 2 would be rebuilt in {directory}, which is not below a ')
            self.assertEqual(self.files(), left)

    def expect_all_back(self, *directories):
        self.expect("rebuildable", OLDER, *directories, dry_run=True)
        self.expect("rebuilt", GOOD, *directories)
        self.expect("whole", GOOD, *directories)


class RebuildBoundsTest(BoundsCase):
    case = "xor_4"

    def test_names_that_lead_out_are_refused_and_the_directory_is_named(self):
        whole = self.files()
        with open(os.path.join(self.home, "r2_f0.dat"), "wb") as file:
            file.write(b"precious")
        for names in (
            "../../home/r2_",
            "in/../../../home/r2_",
            self.home + "/r2_",
            self.given + "/red/../../home/r2_",
        ):
            self.call_files(lambda key, names=names: key.replace("in/r2_", names), 2)
            os.remove(os.path.join(self.given, "in", "r2_f0.dat"))
            self.expect_refusal("r2_f0.dat", "/.*home", self.given)
            shutil.rmtree(self.given)
            for path, data in whole.items():
                os.makedirs(os.path.join(self.directory, os.path.dirname(path)), exist_ok=True)
                self.write(os.path.join(self.directory, path), data)

    def test_links_lead_nowhere_else_and_one_that_is_given_may(self):
        os.rename(os.path.join(self.given, "in"), os.path.join(self.home, "in"))
        os.symlink(os.path.join(self.home, "in"), os.path.join(self.given, "in"))
        self.expect("whole", GOOD, self.given)
        os.remove(os.path.join(self.home, "in", "r2_f0.dat"))
        self.expect_refusal("r2_f0.dat", os.path.realpath(self.home) + "/in", self.given)
        os.symlink(self.home, os.path.join(self.directory, "link"))
        self.expect_all_back(self.given, os.path.join(self.directory, "link"))

    def test_files_that_are_beside_what_is_given_are_read_and_brought_back_where_that_is_given_too(self):
        os.rename(os.path.join(self.given, "in"), os.path.join(self.home, "in"))
        self.call_files(lambda key: "../" + key.replace("in/", "../home/in/"), 0, 1, 2, 3)
        run = os.path.join(self.given, "red")
        self.expect("whole", GOOD, run)
        os.remove(os.path.join(self.home, "in", "r2_f0.dat"))
        self.expect_refusal("r2_f0.dat", os.path.realpath(self.home) + "/in", run)
        self.expect_all_back(run, os.path.join(self.home, "in"))

    def test_absolute_names_below_what_is_given_are_brought_back(self):
        self.call_files(lambda key: os.path.join(self.given, key), 0, 1, 2, 3)
        os.remove(os.path.join(self.given, "in", "r2_f0.dat"))
        os.chdir(self.given)
        self.addCleanup(os.chdir, "/")
        self.expect_all_back(".")

    def test_a_bound_is_a_directory_and_not_the_beginning_of_a_name(self):
        os.mkdir(self.given + "2")
        self.call_files(lambda key: key.replace("in/", self.given + "2/"), 2)
        self.expect_refusal("r2_f0.dat", os.path.realpath(self.given) + "2", self.given)


class BoundsOfSeveral(BoundsCase):
    case = "rs_4_k2"

    def test_nothing_is_made_for_others_of_the_set_either(self):
        self.call_files(lambda key: key.replace("in/", "new/deep/"), 0)
        self.call_files(lambda key: key.replace("in/", "../../home/"), 2)
        self.expect_refusal("r2_f0.dat", "/.*home", self.given)
        self.assertEqual(sorted(os.listdir(self.given)), ["in", "red"])


unittest.main(argv=sys.argv[:1])
