#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the containment-domains authors
"""cdctl_leftovers_test.py CDCTL MAKE_STORES LOST_BLOCK: list names what programs left for good that were killed."""

import fcntl
import json
import os
import sys
import unittest

from cdctl_case import GOOD, Case

LEFT = (".7-heat.cds.gone", ".7-heat.cds.new")
OTHERS = (".7-heat.new", "notes.gone", "old.points/.7-heat.cds.new")


class LeftoversTest(Case):
    def put(self, names):
        for name in names:
            path = os.path.join(self.stores, name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "wb") as file:
                file.write(b"x" * 1000)

    def left(self):
        status, out, error = self.cdctl("list", "--json", self.stores)
        self.assertEqual(status, GOOD, error)
        found = json.loads(out)["leftovers"]
        self.assertTrue(all(each["file_bytes"] == 1000 for each in found))
        names = [os.path.relpath(each["path"], self.stores) for each in found]
        self.assertEqual(
            [line.split(": ")[1] for line in error.splitlines()],
            [os.path.join(self.stores, name) for name in names],
        )
        return names

    def test_they_are_named_with_their_size_and_what_to_do_and_nothing_else_is(self):
        self.make()
        self.put(OTHERS)
        self.assertEqual(self.left(), [])
        self.put(LEFT)
        self.assertEqual(self.left(), sorted(LEFT))
        _, _, error = self.cdctl("list", self.stores)
        self.assertIn(
            f"cdctl: {self.stores}/{LEFT[1]}: 1000 B left by a killed program. The next start with that root removes it\n",
            error,
        )

    def test_what_a_program_uses_is_none(self):
        self.make()
        self.put(LEFT)
        with open(os.path.join(self.stores, LEFT[0]), "r+b") as file:
            fcntl.lockf(file, fcntl.LOCK_EX)
            self.assertEqual(self.left(), [LEFT[1]])


unittest.main(argv=sys.argv[:1] + sys.argv[4:])
