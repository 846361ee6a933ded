#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the containment-domains authors

"""Turns the results of cd_bench, range_index_candidates and write_candidates into a table, JSON and a document.

A case that has a target is ok or MISSED; the others are information. Names and numbers come from the
results; what the document says beside them, from the texts below.
"""

import argparse
import json
import math
import os
from pathlib import Path

SHAPES = ["1 entry", "1,000 entries", "1,000 entries, gaps"]
LARGE = ["first add", "add", "advance", "restore"]
SIZES = ["1 MiB", "64 MiB", "1 GiB"]
COUNTS = [10**n for n in range(2, 7)]
GROWTH_FROM, GROWTH_TO = 10**2, 10**6
IN_THE_CACHES = 10**3  # entries with their index, which the cache next to the core holds


class Results:
    def __init__(self, path):
        self.by_name = {}
        for entry in json.loads(Path(path).read_text())["benchmarks"]:
            self.by_name[entry["name"].split("/iterations:")[0]] = entry

    def get(self, name):
        return self.by_name[name]

    def starting_with(self, prefix):
        return [name for name in self.by_name if name.startswith(prefix)]


class Case:
    """One number, and whether it is good enough."""

    def __init__(self, name, value, unit, target=None, at_most=False):
        self.name, self.value, self.unit = name, value, unit
        self.target, self.at_most = target, at_most

    def verdict(self):
        if self.target is None:
            return ""
        good = self.value <= self.target if self.at_most else self.value >= self.target
        return "ok" if good else "MISSED"

    def number(self, value):
        if value is None:
            return ""
        places = 2 if self.unit == "ratio" else 0
        return f"{value:.{places}f}" + ("" if self.unit == "ratio" else f" {self.unit}")

    def row(self):
        bound = ("<= " if self.at_most else ">= ") + self.number(self.target)
        target = bound if self.target is not None else ""
        return [self.name, self.number(self.value), target, self.verdict()]

    def as_json(self):
        return {
            "name": self.name,
            "value": self.value,
            "unit": self.unit,
            "target": self.target,
            "verdict": self.verdict() or None,
        }


def ratio_case(results, name):
    entry = results.get(name)
    return Case(name, entry["ratio"], "ratio", entry.get("target"))


def large_cases(results):
    cases = [
        ratio_case(results, f"{operation}/{size}/{shape}")
        for operation in LARGE
        for size in SIZES
        for shape in SHAPES
        if f"{operation}/{size}/{shape}" in results.by_name
    ]
    for prefix in ("memcpy to places of its own/", "advance, ", "restore, "):
        cases += [ratio_case(results, name) for name in results.starting_with(prefix)]
    return cases


def file_cases(results):
    return [ratio_case(results, name) for name in results.starting_with("file ")]


def small_operations(results):
    names = [name.split("/")[0] for name in results.starting_with("small ")]
    return list(dict.fromkeys(names))


def small_cases(results):
    cases = []
    for operation in small_operations(results):
        for count in COUNTS:
            entry = results.get(f"{operation}/{count}")
            cases.append(
                Case(f"{operation}/{count:,}", entry["ns"], "ns", entry.get("target"), at_most=True)
            )
        cases.append(growth_case(results, operation))
    return cases


def growth_of_log(count):
    return math.log(GROWTH_TO) / math.log(count)


def has_growth_target(results, operation):
    return "target" in results.get(f"{operation}/{GROWTH_TO}")


def growth_from(results, operation, count):
    return results.get(f"{operation}/{GROWTH_TO}")["ns"] / results.get(f"{operation}/{count}")["ns"]


def growth_case(results, operation):
    growth = growth_from(results, operation, GROWTH_FROM)
    name = f"{operation}/growth from {GROWTH_FROM:,} to {GROWTH_TO:,}"
    target = growth_of_log(GROWTH_FROM) if has_growth_target(results, operation) else None
    return Case(name, growth, "ratio", target, at_most=True)


def other_cases(results):
    cases = []
    for name in results.starting_with("two threads/"):
        entry = results.get(name)
        cases.append(Case(f"{name}, speedup", entry["speedup"], "ratio"))
        if "ratio" in entry:
            name = f"{name}, speedup against memcpy's"
            cases.append(Case(name, entry["ratio"], "ratio", entry["target"]))
    for name in results.starting_with("open a store/"):
        entry = results.get(name)
        cases.append(Case(name, entry["ms"], "ms", entry["target"], at_most=True))
    for name in results.starting_with("log/"):
        cases.append(Case(name, results.get(name)["ns"], "ns"))
    observer = results.get("observer/re-add of one entry")
    cases.append(Case("observer/re-add of one entry, off", observer["off_ns"], "ns"))
    cases.append(Case("observer/re-add of one entry, on", observer["on_ns"], "ns"))
    return cases


