#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the containment-domains authors
"""rebuild_tables_test.py CDCTL VECTORS: descriptors and checksums that are lost, which cost no data to make again."""

import os
import sys
import unittest

from rebuild_case import GOOD, OLDER, Case, crc32c, image_of, sorted_tree, tree_image


class LostTables(Case):
    case = "xor_4"

    def lose_and_bring_back(self, name, key, line, lose):
        whole = self.files()
        lose(os.path.join(self.directory, name))
        left = self.files()
        for options, found in (["--dry-run"], (OLDER, "rebuildable")), ([], (GOOD, "rebuilt")):
            status, out, _ = self.rebuild(*options, self.directory)
            self.assertEqual(status, found[0])
            self.assertIn(": " + found[1], out)
            self.assertIn(f"\n  rank 1: {line} lost: {self.directory}/{name}: ", out)
            self.assertEqual(self.files(), left if options else whole)
            lose(os.path.join(self.directory, name))
            status, one = self.only_set(*options)
            self.assertEqual((status, one["verdict"]), found)
            self.assertEqual([each[key] is not None for each in one["ranks"]], [False, True, False, False])
            self.assertIn(name, one["ranks"][1][key])
        self.assertEqual((self.only_set("--dry-run")[1]["verdict"], self.files()), ("whole", whole))

    def erase(self, path):
        if os.path.exists(path):
            os.remove(path)

    def change(self, path):
        self.write(path, tree_image({"of another time": {}}))

    def test_a_descriptor_is_told_of_and_comes_back(self):
        for lose in self.erase, self.change:
            self.lose_and_bring_back("red/1.redset", "descriptor_lost", "descriptor", lose)

    def test_checksums_are_told_of_and_come_back(self):
        self.add_checksums()
        for lose in self.erase, self.change:
            self.lose_and_bring_back("red/1.cdsums", "checksums_lost", "checksums", lose)

    def test_a_descriptor_with_more_in_it_and_in_another_order_is_whole_and_stays(self):
        path = os.path.join(self.directory, "red", "1.redset")
        with open(path, "rb") as file:
            tree, _ = image_of(file.read())

        def turned_around(tree):
            return {key: turned_around(tree[key]) for key in reversed(tree)} | ({"NEW": {"1": {}}} if "TYPE" in tree else {})

        self.write(path, tree_image(turned_around(tree)))
        for options in self.unchanged(["--dry-run"], []):
            self.assertEqual(self.only_set(*options)[1]["verdict"], "whole")

    def test_checksums_that_there_never_were_are_not_lost(self):
        status, one = self.only_set("--dry-run")
        self.assertEqual((status, one["verdict"], one["checksums"]), (GOOD, "whole", False))
        self.assertEqual([each["checksums_lost"] for each in one["ranks"]], [None] * 4)

    def add_checksums(self):
        """As the library has them beside what redset writes."""
        members = {}
        for member, path in enumerate(sorted(path for path in self.files() if ".grp_" in path)):
            with open(os.path.join(self.directory, path), "rb") as file:
                tree, payload = image_of(file.read())
            entry = tree["DESC"][str(member)]
            files = {}
            for number, names in entry["FILE"].items():
                with open(os.path.join(self.directory, *names), "rb") as file:
                    files[number] = {str(crc32c(file.read())): {}}
            sums = {"ENTRY": crc32c(tree_image(sorted_tree(entry))), "PAYLOAD": crc32c(payload)}
            members[str(member)] = {key: {str(crc): {}} for key, crc in sums.items()}
            members[str(member)]["FILE"] = files
        for member in members:
            self.write(os.path.join(self.directory, "red", f"{member}.cdsums"), tree_image(sorted_tree({"FORMAT": {"1": {}}, "MEMBER": members})))


unittest.main(argv=sys.argv[:1])
