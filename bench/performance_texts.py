# SPDX-License-Identifier: BSD-3-Clause
# Copyright the containment-domains authors

"""What docs/inside/performance.md says beside the numbers."""

INTRODUCTION = """\
<!-- SPDX-License-Identifier: BSD-3-Clause -->
<!-- Copyright the containment-domains authors -->

# Performance

<!-- Written by bench/report.py from the last run; change the texts in bench/performance_texts.py. -->

Know what libcd costs. These are the results of the last `./dev bench --write-doc`, on a machine with {cores} cores and {memory_gib} GiB of memory.

Numbers of copies are ratios: the speed of libcd against a warm `memcpy` of the same bytes in the same run. 1.00 is as fast, more is faster. The summary that `./dev bench` prints has more cases.

- Release build, through the C interface, one process.
- `memcpy` and operation take turns on the same memory, in huge pages. The median counts.
- Steady state: the store reuses its memory. Only the first add of a process asks the kernel for memory.
- Small entries are 8 bytes every 16 bytes, in one list. The best round counts.
"""

LARGE_TEXT = """\
## Large data

The target is {target:.2f}. "1,000 entries" are adjacent elements of one list. Copies of 512 KiB and more are libcd's own (`libcd/memory`), with seven streams or past the caches. So
ratios can exceed 1.
"""

LARGE_AFTER = """\
- First add of a process, in one entry, against a `memcpy` into fresh memory: {first}.
- `checksum=crc32c`, 64 MiB: advance {checksum_advance} (target {checksum_target}: {checksum_verdict}), restore {checksum_restore}.
- `shadow=none`, every page changed: advance {in_place}.
"""

SMALL_TEXT = """\
## Small entries

Nanoseconds for each entry. Targets: at most 200 with 1,000,000 entries in a list, and from 100 to 1,000,000 at most the growth of log n, {growth:.2f}.
"""

OTHER_TEXT = """\
## Threads, log, observer

- Two threads that advance 64 MiB each: {ratio:.2f} of two threads with `memcpy` (target {target:.2f}: {verdict}); {speedup:.2f} times the work of one. With 10,000 small entries each: {small_speedup:.2f} times.
- An MPI log entry of 8 bytes: {append:.0f} ns to append, {replay:.0f} ns to replay.
- An observer: {observer:.2f} times the time of the cheapest call.
"""

FILES_TEXT = """\
## Stores in files

On disk: an advance against a sequential write and `fdatasync` of as many bytes (target {disk:.2f}). In tmpfs: against an advance in memory without checksums (target {tmpfs:.2f}).
"""

OPENING_TEXT = """\
`create_cd` of a root whose store holds 100,000 entries (target {opening:.0f} ms). It reads metadata only; with `keep=2` and more also the newest data.
"""

FILES_CHOICE = """\
`bench/write_candidates.cpp` writes 256 MiB with checksums. Against a plain write and `fdatasync` it reaches {ours:.2f} past the page cache ({ours_busy:.2f} with busy cores) and
{buffered:.2f} through it ({buffered_busy:.2f}). So 8 MiB and more go past it on ext4 and XFS, with `sync=full` and without redundancy.
"""

INDEX_TEXT = """\
## The structure for the ranges

Entries lie in a B-tree of pointers (`absl::btree_map`). With 1,000,000 entries it finds one at a random place {find:.1f} times as fast as a `std::map`, and inserts one {insert:.1f} times as fast (`bench/range_index_candidates.cpp`).
"""

UNEXPLAINED = "Not explained yet."

# Why targets are missed, by what the names of the cases contain.
REASONS = [
    (
        "file in tmpfs, advance",
        "The store in memory that it is compared with computes no checksums, and its pages are huge ones; what is left "
        "without checksums stands in the table.",
    ),
    (
        "file on disk, advance",
        "Not in each run: seven later ones of this case had 1.52 to 1.75. The disk is shared with other machines.",
    ),
    ("file ", UNEXPLAINED),
    (
        "add/1 MiB/1,000 entries",
        "The list itself is read, which the copies have driven out of the cache next to the core, and each element is "
        "compared with the one before: about 1 ns for each, while `memcpy` has 30 to copy its 1 KiB.",
    ),
    (
        "/1 MiB/1",
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
