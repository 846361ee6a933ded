# SPDX-License-Identifier: BSD-3-Clause
# Copyright the containment-domains authors

"""docs/inside/performance.md, of results and texts."""

import performance_texts as texts
from results import (
    COUNTS,
    GROWTH_FROM,
    IN_THE_CACHES,
    LARGE,
    SHAPES,
    SIZES,
    growth_case,
    growth_from,
    growth_of_log,
    has_growth_target,
    machine,
    small_operations,
)

# What libcd does with much and with little, and what else there is.
PAST_CACHE = "O_DIRECT by threads, 2 of them 1024 KiB"
BUFFERED = "buffered, begun early 256 KiB"
RING_WAYS = "O_DIRECT by io_uring, "


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
    rows = [[name, cell(case)] for name, case in by_name.items() if name.startswith("file ")]
    return markdown_table(["case", "ratio"], rows)


def opening_table(by_name):
    prefix = "open a store/"
    rows = [
        [name.removeprefix(prefix), f"{case.value:.0f}" + (" missed" * (case.verdict() == "MISSED"))]
        for name, case in by_name.items()
        if name.startswith(prefix)
    ]
    return markdown_table(["entries", "ms"], rows)


def ways_table(table):
    columns = {"disk": "on disk", "busy": "cores busy", "read": "read again", "tmpfs": "in tmpfs"}
    rows = [
        [way] + [f"{numbers[column]:.2f}" if column in numbers else "" for column in columns]
        for way, numbers in table.items()
    ]
    return markdown_table(["way"] + list(columns.values()), rows)


def verdict(before, now, lost):
    """Whether it pays to write in so much less time what then takes so much longer to read."""
    gained = before - now
    if gained <= 0:
        return texts.FILES_NO_GAIN
    percent = 100 * gained / before
    if lost <= 0:
        return texts.FILES_GAIN.format(percent=percent)
    return texts.FILES_BREAK_EVEN.format(percent=percent, advances=lost / gained)


def choice_text(table):
    """What libcd does, what it gains and loses by that, and what io_uring would add."""
    ours, buffered = table[PAST_CACHE], table[BUFFERED]
    ring_way = max((way for way in table if way.startswith(RING_WAYS)), key=lambda way: table[way]["disk"])
    ring = table[ring_way]
    lost = ours["read"] - buffered["read"]
    return texts.FILES_CHOICE.format(
        ours=ours["disk"],
        ours_busy=ours["busy"],
        ours_read=ours["read"],
        buffered=buffered["disk"],
        buffered_busy=buffered["busy"],
        buffered_read=buffered["read"],
        ring_way=ring_way.removeprefix(RING_WAYS),
        ring=ring["disk"],
        ring_busy=ring["busy"],
        idle=verdict(1 / buffered["disk"], 1 / ours["disk"], lost),
        busy=verdict(1 / buffered["busy"], 1 / ours["busy"], lost),
        together=(1 / ours["disk"] + ours["read"]) / (1 / buffered["disk"] + buffered["read"]),
    )


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
        texts.INTRODUCTION.format(**machine()),
        texts.LARGE_TEXT.format(target=large.target),
        large_table(by_name) + "\n",
        texts.LARGE_AFTER.format(
            first=first,
            elsewhere=f"{by_name['memcpy to places of its own/1 MiB'].value:.2f}",
            checksum_advance=checksum.number(checksum.value),
            checksum_target=checksum.number(checksum.target),
            checksum_verdict=checksum.verdict(),
            checksum_restore=f"{by_name['restore, checksum=crc32c/64 MiB/1 entry'].value:.2f}",
            in_place=f"{by_name['advance, shadow=none/64 MiB/1 entry'].value:.2f}",
        ),
        texts.SMALL_TEXT.format(growth=growth_of_log(GROWTH_FROM)),
        small_table(results, by_name) + "\n",
        texts.SMALL_AFTER.format(
            few=IN_THE_CACHES,
            log_growth=growth_of_log(IN_THE_CACHES),
            least=min(from_caches),
            most=max(from_caches),
        ),
        texts.OTHER_TEXT.format(
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
        texts.FILES_TEXT.format(disk=disk.target, tmpfs=tmpfs.target),
        files_table(by_name) + "\n",
        texts.OPENING_TEXT.format(
            opening=next(case.target for name, case in by_name.items() if name.startswith("open a store/"))
        ),
        opening_table(by_name) + "\n",
        texts.FILES_AFTER,
        ways_table(writing) + "\n",
        choice_text(writing),
        missed_text(cases),
        texts.INDEX_TEXT,
    ]
    for count, table in tables.items():
        parts.append(f"{count:,} entries:\n\n{relative_table(table)}\n")
    return "\n".join(parts + [texts.INDEX_AFTER])
