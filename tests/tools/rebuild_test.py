#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the containment-domains authors
"""rebuild_test.py CDCTL VECTORS: cdctl rebuild brings back what upstream wrote, and says what it cannot."""

import errno
import fcntl
import json
import os
import pty
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest
import zlib

CDCTL, VECTORS = (os.path.abspath(path) for path in sys.argv[1:3])
GOOD, DAMAGED, USAGE, UNREADABLE, OLDER = range(5)


def content(rank, file, size):
    return bytes((rank * 131 + file * 17 + j * 7 + (j >> 8)) & 255 for j in range(size))


def tree_image(tree):
    def packed(tree):
        return struct.pack(">I", len(tree)) + b"".join(key.encode() + b"\0" + packed(below) for key, below in tree.items())

    body = packed(tree)
    image = struct.pack(">IHHQI", 0x951FC3F5, 1, 1, 24 + len(body), 1) + body
    return image + struct.pack(">I", zlib.crc32(image))


class Case(unittest.TestCase):
    case = ""  # which of the vectors

    def setUp(self):
        self.directory = tempfile.mkdtemp()
        os.mkdir(os.path.join(self.directory, "in"))
        case = os.path.join(VECTORS, self.case)
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

    def write(self, path, data):
        with open(path, "wb") as file:
            file.write(data)

    def move_to_attempt(self):
        points = os.path.join(self.directory, "heat.points")
        os.mkdir(points)
        shutil.move(os.path.join(self.directory, "in"), points)
        attempt = os.path.join(points, "epoch-7.7.0.00000000000000ab")
        shutil.move(os.path.join(self.directory, "red"), attempt)
        return attempt

    def move_to_attempt_that_counts(self):
        attempt = self.move_to_attempt()
        self.assertEqual(self.rebuild("--agree", self.directory)[0], GOOD)
        return attempt

    def lose_scheme_files(self, attempt, *ranks):
        for name in os.listdir(attempt):
            if name.endswith(".redset") and int(name.split(".")[0]) in ranks:
                os.remove(os.path.join(attempt, name))

    def only_set(self, *options):
        status, out, _ = self.rebuild("--json", *options, self.directory)
        (one,) = json.loads(out)["sets"]
        return status, one


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
            os.rmdir(os.path.join(self.directory, place, "in_its_place"))
            os.rmdir(os.path.join(self.directory, place))
            self.assertEqual(self.only_set()[1]["verdict"], "rebuilt")

    def test_symbolic_links_are_no_points_in_time(self):
        for name, to in (("loop.points", "loop.points"), ("gone.points", "nowhere"), ("here.points", ".")):
            os.symlink(to, os.path.join(self.directory, name))
        self.assertEqual(self.rebuild("--dry-run", self.directory)[::2], (GOOD, ""))

    def test_a_link_in_the_place_of_a_file_of_an_attempt_is_a_lost_file(self):
        attempt = self.move_to_attempt_that_counts()
        elsewhere = os.path.join(self.directory, "elsewhere")
        name = next(name for name in os.listdir(attempt) if name.startswith("0.") and ".grp_" in name)
        data = os.path.join(self.directory, "heat.points", "in", "r1_f0.dat")
        for number, path in enumerate((data, os.path.join(attempt, name))):
            with self.subTest(path=path):
                os.rename(path, elsewhere + str(number))
                os.symlink(elsewhere + str(number), path)
                self.assertEqual(self.rebuild("--dry-run", self.directory)[0], OLDER)
                self.assertEqual(self.rebuild(self.directory)[0], GOOD)
                self.assertFalse(os.path.islink(path))
                self.assertEqual(self.rebuild("--dry-run", self.directory)[0], GOOD)

    # Upstream's directories of several times may have one name, and what it writes no checksums.
    def test_what_is_in_directories_of_one_name_may_be_of_different_times(self):
        for time in "t1", "t2":
            shutil.copytree(os.path.join(self.directory, "red"), os.path.join(self.directory, time, "set"))
            shutil.copytree(os.path.join(self.directory, "in"), os.path.join(self.directory, time, "in"))
        shutil.rmtree(os.path.join(self.directory, "red"))
        shutil.rmtree(os.path.join(self.directory, "in"))
        lost = os.path.join(self.directory, "t1", "in", "r2_f0.dat")
        os.remove(lost)
        status, out, _ = self.rebuild("--json", self.directory)
        self.assertEqual((status, sorted(each["verdict"] for each in json.loads(out)["sets"])), (GOOD, ["rebuilt", "whole"]))
        self.assertTrue(os.path.exists(lost))

    # Each member takes a thread, and hears of all others.
    def test_a_number_of_members_that_nobody_knows_takes_nothing(self):
        def of_all(number):
            def member(number):
                descriptor = {"ENABLED": 1, "GROUP": 0, "GROUPS": 1, "RANK": number, "RANKS": 300, "TYPE": "XOR", "WRANK": number, "WRANKS": 300}
                return {"DESC": {key: {str(value): {}} for key, value in descriptor.items()}, "FILE": {}, "FILES": {"0": {}}}

            ranks = {str(each): {str(each): {}} for each in range(300)}
            members = {str(each): member(each) for each in (number, (number - 1) % 300)}
            return {"CHUNK": {"1": {}}, "DESC": members, "GROUP": {"RANK": ranks, "RANKS": {"300": {}}}, "RANK": {str(number): {}}}

        shutil.rmtree(os.path.join(self.directory, "red"))
        self.write(os.path.join(self.directory, "0.xor.grp_1_of_1.mem_1_of_300.redset"), tree_image(of_all(0)) + b"\0")
        status, one = self.only_set()
        self.assertEqual((status, one["verdict"], one["members"]), (DAMAGED, "lost", 300))
        self.assertIn("nothing that was found tells which files 298 of 300 members had", one["problem"])

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

    # Of two attempts the second was under way when too much was lost.
    def test_what_never_counted_is_unfinished_and_no_damage(self):
        older = self.move_to_attempt_that_counts()
        newer = older.replace("epoch-7.7", "epoch-8.8")
        shutil.copytree(older, newer, ignore=shutil.ignore_patterns("*.agreed"))
        self.lose(0, 1, 2)
        left = self.files()
        for options in (), ("--dry-run",), ("--agree",):
            status, out, _ = self.rebuild("--json", *options, self.directory)
            self.assertEqual(status, DAMAGED)
            sets = json.loads(out)["sets"]
            self.assertEqual(sorted((each["verdict"], each["agreed"]) for each in sets), [("lost", True), ("unfinished", False)])
            self.assertIn("no program starts from it", [each["problem"] for each in sets if not each["agreed"]][0])
            self.assertIn(": unfinished", self.rebuild(*options, self.directory)[1])
        self.assertEqual(self.files(), left)

    # Such comes back with a node on which it is not known that a newer one counts.
    def test_what_a_newer_one_that_can_be_had_takes_the_place_of_does_not_decide(self):
        newer = self.move_to_attempt()
        older = newer.replace("epoch-7.7.0", "epoch-3.3.0")
        shutil.copytree(newer, older)
        self.assertEqual(self.rebuild("--agree", self.directory)[0], GOOD)
        self.lose_scheme_files(older, 0, 1, 2)
        for lost, options, status in (
            ([], ["--dry-run"], GOOD),
            ([], [], GOOD),
            ([0], ["--dry-run"], OLDER),
            ([0], [], GOOD),
            ([0, 1, 2], [], DAMAGED),
        ):
            self.lose_scheme_files(newer, *lost)
            found, out, _ = self.rebuild("--json", *options, self.directory)
            first, second = json.loads(out)["sets"]
            self.assertEqual((found, second["verdict"]), (status, "lost"))
            self.assertIsNone(first["newer_epoch"])
            self.assertEqual(second["newer_epoch"], None if status == DAMAGED else 7)
            self.assertEqual("programs start from epoch 7 instead" in second["problem"], status != DAMAGED)

    # Where nothing else counts, the records may have been lost.
    def test_what_no_record_tells_of_comes_back_and_counts_when_people_say_so(self):
        before = self.files()
        only = self.move_to_attempt()
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
        self.move_to_attempt()
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

    # As below a running job's dir=, whose ranks hold locks.
    def test_points_in_time_of_a_running_job_are_left_alone(self):
        points = os.path.dirname(self.move_to_attempt_that_counts())
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
        before.pop("heat.points/epoch-7.7.0.00000000000000ab/0.agreed")
        self.assertEqual(self.files(), before)

    # Programs do not start from what all records of a set that are left are damaged of.
    def test_records_come_back_when_all_that_are_left_are_damaged(self):
        attempt = self.move_to_attempt_that_counts()
        whole = self.files()
        records = [os.path.join(attempt, f"{rank}.agreed") for rank in range(4)]
        os.remove(records[0])
        for record in records[1:]:
            self.write(record, b"damage")
        left = self.files()
        status, one = self.only_set("--dry-run")
        self.assertEqual((status, one["verdict"], one["agreed"]), (OLDER, "rebuildable", True))
        self.assertIn("records of its ranks that are left are damaged", one["problem"])
        self.assertEqual(self.files(), left)
        status, one = self.only_set()
        self.assertEqual((status, one["verdict"]), (GOOD, "rebuilt"))
        self.assertEqual(self.files(), whole)
        status, one = self.only_set()
        self.assertEqual((status, one["verdict"], one["problem"]), (GOOD, "whole", None))

    def test_records_stay_as_they_are_when_one_tells_or_is_of_a_newer_version(self):
        attempt = self.move_to_attempt_that_counts()
        with open(os.path.join(attempt, "3.agreed"), "rb") as file:
            good = file.read()
        for rank in range(3):
            self.write(os.path.join(attempt, f"{rank}.agreed"), b"damage")
        for last in good, tree_image({"CD_POINT": {"2": {}}}):
            self.write(os.path.join(attempt, "3.agreed"), last)
            left = self.files()
            status, one = self.only_set()
            self.assertEqual((status, one["verdict"]), (GOOD, "whole"))
            self.assertEqual(self.files(), left)

    # A program died while it removed them; the next one does.
    def test_points_of_a_committed_root_are_left_alone_and_missed_by_nobody(self):
        attempt = self.move_to_attempt_that_counts()
        tombstone = os.path.join(os.path.dirname(attempt), "forgotten-9")
        self.write(tombstone, tree_image({"CD_FORGOTTEN": {"9": {}}, "SESSION": {str(0xAB): {}}}))
        self.lose(0, 1, 2)
        left = self.files()
        for options in (), ("--dry-run",), ("--agree",):
            status, one = self.only_set(*options)
            self.assertEqual((status, one["verdict"], one["agreed"]), (GOOD, "unfinished", False))
            self.assertIn("the root was committed", one["problem"])
            self.assertEqual(self.files(), left)
        self.write(tombstone, tree_image({"CD_FORGOTTEN": {"9": {}}, "SESSION": {str(0xAC): {}}}))
        self.assertEqual(self.only_set()[1]["verdict"], "lost")

    def test_nothing_is_done_while_nobody_knows_what_counts(self):
        attempt = self.move_to_attempt_that_counts()
        self.write(os.path.join(os.path.dirname(attempt), "forgotten-9"), b"damage")
        self.lose(0)
        left = self.files()
        for options in (), ("--dry-run",), ("--agree",):
            status, one = self.only_set(*options)
            self.assertEqual((status, one["verdict"]), (UNREADABLE, "failed"))
            self.assertIn("forgotten-9", one["problem"])
            self.assertEqual(self.files(), left)

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


