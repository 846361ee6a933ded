#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the containment-domains authors
"""rebuild_test.py CDCTL VECTORS: cdctl rebuild brings back what upstream wrote, and says what it cannot."""

import errno
import json
import os
import pty
import shutil
import subprocess
import sys
import tempfile
import unittest

from rebuild_case import CDCTL, DAMAGED, GOOD, OLDER, UNREADABLE, USAGE, VECTORS, Case


class RebuildTest(Case):
    case = "rs_4_k2"

    def test_two_of_four_come_back(self):
        before = self.files()
        self.assertEqual(self.rebuild(self.directory)[0], GOOD)
        self.lose(0, 1)
        left = self.files()
        status, out, _ = self.rebuild("--dry-run", "--json", self.directory)
        self.assertEqual(status, OLDER)
        answer = json.loads(out)
        self.assertEqual(answer["sets"][0]["verdict"], "rebuildable")
        self.assertIn("r0_f0.dat", answer["sets"][0]["ranks"][0]["files_lost"])
        self.assertIsNone(answer["sets"][0]["ranks"][2]["scheme_file_lost"])
        self.assertEqual(self.files(), left)
        status, out, _ = self.rebuild(self.directory)
        self.assertEqual(status, GOOD)
        self.assertIn(": rebuilt", out)
        self.assertEqual(self.files(), before)

    def test_three_of_four_do_not_and_nothing_changes(self):
        self.lose(0, 1, 2)
        for options in self.unchanged([], ["--dry-run"]):
            status, out, _ = self.rebuild(*options, self.directory)
            self.assertEqual(status, DAMAGED)
            self.assertIn(": lost", out)
            status, lost = self.only_set(*options)
            self.assertEqual((status, lost["verdict"]), (DAMAGED, "lost"))
            self.assertIn("files of ranks 0, 1, 2 are lost", lost["problem"])

    def test_json_says_what_was_done(self):
        for verdict, lost in [("whole", []), ("rebuilt", [0]), ("whole", [])]:
            self.lose(*lost)
            status, out, _ = self.rebuild("--json", self.directory)
            self.assertEqual(status, GOOD)
            answer = json.loads(out)
            self.assertEqual((answer["dry_run"], answer["unusable"]), (False, []))
            (only,) = answer["sets"]
            self.assertEqual(
                [only[key] for key in ("set", "sets", "scheme", "members", "checks", "verdict")],
                [0, 1, "RS", 4, 2, verdict],
            )
            self.assertIsNone(only["problem"])
            self.assertEqual(len(only["scheme_files"]), 4 - len(lost))
            self.assertEqual([each["rank"] for each in only["ranks"]], [0, 1, 2, 3])
            for each in only["ranks"]:
                for key in "files_lost", "scheme_file_lost":
                    self.assertEqual(each[key] is not None, each["rank"] in lost)

    def test_a_directory_without_sets_is_told_to_programs_too(self):
        empty = os.path.join(self.directory, "empty")
        os.mkdir(empty)
        why = "no scheme file of a set can be read there"
        status, out, told = self.rebuild("--json", empty)
        self.assertEqual(status, UNREADABLE)
        self.assertEqual(json.loads(out)["unusable"], [why])
        self.assertEqual(told, f"cdctl: {why}\n")

    def test_a_directory_in_the_place_of_a_file_is_told_before_anything_changes(self):
        for place in "in/r1_f0.dat", "red/1.redset":
            shutil.rmtree(self.directory)
            self.setUp()
            self.lose(0, 1)
            os.makedirs(os.path.join(self.directory, place, "in_its_place"))
            left = self.files()
            status, one = self.only_set()
            self.assertEqual((status, one["verdict"]), (UNREADABLE, "failed"))
            self.assertIn(place + ": a directory has the name of a file", one["problem"])
            self.assertEqual(self.files(), left)
            shutil.rmtree(os.path.join(self.directory, place))
            self.assertEqual(self.only_set()[1]["verdict"], "rebuilt")

    # Upstream's directories of several times may have one name, and what it writes no checksums.
    def test_what_is_in_directories_of_one_name_may_be_of_different_times(self):
        for time in "t1", "t2":
            shutil.copytree(os.path.join(self.directory, "red"), os.path.join(self.directory, time, "set"))
            shutil.copytree(os.path.join(self.directory, "in"), os.path.join(self.directory, time, "in"))
        shutil.rmtree(os.path.join(self.directory, "red"))
        shutil.rmtree(os.path.join(self.directory, "in"))
        lost = os.path.join(self.directory, "t1", "in", "r2_f0.dat")
        os.remove(lost)
        status, sets = self.sets()
        self.assertEqual((status, sorted(each["verdict"] for each in sets)), (GOOD, ["rebuilt", "whole"]))
        self.assertTrue(os.path.exists(lost))

    def test_two_sets_that_describe_one_file_are_an_error_that_names_both(self):
        whole = os.path.join(VECTORS, "xor_4", "red")
        for name in os.listdir(whole):
            if ".grp_" in name:
                shutil.copy2(os.path.join(whole, name), os.path.join(self.directory, "red"))
        for options in self.unchanged(["--dry-run"], []):
            status, sets = self.sets(*options)
            self.assertEqual((status, [each["verdict"] for each in sets]), (UNREADABLE, ["failed", "failed"]))
            for each in sets:
                self.assertRegex(each["problem"], "^two sets describe .*: .*/0.xor.* and .*/0.rs.*; give the directory of one of them")

    def test_the_worst_of_several_sets_counts(self):
        self.lose(0)
        with tempfile.TemporaryDirectory() as other:
            shutil.copytree(os.path.join(VECTORS, "xor_4", "red"), os.path.join(other, "red"))
            status, out, _ = self.rebuild("--json", other, self.directory)
        self.assertEqual(status, DAMAGED)
        verdicts = sorted(each["verdict"] for each in json.loads(out)["sets"])
        self.assertEqual(verdicts, ["lost", "rebuilt"])

    def on_a_terminal(self):
        reader, writer = pty.openpty()
        done = subprocess.run(
            [CDCTL, "rebuild", self.directory],
            stdout=subprocess.DEVNULL,
            stderr=writer,
            timeout=60,
            check=False,
        )
        self.assertEqual(done.returncode, GOOD)
        # The kernel hands over what was written a part at a time, and fails with EIO where no writer is left.
        os.close(writer)
        shown = b""
        with open(reader, "rb", buffering=0) as terminal:
            try:
                while part := terminal.read(1000):
                    shown += part
            except OSError as reason:
                self.assertEqual(reason.errno, errno.EIO)
        return shown

    def test_progress_is_shown_on_a_terminal_only(self):
        self.assertEqual(self.rebuild(self.directory)[2], "")
        self.assertEqual(self.on_a_terminal(), b"\rset 1 of 1\x1b[K\r\x1b[K")
        self.lose(1)
        shown = self.on_a_terminal()
        self.assertTrue(shown.startswith(b"\rset 1 of 1\x1b[K\rset 1 of 1, "), shown)
        self.assertTrue(shown.endswith(b"\rset 1 of 1, 100 %\x1b[K\r\x1b[K"), shown)

    def test_usage_names_its_options(self):
        done = subprocess.run([CDCTL, "help"], capture_output=True, text=True, timeout=60, check=True)
        for option in "--json", "--dry-run", "--agree":
            self.assertIn(option, done.stdout)

    def test_where_there_is_nothing_it_says_so(self):
        self.assertEqual(self.rebuild()[0], USAGE)
        self.assertEqual(self.rebuild("--dry", self.directory)[0], USAGE)
        self.assertEqual(self.rebuild(os.path.join(self.directory, "in"))[0], UNREADABLE)
        status, _, told = self.rebuild(os.path.join(self.directory, "absent"))
        self.assertEqual(status, UNREADABLE)
        sentence = '/absent: cannot list the directory: "No such file or directory"'
        self.assertTrue(told.endswith(sentence + "\n"), told)
        status, out, told = self.rebuild("--json", os.path.join(self.directory, "absent"))
        answer = json.loads(out)
        self.assertEqual((status, answer["sets"]), (UNREADABLE, []))
        self.assertEqual(["cdctl: " + each + "\n" for each in answer["unusable"]], [told])


unittest.main(argv=sys.argv[:1])
