#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the containment-domains authors
"""Runs the commands of docs/reference/cdctl.md, and compares what they print with what stands there.

document.py DOCUMENT CDCTL MAKE_STORES [--write]: --write puts what they print into the document.
Commands are lines with "$ " in blocks of ```console; their output follows them. What differs from
run to run (addresses, ids) is compared by its shape only.
"""

import os
import re
import subprocess
import sys
import tempfile


def masked(text):
    text = re.sub(r"\b0x[0-9a-f]{5,}\b", "<address>", text)
    text = re.sub(r"\b[0-9a-f]{32}\b", "<id>", text)
    text = re.sub(r"make_stores\+0x[0-9a-f]+", "make_stores+<offset>", text)
    text = re.sub(r"device \d+, inode \d+", "device <device>, inode <inode>", text)
    return re.sub(r"user \d+", "user <uid>", re.sub(r" +", " ", text))


def main():
    document, cdctl, make_stores = sys.argv[1:4]
    with open(document, encoding="utf-8") as file:
        lines = file.read().split("\n")
    with tempfile.TemporaryDirectory() as directory:
        programs = os.path.join(directory, "bin")
        os.mkdir(programs)
        os.symlink(os.path.abspath(cdctl), os.path.join(programs, "cdctl"))
        environment = dict(
            os.environ,
            PATH=programs + ":" + os.environ["PATH"],
            CD_STORAGE_INFO="store=file,dir=stores,keep=2",
        )
        for rank in "01":
            subprocess.run(
                [os.path.abspath(make_stores)],
                cwd=directory,
                env=dict(environment, PMIX_RANK=rank),
                check=True,
                timeout=60,
                stdout=subprocess.DEVNULL,
            )
        made, commands = [], 0
        inside = False
        for line in lines:
            if line.startswith("```"):
                inside = line == "```console"
                made.append(line)
            elif not inside:
                made.append(line)
            elif line.startswith("$ "):
                done = subprocess.run(
                    ["bash", "-c", line[2:]],
                    cwd=directory,
                    env=environment,
                    timeout=60,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.STDOUT,
                    check=False,
                )
                made += [line] + done.stdout.decode().splitlines()
                commands += 1
    if commands < 5:
        sys.exit(f"{document}: hardly any command was found: the check is broken")
    if "--write" in sys.argv[4:]:
        with open(document, "w", encoding="utf-8") as file:
            file.write("\n".join(made))
        return
    wanted, found = masked("\n".join(lines)), masked("\n".join(made))
    if wanted != found:
        import difflib

        for line in difflib.unified_diff(
            wanted.split("\n"), found.split("\n"), document, "what the commands print", lineterm=""
        ):
            print(line)
        sys.exit(f"{document} does not show what its commands print; document.py --write does it")


main()
