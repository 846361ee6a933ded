# SPDX-License-Identifier: BSD-3-Clause
# Copyright the containment-domains authors

"""What cd_bench, range_index_candidates and write_candidates have measured, as cases that may have targets."""

import json
import math
import os
from pathlib import Path

SHAPES = ["1 entry", "1,000 entries", "1,000 entries, gaps"]
LARGE = ["first add", "add", "advance", "restore"]
SIZES = ["1 MiB", "64 MiB", "1 GiB"]
COUNTS = [10**n for n in range(2, 7)]
GROWTH_FROM, GROWTH_TO = 10**2, 10**6


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
            name = f"{name}, against two threads' memcpy"
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
    """Per way of writing its speed on disk, with idle and busy cores, and on tmpfs, as a multiple of the plain
    one's; and the time of reading again what it wrote to the disk, by that of the plain write."""
    table = {}
    for name, entry in results.by_name.items():
        way, directory = name.split("/", 1)
        if "ratio" in entry:
            numbers = table.setdefault(way, {})
            if directory == ".":
                numbers.update(disk=entry["ratio"], busy=entry["busy"], read=entry["read"])
            else:
                numbers["tmpfs"] = entry["ratio"]
    return table


def machine():
    pages = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return {"cores": len(os.sched_getaffinity(0)), "memory_gib": round(pages / 2**30)}
