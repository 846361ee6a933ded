#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the containment-domains authors

"""Takes away, one after the other, what makes stores and redundancy safe; each time a test has to fail.

usage: run.py BUILD_FOLDER [WORD...]     only mutations whose name has one of the words
       run.py --check                    only whether what each takes away is there
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from mutations import MUTATIONS

SOURCE = Path(__file__).resolve().parents[2]
# In this order, each only if the ones before have not failed.
PROGRAMS = [
    ("cd_crash_tests", "tests/crash/cd_crash_tests", "-Random*"),
    ("cd_damage_test", "tests/damage/cd_damage_test", "*"),
    ("cd_crash_tests", "tests/crash/cd_crash_tests", "Random*"),
    ("cd_unit_tests", "tests/unit/cd_unit_tests", "*Direct*:*Store*:*Restart*:*PointInTime*:*Ending*:*Damaged*:*Image*:Held*:*Disk*:GroupSync.*:Compaction.*"),
    ("cd_restart_test", "tests/restart/cd_restart_test", "Size*:Binding*:Order*:Children*"),
]
# Of what makes redundancy safe.
REDUNDANCY_PROGRAMS = [
    ("cd_unit_tests", "tests/unit/cd_unit_tests", "ForcingPoints*:Protected.*:SeveralSets*:Flushed*:SharedFolder*:FailingSystem*:Alone*:Apply.*:Rebuild.*:Drafts*"),
]
LONGEST_RUN = 600  # seconds


def copy_tree(tree):
    tree.mkdir(parents=True, exist_ok=True)
    files = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=SOURCE, check=True,
                           capture_output=True, text=True).stdout.splitlines()
    files = [name for name in files if (SOURCE / name).is_file()]
    for gone in {path for path in tree.rglob("*") if path.is_file()} - {tree / name for name in files}:
        gone.unlink()
    for name in files:
        source, target = SOURCE / name, tree / name
        # What is the same keeps its time, so that it is not built again.
        if not target.exists() or target.read_bytes() != source.read_bytes():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source, target)


class Misfit(Exception):
    pass


def mutated(text, mutation):
    begin = text.find(mutation.function)
    if begin < 0 or text.count(mutation.function) != 1:
        raise Misfit(f"{mutation.file}: not exactly one {mutation.function}")
    at = text.find(mutation.old, begin)
    indentation = begin - text.rfind("\n", 0, begin) - 1
    end = text.index("\n" + " " * indentation + "}\n", begin)
    if at < 0 or at > end:
        raise Misfit(f"{mutation.file}: {mutation.function} has no {mutation.old}")
    return text[:at] + mutation.new + text[at + len(mutation.old):]


def misfits():
    found = []
    for mutation in MUTATIONS:
        try:
            mutated((SOURCE / mutation.path).read_text(), mutation)
        except Misfit as why:
            found.append(f"{mutation.name}: {why}")
    return found


class DoesNotCompile(Exception):
    pass


def build(folder, target):
    built = subprocess.run(["cmake", "--build", str(folder), "--target", target],
                           capture_output=True, text=True)
    if built.returncode != 0:
        raise DoesNotCompile(built.stdout[-3000:])


def first_failure(folder, programs):
    """The first test that fails; None if all pass."""
    settings = dict(os.environ, GTEST_FAIL_FAST="1", CD_CRASH_STATES="40000")
    for target, program, tests in programs:
        build(folder, target)
        try:
            run = subprocess.run([str(folder / program), f"--gtest_filter={tests}"], env=settings,
                                 cwd=folder, capture_output=True, text=True, errors="replace",
                                 timeout=LONGEST_RUN)
        except subprocess.TimeoutExpired:
            return f"{program} does not end"
        if run.returncode != 0:
            found = re.search(r"\[  FAILED  \] (\S+)", run.stdout)
            started = re.findall(r"\[ RUN      \] (\S+)", run.stdout)
            if not found and not started:
                raise SystemExit(f"{program} does not start: {run.stderr}")
            return found.group(1) if found else f"{started[-1]} (ended)"
    return None


def main():
    if len(sys.argv) < 2 or (sys.argv[1].startswith("-") and sys.argv[1] != "--check"):
        raise SystemExit(__doc__)
    if found := misfits():
        raise SystemExit("\n".join(found))
    if sys.argv[1] == "--check":
        print(f"{len(MUTATIONS)} mutations fit")
        return 0
    tree, folder = Path(sys.argv[1]).resolve() / "tree", Path(sys.argv[1]).resolve() / "build"
    chosen = [m for m in MUTATIONS
              if len(sys.argv) == 2 or any(word in m.name for word in sys.argv[2:])]
    copy_tree(tree)
    subprocess.run(["cmake", "-S", tree, "-B", folder, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release",
                    "-DCD_BUILD_TESTS=ON", "-DCD_BUILD_EXAMPLES=OFF"], check=True,
                   stdout=subprocess.DEVNULL)
    wrong = 0
    failed = first_failure(folder, PROGRAMS + REDUNDANCY_PROGRAMS)
    if failed is not None:
        raise SystemExit(f"without any mutation {failed} fails")
    for mutation in chosen:
        file = tree / mutation.path
        whole = file.read_text()
        file.write_text(mutated(whole, mutation))
        try:
            programs = PROGRAMS if mutation.folder == "file_store" else REDUNDANCY_PROGRAMS
            failed = first_failure(folder, programs)
        except DoesNotCompile as complaint:
            raise SystemExit(f"{mutation.name}: does not compile\n{complaint}") from complaint
        finally:
            file.write_text(whole)
        if failed is not None:
            print(f"caught    {mutation.name}: {failed}", flush=True)
        elif mutation.survives:
            print(f"expected  {mutation.name}: {mutation.survives}", flush=True)
        else:
            print(f"SURVIVED  {mutation.name}", flush=True)
        wrong += (failed is None) != bool(mutation.survives)
    print(f"{len(chosen)} mutations, {wrong} not as expected")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
