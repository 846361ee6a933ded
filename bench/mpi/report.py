#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the containment-domains authors

"""Turns what cd_bench_openmpi and cd_bench_mpich print into a table, JSON, and docs/inside/mpi-costs.md.

report.py --json FILE [--document FILE] FLAVOUR=RESULTS...: RESULTS has a line of JSON for each case and
mode. Ratios are those of the minima, since whatever else the machine does only ever adds to a time; those
of the medians stand beside them. Of several results of one MPI, the middle ratio of each kind counts.
"""

import argparse
import json
from pathlib import Path

# case, what is compared with what, at most
IDLE, LOGGING, REPLAY, EMPTY = "no active CD", "logging", "replay", "empty wrapper"
COPY, COPY_ALONE = "memcpy of what came", "memcpy of 1 MiB"
BARE, BARE_BESIDE, COPIED = "bare", "bare beside logging", "bare and copied"
TARGETS = {
    ("8-byte ping-pong", IDLE): 1.05,
    ("8-byte Allreduce", IDLE): 1.05,
    ("8-byte ping-pong", LOGGING): 1.15,
    ("8-byte Allreduce", LOGGING): 1.10,
    ("stencil of 512 x 512", LOGGING): 1.01,
}
COPIES_TARGET = 1.0
REPLAY_TARGET = 1.0
GROWTH_TARGET = 1.10
# Of a few cycles one is more than noise, and one is what a jump takes.
NOT_LOGGED = "MPI_Comm_rank"
JUMP_TARGET = 1.05
NAMES = {"openmpi": "Open MPI", "mpich": "MPICH"}

INTRODUCTION = """\
<!-- SPDX-License-Identifier: BSD-3-Clause -->
<!-- Copyright the containment-domains authors -->

# What the MPI logger costs

<!-- Written by bench/mpi/report.py from the last run. -->

Know what logging costs an MPI program. These are the results of the last `./dev bench --write-doc`. Two ranks on one machine call the same functions past the logger and through it, in turns.

A ratio is that of the least times, with that of the medians in brackets. Less is faster. Of {runs} runs the middle one counts. [bench/mpi/README.md](../../bench/mpi/README.md) has all cases.

- *no active CD / bare*: the logger is there, and no CD logs. The target means "within noise".
- *no active CD / empty wrapper*: the same against a wrapper that only jumps to MPI.
- *logging / bare*: a CD logs. *logging adds, in memcpys*: what logging adds, against a `memcpy` of what came.
- *replay / logging*: a replay is not slower than the first execution. *long log / short*: nothing is slower because the log is long.

"""


def load(path):
    cases = {}
    for line in Path(path).read_text().splitlines():
        if line.startswith("{"):
            entry = json.loads(line)
            cases.setdefault(entry["case"], {"unit": entry["unit"]})[entry["mode"]] = entry
    return cases


def ratio(case, mode, reference):
    return [case[mode][which] / case[reference][which] for which in ("min", "median")]


def copies(case, copy):
    """What logging adds, in memcpys."""
    return [
        (case[LOGGING][which] - case[BARE_BESIDE][which]) / case[copy][which]
        for which in ("min", "median")
    ]


def copies_there(case):
    """What logging adds, in what a memcpy of what has been received adds."""
    return [
        (case[LOGGING][which] - case[BARE_BESIDE][which])
        / (case[COPIED][which] - case[BARE_BESIDE][which])
        for which in ("min", "median")
    ]


def judged(name, what, values, target, case, mode):
    verdict = None if target is None else "ok" if values[0] <= target else "MISSED"
    return {
        "case": name,
        "what": what,
        "ratio": values[0],
        "ratio_of_medians": values[1],
        "target": target,
        "verdict": verdict,
        "unit": case["unit"],
        "ns": case[mode]["min"],
    }


