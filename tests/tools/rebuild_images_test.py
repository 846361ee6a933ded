#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the containment-domains authors
"""rebuild_images_test.py CDCTL VECTORS: of points in time whose images are whole cdctl rebuild makes any scheme files again."""

import json
import os
import re
import shutil
import sys
import unittest

from rebuild_case import DAMAGED, GOOD, OLDER, Case, crc32c, image_of, sorted_tree, tree_image


def read(path):
    with open(path, "rb") as file:
        return file.read()


class ImagesTest(Case):
    """Upstream's sets, as if libcd had stored the files, with checksums: each node has a directory. Ranks with one file have an image."""

    case = "xor_8_sets4"
    attempt = "solver.points/epoch-7.7.0.00000000000000ab"

    def setUp(self):
        super().setUp()
        self.data = {}  # names of each rank's files
        for name in sorted(os.listdir(os.path.join(self.directory, "in"))):
            self.data.setdefault(name[1], []).append(name)
        names = {"in/" + each[0]: f"{rank}.image" for rank, each in self.data.items() if len(each) == 1}
        names |= {"in/" + each: f"{rank}.{each}" for rank, all in self.data.items() if len(all) > 1 for each in all}
        self.data = {rank: [names["in/" + each] for each in all] for rank, all in self.data.items()}
        for old, new in names.items():
            shutil.move(os.path.join(self.directory, old), self.path(new[0], new))
        self.schemes = {}  # name of each rank's
        members = {}
        for name in sorted(os.listdir(os.path.join(self.directory, "red"))):
            rank = name[0]
            shutil.copy2(os.path.join(self.directory, "red", name), self.path(rank))
            if ".grp_" in name:
                self.schemes[rank] = name
                self.rename_in(self.path(rank, name), lambda key: names.get(key, key))
                members[rank] = self.sums_of(rank)
        shutil.rmtree(os.path.join(self.directory, "red"))
        shutil.rmtree(os.path.join(self.directory, "in"))
        for rank in self.schemes:
            of_set = {self.number(each): members[each] for each in self.schemes if self.set_of(each) == self.set_of(rank)}
            sums = {"FORMAT": {"1": {}}, "MEMBER": of_set}
            self.write(self.path(rank, f"{rank}.cdsums"), tree_image(sorted_tree(sums)))
        self.assertEqual(self.rebuild("--agree", self.directory)[0], GOOD)

    def path(self, rank, name=""):
        directory = os.path.join(self.directory, "n" + rank, self.attempt)
        os.makedirs(directory, exist_ok=True)
        return os.path.join(directory, name)

    def number(self, rank):
        return str(int(re.search(r"\.mem_(\d+)_of_", self.schemes[rank]).group(1)) - 1)

    def set_of(self, rank):
        return re.search(r"\.grp_(\d+)_of_", self.schemes[rank]).group(1)

    def sums_of(self, rank):
        tree, payload = image_of(read(self.path(rank, self.schemes[rank])))
        entry = sorted_tree(tree["DESC"][self.number(rank)])
        files = enumerate(read(self.path(rank, name)) for name in self.data.get(rank, []))
        return {
            "ENTRY": {str(crc32c(tree_image(entry))): {}},
            "FILE": {str(i): {str(crc32c(data)): {}} for i, data in files},
            "PAYLOAD": {str(crc32c(payload)): {}},
        }

    def lose_scheme_files(self):
        """All but that of the first member of each set."""
        for rank, name in self.schemes.items():
            if self.number(rank) != "0":
                os.remove(self.path(rank, name))

    def verdicts(self, *options):
        status, out, _ = self.rebuild("--json", *options, self.directory)
        return status, {each["verdict"] for each in json.loads(out)["sets"]}

    def images(self):
        return {path: data for path, data in self.files().items() if ".image" in path or ".dat" in path}

    def test_scheme_files_are_made_again(self):
        images = self.images()
        self.lose_scheme_files()
        left = self.files()
        self.assertEqual(self.verdicts("--dry-run"), (OLDER, {"rebuildable"}))
        self.assertEqual(self.files(), left)
        self.assertEqual(self.verdicts(), (GOOD, {"rebuilt"}))
        for rank in self.data:
            self.assertTrue(os.path.exists(self.path(rank, self.schemes[rank])))
        self.assertEqual(self.images(), images)
        self.assertEqual(self.verdicts(), (GOOD, {"whole"}))
        # By what was made what is lost next comes back.
        os.remove(self.path("1", "1.image"))
        self.assertIn("rebuilt", self.verdicts()[1])
        self.assertEqual(self.images(), images)

    def test_images_that_are_not_whole_are_lost(self):
        self.lose_scheme_files()
        for rank in "1", "5":
            if rank in self.schemes:
                self.write(self.path(rank, f"{rank}.image"), b"no " + read(self.path(rank, f"{rank}.image"))[3:])
        left = self.files()
        for options in ["--dry-run"], []:
            self.assertEqual(self.verdicts(*options), (DAMAGED, {"lost"}))
            self.assertEqual(self.files(), left)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
