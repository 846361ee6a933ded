# SPDX-License-Identifier: BSD-3-Clause
# Copyright the containment-domains authors
"""What the tests of cdctl share: stores to look at, and ways to change them. argv: CDCTL MAKE_STORES LOST_BLOCK."""

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

CDCTL, MAKE_STORES, LOST_BLOCK = (os.path.abspath(path) for path in sys.argv[1:4])
GOOD, DAMAGED, USAGE, UNREADABLE, OLDER = range(5)
BLOCK = 4096


def crc32c(data):
    table = []
    for value in range(256):
        for _ in range(8):
            value = value >> 1 ^ (0x82F63B78 if value & 1 else 0)
        table.append(value)
    crc = 0xFFFFFFFF
    for byte in data:
        crc = crc >> 8 ^ table[(crc ^ byte) & 255]
    return crc ^ 0xFFFFFFFF


class Case(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.mkdtemp()
        self.stores = os.path.join(self.directory, "stores")
        self.processes = []

    def tearDown(self):
        for process in self.processes:
            process.kill()
            process.wait(30)
            process.stdout.close()
        shutil.rmtree(self.directory)

    def environment(self, rank=0, storage="keep=2"):
        environment = {k: v for k, v in os.environ.items() if not k.startswith("CD_")}
        environment["PMIX_RANK"] = str(rank)
        environment["CD_STORAGE_INFO"] = f"store=file,dir={self.stores},{storage}"
        return environment

    def make(self, rank=0, storage="keep=2", expect=0, **more):
        made = subprocess.run(
            [MAKE_STORES],
            env=dict(self.environment(rank, storage), **more),
            cwd=self.directory,
            timeout=60,
            capture_output=True,
            text=True,
            check=False,
        )
        self.assertEqual(made.returncode, expect, made.stderr)
        return made.stderr

    def start(self, how):
        process = subprocess.Popen(
            [MAKE_STORES, how],
            env=self.environment(storage="keep=2,sync=none"),
            stdout=subprocess.PIPE,
            text=True,
        )
        self.processes.append(process)
        self.assertEqual(process.stdout.readline(), "ready\n")
        return process

    def cdctl(self, *arguments, **more):
        done = subprocess.run(
            [CDCTL, *arguments],
            timeout=60,
            cwd=self.directory,
            capture_output=True,
            text=True,
            check=False,
            **more,
        )
        return done.returncode, done.stdout, done.stderr

    def json(self, *arguments, expect=GOOD, **more):
        status, out, error = self.cdctl(arguments[0], "--json", *arguments[1:], **more)
        self.assertEqual(status, expect, out + error)
        return json.loads(out)["stores"]

    def path(self, rank=0, suffix=""):
        return os.path.join(self.stores, f"{rank}-heat.cds{suffix}")

    def change(self, offset, data, path=None):
        with open(path or self.path(), "r+b") as file:
            file.seek(offset)
            file.write(data)

    def contents(self):
        found = {}
        for name in sorted(os.listdir(self.stores)):
            with open(os.path.join(self.stores, name), "rb") as file:
                status = os.stat(file.fileno())
                found[name] = (
                    hashlib.sha256(file.read()).hexdigest(),
                    status.st_mtime_ns,
                    status.st_ctime_ns,
                    status.st_ino,
                )
        return found

    def damage_data(self, epoch):
        (store,) = self.json("show", self.path())
        holder = store["domains"][0] if epoch == 3 else store["older"][0]
        entry = next(e for e in holder["entries"] if e["bytes"] == 3000)
        self.change(entry["data"]["offset"] + 1000, b"x")
        return entry
