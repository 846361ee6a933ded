#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the containment-domains authors
"""cdctl_damage_test.py CDCTL MAKE_STORES LOST_BLOCK: what cdctl says of damaged stores."""

import errno
import os
import shutil
import sys
import unittest

from cdctl_case import BLOCK, DAMAGED, GOOD, LOST_BLOCK, OLDER, UNREADABLE, Case


class DamageTest(Case):
    def test_damaged_data_are_told_with_file_offset_and_owner(self):
        self.make(storage="keep=1")
        entry = self.damage_data(3)
        (store,) = self.json("verify", self.path(), expect=DAMAGED)
        (bad,) = store["damaged_data"]
        self.assertEqual((bad["offset"], bad["bytes"]), (entry["data"]["offset"], 3000))
        self.assertIn(self.path(), bad["reason"])
        self.assertIn(str(bad["offset"]), bad["reason"])
        self.assertEqual(bad["holds"], [f"CD 0/heat/0/0: 3000 bytes at {entry['address']}"])
        self.assertEqual((store["good_epochs"], store["damaged_epochs"]), ([], [3]))
        self.assertEqual((store["verdict"], store["exit_status"]), ("damaged", DAMAGED))
        status, out, _ = self.cdctl("verify", self.path())
        self.assertEqual(status, DAMAGED)
        self.assertIn("DAMAGED", out)

    def test_damage_of_one_of_two_points_in_time_leaves_the_other(self):
        self.make()
        self.damage_data(3)
        (store,) = self.json("verify", self.path(), expect=OLDER)
        self.assertEqual((store["good_epochs"], store["damaged_epochs"]), ([2], [3]))
        self.assertEqual((store["verdict"], store["exit_status"]), ("older", OLDER))
        shutil.rmtree(self.stores)
        self.make()
        self.damage_data(2)
        (store,) = self.json("verify", self.path(), expect=OLDER)
        self.assertEqual((store["good_epochs"], store["damaged_epochs"]), ([3], [2]))

    def test_list_does_not_read_data(self):
        self.make()
        self.damage_data(3)
        self.assertEqual(self.cdctl("list", self.path())[0], GOOD)

    def test_lost_records_are_told(self):
        self.make(storage="keep=1")
        (store,) = self.json("show", self.path())
        journal = store["journal"]
        self.change(journal["offset"] + journal["used"] - BLOCK + 50, b"\xff")
        (store,) = self.json("list", self.path(), expect=OLDER)
        self.assertEqual(store["condition"], "older")
        self.assertIn(f"record at offset {journal['offset'] + journal['used'] - BLOCK}", store["problem"])

    def test_no_header_is_damage(self):
        self.make()
        self.change(0, b"x" * 2 * BLOCK)
        for command in ("list", "show", "verify", "epoch"):
            self.assertEqual(self.cdctl(command, self.path())[0], DAMAGED)
        self.assertIn("no header is whole", self.json("list", self.path(), expect=DAMAGED)[0]["problem"])

    def reading_fails(self, offset, error):
        return dict(
            self.environment(),
            LD_PRELOAD=LOST_BLOCK,
            LOST_BYTE=str(offset),
            LOST_ERROR=str(error),
        )

    def test_what_the_disk_has_lost_is_damage(self):
        self.make(storage="keep=1")
        (store,) = self.json("show", self.path())
        data = next(e["data"] for e in store["domains"][0]["entries"] if e["bytes"] == 3000)
        for error in (errno.EIO, errno.ENODATA):
            for lost, command, status in (
                (data["offset"] + 100, "verify", DAMAGED),
                (store["snapshot"]["offset"], "list", DAMAGED),
                # Before its first record the store had nothing.
                (store["journal"]["offset"], "list", DAMAGED),
            ):
                (found,) = self.json(
                    command, self.path(), expect=status, env=self.reading_fails(lost, error)
                )
                if command == "verify":
                    self.assertEqual(found["damaged_epochs"], [3])
                    self.assertIn(self.path(), found["damaged_data"][0]["reason"])
                    self.assertIn(os.strerror(error), found["damaged_data"][0]["reason"])
                else:
                    self.assertIn(self.path(), found["problem"])
        self.assertEqual(self.json("verify", self.path())[0]["condition"], "good")

    def test_what_cannot_be_read_now_is_no_damage(self):
        self.make()
        (found,) = self.json(
            "verify", self.path(), expect=UNREADABLE, env=self.reading_fails(0, errno.ENOMEM)
        )
        self.assertEqual(found["condition"], "unreadable")
        self.assertEqual((found["verdict"], found["exit_status"]), ("unreadable", UNREADABLE))

    def test_no_epoch_is_common_while_a_store_cannot_be_read(self):
        self.make(0)
        self.make(1)
        broken = self.reading_fails(0, errno.ENOMEM)
        status, out, error = self.cdctl("epoch", self.stores, env=broken)
        self.assertEqual((status, out), (UNREADABLE, "none\n"))
        self.assertIn("not all of these stores can be read", error)
        self.assertNotIn("no common epoch", error)
        os.truncate(self.path(1), 5000)
        self.assertEqual(self.cdctl("epoch", self.stores)[:2], (DAMAGED, "none\n"))

    def test_the_worst_store_decides_the_exit_status(self):
        for rank in range(3):
            self.make(rank)
        self.assertEqual(self.cdctl("verify", self.stores)[0], GOOD)
        self.damage_data(3)
        self.assertEqual(self.cdctl("verify", self.stores)[0], OLDER)
        self.assertEqual(self.cdctl("verify", self.stores, "nothing")[0], UNREADABLE)
        os.truncate(self.path(2), 5000)
        self.assertEqual(self.cdctl("verify", self.stores, "nothing")[0], DAMAGED)


unittest.main(argv=sys.argv[:1] + sys.argv[4:])
