#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the containment-domains authors

"""Turns the results of cd_bench, range_index_candidates and write_candidates into a table, JSON and a document.

A case that has a target is ok or MISSED; the others are information. Names and numbers come from the
results; what the document says beside them, from performance_texts.py.
"""

import argparse
import json
from pathlib import Path

from performance_document import document
from results import (
    Results,
    file_cases,
    index_table,
    large_cases,
    machine,
    other_cases,
    small_cases,
    writing_table,
)


def print_table(cases):
    rows = [["case", "measured", "target", ""]] + [case.row() for case in cases]
    widths = [max(len(row[column]) for row in rows) for column in range(4)]
    for row in rows:
        cells = [row[0].ljust(widths[0])] + [row[i].rjust(widths[i]) for i in (1, 2)] + [row[3]]
        print("  ".join(cells).rstrip())


def print_index(tables):
    for count, table in tables.items():
        print(f"\nrange index, {count:,} entries, ns for each")
        columns = list(next(iter(table.values())))
        width = max(map(len, table))
        print("  ".join([" " * width] + columns))
        for structure, times in table.items():
            numbers = [f"{times[column]:.0f}".rjust(len(column)) for column in columns]
            print("  ".join([structure.ljust(width)] + numbers))


def print_writing(table):
    print("\nwriting a store's data, and reading it again, against a plain write and fdatasync")
    width = max(map(len, table))
    for way, ratios in table.items():
        print(way.ljust(width), *(f"{where} {ratio:.2f}" for where, ratio in ratios.items()))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cd_bench", help="results of cd_bench")
    parser.add_argument("index", help="results of range_index_candidates")
    parser.add_argument("writing", help="results of write_candidates")
    parser.add_argument("--json", required=True, help="where the summary goes")
    parser.add_argument("--document", help="where docs/inside/performance.md goes")
    arguments = parser.parse_args()

    results = Results(arguments.cd_bench)
    index = Results(arguments.index)
    cases = large_cases(results) + small_cases(results) + other_cases(results)
    cases += file_cases(results)
    writing = writing_table(Results(arguments.writing))
    tables = {count: index_table(index, count) for count in (1000, 1_000_000)}

    print_table(cases)
    print_index(tables)
    print_writing(writing)
    missed = sum(case.verdict() == "MISSED" for case in cases)
    judged = sum(case.target is not None for case in cases)
    print(f"\n{judged - missed} of {judged} targets met, {missed} missed")

    summary = {
        "machine": machine(),
        "cases": [case.as_json() for case in cases],
        "range_index_ns": tables,
        "writing_ratio": writing,
    }
    Path(arguments.json).write_text(json.dumps(summary, indent=2) + "\n")
    if arguments.document:
        Path(arguments.document).write_text(document(results, cases, tables, writing))


if __name__ == "__main__":
    main()
