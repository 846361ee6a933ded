#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the containment-domains authors
"""cdctl_test.py CDCTL MAKE_STORES LOST_BLOCK: what cdctl says of good, used and strange stores, and of wrong usage."""

import json
import os
import re
import resource
import shutil
import signal
import socket
import struct
import subprocess
import sys
import threading
import unittest

from cdctl_case import BLOCK, CDCTL, DAMAGED, GOOD, UNREADABLE, USAGE, Case, crc32c


class CdctlTest(Case):
    # ---- Good stores ----

    def test_list_tells_whose_each_store_is_in_the_order_of_ranks(self):
        for rank in (10, 9, 0):
            self.make(rank)
        found = self.json("list", self.stores)
        self.assertEqual([store["rank"] for store in found], [0, 9, 10])
        self.assertEqual(found[1]["identity"], "9/heat/0/0")
        self.assertEqual(found[1]["epoch"], 3)
        self.assertEqual(found[1]["older_epochs"], [2])
        self.assertEqual((found[1]["cds"], found[1]["entries"]), (2, 6))
        self.assertEqual(found[1]["file_bytes"], os.stat(self.path(9)).st_size)
        self.assertEqual(found[1]["condition"], "good")
        status, out, error = self.cdctl("list", self.stores)
        self.assertEqual((status, error), (GOOD, ""))
        self.assertEqual(len(out.splitlines()), 4)

    def test_show_tells_every_entry_and_how_it_finds_its_place(self):
        self.make()
        (store,) = self.json("show", self.path())
        self.assertEqual((store["format"], store["mode"], store["owner"]), (7, 0o600, os.geteuid()))
        root, child = store["domains"]
        self.assertEqual((root["identity"], child["identity"]), ("0/heat/0/0", "0/heat/1/0"))
        by_size = {entry["bytes"]: entry for entry in root["entries"]}
        self.assertEqual(set(by_size), {160000, 8, 3000, 100})
        self.assertTrue(by_size[160000]["belongs_to"]["object"].startswith("make_stores "))
        self.assertEqual(by_size[3000]["belongs_to"], {"region": "halo", "offset": 0})
        self.assertEqual(by_size[100]["belongs_to"]["range"], 0)
        self.assertEqual(by_size[100]["scope"], "CONSTRAINED")
        self.assertEqual(by_size[160000]["access"], "READ_ONLY")
        self.assertEqual(by_size[160000]["data"]["checksum"], "crc32c")
        self.assertEqual(sorted(e["via"] for e in child["entries"]), ["parent", "regen"])
        self.assertTrue(all(entry["data"] is None for entry in child["entries"]))
        (file,) = child["files"]
        self.assertEqual(file["position"], 100)
        self.assertTrue(file["born"] is None or file["born"] > 0)
        self.assertEqual([older["epoch"] for older in store["older"]], [2])

    def test_data_are_where_show_says(self):
        self.make()
        (store,) = self.json("show", self.path())
        offset = next(
            e["data"]["offset"] for e in store["domains"][0]["entries"] if e["bytes"] == 160000
        )
        with open(self.path(), "rb") as file:
            file.seek(offset)
            numbers = struct.unpack("<20000d", file.read(160000))
        self.assertEqual(numbers, tuple(20.0 + i for i in range(20000)))

    def test_verify_reads_all_data(self):
        self.make(storage="keep=1")
        (store,) = self.json("verify", self.stores)
        self.assertEqual((store["checked_bytes"], store["unchecked_bytes"]), (163108, 0))
        self.assertEqual((store["good_epochs"], store["damaged_epochs"]), ([3], []))
        self.assertEqual((store["verdict"], store["exit_status"]), ("good", GOOD))
        self.make(1, "keep=1,checksum=none")
        store = self.json("verify", self.stores)[1]
        self.assertEqual((store["checked_bytes"], store["unchecked_bytes"]), (0, 163108))

    def test_without_a_path_it_looks_where_programs_here_would(self):
        self.make()
        environment = self.environment()
        self.assertEqual(len(self.json("list", env=environment)), 1)
        os.rename(self.stores, os.path.join(self.directory, "cd-stores"))
        del environment["CD_STORAGE_INFO"]
        (store,) = self.json("list", env=environment)
        self.assertEqual(store["path"], "cd-stores/0-heat.cds")

    def test_what_a_fresh_start_has_put_aside_is_shown_too(self):
        self.make()
        os.rename(self.path(), self.path(suffix=".old"))
        paths = [store["path"] for store in self.json("list", self.stores)]
        self.assertIn(self.path(suffix=".old"), paths)

    def test_epoch_is_the_newest_that_all_have(self):
        self.assertEqual(self.cdctl("epoch", self.directory)[:2], (GOOD, "yes\n"))
        status, out, error = self.cdctl("epoch", os.path.join(self.directory, "not-yet"))
        self.assertEqual((status, out), (UNREADABLE, "yes\n"))
        self.assertIn("not-yet", error)
        self.make(0)
        self.assertEqual(self.cdctl("epoch", self.stores, os.path.join(self.directory, "not-yet"))[1], "none\n")
        self.assertEqual(self.cdctl("epoch", self.stores)[:2], (GOOD, "3\n"))
        self.make(1)
        self.make(1)  # attaches, and advances three times more
        self.assertEqual(self.json("list", self.path(1))[0]["older_epochs"], [5])
        status, out, error = self.cdctl("epoch", self.stores)
        self.assertEqual((status, out), (DAMAGED, "none\n"))
        self.assertIn("no common epoch", error)
        self.assertEqual(self.cdctl("epoch", "--json", self.path(1))[1], '{\n  "epoch": 6\n}\n')

    def test_epoch_tells_of_what_a_fresh_start_that_was_killed_has_left(self):
        self.make(0)
        self.make(1)
        self.assertEqual(self.cdctl("epoch", self.stores), (GOOD, "3\n", ""))
        with open(self.path(), "rb") as file:
            whole = file.read()
        os.rename(self.path(), self.path(suffix=".old"))
        status, out, error = self.cdctl("epoch", self.stores)
        self.assertEqual((status, out), (DAMAGED, "none\n"))
        self.assertIn("0-heat.cds.old was put aside", error)
        os.remove(self.path(1))
        status, out, error = self.cdctl("epoch", self.stores)
        self.assertEqual((status, out), (GOOD, "yes\n"))
        self.assertIn("rename it to " + self.path(), error)
        with open(self.path(), "wb") as file:  # and a start that was not
            file.write(whole)
        self.assertEqual(self.cdctl("epoch", self.stores), (GOOD, "3\n", ""))
        self.assertEqual(self.cdctl("epoch", self.path(suffix=".old")), (GOOD, "yes\n", ""))

    def test_epoch_takes_the_store_of_a_rank_that_left_what_was_put_aside_on_another_node(self):
        self.make(0)
        self.make(1)
        other = os.path.join(self.directory, "other")
        os.mkdir(other)
        left = os.path.join(other, "0-heat.cds.old")
        shutil.copy(self.path(), left)
        for directories in (self.stores, other), (other, self.stores):
            status, out, error = self.cdctl("epoch", *directories)
            self.assertEqual((status, out, error), (GOOD, "3\n", ""))
        self.assertEqual(self.cdctl("epoch", other)[:2], (GOOD, "yes\n"))
        os.remove(self.path())
        self.assertIn("rename it to " + left.removesuffix(".old"), self.cdctl("epoch", self.path(), self.path(1), other)[2])

    # ---- Stores in use ----

    def test_a_store_in_use_is_read_and_its_process_named(self):
        process = self.start("wait")
        for command in ("list", "show", "verify"):
            (store,) = self.json(command, self.stores)
            self.assertEqual((store["in_use"], store["process"]), (True, process.pid))
            self.assertIn(f"in use by process {process.pid}", self.cdctl(command, self.stores)[1])
        self.assertIn(f"process {process.pid} has this store open", self.make(expect=1))
        process.send_signal(signal.SIGKILL)
        process.wait(30)
        self.assertEqual(self.json("list", self.stores)[0]["in_use"], False)
        self.make()

    def test_a_store_that_changes_all_the_time_is_good_and_its_process_goes_on(self):
        process = self.start("churn")
        last = 0
        for _ in range(60):
            (store,) = self.json("verify", self.stores)
            self.assertGreaterEqual(store["epoch"], last)
            last = store["epoch"]
        self.assertGreater(last, 60)
        self.assertIsNone(process.poll())

    def test_a_store_that_gets_an_owner_meanwhile_is_good(self):
        self.make()
        stop = threading.Event()

        def own_it_again_and_again():
            while not stop.is_set():
                self.make()

        owners = threading.Thread(target=own_it_again_and_again)
        owners.start()
        try:
            for _ in range(40):
                self.json("verify", self.path())
        finally:
            stop.set()
            owners.join()

    def test_nothing_is_ever_written(self):
        self.make()
        self.make(1)
        self.change(100, b"damage", self.path(1))
        before = self.contents()
        for command in ("list", "show", "verify", "epoch"):
            self.cdctl(command, self.stores)
            self.cdctl(command, "--json", self.stores)
        self.assertEqual(self.contents(), before)

    # ---- Strange files ----

    def test_what_is_no_store_is_unreadable(self):
        self.make()
        os.symlink(self.path(), self.path(1))
        os.mkfifo(self.path(2))
        os.mkdir(self.path(3))
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(self.path(4))
        found = {store["path"]: store for store in self.json("verify", self.stores, expect=UNREADABLE)}
        listener.close()
        self.assertEqual(found[self.path(0)]["condition"], "good")
        for rank, reason in ((1, "symbolic link"), (2, "ordinary"), (3, "ordinary"), (4, "open")):
            self.assertEqual(found[self.path(rank)]["condition"], "unreadable")
            self.assertIn(reason, found[self.path(rank)]["problem"])
            self.assertIn(self.path(rank), found[self.path(rank)]["problem"])

    def test_no_link_to_a_directory_is_followed_whatever_is_behind_it(self):
        self.make()
        link = os.path.join(self.directory, "link")
        os.symlink(self.stores, link)
        named = [(path,) for path in (link, link + "/", link + "//", link + "/.", link + "/./")]
        for paths in [*named, ()]:
            for storage in (f"dir={link}", f"dir={link}/"):
                (store,) = self.json("list", *paths, expect=UNREADABLE, env={"CD_STORAGE_INFO": storage})
                self.assertEqual(store["path"], link)
                self.assertIn("symbolic link, and these are not followed", store["problem"])
        self.assertEqual(len(self.json("list", link + "/../stores/.")), 1)

    def test_a_store_that_needs_more_memory_than_there_is_is_named(self):
        limit = 64 << 20

        def limited():
            resource.setrlimit(resource.RLIMIT_AS, (limit, limit))

        if self.cdctl("--version", preexec_fn=limited)[0] != GOOD:
            self.skipTest("cdctl itself needs more memory, as with a sanitizer")
        self.make()
        self.make(1)
        with open(self.path(), "r+b") as file:
            size = file.seek(0, os.SEEK_END)
            for _ in range(limit >> 20):
                file.write(b"x" * (1 << 20))
            for header in (0, BLOCK):
                file.seek(header)
                block = bytearray(file.read(BLOCK))
                block[40:64] = struct.pack("<QQQ", size, limit, limit)
                block[508:512] = struct.pack("<I", crc32c(block[:508]))
                file.seek(header)
                file.write(block)
        for command in ("list", "show", "verify"):
            first, second = self.json(command, self.stores, expect=UNREADABLE, preexec_fn=limited)
            self.assertEqual((first["condition"], second["condition"]), ("unreadable", "good"))
            self.assertIn(self.path() + ": there is not enough memory", first["problem"])

    def test_what_is_not_there_is_unreadable(self):
        (store,) = self.json("show", "nothing.cds", expect=UNREADABLE)
        self.assertIn("nothing.cds", store["problem"])
        self.assertEqual(self.cdctl("list")[0], UNREADABLE)

    def test_what_may_not_be_read_is_unreadable(self):
        if os.geteuid() == 0:
            prefix = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
        else:
            prefix = []
        self.make()
        os.chmod(self.directory, 0o755)
        os.chmod(self.stores, 0o755)
        os.chmod(self.path(), 0)
        program = os.path.join(self.directory, "cdctl")
        shutil.copy(CDCTL, program)
        done = subprocess.run(
            prefix + [program, "list", self.path()], capture_output=True, text=True, check=False
        )
        self.assertEqual(done.returncode, UNREADABLE, done.stderr)
        self.assertIn("Permission denied", done.stderr)

    def test_a_newer_format_is_refused(self):
        self.make()
        for header in (0, 1):
            with open(self.path(), "rb") as file:
                file.seek(header * BLOCK)
                block = bytearray(file.read(BLOCK))
            block[8:12] = struct.pack("<I", 8)
            block[508:512] = struct.pack("<I", crc32c(block[:508]))
            self.change(header * BLOCK, bytes(block))
        (store,) = self.json("verify", self.path(), expect=UNREADABLE)
        self.assertEqual(store["condition"], "version")
        self.assertIn("format version 8", store["problem"])

    def test_names_do_nothing_to_a_terminal(self):
        name = os.path.join(self.directory, "\x1b]0;evil\x07\udcff.cds")
        with open(os.fsencode(name), "wb") as file:
            file.write(b"nothing")
        done = subprocess.run([CDCTL, "list", os.fsencode(name)], capture_output=True, check=False)
        self.assertEqual(done.returncode, DAMAGED)
        self.assertIn(b"\\x1b]0;evil\\x07\xff.cds", done.stdout)
        self.assertNotIn(b"\x1b", done.stdout + done.stderr)
        done = subprocess.run(
            [CDCTL, "list", "--json", os.fsencode(name)], capture_output=True, check=False
        )
        self.assertIn("\x1b]0;evil\x07\ufffd", json.loads(done.stdout)["stores"][0]["path"])

    # ---- Usage ----

    def test_wrong_usage_is_refused(self):
        for arguments in ((), ("frobnicate",), ("list", "--colour"), ("verify", "-x", "a")):
            status, out, error = self.cdctl(*arguments)
            self.assertEqual((status, out), (USAGE, ""))
            self.assertIn("usage: cdctl", error)
        for arguments in (("help",), ("--help",), ("--version",)):
            status, out, error = self.cdctl(*arguments)
            self.assertEqual((status, error), (GOOD, ""))
            self.assertIn("cdctl", out)

    def test_the_version_names_what_computes(self):
        crc32c = "(isa-l|armv8-crc|isa-l by tables|portable)"
        copy = f"({crc32c}|avx2|sse4.2)"
        out = self.cdctl("--version")[1]
        self.assertRegex(
            out,
            rf"\Acdctl [0-9.]+\nkernels: crc32c {crc32c}, crc32c while copying {copy}, "
            r"copy (sse2|memcpy), erasure coding (isa-l|portable)\n\Z",
        )
        with open("/proc/cpuinfo", encoding="ascii") as processor:
            if re.search(r"\b(sse4_2|crc32)\b", processor.read()):
                self.assertNotRegex(out, "by tables|copying portable")

    def test_output_that_is_lost_is_no_success(self):
        self.make()
        with open("/dev/full", "w", encoding="ascii") as full:
            done = subprocess.run(
                [CDCTL, "show", self.path()], stdout=full, stderr=subprocess.PIPE, check=False
            )
        self.assertEqual(done.returncode, UNREADABLE)
        self.assertIn(b"standard output", done.stderr)


unittest.main(argv=sys.argv[:1] + sys.argv[4:])