def index_table(results, count):
    """Per structure its times, the first one being libcd's."""
    table = {}
    for name in results.starting_with("in order/"):
        structure, its_count = name.split("/")[1:]
        if int(its_count) == count:
            ordered, random = results.get(name), results.get(name.replace("in order", "at random"))
            table[structure] = {
                "insert": ordered["insert_ns"],
                "walk": ordered["walk_ns"],
                "erase": ordered["erase_ns"],
                "random insert": random["random_insert_ns"],
                "random find": random["random_find_ns"],
                "random erase": random["random_erase_ns"],
            }
    return table


def writing_table(results):
    """Per way of writing its speed on the disk and on tmpfs, as a multiple of the plain one's."""
    table = {}
    for name, entry in results.by_name.items():
        way, directory = name.split("/", 1)
        if "ratio" in entry:
            table.setdefault(way, {})["disk" if directory == "." else "tmpfs"] = entry["ratio"]
    return table


def machine():
    pages = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return {"cores": len(os.sched_getaffinity(0)), "memory_gib": round(pages / 2**30)}


# ---- Terminal ----------------------------------------------------------------------------------


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
    print("\nwriting a store's data, against a plain write and fdatasync")
    width = max(map(len, table))
    for way, ratios in table.items():
        print(way.ljust(width), *(f"{where} {ratio:.2f}" for where, ratio in ratios.items()))


# ---- Document ----------------------------------------------------------------------------------

INTRODUCTION = """\
# Performance

<!-- Written by bench/report.py from the last run; change the texts there. -->

The last run of `./dev bench --write-doc`, on a machine with {cores} cores and {memory_gib} GiB of
memory. Where data are copied the numbers are ratios: how fast libcd is against a warm `memcpy` of the
same bytes in the same run, 1.00 being as fast. Where entries are small they are nanoseconds for each.
Absolute speeds differ from machine to machine and from hour to hour; these differ less.

## How it is measured

- Release build, through the public C interface, one process.
- Ratios: `memcpy` and operation take turns on the same memory, so that each finds the caches as the other has
  left them. A `memcpy` by the operation after it is one sample; the median of all samples counts (501 for 1 MiB,
  31 for 64 MiB, 7 for 1 GiB). (Up to November 2026 the `memcpy` had two turns for each of the operation's. The
  second one found its target in the caches, which nothing else did, and the 1 MiB cases lost 0.15 by it.)
- The application's memory and the target of the `memcpy` are warm and in huge pages: the `memcpy` is as fast
  as the machine can make it. For adjacent entries it is a single one over all of them; with gaps, one for
  each.
- Steady state: the store reuses memory of its own. For an add, an earlier CD gave it back; for an advance, it is
  what the advance before the last one wrote. The first add of a process has to ask the kernel for memory.
- Small entries: 8 bytes every 16 bytes, in one list, so that no two touch each other. What is in a CD before is made
  anew in each round; only the operation is timed. The best of 7 to 1,001 rounds counts, since whatever else the
  machine does only ever adds to a time.
"""

LARGE_TEXT = """\
## Large data

Target: {target:.2f} of a warm `memcpy` in the steady state, for one entry and for 1,000 equal adjacent ones of 64 KiB or
more. In brackets: no target. "Gaps": 64 bytes between any two entries, against as many `memcpy` calls.

Ranges of 1 KiB (1 MiB in 1,000 entries) are not large: `memcpy` takes about 30 ns for each, of which a target of 0.95 would
leave 1.5 ns for an entry that can be found, labelled, split and deleted by itself. What an entry costs, and the target
for that, stands under "Small entries".
"""

LARGE_AFTER = """\
The first add of a process, against a `memcpy` into memory that the kernel has yet to provide:
{first}.

A `memcpy` of 1 MiB that goes to two places of its own in turn, as advances do, reaches {elsewhere} of the one that all is
compared with, which always goes to the same one.

With `checksum=crc32c` an advance of 64 MiB in one entry reaches {checksum_advance} of a `memcpy` that
computes nothing (target {checksum_target}: {checksum_verdict}), a restore, which reads everything twice,
{checksum_restore}. With `shadow=none` an advance of memory of which every page has changed reaches {in_place}: it also
keeps the old bytes.
"""

SMALL_TEXT = """\
## Small entries

Nanoseconds for each entry. Targets: at most 200 at 1,000,000 entries in a list, and from 100 to
1,000,000 no more growth than log n has, which is {growth:.2f} times.
"""