class OfTwoSetsOneLeftNothing(Case):
    case = "xor_8_sets4"

    def lose_set(self, number):
        names = [os.path.basename(path) for path in self.files()]
        ranks = sorted({int(name.split(".")[0]) for name in names if f".grp_{number}_of_2." in name})
        self.lose(*ranks)
        return ", ".join(map(str, ranks))

    def both(self, *options):
        status, out, _ = self.rebuild("--json", *options, self.directory)
        first, second = sorted(json.loads(out)["sets"], key=lambda each: each["set"])
        return status, first, second

    def test_it_is_lost_as_programs_start_from_all(self):
        attempt = self.move_to_attempt_that_counts()
        ranks = self.lose_set(2)
        left = self.files()
        for options in ["--dry-run"], []:
            status, first, second = self.both(*options)
            self.assertEqual((status, first["verdict"]), (DAMAGED, "whole"))
            self.assertEqual((second["set"], second["sets"], second["verdict"], second["agreed"]), (1, 2, "lost", True))
            self.assertEqual((second["scheme"], second["members"], second["scheme_files"]), (None, None, []))
            self.assertIn(f"no scheme file of it is left that can be read; that is so for ranks {ranks}", second["problem"])
            status, out, _ = self.rebuild(*options, self.directory)
            self.assertEqual(status, DAMAGED)
            self.assertIn(f"\nset 2 of 2 of {os.path.realpath(attempt)}: lost\n", out)
            self.assertEqual(self.files(), left)

    def test_it_is_not_missed_where_only_another_point_in_time_is_to_be_rebuilt(self):
        attempt = self.move_to_attempt_that_counts()
        other = attempt.replace("epoch-7.7.0", "epoch-8.8.1")
        shutil.copytree(attempt, other, ignore=shutil.ignore_patterns("*.agreed"))
        self.assertEqual(self.rebuild("--agree", self.directory)[0], GOOD)
        self.lose_set(2)
        status, out, _ = self.rebuild("--dry-run", "--json", attempt)
        self.assertEqual((status, [each["set"] for each in json.loads(out)["sets"]]), (DAMAGED, [0, 1]))

    def test_it_is_lost_also_where_scheme_files_of_it_cannot_be_read_and_records_can(self):
        attempt = self.move_to_attempt_that_counts()
        for name in os.listdir(attempt):
            if ".grp_1_of_2." in name:
                self.write(os.path.join(attempt, name), b"damage")
        status, first, second = self.both("--dry-run")
        self.assertEqual((status, first["verdict"], second["verdict"]), (DAMAGED, "lost", "whole"))

    def test_where_no_record_tells_of_any_set_it_is_unfinished_and_damage(self):
        self.move_to_attempt()
        self.lose_set(1)
        for options in ["--dry-run"], []:
            status, first, second = self.both(*options)
            self.assertEqual((status, second["verdict"]), (DAMAGED, "whole"))
            self.assertEqual((first["verdict"], first["agreed"]), ("unfinished", False))
            self.assertIn("it cannot be brought back: no scheme file of it is left", first["problem"])

    def test_sets_that_are_of_no_attempt_are_each_for_itself(self):
        self.lose_set(2)
        self.assertEqual(self.only_set()[0], GOOD)


