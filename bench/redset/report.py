#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the containment-domains authors

"""Turns what cd_bench_redset and cd_bench_redset_mpi_* print into a table, and into a document.

report.py [--document FILE] NAME=RESULTS...: where a NAME is given several times the best of each case counts.
"""

import argparse
import os
import re
from pathlib import Path

CASE = re.compile(
    r"(?P<what>encode|rebuild) +(?P<scheme>\w+) +k=(?P<checks>\d) of (?P<members>\d+) +"
    r"(?P<speed>[\d.]+) GB/s +(?P<cost>[\d.]+) s/GB, bound +(?P<bound>[\d.]+), reached (?P<reached>[\d.]+): "
    r"(?P<passes>.*)"
)
RATE = re.compile(r"(?P<what>.+?) {2,}(?P<rate>[\d.]+) GB/s")

# Upstream's redset 0.4.0 at -O2, 4 ranks with 256 MiB each on a loaded machine of this kind: seconds of
# processor time of all ranks for each GB.
UPSTREAM = {
    ("encode", "XOR", 1, 4): 2.7,
    ("rebuild", "XOR", 1, 4): 2.4,
    ("encode", "RS", 2, 4): 5.2,
    ("rebuild", "RS", 2, 4): 8.9,
}
WANTED = 1 / 3

INTRODUCTION = """\
# What redundancy costs

<!-- Written by bench/redset/report.py from the last run; change the texts there. -->

Seconds of processor time of all members together for each GB of application data, the best of several runs, in tmpfs, with nothing
forced to a disk. Beside it the fraction of the bound that is reached: the least that such an encoder has to do, which is to read each
byte, take its checksum, send it (one copy), code it, and write the payload, at the speeds that the same run has measured for each of these alone.

The members are threads of one process, or ranks of an MPI program, on a machine with {cores} cores that had {load:.0f} runnable programs
in the mean of the last five minutes: the more of them, the more a second of processor time loses to whoever shares caches and memory.
"""

AFTER = """\
What is between the bound and the measurement: MPI copies within a machine twice, or once by a call of the kernel; files and buffers
have to get their pages; and headers, drafts and agreements cost the same for little data as for much. Waiting is not in it where it lets others have the processor.

How often each byte of application data, or as much, goes through each step:
"""


def load(path):
    cases, rates = {}, {}
    for line in Path(path).read_text().splitlines():
        case, rate = CASE.fullmatch(line), RATE.fullmatch(line)
        if case:
            key = (case["what"], case["scheme"], int(case["checks"]), int(case["members"]))
            values = {name: float(case[name]) for name in ("speed", "cost", "bound", "reached")}
            cases[key] = values | {"passes": re.findall(r"[\d.]+", case["passes"])}
        elif rate:
            rates[rate["what"]] = float(rate["rate"])
        else:
            raise SystemExit(f"report.py: {path} has a line of another kind: {line}")
    return cases, rates


def merge(arguments):
    """Per name the best of each case; the best of each rate."""
    best, rates = {}, {}
    for argument in arguments:
        name, path = argument.split("=", 1)
        cases, found = load(path)
        of_name = best.setdefault(name, {})
        for key, case in cases.items():
            if key not in of_name or case["cost"] < of_name[key]["cost"]:
                of_name[key] = case
        for what, rate in found.items():
            rates[what] = max(rate, rates.get(what, 0))
    return best, rates


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


def rows(best):
    for key in keys_of(best):
        cells = []
        for cases in best.values():
            case = cases.get(key)
            cells.append(f"{case['cost']:.2f} ({case['reached']:.2f})" if case else "")
        upstream = f"{UPSTREAM[key]:.1f}" if key in UPSTREAM else ""
        yield [label(key), *cells, upstream, verdict(best, key)]


def header(best):
    return ["case", *best, "upstream", f"of upstream (<= {WANTED:.2f})"]


def print_table(best):
    table = [header(best), *rows(best)]
    widths = [max(len(row[column]) for row in table) for column in range(len(table[0]))]
    print("\nredundancy: processor seconds for each GB (fraction of the bound)")
    for row in table:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip())


def markdown(head, body):
    lines = [head, ["---", *["---:"] * (len(head) - 1)], *body]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def document(best, rates):
    passes = {}
    for cases in best.values():
        for key, case in cases.items():
            passes[key] = case["passes"]
    return "\n".join(
        [
            INTRODUCTION.format(cores=len(os.sched_getaffinity(0)), load=os.getloadavg()[1]),
            markdown(header(best), rows(best)),
            AFTER,
            markdown(
                ["case", "read", "checked", "sent", "coded", "written"],
                ([label(key), *passes[key]] for key in keys_of(best)),
            ),
            "The steps alone, one thread, GB/s:\n",
            markdown(["step", "GB/s"], ([what, f"{rate:.1f}"] for what, rate in rates.items())),
        ]
    )


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--document")
    parser.add_argument("results", nargs="+", metavar="NAME=RESULTS")
    arguments = parser.parse_args()
    best, rates = merge(arguments.results)
    print_table(best)
    if arguments.document:
        Path(arguments.document).write_text(document(best, rates))


main()
