#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the containment-domains authors
"""rebuild_test.py CDCTL VECTORS: cdctl rebuild brings back what upstream wrote, and says what it cannot."""

import fcntl
import json
import os
import pty
import shutil
import subprocess
import sys
import tempfile
import unittest

CDCTL, VECTORS = (os.path.abspath(path) for path in sys.argv[1:3])
GOOD, DAMAGED, USAGE, UNREADABLE, OLDER = range(5)


def content(rank, file, size):
    return bytes((rank * 131 + file * 17 + j * 7 + (j >> 8)) & 255 for j in range(size))


class RebuildTest(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.mkdtemp()
        os.mkdir(os.path.join(self.directory, "in"))
        case = os.path.join(VECTORS, "rs_4_k2")
        shutil.copytree(os.path.join(case, "red"), os.path.join(self.directory, "red"))
        with open(os.path.join(case, "sizes.txt"), encoding="utf-8") as lines:
            for rank, line in enumerate(lines):
                for file, size in enumerate(line.split(":")[1].split()):
                    name = os.path.join(self.directory, "in", f"r{rank}_f{file}.dat")
                    with open(name, "wb") as data:
                        data.write(content(rank, file, int(size)))

    def tearDown(self):
        shutil.rmtree(self.directory)

    def rebuild(self, *options):
        done = subprocess.run(
            [CDCTL, "rebuild", *options], capture_output=True, text=True, timeout=60, check=False
        )
        return done.returncode, done.stdout, done.stderr

    def files(self):
        found = {}
        for folder, _, names in os.walk(self.directory):
            for name in names:
                with open(os.path.join(folder, name), "rb") as file:
                    found[os.path.join(os.path.relpath(folder, self.directory), name)] = file.read()
        return found

    def lose(self, *ranks):
        for path in list(self.files()):
            name = os.path.basename(path)
            if any(name.startswith((f"{rank}.", f"r{rank}_")) for rank in ranks):
                os.remove(os.path.join(self.directory, path))

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
        left = self.files()
        for options in [], ["--dry-run"]:
            status, out, _ = self.rebuild(*options, self.directory)
            self.assertEqual(status, DAMAGED)
            self.assertIn(": lost", out)
            status, out, _ = self.rebuild(*options, "--json", self.directory)
            self.assertEqual(status, DAMAGED)
            lost = json.loads(out)["sets"][0]
            self.assertEqual(lost["verdict"], "lost")
            self.assertIn("files of ranks 0, 1, 2 are lost", lost["problem"])
            self.assertEqual(self.files(), left)

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

    def test_what_the_system_refuses_has_failed(self):
        self.lose(1)
        os.makedirs(os.path.join(self.directory, "in", "r1_f0.dat", "in_its_place"))
        status, out, _ = self.rebuild("--json", self.directory)
        self.assertEqual(status, UNREADABLE)
        self.assertEqual(json.loads(out)["sets"][0]["verdict"], "failed")
        self.assertIn("r1_f0.dat", json.loads(out)["sets"][0]["problem"])
        self.assertIn(": failed", self.rebuild(self.directory)[1])
        shutil.rmtree(os.path.join(self.directory, "in", "r1_f0.dat"))
        self.assertEqual(self.rebuild(self.directory)[0], GOOD)

    def test_the_worst_of_several_sets_counts(self):
        self.lose(0)
        with tempfile.TemporaryDirectory() as other:
            shutil.copytree(os.path.join(VECTORS, "xor_4", "red"), os.path.join(other, "red"))
            status, out, _ = self.rebuild("--json", other, self.directory)
        self.assertEqual(status, DAMAGED)
        verdicts = sorted(each["verdict"] for each in json.loads(out)["sets"])
        self.assertEqual(verdicts, ["lost", "rebuilt"])

    def test_a_set_in_several_directories_comes_back(self):
        before = {os.path.basename(path): data for path, data in self.files().items()}
        half = os.path.join(self.directory, "half")
        others = os.path.join(self.directory, "others")
        for folder in half, others:
            os.makedirs(os.path.join(folder, "in"))
            os.makedirs(os.path.join(folder, "red"))
        for path in self.files():
            folder, name = os.path.split(path)
            of_first_two = name.startswith(("0.", "1.", "r0_", "r1_"))
            os.rename(
                os.path.join(self.directory, path),
                os.path.join(half if of_first_two else others, os.path.basename(folder), name),
            )
        self.lose(1, 2)
        self.assertEqual(self.rebuild(half)[0], DAMAGED)
        self.assertEqual(self.rebuild(half, others)[0], GOOD)
        self.assertEqual({os.path.basename(path): data for path, data in self.files().items()}, before)
        status, out, _ = self.rebuild("--json", others, half)
        self.assertEqual((status, json.loads(out)["sets"][0]["verdict"]), (GOOD, "whole"))

    def move_to_attempts(self, *epochs):
        points = os.path.join(self.directory, "heat.points")
        os.mkdir(points)
        shutil.move(os.path.join(self.directory, "in"), points)
        attempts = [os.path.join(points, f"epoch-{epoch}.{epoch}.0.00000000000000ab") for epoch in epochs]
        for attempt in attempts:
            shutil.copytree(os.path.join(self.directory, "red"), attempt)
        shutil.rmtree(os.path.join(self.directory, "red"))
        return attempts

    # Of two attempts the second was under way when too much was lost.
    def test_what_never_counted_is_unfinished_and_no_damage(self):
        older, newer = self.move_to_attempts(7, 8)
        self.lose(0, 1, 2)
        with open(os.path.join(older, "2.agreed"), "w", encoding="utf-8"):
            pass
        left = self.files()
        for options in (), ("--dry-run",), ("--agree",):
            status, out, _ = self.rebuild("--json", *options, self.directory)
            self.assertEqual(status, DAMAGED)
            sets = json.loads(out)["sets"]
            self.assertEqual(sorted((each["verdict"], each["agreed"]) for each in sets), [("lost", True), ("unfinished", False)])
            self.assertIn("no program starts from it", [each["problem"] for each in sets if not each["agreed"]][0])
            self.assertIn(": unfinished", self.rebuild(*options, self.directory)[1])
        self.assertEqual(self.files(), left)

    # Where nothing else counts, the records may have been lost.
    def test_what_no_record_tells_of_comes_back_and_counts_when_people_say_so(self):
        before = self.files()
        (only,) = self.move_to_attempts(7)
        self.lose(0, 1)
        left = self.files()
        for options, status, verdict in (
            (["--dry-run"], OLDER, "rebuildable"),
            (["--dry-run", "--agree"], OLDER, "rebuildable"),
            ([], OLDER, "rebuilt"),
            ([], OLDER, "whole"),
        ):
            found, out, _ = self.rebuild("--json", *options, self.directory)
            (one,) = json.loads(out)["sets"]
            self.assertEqual((found, one["verdict"], one["agreed"]), (status, verdict, False))
            if "--dry-run" in options:
                self.assertEqual(self.files(), left)
        self.assertIn("no record says", self.rebuild(self.directory)[1])
        self.assertEqual(len(self.files()), len(before))
        self.assertEqual(self.rebuild("--agree", self.directory)[0], GOOD)
        self.assertEqual(sorted(name for name in os.listdir(only) if name.endswith(".agreed")), [f"{rank}.agreed" for rank in range(4)])
        status, out, _ = self.rebuild("--json", self.directory)
        self.assertEqual((status, json.loads(out)["sets"][0]["agreed"]), (GOOD, True))

    def test_what_no_record_tells_of_and_is_beyond_cover_is_damage(self):
        self.move_to_attempts(7)
        self.lose(0, 1, 2)
        left = self.files()
        for options in (), ("--dry-run",), ("--agree",):
            status, out, _ = self.rebuild(*options, self.directory)
            self.assertEqual(status, DAMAGED)
            self.assertIn(": unfinished", out)
            self.assertIn("files of ranks 0, 1, 2 are lost", out)
        self.assertEqual(self.files(), left)

    def on_a_terminal(self):
        reader, writer = pty.openpty()
        done = subprocess.run(
            [CDCTL, "rebuild", self.directory],
            stdout=subprocess.DEVNULL,
            stderr=writer,
            timeout=60,
            check=False,
        )
        os.close(writer)
        self.assertEqual(done.returncode, GOOD)
        shown = os.read(reader, 1000)
        os.close(reader)
        return shown

    def test_progress_is_shown_on_a_terminal_only(self):
        self.assertEqual(self.rebuild(self.directory)[2], "")
        self.assertEqual(self.on_a_terminal(), b"\rset 1 of 1\x1b[K\r\x1b[K")
        self.lose(1)
        shown = self.on_a_terminal()
        self.assertTrue(shown.startswith(b"\rset 1 of 1\x1b[K\rset 1 of 1, "), shown)
        self.assertTrue(shown.endswith(b"\rset 1 of 1, 100 %\x1b[K\r\x1b[K"), shown)

    # As below a running job's dir=, whose ranks hold locks.
    def test_points_in_time_of_a_running_job_are_left_alone(self):
        points = os.path.join(self.directory, "heat.points")
        os.mkdir(points)
        shutil.move(os.path.join(self.directory, "red"), os.path.join(points, "epoch-7.3.0.00000000000000ab"))
        shutil.move(os.path.join(self.directory, "in"), points)
        with open(os.path.join(points, "epoch-7.3.0.00000000000000ab", "3.agreed"), "w", encoding="utf-8"):
            pass
        before = self.files()
        self.lose(0)
        left = self.files()
        with open(os.path.join(points, "in-use-00000000000000ab-2"), "w+", encoding="utf-8") as user:
            user.write("process 4711 on far\n")
            user.flush()
            fcntl.lockf(user, fcntl.LOCK_EX)
            for options in ((), ("--dry-run",)):
                status, out, _ = self.rebuild(*options, self.directory)
                self.assertEqual(status, UNREADABLE)
                self.assertIn(": failed", out)
                self.assertIn("process 4711 on far uses these points in time; wait until it ends", out)
            os.remove(user.name)
            self.assertEqual(self.files(), left)
        self.assertEqual(self.rebuild("--dry-run", self.directory)[0], OLDER)
        self.assertEqual(self.files(), left)
        self.assertEqual(self.rebuild(self.directory)[0], GOOD)
        self.assertEqual(self.files(), before)

    def test_where_there_is_nothing_it_says_so(self):
        self.assertEqual(self.rebuild()[0], USAGE)
        self.assertEqual(self.rebuild("--dry", self.directory)[0], USAGE)
        self.assertEqual(self.rebuild(os.path.join(self.directory, "in"))[0], UNREADABLE)
        self.assertEqual(self.rebuild(os.path.join(self.directory, "absent"))[0], UNREADABLE)


unittest.main(argv=sys.argv[:1])