SMALL_AFTER = """\
"One per call" is a call for each of up to 10,000 entries, at random places among as many as the column says.
"Between the parent's": entries of child and parent alternate.

From {few:,} entries to 1,000,000, where log n grows {log_growth:.2f} times, these grow {least:.2f} to {most:.2f} times. The
steps grow no more than log n does, what grows is the time that each takes: {few:,} entries with their index live in
the caches next to the core, 1,000,000 of them (100 MB and more) in memory. Each walk over them has the processor fetch
ahead, and reads 104 bytes for an entry, 16 for its place in the index and its data, at the speed of memory. A
list of 100 bears what a call costs, which the rest do not notice.
"""

OTHER_TEXT = """\
## Threads, log, observer

Two threads that each advance a CD of 64 MiB do {speedup:.2f} times the work that one does in the same
time; two threads that copy as much with `memcpy`, {memcpy_speedup:.2f} times (ratio {ratio:.2f}, target
{target:.2f}: {verdict}). Where the memory is not the limit, with 10,000 small entries each, two
threads do {small_speedup:.2f} times the work.

An entry of 8 bytes costs {append:.0f} ns to append to the MPI log and {replay:.0f} ns to replay. With an
observer, the cheapest call there is (a re-add of one entry) takes {observer:.2f} times as long as without.
"""

FILES_TEXT = """\
## Stores in files

On disk: an advance with `store=file`, all bytes READ_WRITE, against a sequential write of as many bytes from memory to a
file that is laid out already, and `fdatasync`, as `dd` does it (target {disk:.2f}). In tmpfs: an advance against one of a store
in memory, which computes no checksums (target {tmpfs:.2f}); a restore against a `memcpy`.
"""

FILES_AFTER = """\
How to write was chosen by `bench/write_candidates.cpp`: 256 MiB are copied with their checksums to a file that is laid out already, until they
are on the disk; as a multiple of the speed of the plain write and `fdatasync`:
"""

FILES_CHOICE = """\
libcd writes pieces of 256 KiB through the page cache and has the kernel begin with each 8 MiB at once (`sync_file_range`), so that the disk
works while the next ones are copied. O_DIRECT by io_uring is up to a fifth faster where all goes well. It was not taken: it needs aligned pieces and memory that stays,
is switched off on many clusters, where another way would be needed anyway, and moves errors to where they are told of later.

In tmpfs no system call is as fast as writing the file's pages where they are, which libcd does: the copy and its checksum are one pass then,
past the caches.
"""

INDEX_TEXT = """\
## The structure for the ranges

`bench/range_index_candidates.cpp` compares what could hold the entries of a CD. Time for each entry,
as a multiple of the first line's, which is what libcd uses; less is faster. In order: appended, walked and
erased from the front, as lists sorted by address do. At random: the same at places that have to be searched.
"""

INDEX_AFTER = """\
A B-tree with pointers finds and inserts at random places faster than anything else once the entries do not fit
into the caches, because a search reads a few nodes of keys and not an entry per level. Moving entries from a
child to its parent then moves pointers, and an entry keeps its address. Entries inside the tree save
an allocation each, but searching, inserting and splitting move them about. The linked trees need no memory
of their own, so they could not fail to insert; they lose most where it counts, in searching.
"""

UNEXPLAINED = "Not explained yet."

# Why targets are missed, by what the names of the cases contain.
REASONS = [
    ("file ", UNEXPLAINED),
    (
        "/1 MiB/1 entry",
        "The target of the `memcpy` stays in the caches, while advances go to two places in turn: where the cache "
        "next to the core holds less than three times 1 MiB, `memcpy` itself to two places is as slow (its ratio "
        "stands under the table).",
    ),
    (
        "add, shuffled/",
        "The list has to be sorted first, and then read in another order than it lies in memory.",
    ),
    (
        "two threads/",
        "The cores share one memory, which limits this case as it limits `memcpy`; with only a few samples, "
        "neighbours on the machine change either.",
    ),
]


def markdown_table(header, rows):
    lines = ["| " + " | ".join(header) + " |", "|" + " --- |" + " ---: |" * (len(header) - 1)]
    lines += ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join(lines)


def cell(case):
    number = f"{case.value:.0f}" if case.unit == "ns" else f"{case.value:.2f}"
    if case.verdict() == "MISSED":
        return f"**{number}** missed"
    return number if case.verdict() or case.unit == "ns" else f"({number})"


def large_table(by_name):
    rows = []
    for operation in LARGE:
        for size in SIZES:
            cases = [by_name.get(f"{operation}/{size}/{shape}") for shape in SHAPES]
            rows.append([f"{operation}, {size}"] + [cell(c) if c else "" for c in cases])
    return markdown_table(["operation"] + SHAPES, rows)


def small_table(results, by_name):
    rows = []
    for operation in small_operations(results):
        counts = [cell(by_name[f"{operation}/{count:,}"]) for count in COUNTS]
        growth = cell(growth_case(results, operation))
        rows.append([operation.removeprefix("small ")] + counts + [growth])
    return markdown_table(["operation"] + [f"{count:,}" for count in COUNTS] + ["growth"], rows)


