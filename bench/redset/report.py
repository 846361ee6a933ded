#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the containment-domains authors

"""Turns what cd_bench_redset, cd_bench_redset_mpi_* and cd_bench_advances_* print into a table, and into a document.

report.py [--document FILE] NAME=RESULTS...: where a NAME is given several times the best of each case counts.
"""

import argparse
import os
import re
from pathlib import Path

CASE = re.compile(
    r"(?P<what>encode|rebuild) +(?P<scheme>\w+) +k=(?P<checks>\d) of (?P<members>\d+) +"
    r"(?P<speed>[\d.]+) GB/s +(?P<cost>[\d.]+) s/GB, bound +(?P<bound>[\d.]+), reached (?P<reached>[\d.]+), with sending (?P<sending>[\d.]+): "
    r".*"
)
ADVANCE = re.compile(
    r"advance of (?P<ranks>\d+) ranks with (?P<mib>\d+) MiB each: (?P<seconds>[\d.]+) s without redundancy, "
    r"async (?P<async>[\d.]+), sync (?P<sync>[\d.]+) of that"
)
RATE = re.compile(r".+? {2,}[\d.]+ GB/s")

# Upstream's redset 0.4.0 at -O2, 4 ranks with 256 MiB each on a loaded machine of this kind: seconds of
# processor time of all ranks for each GB.
UPSTREAM = {
    ("encode", "XOR", 1, 4): 2.7,
    ("rebuild", "XOR", 1, 4): 2.4,
    ("encode", "RS", 2, 4): 5.2,
    ("rebuild", "RS", 2, 4): 8.9,
}
WANTED = 1 / 3
# The cases that the page shows: scheme, checksums, members.
SHOWN = [("XOR", 1, 4), ("RS", 2, 4), ("XOR", 1, 8), ("RS", 2, 8)]

INTRODUCTION = """\
<!-- SPDX-License-Identifier: BSD-3-Clause -->
<!-- Copyright the containment-domains authors -->

# What redundancy costs

<!-- Written by bench/redset/run --write-doc from the last run; change the texts in bench/redset/report.py. -->

Know what encoding and rebuilding cost, and what an advance waits for. These are the results of the last `./dev bench --write-doc`, on a machine with {cores} cores and {load:.0f} runnable programs.

## Encoding and rebuilding

Seconds of processor time of all members for each GB of application data, in tmpfs, the best of several runs. Each member has 256 MiB. Members are threads, or ranks on one machine.

In brackets: the fraction of the bound that is reached. The bound is to read each byte, take its checksum, send it (one copy), code it and write the payload. The same run measures the speed of each step alone. Over MPI a second
fraction counts what this MPI takes to send. `upstream` is what redset 0.4.0 took at -O2 with 4 ranks.
"""

BETWEEN = """\
Most of the rest is copying between processes.
"""

ADVANCES = """\
## What an advance waits for

Time of an advance with `store=file` in tmpfs, all data changed: in seconds without redundancy, and as a multiple of that with `redundancy=xor`, by `redundancy_mode`. Medians of 15 rounds. `async` returns after the local write; `sync` also writes
an image, reads it, encodes it, and removes an older one.
"""


def load(path):
    cases, advances = {}, []
    for line in Path(path).read_text().splitlines():
        case, advance = CASE.fullmatch(line), ADVANCE.fullmatch(line)
        if advance:
            advances.append(advance.groupdict())
        elif case:
            key = (case["what"], case["scheme"], int(case["checks"]), int(case["members"]))
            values = {name: float(case[name]) for name in ("speed", "cost", "bound", "reached", "sending")}
            cases[key] = values
        elif not RATE.fullmatch(line):
            raise SystemExit(f"report.py: {path} has a line of another kind: {line}")
    return cases, advances


def merge(arguments):
    """The best of each case for each name, with the bound of its run, and the advances with the smallest price of async."""
    best, advances = {}, {}
    for argument in arguments:
        name, path = argument.split("=", 1)
        cases, advanced = load(path)
        for advance in advanced:
            key = (name, int(advance["ranks"]))
            if key not in advances or float(advance["async"]) < float(advances[key]["async"]):
                advances[key] = advance
        of_name = best.setdefault(name, {})
        for key, case in cases.items():
            fastest = max(case["speed"], of_name.get(key, case)["speed"])
            if key not in of_name or case["cost"] < of_name[key]["cost"]:
                of_name[key] = case
            of_name[key]["speed"] = fastest
    return best, advances


def keys_of(best):
    return list(dict.fromkeys(key for cases in best.values() for key in cases))


def label(key):
    what, scheme, checks, members = key
    return f"{what} {scheme} k={checks}, {members} members"


def verdict(best, key):
    """Of the slowest MPI, against a third of upstream's cost."""
    over_mpi = [cases[key]["cost"] for name, cases in best.items() if name != "threads" and key in cases]
    if key not in UPSTREAM or not over_mpi:
        return ""
    ratio = max(over_mpi) / UPSTREAM[key]
    return f"{ratio:.2f} {'ok' if ratio <= WANTED else 'MISSED'}"


def cell(name, case):
    sending = "" if name == "threads" else f", {case['sending']:.2f}"
    return f"{case['cost']:.2f} ({case['reached']:.2f}{sending})"


def rows(best, wanted=lambda key: True):
    for key in filter(wanted, keys_of(best)):
        cells = []
        for name, cases in best.items():
            cells.append(cell(name, cases[key]) if key in cases else "")
        upstream = f"{UPSTREAM[key]:.1f}" if key in UPSTREAM else ""
        yield [label(key), *cells, upstream, verdict(best, key)]


def header(best):
    return ["case", *best, "upstream", f"of upstream (<= {WANTED:.2f})"]


def print_table(best):
    table = [header(best), *rows(best)]
    widths = [max(len(row[column]) for row in table) for column in range(len(table[0]))]
    print("\nredundancy: processor seconds for each GB (fraction of the bound, and with sending by this MPI)")
    for row in table:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip())


def markdown(head, body):
    lines = [head, ["---", *["---:"] * (len(head) - 1)], *body]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def advance_rows(advances):
    for (name, ranks), of in sorted(advances.items(), key=lambda each: each[0][1]):
        yield [f"{name}, {ranks} ranks with {of['mib']} MiB each", of["seconds"], of["async"], of["sync"]]


def document(best, advances):
    return "\n".join(
        [
            INTRODUCTION.format(cores=len(os.sched_getaffinity(0)), load=os.getloadavg()[1]),
            markdown(header(best), rows(best, lambda key: key[1:] in SHOWN)),
            BETWEEN,
            ADVANCES,
            markdown(["program", "no redundancy, s", "async", "sync"], advance_rows(advances)),
        ]
    )


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--document")
    parser.add_argument("results", nargs="+", metavar="NAME=RESULTS")
    arguments = parser.parse_args()
    best, advances = merge(arguments.results)
    print_table(best)
    for name, seconds, behind, waited in advance_rows(advances):
        print(f"advance of {name}: {seconds} s without redundancy, async {behind}, sync {waited} of that")
    if arguments.document:
        Path(arguments.document).write_text(document(best, advances))


main()
