#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the containment-domains authors
"""rebuild_points_test.py CDCTL VECTORS: cdctl rebuild knows which points in time programs start from."""

import fcntl
import json
import os
import shutil
import sys
import unittest

from rebuild_case import DAMAGED, GOOD, OLDER, UNREADABLE, Case, tree_image


class PointsTest(Case):
    case = "rs_4_k2"

    def test_symbolic_links_are_no_points_in_time(self):
        for name, to in (("loop.points", "loop.points"), ("gone.points", "nowhere"), ("here.points", ".")):
            os.symlink(to, os.path.join(self.directory, name))
        self.assertEqual(self.rebuild("--dry-run", self.directory)[::2], (GOOD, ""))

    def test_a_link_in_the_place_of_a_file_of_an_attempt_is_a_lost_file(self):
        attempt = self.move_to_attempt_that_counts()
        elsewhere = os.path.join(self.directory, "elsewhere")
        name = next(name for name in os.listdir(attempt) if name.startswith("0.") and ".grp_" in name)
        data = os.path.join(attempt, "in", "r1_f0.dat")
        for number, path in enumerate((data, os.path.join(attempt, name))):
            with self.subTest(path=path):
                os.rename(path, elsewhere + str(number))
                os.symlink(elsewhere + str(number), path)
                self.assertEqual(self.rebuild("--dry-run", self.directory)[0], OLDER)
                self.assertEqual(self.rebuild(self.directory)[0], GOOD)
                self.assertFalse(os.path.islink(path))
                self.assertEqual(self.rebuild("--dry-run", self.directory)[0], GOOD)

    # Of two attempts the second was under way when too much was lost.
    def test_what_never_counted_is_unfinished_and_no_damage(self):
        older = self.move_to_attempt_that_counts()
        newer = older.replace("epoch-7.7", "epoch-8.8")
        shutil.copytree(older, newer, ignore=shutil.ignore_patterns("*.agreed"))
        self.lose(0, 1, 2)
        for options in self.unchanged((), ("--dry-run",), ("--agree",)):
            status, sets = self.sets(*options)
            self.assertEqual(status, DAMAGED)
            self.assertEqual(sorted((each["verdict"], each["agreed"]) for each in sets), [("lost", True), ("unfinished", False)])
            self.assertIn("no program starts from it", [each["problem"] for each in sets if not each["agreed"]][0])
            self.assertIn(": unfinished", self.rebuild(*options, self.directory)[1])

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
            found, (first, second) = self.sets(*options)
            self.assertEqual((found, second["verdict"]), (status, "lost"))
            self.assertIsNone(first["newer_epoch"])
            self.assertEqual(second["newer_epoch"], None if status == DAMAGED else 7)
            self.assertEqual("programs start from epoch 7 instead" in second["problem"], status != DAMAGED)

    # Of another level, or a copy.
    def test_where_the_newest_is_lost_and_another_can_be_had_that_decides(self):
        newest = self.move_to_attempt()
        for other, told in (
            ("epoch-4.4.1", "programs start from epoch 4 instead, the newest usable one"),
            ("epoch-4.4.0", "programs start from epoch 4 instead, the newest usable one"),
            ("epoch-7.7.10000", "programs start from epoch 7 instead, the newest usable one"),
        ):
            with self.subTest(other=other):
                shutil.rmtree(self.directory)
                self.setUp()
                self.assertEqual(self.move_to_attempt().rsplit("/", 1)[1], newest.rsplit("/", 1)[1])
                newest = os.path.join(self.directory, "heat.points", newest.rsplit("/", 1)[1])
                older = newest.replace("epoch-7.7.0", other)
                shutil.copytree(newest, older)
                self.assertEqual(self.rebuild("--agree", self.directory)[0], GOOD)
                self.lose_scheme_files(newest, 0, 1, 2)
                epoch = int(other[6])
                for lost, options, status in (
                    ([], ["--dry-run"], GOOD),
                    ([], [], GOOD),
                    ([0], ["--dry-run"], OLDER),
                    ([0], [], GOOD),
                    ([], [], GOOD),
                    ([0, 1, 2], [], DAMAGED),
                ):
                    self.lose_scheme_files(older, *lost)
                    found, sets = self.sets(*options)
                    sets = {os.path.dirname(each["scheme_files"][0]): each for each in sets}
                    one = sets[newest]
                    start = None if status == DAMAGED else epoch
                    self.assertEqual((found, one["verdict"], one["newer_epoch"]), (status, "lost", None))
                    self.assertEqual([each["start_epoch"] for each in sets.values()], [start, start])
                    self.assertEqual(told in one["problem"], status != DAMAGED)

    def test_of_a_root_that_a_job_uses_in_any_directory_no_start_is_known(self):
        newest = self.move_to_attempt()
        points = os.path.dirname(newest)
        node = os.path.join(self.directory, "other", "heat.points")
        shutil.copytree(points, node)
        os.rename(os.path.join(node, os.path.basename(newest)), os.path.join(node, "epoch-8.8.0.00000000000000ab"))
        self.assertEqual(self.rebuild("--agree", self.directory)[0], GOOD)
        with open(os.path.join(node, "in-use-00000000000000ab-2"), "w", encoding="utf-8") as user:
            fcntl.lockf(user, fcntl.LOCK_EX)
            status, sets = self.sets("--dry-run")
        self.assertEqual((status, [(each["verdict"], each["start_epoch"]) for each in sets]), (UNREADABLE, [("failed", None), ("failed", None)]))

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
            found, (one,) = self.sets(*options)
            self.assertEqual((found, one["verdict"], one["agreed"]), (status, verdict, False))
            if "--dry-run" in options:
                self.assertEqual(self.files(), left)
        self.assertIn("no record says that all ranks had this checkpoint", self.rebuild(self.directory)[1])
        self.assertEqual(len(self.files()), len(before))
        self.assertEqual(self.rebuild("--agree", self.directory)[0], GOOD)
        self.assertEqual(sorted(name for name in os.listdir(only) if name.endswith(".agreed")), [f"{rank}.agreed" for rank in range(4)])
        status, sets = self.sets()
        self.assertEqual((status, sets[0]["agreed"]), (GOOD, True))

    def test_what_no_record_tells_of_and_is_beyond_cover_is_damage(self):
        self.move_to_attempt()
        self.lose(0, 1, 2)
        for options in self.unchanged((), ("--dry-run",), ("--agree",)):
            status, out, _ = self.rebuild(*options, self.directory)
            self.assertEqual(status, DAMAGED)
            self.assertIn(": unfinished", out)
            self.assertIn("files of ranks 0, 1, 2 are lost", out)

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
                self.assertIn("process 4711 on far uses these checkpoints; wait until it ends", out)
            os.remove(user.name)
            self.assertEqual(self.files(), left)
        self.assertEqual(self.rebuild("--dry-run", self.directory)[0], OLDER)
        self.assertEqual(self.files(), left)
        self.assertEqual(self.rebuild(self.directory)[0], GOOD)
        before.pop("heat.points/epoch-7.7.0.00000000000000ab/0.agreed")
        self.assertEqual(self.files(), before)

    # As one that was killed when some files had their names already: nothing more is lost in them.
    def test_drafts_that_a_rebuild_left_go_with_the_next(self):
        attempt = self.move_to_attempt_that_counts()
        left = [".cd-draft.1-00000000000000cd", ".cd-draft.1-00000000000000cd.0", ".cd-draft.3-00000000000000ee.2"]
        others = [".cd-draft", ".cd-draft.x-1", ".cd-draft.1"]
        self.assertEqual(self.rebuild(self.directory)[0], GOOD)
        before = set(self.files())
        for name in left + others:
            with open(os.path.join(attempt, name), "w", encoding="utf-8"):
                pass
        self.assertEqual(self.rebuild("--dry-run", self.directory)[0], GOOD)
        self.assertLessEqual(set(left), set(os.listdir(attempt)))
        self.assertEqual(self.rebuild(self.directory)[0], GOOD)
        self.assertEqual({os.path.basename(name) for name in set(self.files()) - before}, set(others))

    # Programs do not start from a set of which no record can be read.
    def test_records_come_back_when_all_that_are_left_are_damaged_and_people_say_so(self):
        attempt = self.move_to_attempt_that_counts()
        whole = self.files()
        records = [os.path.join(attempt, f"{rank}.agreed") for rank in range(4)]
        os.remove(records[0])
        for record in records[1:]:
            self.write(record, b"damage")
        left = self.files()
        status, one = self.only_set()
        self.assertEqual((status, one["verdict"], one["agreed"]), (OLDER, "whole", False))
        self.assertIn("no record says that all ranks had this checkpoint", one["problem"])
        self.assertEqual(self.files(), left)
        status, one = self.only_set("--agree")
        self.assertEqual((status, one["verdict"], one["agreed"]), (GOOD, "whole", True))
        self.assertEqual(self.files(), whole)

    # A program died while it removed them; the next one does.
    def test_points_of_a_committed_root_are_left_alone_and_missed_by_nobody(self):
        attempt = self.move_to_attempt_that_counts()
        tombstone = os.path.join(os.path.dirname(attempt), "forgotten-9")
        self.write(tombstone, tree_image({"CD_FORGOTTEN": {"9": {}}, "SESSION": {str(0xAB): {}}}))
        self.lose(0, 1, 2)
        for options in self.unchanged((), ("--dry-run",), ("--agree",)):
            status, one = self.only_set(*options)
            self.assertEqual((status, one["verdict"], one["agreed"]), (GOOD, "unfinished", False))
            self.assertIn("the root was committed", one["problem"])
        self.write(tombstone, tree_image({"CD_FORGOTTEN": {"9": {}}, "SESSION": {str(0xAC): {}}}))
        self.assertEqual(self.only_set()[1]["verdict"], "lost")

    def test_nothing_is_done_while_nobody_knows_what_counts(self):
        attempt = self.move_to_attempt_that_counts()
        self.write(os.path.join(os.path.dirname(attempt), "forgotten-9"), b"damage")
        self.lose(0)
        for options in self.unchanged((), ("--dry-run",), ("--agree",)):
            status, one = self.only_set(*options)
            self.assertEqual((status, one["verdict"]), (UNREADABLE, "failed"))
            self.assertIn("forgotten-9", one["problem"])