def results(cases):
    rows = []
    for name, case in cases.items():
        target = TARGETS.get((name, IDLE))
        if target is not None or name == NOT_LOGGED:
            rows.append(
                judged(name, "empty wrapper / bare", ratio(case, EMPTY, BARE), None, case, EMPTY)
            )
        rows.append(judged(name, "no active CD / bare", ratio(case, IDLE, BARE), target, case, IDLE))
        if name == NOT_LOGGED:
            values = ratio(case, IDLE, EMPTY)
            rows.append(
                judged(name, "no active CD / empty wrapper", values, JUMP_TARGET, case, IDLE)
            )
            continue
        target = TARGETS.get((name, LOGGING))
        values = ratio(case, LOGGING, BARE_BESIDE)
        rows.append(judged(name, "logging / bare", values, target, case, LOGGING))
        if name.startswith("1 MiB"):
            target = COPIES_TARGET if name == "1 MiB receive" else None
            rows.append(
                judged(name, "logging adds, in memcpys", copies(case, COPY), target, case, LOGGING)
            )
            values = copies(case, COPY_ALONE)
            rows.append(judged(name, "same, between two places", values, None, case, LOGGING))
            values = copies_there(case)
            rows.append(judged(name, "same, in what a copy adds", values, None, case, LOGGING))
        values = ratio(case, REPLAY, LOGGING)
        rows.append(judged(name, "replay / logging", values, REPLAY_TARGET, case, REPLAY))
        if name.startswith("1 MiB"):
            rows.append(
                judged(name, "replay, in memcpys", ratio(case, REPLAY, COPY), None, case, REPLAY)
            )
        for mode in (LOGGING, REPLAY):
            short, long = f"{mode}, short log", f"{mode}, long log"
            if long in case:
                values = ratio(case, long, short)
                rows.append(judged(name, f"{long} / short", values, GROWTH_TARGET, case, long))
    return rows


def middle(runs):
    """Of each kind the row with the middle ratio; the runs have the same kinds."""
    return [sorted(rows, key=lambda row: row["ratio"])[len(rows) // 2] for rows in zip(*runs)]


def document(everything):
    """The rows that have a target, one column for each MPI."""
    runs = min(len(measured["times"]) for measured in everything.values())
    head = ["case", "what", *(NAMES[flavour] for flavour in everything), "target"]
    lines = [f"| {' | '.join(head)} |", f"| --- | --- |{' ---: |' * (len(head) - 2)}"]
    for rows in zip(*(measured["results"] for measured in everything.values())):
        first = rows[0]
        if first["target"] is None:
            continue
        cells = [
            f"{row['ratio']:.2f} ({row['ratio_of_medians']:.2f})" + " missed" * (row["verdict"] == "MISSED")
            for row in rows
        ]
        lines.append(f"| {first['case']} | {first['what']} | {' | '.join(cells)} | {first['target']:.2f} |")
    return INTRODUCTION.format(runs=runs) + "\n".join(lines) + "\n"


def print_table(flavour, rows):
    print(f"\n{flavour}, 2 ranks: ratios of the minima (of the medians)")
    for row in rows:
        target = "" if row["target"] is None else f"<= {row['target']:.2f}"
        print(
            f"{row['case']:<21} {row['what']:<28} {row['ratio']:6.2f} ({row['ratio_of_medians']:6.2f})"
            f" {target:>8} {row['verdict'] or '':<7} {row['ns']:12.1f} ns per {row['unit']}"
        )


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--json", required=True)
    parser.add_argument("--document")
    parser.add_argument("results", nargs="+", metavar="FLAVOUR=RESULTS")
    arguments = parser.parse_args()
    times = {}
    for argument in arguments.results:
        flavour, path = argument.split("=", 1)
        times.setdefault(flavour, []).append(load(path))
    everything = {}
    for flavour, runs in times.items():
        rows = middle([results(cases) for cases in runs])
        everything[flavour] = {"results": rows, "times": runs}
        print_table(flavour, rows)
    if arguments.document:
        Path(arguments.document).write_text(document(everything))
    Path(arguments.json).write_text(json.dumps(everything, indent=1) + "\n")


main()
