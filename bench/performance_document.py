# SPDX-License-Identifier: BSD-3-Clause
# Copyright the containment-domains authors

"""docs/inside/performance.md, of results and texts."""

import performance_texts as texts
from results import (
    GROWTH_FROM,
    SIZES,
    growth_case,
    growth_of_log,
    has_growth_target,
    machine,
    small_operations,
)

# The columns and rows of tables that the page shows; the JSON has all.
OPERATIONS = ["add", "advance", "restore"]
SHAPES = ["1 entry", "1,000 entries"]
COUNTS = [100, 10_000, 1_000_000]
PAST_CACHE = "O_DIRECT by threads, 2 of them 1024 KiB"
BUFFERED = "buffered, begun early 256 KiB"
OURS, LINKED = "absl::btree_map, pointers to entries", "std::map, entries inside"


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
    for operation in OPERATIONS:
        for size in SIZES:
            cases = [by_name.get(f"{operation}/{size}/{shape}") for shape in SHAPES]
            rows.append([f"{operation}, {size}"] + [cell(c) if c else "" for c in cases])
    return markdown_table(["operation"] + SHAPES, rows)


def small_table(results, by_name):
    rows = []
    for operation in filter(lambda name: has_growth_target(results, name), small_operations(results)):
        counts = [cell(by_name[f"{operation}/{count:,}"]) for count in COUNTS]
        growth = cell(growth_case(results, operation))
        rows.append([operation.removeprefix("small ")] + counts + [growth])
    return markdown_table(["operation"] + [f"{count:,}" for count in COUNTS] + ["growth"], rows)


def reason_for(name):
    return next((reason for part, reason in texts.REASONS if part in name), texts.UNEXPLAINED)


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
    judged = [case for name, case in by_name.items() if name.startswith("file ") and case.target]
    return markdown_table(["case", "ratio"], [[case.name, cell(case)] for case in judged])


def opening_table(by_name):
    prefix = "open a store/"
    rows = [
        [name.removeprefix(prefix), f"{case.value:.0f}" + (" missed" * (case.verdict() == "MISSED"))]
        for name, case in by_name.items()
        if name.startswith(prefix)
    ]
    return markdown_table(["entries", "ms"], rows)


def document(results, cases, tables, writing):
    by_name = {case.name: case for case in cases}
    index = tables[max(tables)]
    disk = by_name["file on disk, advance/256 MiB/1 entry"]
    tmpfs = by_name["file in tmpfs, advance/256 MiB/1 entry"]
    checksum = by_name["advance, checksum=crc32c/64 MiB/1 entry"]
    large = next(case for case in cases if case.name == "add/1 GiB/1 entry")
    first = ", ".join(
        f"{size} {results.get(f'first add/{size}/1 entry')['against_fresh']:.2f}"
        for size in SIZES
    )
    copying = results.get("two threads/advance, 64 MiB each")
    observer = results.get("observer/re-add of one entry")
    parts = [
        texts.INTRODUCTION.format(**machine()),
        texts.LARGE_TEXT.format(target=large.target),
        large_table(by_name) + "\n",
        texts.LARGE_AFTER.format(
            first=first,
            checksum_advance=checksum.number(checksum.value),
            checksum_target=checksum.number(checksum.target),
            checksum_verdict=checksum.verdict(),
            checksum_restore=f"{by_name['restore, checksum=crc32c/64 MiB/1 entry'].value:.2f}",
            in_place=f"{by_name['advance, shadow=none/64 MiB/1 entry'].value:.2f}",
        ),
        texts.SMALL_TEXT.format(growth=growth_of_log(GROWTH_FROM)),
        small_table(results, by_name) + "\n",
        texts.OTHER_TEXT.format(
            speedup=copying["speedup"],
            ratio=copying["ratio"],
            target=copying["target"],
            verdict="ok" if copying["ratio"] >= copying["target"] else "MISSED",
            small_speedup=results.get("two threads/10,000 entries of 8 bytes each")["speedup"],
            append=results.get("log/append 8 bytes")["ns"],
            replay=results.get("log/replay 8 bytes")["ns"],
            observer=observer["on_ns"] / observer["off_ns"],
        ),
        texts.FILES_TEXT.format(disk=disk.target, tmpfs=tmpfs.target),
        files_table(by_name) + "\n",
        texts.OPENING_TEXT.format(
            opening=next(case.target for name, case in by_name.items() if name.startswith("open a store/"))
        ),
        opening_table(by_name) + "\n",
        texts.FILES_CHOICE.format(
            ours=writing[PAST_CACHE]["disk"],
            ours_busy=writing[PAST_CACHE]["busy"],
            buffered=writing[BUFFERED]["disk"],
            buffered_busy=writing[BUFFERED]["busy"],
        ),
        missed_text(cases),
        texts.INDEX_TEXT.format(
            find=index[LINKED]["random find"] / index[OURS]["random find"],
            insert=index[LINKED]["random insert"] / index[OURS]["random insert"],
        ),
    ]
    return "\n".join(parts)