# Each node has a directory of its own; a restart leaves what it copies to another one.
class OfNodes(Case):
    case = "xor_4"
    name = "epoch-7.7.0.00000000000000ab"

    def setUp(self):
        super().setUp()
        self.move_to_attempt()
        self.source = os.path.join(self.directory, "heat.points")
        aside = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, aside)
        shutil.move(self.source, aside)
        self.source = os.path.join(aside, "heat.points")

    def put(self, node, *ranks, name=None):
        for folder, _, files in os.walk(self.source):
            below = os.path.relpath(folder, self.source).replace(self.name, name or self.name)
            to = os.path.normpath(os.path.join(self.directory, node, "heat.points", below))
            os.makedirs(to, exist_ok=True)
            for file in files:
                if file.startswith(tuple(f"{rank}." for rank in ranks) + tuple(f"r{rank}_" for rank in ranks)):
                    shutil.copy2(os.path.join(folder, file), to)

    def path(self, node, file):
        return os.path.join(self.directory, node, "heat.points", file)

    def records(self):
        return sorted(path for path in self.files() if path.endswith(".agreed"))

    def agree(self, *below):
        paths = [os.path.join(self.directory, each) for each in below] or [self.directory]
        for path in paths:
            self.assertEqual(self.rebuild("--agree", path)[0], GOOD)


