#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the containment-domains authors

"""tutorial.py PAGES PREFIX FLAVOUR: does what the tutorial says, with the tree installed at PREFIX.

Blocks of C are heat.c, blocks of sh are node.sh, differences are applied to heat.c. Commands are run in
one shell; what they print has to be what stands below them, in any order of lines.
"""

import os
import re
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

MARK = "=== end of command"
ENDED = "=== status"


def blocks(pages):
    for page in sorted(Path(pages).glob("[0-9]*.md")):
        for kind, text in re.findall(r"^```(\w+)\n(.*?)^```$", page.read_text(), re.M | re.S):
            yield page.name, kind, text


def commands(text):
    """Pairs of a command and the lines that it should print."""
    pairs = []
    for line in text.splitlines():
        if line.startswith("$ "):
            pairs.append((line[2:], []))
        else:
            pairs[-1][1].append(line)
    return pairs


def matches(expected, line):
    return re.fullmatch(".*".join(re.escape(part) for part in expected.split("...")), line)


def differs(expected, printed):
    printed = list(printed)
    for wanted in expected:
        found = next((line for line in printed if matches(wanted, line)), None)
        if found is None:
            return True
        printed.remove(found)
    return bool(printed)


def script(pages):
    """One shell script for all pages, and what each command should print."""
    lines, expectations = [], []
    for page, kind, text in blocks(pages):
        if kind in ("c", "sh", "diff"):
            target = {"c": "cat > heat.c", "sh": "cat > node.sh", "diff": "patch -s heat.c"}[kind]
            lines.append(f"{target} <<'END_OF_BLOCK' || exit 1\n{text}END_OF_BLOCK")
        elif kind == "console":
            for command, expected in commands(text):
                lines.append(f"{command}\necho '{ENDED}' $?\necho '{MARK}'")
                expectations.append((page, command, expected))
    return "\n".join(lines), expectations


def tools(folder, flavour):
    """mpicc and mpirun of this MPI, under these names."""
    for name in ("mpicc", "mpirun"):
        call = os.environ.get(f"CD_{name.upper()}_{flavour}", f"{name}.{flavour}")
        extra = "--oversubscribe" if (name, flavour) == ("mpirun", "openmpi") else ""
        path = Path(folder) / name
        path.write_text(f'#!/bin/sh\nexec {call} {extra} "$@"\n')
        path.chmod(path.stat().st_mode | stat.S_IXUSR)


def environment(folder, prefix, flavour):
    pkg_config = next(Path(prefix).rglob("containment-domains.pc")).parent
    return os.environ | {
        "PATH": f"{folder}:{prefix}/bin:{os.environ['PATH']}",
        "PREFIX": str(prefix),
        "MPI": flavour,
        "PKG_CONFIG_PATH": str(pkg_config),
        "OMPI_MCA_mpi_yield_when_idle": "1",  # ranks may be more than cores
        "OMPI_ALLOW_RUN_AS_ROOT": "1",
        "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    }


def main():
    pages, prefix, flavour = sys.argv[1], Path(sys.argv[2]).resolve(), sys.argv[3]
    text, expectations = script(pages)
    failed = not expectations
    with tempfile.TemporaryDirectory() as work, tempfile.TemporaryDirectory() as folder:
        tools(folder, flavour)
        run = subprocess.run(
            ["bash", "-c", text],
            cwd=work,
            env=environment(folder, prefix, flavour),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
    answers = run.stdout.split(MARK + "\n")[:-1]
    if len(answers) != len(expectations):
        sys.exit(f"{len(answers)} of {len(expectations)} commands were run:\n{run.stdout}")
    for (page, command, expected), answer in zip(expectations, answers):
        *printed, status = answer.splitlines()
        if status != f"{ENDED} 0" or differs(expected, printed):
            failed = True
            print(f"{page}: {command}\nshould print\n  " + "\n  ".join(expected))
            print("printed\n  " + "\n  ".join([*printed, status]))
    sys.exit(1 if failed else 0)


main()
