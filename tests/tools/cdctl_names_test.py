#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the containment-domains authors
"""cdctl_names_test.py CDCTL MAKE_STORES LOST_BLOCK: what cdctl says of stores under names that are not theirs."""

import os
import shutil
import sys
import unittest

from cdctl_case import BLOCK, DAMAGED, GOOD, Case


class NamesTest(Case):
    def swap(self):
        aside = os.path.join(self.directory, "aside")
        os.rename(self.path(0), aside)
        os.rename(self.path(1), self.path(0))
        os.rename(aside, self.path(1))

    def test_swapped_stores_are_told_as_the_library_refuses_them(self):
        for rank in range(3):
            self.make(rank)
        self.swap()
        self.assertIn("the file was copied or renamed", self.make(expect=1))
        for command in ("list", "show", "verify"):
            found = self.json(command, self.stores, expect=DAMAGED)
            self.assertEqual([store["condition"] for store in found], ["renamed", "renamed", "good"])
            self.assertEqual([store["rank"] for store in found], [1, 0, 2])
            self.assertIn("root CD \"heat\" of rank 1", found[0]["problem"])
            self.assertIn("1-heat.cds", found[0]["problem"])
            status, out, error = self.cdctl(command, self.stores)
            self.assertEqual(status, DAMAGED)
            self.assertIn("renamed", out.lower())
            self.assertIn(found[1]["problem"], out + error)
        status, out, error = self.cdctl("epoch", self.stores)
        self.assertEqual((status, out), (DAMAGED, "none\n"))
        self.assertIn("copied or renamed", error)
        store = self.json("verify", self.path(), expect=DAMAGED)[0]
        self.assertEqual((store["verdict"], store["exit_status"]), ("renamed", DAMAGED))
        self.assertEqual((store["good_epochs"], store["checked_bytes"] > 0), ([3, 2], True))

    def test_damage_of_a_renamed_store_is_told_too(self):
        self.make(storage="keep=1")
        self.damage_data(3)
        os.rename(self.path(), self.path(1))
        (store,) = self.json("verify", self.path(1), expect=DAMAGED)
        self.assertEqual((store["condition"], store["verdict"]), ("renamed", "damaged"))
        self.assertEqual(store["damaged_epochs"], [3])

    def test_lost_records_of_a_renamed_store_are_told_too(self):
        self.make()
        (store,) = self.json("show", self.path())
        journal = store["journal"]
        self.change(journal["offset"] + journal["used"] - BLOCK + 50, b"\xff")
        os.rename(self.path(), self.path(1))
        (store,) = self.json("list", self.path(1), expect=DAMAGED)
        self.assertIn("record at offset", store["problem"])
        self.assertIn("copied or renamed", store["problem"])

    def test_a_copy_in_another_directory_is_good_under_its_name(self):
        self.make()
        os.makedirs(os.path.join(self.directory, "of", "1-heat.cds"))
        copy = os.path.join(self.directory, "of", "1-heat.cds", "0-heat.cds")
        shutil.copy(self.path(), copy)
        for path in (copy, os.path.dirname(copy)):
            for command in ("list", "show", "verify"):
                (store,) = self.json(command, path)
                self.assertEqual((store["condition"], store["problem"]), ("good", None))
        self.assertEqual(self.cdctl("epoch", os.path.dirname(copy)), (GOOD, "3\n", ""))

    def test_a_copy_beside_its_store_is_no_reason_not_to_start(self):
        self.make()
        shutil.copy(self.path(), os.path.join(self.stores, "backup-heat.cds"))
        status, out, error = self.cdctl("epoch", self.stores)
        self.assertEqual((status, out), (GOOD, "3\n"))
        self.assertIn("copied or renamed", error)

    def test_what_was_put_aside_is_good_under_its_name_alone(self):
        self.make()
        os.rename(self.path(), self.path(suffix=".old"))
        (store,) = self.json("verify", self.path(suffix=".old"))
        self.assertEqual((store["condition"], store["problem"]), ("good", None))
        os.rename(self.path(suffix=".old"), self.path(1, ".old"))
        (store,) = self.json("verify", self.stores, expect=DAMAGED)
        self.assertEqual(store["condition"], "renamed")
        status, _, error = self.cdctl("epoch", self.stores)
        self.assertEqual(status, DAMAGED)
        self.assertIn("copied or renamed", error)

    def test_a_copy_to_look_at_is_as_good_as_what_is_in_it_and_says_that_no_program_finds_it(self):
        self.make(storage="keep=1")
        self.damage_data(3)
        for name in ("x.cds", "0-heat.cds.bak", "heat"):
            copy = os.path.join(self.directory, name)
            shutil.copy(self.path(), copy)
            for command in ("list", "show"):
                (store,) = self.json(command, copy)
                self.assertEqual(store["condition"], "good")
                self.assertIn("0-heat.cds", store["problem"])
                status, out, error = self.cdctl(command, copy)
                self.assertEqual(status, GOOD)
                self.assertIn(store["problem"], out + error)
            (store,) = self.json("verify", copy, expect=DAMAGED)
            self.assertEqual((store["condition"], store["verdict"]), ("good", "damaged"))

    def test_in_a_directory_of_stores_none_has_a_name_of_no_root(self):
        self.make(0)
        self.make(1)
        os.rename(self.path(1), os.path.join(self.stores, "x.cds"))
        found = self.json("list", self.stores, expect=DAMAGED)
        self.assertEqual([store["condition"] for store in found], ["renamed", "good"])
        self.assertEqual(self.cdctl("epoch", self.stores)[:2], (DAMAGED, "none\n"))


unittest.main(argv=sys.argv[:1] + sys.argv[4:])