class MovedRanks(OfNodes):
    def setUp(self):
        super().setUp()
        for rank in range(4):
            self.put(f"n{rank}", rank)
        self.agree()
        self.put("s0", 0)

    def test_what_they_left_is_no_loss(self):
        left = self.files()
        for options in ("--dry-run",), ():
            status, one = self.only_set(*options)
            self.assertEqual((status, one["verdict"], one["agreed"], len(one["scheme_files"])), (GOOD, "whole", True, 5))
            self.assertEqual(self.files(), left)

    def test_a_whole_copy_counts_and_a_damaged_one_stays(self):
        for damaged, whole in ("n0", "s0"), ("s0", "n0"):
            image = self.path(damaged, "in/r0_f0.dat")
            with open(image, "rb") as file:
                before = file.read()
            self.write(image, before[1:])
            left = self.files()
            for options in ("--dry-run",), ():
                status, one = self.only_set(*options)
                self.assertEqual((status, one["verdict"]), (GOOD, "whole"))
                self.assertIn(f"/{whole}/", one["ranks"][0]["directory"])
                self.assertEqual(self.files(), left)
            self.write(image, before)

    # Both names lead to one file, and one of them is lost with what is around it.
    def test_a_copy_by_another_name_of_the_file_counts(self):
        subprocess.run(["cp", "-al", os.path.join(self.directory, "n1"), os.path.join(self.directory, "s1")], check=True)
        os.remove(self.path("n1", "in/r1_f0.dat"))
        shutil.rmtree(os.path.join(self.directory, "n2"))
        left = self.files()
        status, one = self.only_set("--dry-run")
        self.assertEqual((status, one["verdict"]), (OLDER, "rebuildable"))
        self.assertIn("/s1/", one["ranks"][1]["directory"])
        self.assertEqual(self.only_set()[0], GOOD)
        now = self.files()
        self.assertEqual({path: now[path] for path in left}, left)

    def test_damaged_records_come_back(self):
        for path in self.records():
            self.write(os.path.join(self.directory, path), b"damage")
        self.assertEqual(self.only_set("--dry-run")[0], OLDER)
        status, one = self.only_set()
        self.assertEqual((status, one["verdict"]), (GOOD, "rebuilt"))
        status, one = self.only_set()
        self.assertEqual((status, one["verdict"], one["problem"]), (GOOD, "whole", None))

    def test_agreeing_takes_one_of_the_copies(self):
        for path in self.records():
            os.remove(os.path.join(self.directory, path))
        left = self.files()
        status, one = self.only_set("--dry-run", "--agree")
        self.assertEqual((status, one["verdict"], one["agreed"]), (OLDER, "whole", False))
        self.assertEqual(self.files(), left)
        status, one = self.only_set("--agree")
        self.assertEqual((status, one["verdict"], one["agreed"]), (GOOD, "whole", True))
        self.assertEqual(len(self.records()), 4)

    # What a directory is called cannot be told from its path, so that nobody knows that it has copies.
    def test_of_sets_that_are_there_twice_one_is_enough_to_agree(self):
        for node in "a", "b":
            self.put(node, 0, 1, 2, 3)
        here = self.path("a", self.name)
        shutil.move(self.path("a", "in"), here)
        done = subprocess.run(
            [CDCTL, "rebuild", "--agree", "--json", ".", self.path("b", "")],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
            cwd=here,
        )
        self.assertEqual((done.returncode, done.stderr), (GOOD, ""))
        self.assertEqual([each["verdict"] for each in json.loads(done.stdout)["sets"]], ["whole", "whole"])

    def test_a_set_whose_copies_are_spread_is_one(self):
        for node in os.listdir(self.directory):
            shutil.rmtree(os.path.join(self.directory, node))
        self.put("a", 0, 1)
        self.put("b", 1, 2, 3)
        status, one = self.only_set("--dry-run", "--agree")
        self.assertEqual((status, one["verdict"]), (OLDER, "whole"))