class OfTwoSetsOneLeftNothing(Case):
    case = "xor_8_sets4"

    def lose_set(self, number):
        names = [os.path.basename(path) for path in self.files()]
        ranks = sorted({int(name.split(".")[0]) for name in names if f".grp_{number}_of_2." in name})
        self.lose(*ranks)

    def both(self, *options):
        status, sets = self.sets(*options)
        return status, *sorted(sets, key=lambda each: each["set"])

    def test_it_is_lost_as_programs_start_from_all(self):
        attempt = self.move_to_attempt_that_counts()
        self.lose_set(2)
        for options in self.unchanged(["--dry-run"], []):
            status, first, second = self.both(*options)
            self.assertEqual((status, first["verdict"]), (DAMAGED, "whole"))
            self.assertEqual((second["set"], second["sets"], second["verdict"], second["agreed"]), (1, 2, "lost", True))
            self.assertEqual((second["scheme"], second["members"], second["scheme_files"]), (None, None, []))
            self.assertIn("not found; the data of its ranks are lost", second["problem"])
            status, out, _ = self.rebuild(*options, self.directory)
            self.assertEqual(status, DAMAGED)
            self.assertIn(f"\nset 2 of 2 of {os.path.realpath(attempt)}: lost\n", out)

    def test_where_it_is_lost_an_older_point_in_time_is_a_start_with_all_of_its_sets(self):
        newest = self.move_to_attempt()
        older = newest.replace("epoch-7.7.0", "epoch-4.4.1")
        shutil.copytree(newest, older)
        self.assertEqual(self.rebuild("--agree", self.directory)[0], GOOD)
        self.lose_scheme_files(newest, 4, 5, 6, 7)
        for lost, found in ((), GOOD), ((4, 5), DAMAGED):
            self.lose_scheme_files(older, *lost)
            status, sets = self.sets("--dry-run")
            start = 4 if found == GOOD else None
            self.assertEqual((status, [each["start_epoch"] for each in sets]), (found, [start] * 4))
            self.assertEqual(sets[-1]["scheme_files"], [])
            self.assertEqual(sets[-1]["verdict"], "lost")
            self.assertEqual("programs start from epoch 4 instead" in sets[-1]["problem"], found == GOOD)

    def test_it_is_not_missed_where_only_another_point_in_time_is_to_be_rebuilt(self):
        attempt = self.move_to_attempt_that_counts()
        other = attempt.replace("epoch-7.7.0", "epoch-8.8.1")
        shutil.copytree(attempt, other, ignore=shutil.ignore_patterns("*.agreed"))
        self.assertEqual(self.rebuild("--agree", self.directory)[0], GOOD)
        self.lose_set(2)
        status, out, _ = self.rebuild("--dry-run", "--json", attempt)
        self.assertEqual((status, [each["set"] for each in json.loads(out)["sets"]]), (DAMAGED, [0, 1]))

    def test_where_no_record_tells_of_any_set_it_is_unfinished_and_damage(self):
        self.move_to_attempt()
        self.lose_set(1)
        for options in ["--dry-run"], []:
            status, first, second = self.both(*options)
            self.assertEqual((status, second["verdict"]), (DAMAGED, "whole"))
            self.assertEqual((first["verdict"], first["agreed"]), ("unfinished", False))
            self.assertIn("it cannot be rebuilt: set 1 of 2: not found", first["problem"])

    def test_a_set_of_no_checkpoint_that_is_not_found_is_lost_too(self):
        self.assertEqual(self.both()[0], GOOD)
        self.lose_set(2)
        for options in self.unchanged(["--dry-run"], []):
            status, first, second = self.both(*options)
            self.assertEqual((status, first["verdict"], second["verdict"], second["scheme_files"]), (DAMAGED, "whole", "lost", []))
            self.assertRegex(second["problem"], "^set 2 of 2: not found; the data of its ranks are lost;")
            self.assertIn("\nset 2 of 2 of ", self.rebuild(*options, self.directory)[1])

    def test_scheme_files_of_a_set_that_cannot_be_read_are_no_damage_where_the_set_brings_them_back(self):
        (path,) = [each for each in self.files() if ".grp_2_of_2.mem_1_" in each]
        self.write(os.path.join(self.directory, path), b"damage")
        for options, expected in (["--dry-run"], OLDER), ([], GOOD), ([], GOOD):
            self.assertEqual(self.rebuild(*options, self.directory)[0], expected)


class CopiesOfEachRank(Case):
    case = "single_4"

    def test_that_of_one_rank_is_missed(self):
        self.move_to_attempt_that_counts()
        self.lose(2)
        status, sets = self.sets("--dry-run")
        self.assertEqual(status, DAMAGED)
        lost = [each for each in sets if each["verdict"] == "lost"]
        self.assertEqual([(each["set"], each["sets"]) for each in lost], [(2, 4)])


# What is left of a set of copies does not tell of all members.
class FarTooMuchTest(Case):
    case = "partner_4_r2"

    def test_ranks_are_named_as_far_as_they_are_known(self):
        self.lose(0, 1, 2)
        status, one = self.only_set()
        self.assertEqual((status, one["verdict"]), (DAMAGED, "lost"))
        self.assertIn("no file that was found describes member 0 of 4", one["problem"])


unittest.main(argv=sys.argv[:1])
