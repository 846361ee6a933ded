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
    r"(?P<passes>.*)"
)
ADVANCE = re.compile(
    r"advance of (?P<ranks>\d+) ranks with (?P<mib>\d+) MiB each: (?P<seconds>[\d.]+) s without redundancy, "
    r"async (?P<async>[\d.]+), sync (?P<sync>[\d.]+) of that"
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
WANTED_OF_BOUND = 1 / 2

INTRODUCTION = """\
<!-- SPDX-License-Identifier: BSD-3-Clause -->
<!-- Copyright the containment-domains authors -->

# What redundancy costs

<!-- Written by bench/redset/run --write-doc from the last run; change the texts in bench/redset/report.py. -->

Seconds of processor time of all members together for each GB of application data, the best of several runs, in tmpfs, with nothing
forced to a disk; each member has 256 MiB. The memory for it was in use just before: the host of a virtual machine may give a page only at the first write, which takes several times as long as a later one, and would count for the case that is the first to need as much.

Beside it the fraction of the bound that is reached: the least that such an encoder has to do, which is to read each
byte, take its checksum, send it (one copy in the cache), code it, and write the payload, at the speeds that the same run has measured for each of these alone, on one core. It is the sum of how often each byte goes through each step, divided by the step's
speed; both tables are below.

Each program measures these speeds anew when it starts, and a fraction is by those of the run that the case is taken from. So one case has another bound in each column, and those that follow from the table of speeds, which has the best of all runs, are smaller.
They are measured for a moment each, with pieces of 128 KiB that stay in the cache; that of writing is of a file that grows, whose removal is not counted.
Fractions can be above 1 where most of the bound is writing, as with three checksums of four members, of which it is two thirds.

The column `upstream` is not of these runs. It has what upstream's redset 0.4.0 took at -O2 before this project began, with 4 ranks of 256 MiB each on a loaded machine of this kind.

Over MPI there is a second fraction: of the same bound with what this MPI takes to send, in place of one copy. It is measured in the same run by
the same ranks, which send each other as many pieces of the same size and do nothing else ("sending alone" below).

The members are threads of one process, or ranks of an MPI program, on a machine with {cores} cores that had {load:.0f} runnable programs
in the mean of the last five minutes: the more of them, the more a second of processor time loses to whoever shares caches and memory.
Seconds that pass are not compared: with more members than cores they tell how many cores there are. What passes in one of them is in the second table.
"""

SPEEDS = """\
GB of application data that all members together encode or rebuild in a second that passes, the best of the same runs:
"""

BETWEEN = """\
What is between the bound and the measurement, by profiles of these programs:

- Sending within a machine, most of it over MPI. Both MPIs have the kernel copy pieces of this size from one process to the other (`process_vm_readv`): it looks up and holds each page, and its copy is several times
  slower than `memcpy` in the cache. Larger or smaller pieces, and their other ways through shared memory, were not faster. Members of a set are on different nodes in earnest, where the network card does this.
- Caches: a piece that was read or received is coded later, when other members have had the core. Pieces of 32 and 64 KiB were not faster than those of 128; larger ones take a
  few percent more in `xor`, and less in `rs`.
- Turns: while messages of two pieces are under way, a member codes, writes and reads three others. Where members have cores and networks of their own that takes the time of the longest of these, not of all. With more members than
  cores nothing is saved, and buffers of five pieces have less of the caches than those of three: a few percent more processor time, with eight members up to a tenth. Each waits for others in every round of a piece, and yields (3 % of the samples), or
  sleeps. That takes little processor time, but where other programs want the cores each round waits for their turns: what `sync` takes below is mostly that.
- Headers, drafts and agreements, which cost the same for little data as for much.
"""

HOW_OFTEN = """\
How often each byte of application data, or as much, goes through each step:
"""

SHORT_OF_HALF = """\
Where less than half of the bound is reached, what takes the rest, in seconds for each GB: what this MPI takes to send beyond one copy in the cache, by its own measurement, and all else, which is caches, turns and headers. Beside
it what the same members have beyond the bound as threads, where sending is a copy: what is left without any MPI.
"""
NONE_SHORT_OF_HALF = "Half of the bound or more is reached everywhere.\n"

ADVANCES = """\
## What an advance waits for

How long an advance takes, from the first rank's call to the last one's return, of roots with `store=file` in tmpfs all of whose data has changed: in seconds without redundancy, and as a multiple of that with
`redundancy=xor` over all ranks, by `redundancy_mode`. Roots take turns, and what the thread of `async` does is over before the next advance is measured; medians of 15 rounds.

With `async` it is the local write, and a short meeting: ranks agree that all have theirs behind them before the threads begin, so that ranks which share a core do not pay for each other's either, but for the start of these threads and their waiting.

The local write goes into pages that are there already, at the speed of memory. `sync` makes a file of the same size besides, for which the system finds and clears pages, reads that again, encodes it as above, and removes an older one; with more
ranks than cores all of it comes one after the other, and each round of a piece waits for the turn of all (above).
"""


def load(path):
    cases, rates, advances = {}, {}, []
    for line in Path(path).read_text().splitlines():
        case, rate, advance = CASE.fullmatch(line), RATE.fullmatch(line), ADVANCE.fullmatch(line)
        if advance:
            advances.append(advance.groupdict())
        elif case:
            key = (case["what"], case["scheme"], int(case["checks"]), int(case["members"]))
            values = {name: float(case[name]) for name in ("speed", "cost", "bound", "reached", "sending")}
            cases[key] = values | {"passes": re.findall(r"[\d.]+", case["passes"])}
        elif rate:
            rates[rate["what"]] = float(rate["rate"])
        else:
            raise SystemExit(f"report.py: {path} has a line of another kind: {line}")
    return cases, rates, advances


def merge(arguments):
    """Per name the best of each case, with the bound of its run, and the advances with the smallest price of async; the best of each rate."""
    best, rates, advances = {}, {}, {}
    for argument in arguments:
        name, path = argument.split("=", 1)
        cases, found, advanced = load(path)
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
        for what, rate in found.items():
            if what.startswith("sending"):
                what += f" of {name}"
            rates[what] = max(rate, rates.get(what, 0))
    return best, rates, advances


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


def rows(best):
    for key in keys_of(best):
        cells = []
        for name, cases in best.items():
            cells.append(cell(name, cases[key]) if key in cases else "")
        upstream = f"{UPSTREAM[key]:.1f}" if key in UPSTREAM else ""
        yield [label(key), *cells, upstream, verdict(best, key)]


def speed_rows(best):
    for key in keys_of(best):
        yield [label(key), *(f"{cases[key]['speed']:.2f}" if key in cases else "" for cases in best.values())]


def short_of_half(best):
    """What takes the rest where less than half of the bound is reached."""
    for key in keys_of(best):
        of_threads = best.get("threads", {}).get(key)
        beside = f"{of_threads['cost'] - of_threads['bound']:.2f}" if of_threads else ""
        for name, cases in best.items():
            case = cases.get(key)
            if case and case["reached"] < WANTED_OF_BOUND:
                with_sending = case["cost"] * case["sending"]
                parts = [case["bound"], with_sending - case["bound"], case["cost"] - with_sending]
                yield [label(key), name, *(f"{part:.2f}" for part in parts), beside]


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


def what_is_short(best):
    found = list(short_of_half(best))
    if not found:
        return [NONE_SHORT_OF_HALF]
    head = ["case", "program", "bound", "sending", "all else", "all else as threads"]
    return [SHORT_OF_HALF, markdown(head, found)]


def document(best, rates, advances):
    passes = {}
    for cases in best.values():
        for key, case in cases.items():
            passes[key] = case["passes"]
    return "\n".join(
        [
            INTRODUCTION.format(cores=len(os.sched_getaffinity(0)), load=os.getloadavg()[1]),
            markdown(header(best), rows(best)),
            SPEEDS,
            markdown(["case", *best], speed_rows(best)),
            BETWEEN,
            *what_is_short(best),
            HOW_OFTEN,
            markdown(
                ["case", "read", "checked", "sent", "coded", "written"],
                ([label(key), *passes[key]] for key in keys_of(best)),
            ),
            "The steps alone, one thread, GB/s, the best of all runs (`ec_encode_data`: checksums of sources):\n",
            markdown(["step", "GB/s"], ([what, f"{rate:.1f}"] for what, rate in rates.items())),
            ADVANCES,
            markdown(["program", "no redundancy, s", "async", "sync"], advance_rows(advances)),
        ]
    )


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--document")
    parser.add_argument("results", nargs="+", metavar="NAME=RESULTS")
    arguments = parser.parse_args()
    best, rates, advances = merge(arguments.results)
    print_table(best)
    for name, seconds, behind, waited in advance_rows(advances):
        print(f"advance of {name}: {seconds} s without redundancy, async {behind}, sync {waited} of that")
    if arguments.document:
        Path(arguments.document).write_text(document(best, rates, advances))


main()