class TwoRuns(OfNodes):
    other = "epoch-9.9.0.00000000000000ac"

    def setUp(self):
        super().setUp()
        for rank in range(4):
            self.put(f"runA/n{rank}", rank)
            self.put(f"runB/n{rank}", rank, name=self.other)
        self.agree("runA", "runB")

    def test_each_is_judged_by_itself(self):
        status, out, told = self.rebuild("--json", self.directory)
        self.assertEqual((status, [each["verdict"] for each in json.loads(out)["sets"]]), (GOOD, ["whole", "whole"]))
        self.assertEqual([told.removeprefix("cdctl: ").rstrip()], json.loads(out)["different_runs"])
        self.assertIn("/runA/n0, ", told)
        self.assertIn("/runB/n0 have no session in common", told)
        shutil.rmtree(os.path.join(self.directory, "runA", "n0"))
        shutil.rmtree(os.path.join(self.directory, "runA", "n1"))
        status, out, _ = self.rebuild("--json", "--dry-run", self.directory)
        self.assertEqual(status, DAMAGED)
        newer, older = json.loads(out)["sets"]
        self.assertEqual((newer["verdict"], older["verdict"], older["newer_epoch"]), ("whole", "lost", None))

    # By a program that started from the first one's points in time.
    def test_with_a_session_in_common_they_are_one(self):
        self.put("runB/n2", 2)
        shutil.rmtree(os.path.join(self.directory, "runA", "n0"))
        shutil.rmtree(os.path.join(self.directory, "runA", "n1"))
        status, out, told = self.rebuild("--json", "--dry-run", self.directory)
        self.assertEqual((status, told), (GOOD, ""))
        self.assertEqual([each["newer_epoch"] for each in json.loads(out)["sets"]], [None, 9])

    def test_a_node_that_was_away_is_of_those_that_it_is_among(self):
        shutil.rmtree(os.path.join(self.directory, "runA"))
        self.put("runB/n4", 2)
        status, out, told = self.rebuild("--json", self.directory)
        self.assertEqual((status, told), (GOOD, ""))
        self.assertEqual([each["newer_epoch"] for each in json.loads(out)["sets"]], [None, 9])

    def test_side_by_side_they_are_two(self):
        for run in "A", "B":
            for node in range(4):
                os.rename(os.path.join(self.directory, f"run{run}", f"n{node}"), os.path.join(self.directory, f"{run}{node}"))
            os.rmdir(os.path.join(self.directory, f"run{run}"))
        self.put("C0", 2, name="epoch-5.5.0.00000000000000ad")
        for node in "A0", "A1":
            shutil.rmtree(os.path.join(self.directory, node))
        status, out, told = self.rebuild("--json", "--dry-run", self.directory)
        self.assertEqual(status, DAMAGED)
        self.assertIn("/A2, ", told)
        of_runs = {each["scheme_files"][0].split("/")[-4][0]: each for each in json.loads(out)["sets"]}
        verdicts = {run: (each["verdict"], each["newer_epoch"]) for run, each in of_runs.items()}
        self.assertEqual(verdicts, {"A": ("lost", None), "B": ("whole", None), "C": ("unfinished", None)})

    def test_what_has_only_the_root_directory_in_common_is_no_run(self):
        try:
            far = tempfile.mkdtemp(dir="/var/tmp")
        except OSError as reason:
            self.skipTest(str(reason))
        self.addCleanup(shutil.rmtree, far)
        near = os.path.realpath(self.directory)
        if os.path.commonpath([far, near]) != "/" or len(near.split("/")) + 1 != len(far.split("/")):
            self.skipTest(f"{near} and {far} are no directories for this")
        shutil.rmtree(os.path.join(self.directory, "runB"))
        shutil.rmtree(os.path.join(self.directory, "runA", "n0"))
        shutil.move(os.path.join(self.directory, "runA", "n1", "heat.points"), far)
        os.rename(os.path.join(self.directory, "runA", "n2"), os.path.join(self.directory, "n2"))
        self.put("other", 3, name=self.other)
        for name in "n2", "other":
            self.assertTrue(os.path.isdir(self.path(name, "")))
        _, out, _ = self.rebuild("--json", "--dry-run", far, self.path("n2", ""), self.path("other", ""))
        self.assertEqual(len(json.loads(out)["different_runs"]), 1)

    # Nobody knows whose it is.
    def test_what_cannot_be_read_is_everybodys(self):
        os.makedirs(self.path("n", ""))
        self.write(self.path("n", "forgotten-9"), b"damage")
        status, out, _ = self.rebuild("--json", self.directory)
        self.assertEqual((status, [each["verdict"] for each in json.loads(out)["sets"]]), (UNREADABLE, ["failed", "failed"]))


class CopiesOfEachRank(Case):
    case = "single_4"

    def test_that_of_one_rank_is_missed(self):
        self.move_to_attempt_that_counts()
        self.lose(2)
        status, out, _ = self.rebuild("--dry-run", "--json", self.directory)
        self.assertEqual(status, DAMAGED)
        lost = [each for each in json.loads(out)["sets"] if each["verdict"] == "lost"]
        self.assertEqual([(each["set"], each["sets"]) for each in lost], [(2, 4)])


unittest.main(argv=sys.argv[:1])