def relative_table(table):
    unit = next(iter(table.values()))
    rows = [
        [structure] + [f"{times[column] / unit[column]:.2f}" for column in unit]
        for structure, times in table.items()
    ]
    return markdown_table(["structure"] + list(unit), rows)


def reason_for(name):
    return next((reason for part, reason in REASONS if part in name), UNEXPLAINED)


def missed_text(cases):
    missed = [case for case in cases if case.verdict() == "MISSED"]
    if not missed:
        return "## Missed targets\n\nNone in this run.\n"
    by_reason = {}
    for case in missed:
        by_reason.setdefault(reason_for(case.name), []).append(case)
    lines = ["## Missed targets\n"]
    for reason, its_cases in by_reason.items():
        names = "; ".join(
            f"{case.name.removeprefix('small ')} {case.number(case.value)}" for case in its_cases
        )
        lines.append(f"- {names}. {reason}")
    return "\n".join(lines) + "\n"


def files_table(by_name):
    rows = [[name, cell(case)] for name, case in by_name.items() if name.startswith("file ")]
    return markdown_table(["case", "ratio"], rows)


def ways_table(table):
    rows = [
        [way] + [f"{ratios[where]:.2f}" if where in ratios else "" for where in ("disk", "tmpfs")]
        for way, ratios in table.items()
    ]
    return markdown_table(["way", "on disk", "in tmpfs"], rows)


def document(results, cases, tables, writing):
    by_name = {case.name: case for case in cases}
    disk = by_name["file on disk, advance/256 MiB/1 entry"]
    tmpfs = by_name["file in tmpfs, advance/256 MiB/1 entry"]
    checksum = by_name["advance, checksum=crc32c/64 MiB/1 entry"]
    large = next(case for case in cases if case.name == "add/1 GiB/1 entry")
    first = ", ".join(
        f"{size} {results.get(f'first add/{size}/1 entry')['against_fresh']:.2f} in one entry and "
        f"{results.get(f'first add/{size}/1,000 entries')['against_fresh']:.2f} in 1,000"
        for size in SIZES
    )
    from_caches = [
        growth_from(results, operation, IN_THE_CACHES)
        for operation in small_operations(results)
        if has_growth_target(results, operation)
    ]
    copying = results.get("two threads/advance, 64 MiB each")
    observer = results.get("observer/re-add of one entry")
    parts = [
        INTRODUCTION.format(**machine()),
        LARGE_TEXT.format(target=large.target),
        large_table(by_name) + "\n",
        LARGE_AFTER.format(
            first=first,
            elsewhere=f"{by_name['memcpy to places of its own/1 MiB'].value:.2f}",
            checksum_advance=checksum.number(checksum.value),
            checksum_target=checksum.number(checksum.target),
            checksum_verdict=checksum.verdict(),
            checksum_restore=f"{by_name['restore, checksum=crc32c/64 MiB/1 entry'].value:.2f}",
            in_place=f"{by_name['advance, shadow=none/64 MiB/1 entry'].value:.2f}",
        ),
        SMALL_TEXT.format(growth=growth_of_log(GROWTH_FROM)),
        small_table(results, by_name) + "\n",
        SMALL_AFTER.format(
            few=IN_THE_CACHES,
            log_growth=growth_of_log(IN_THE_CACHES),
            least=min(from_caches),
            most=max(from_caches),
        ),
        OTHER_TEXT.format(
            speedup=copying["speedup"],
            memcpy_speedup=copying["memcpy_speedup"],
            ratio=copying["ratio"],
            target=copying["target"],
            verdict="ok" if copying["ratio"] >= copying["target"] else "MISSED",
            small_speedup=results.get("two threads/10,000 entries of 8 bytes each")["speedup"],
            append=results.get("log/append 8 bytes")["ns"],
            replay=results.get("log/replay 8 bytes")["ns"],
            observer=observer["on_ns"] / observer["off_ns"],
        ),
        FILES_TEXT.format(disk=disk.target, tmpfs=tmpfs.target),
        files_table(by_name) + "\n",
        FILES_AFTER,
        ways_table(writing) + "\n",
        FILES_CHOICE,
        missed_text(cases),
        INDEX_TEXT,
    ]
    for count, table in tables.items():
        parts.append(f"{count:,} entries:\n\n{relative_table(table)}\n")
    return "\n".join(parts + [INDEX_AFTER])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cd_bench", help="results of cd_bench")
    parser.add_argument("index", help="results of range_index_candidates")
    parser.add_argument("writing", help="results of write_candidates")
    parser.add_argument("--json", required=True, help="where the summary goes")
    parser.add_argument("--document", help="where docs/performance.md goes")
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
