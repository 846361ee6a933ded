# SPDX-License-Identifier: BSD-3-Clause
# Copyright the containment-domains authors

"""What docs/inside/performance.md says beside the numbers."""

INTRODUCTION = """\
<!-- SPDX-License-Identifier: BSD-3-Clause -->
<!-- Copyright the containment-domains authors -->

# Performance

<!-- Written by bench/report.py from the last run; change the texts in bench/performance_texts.py. -->

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

Target: {target:.2f} of a warm `memcpy` in the steady state, for one entry and for 1,000 equal adjacent ones. In brackets: no
target. "Gaps": 64 bytes between any two entries, against as many `memcpy` calls.

"1,000 entries" are 1,000 elements of one list, each a 1,000th of the size. Without gaps they are adjacent, and to libcd one entry: equal
ranges that follow each other in a list and in memory are kept, found and copied as one, until something is done
with a part of them ([memory.md](../howto/memory.md)): `memcpy` takes about 30 ns for each KiB of the 1 MiB in 1,000 entries, of
which the target leaves 1.5 ns; an add walks its list once, in about 1 ns for each. What an entry costs
otherwise stands under "Small entries".

Copies of 512 KiB and more are libcd's own (`libcd/memory/long_copy.cpp`): seven streams at once, whose lines are fetched early on both
sides, or one that goes past the caches where a call copies more than they keep. That is why ratios can exceed 1. Streams are
no multiple of a page apart: where both sides begin with a page, such ones take up to five times as long on some processors.
"""

LARGE_AFTER = """\
The first add of a process, against a `memcpy` into memory that the kernel has yet to provide:
{first}.

A `memcpy` of 1 MiB that goes to two places of its own in turn, as advances do, reaches {elsewhere} of the one that all is
compared with, which always goes to the same one: the caches still have some of that.

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
"One per call" is a call for each of up to 10,000 entries, at random places among as many as the column says. It has no target: each
entry bears a call with its lock and checks, and a search from the root of the index; those of a list share the call, and one is found from the one before.
"Between the parent's": entries of child and parent alternate.

From {few:,} entries to 1,000,000, where log n grows {log_growth:.2f} times, these grow {least:.2f} to {most:.2f} times. The
steps grow no more than log n does, what grows is the time that each takes: {few:,} entries with their index live in
the caches next to the core, 1,000,000 of them (100 MB and more) in memory. Each walk over them has the processor fetch
ahead, and reads 104 bytes for an entry, which lies in a huge page then, 16 for its place in the index and its data, at the speed of memory. A
list of 100 bears what a call costs, which the rest do not notice.

Not in the table, since a count of entries does not tell it: an advance of a root looks at what is READ_WRITE only, one of a child at all
that the child holds (about 55 ns for each), since the parent has to get what it may need. A restore of more than
eight CDs finds out first which bytes older ones write: 32,000 live siblings of one entry each, by hand, took 0.08 s, 4,000 took 0.01 s.
"""

OTHER_TEXT = """\
## Threads, log, observer

Two threads that each advance a CD of 64 MiB are {ratio:.2f} times as fast as two that copy as much with
`memcpy` (target {target:.2f}: {verdict}). They do {speedup:.2f} times the work that one does in the same time, those with `memcpy`
{memcpy_speedup:.2f} times: how much a second thread adds depends on how much of the memory's speed the first one leaves.
Where the memory is not the limit, with 10,000 small entries each, two threads do {small_speedup:.2f} times the work.

An entry of 8 bytes costs {append:.0f} ns to append to the MPI log and {replay:.0f} ns to replay. With an
observer, the cheapest call there is (a re-add of one entry) takes {observer:.2f} times as long as without.
"""

FILES_TEXT = """\
## Stores in files

On disk: an advance with `store=file`, all bytes READ_WRITE, against a sequential write of as many bytes from memory to a
file that is laid out already, and `fdatasync`, as `dd` does it (target {disk:.2f}); a restore of what an advance has just written, against
the same. In tmpfs: an advance against one of a store
in memory, which computes no checksums (target {tmpfs:.2f}); a restore against a `memcpy`.
"""

OPENING_TEXT = """\
`create_cd` of a root whose store holds 100,000 entries (target {opening:.0f} ms): it reads what the store says of them, and
not their data, so the length of the entries makes no difference. With `keep=N` it also reads the newest point in time, as another one could be taken if that is damaged: the time is in proportion to its data then.
"""

FILES_AFTER = """\
How to write was chosen by `bench/write_candidates.cpp`: 256 MiB are copied with their checksums to a file that is laid out already, until they
are on the disk; as a multiple of the speed of the plain write and `fdatasync`. *Cores busy*: the same while each core has another thread to run, as it has when
other ranks wait for this one. *Read again*: how long it takes then to read and check the bytes through the page cache, as a restore does, as a multiple of the plain write's time; less is faster:
"""

FILES_BREAK_EVEN = "saves {percent:.0f} % of an advance's time, which pays from {advances:.1f} advances for each restore on"
FILES_GAIN = "saves {percent:.0f} % of an advance's time, and in this run cost no restore anything"
FILES_NO_GAIN = "saved nothing in this run"

FILES_CHOICE = """\
What an operation of 8 MiB and more writes goes past the page cache (O_DIRECT), from buffers of 1 MiB that two threads write while the next are filled; they end with the
operation. It has {ours:.2f} of the plain write's speed, {ours_busy:.2f} while the cores are busy. The other way is pieces of 256 KiB through the page cache, of which the kernel
begins with each 8 MiB at once (`sync_file_range`), so that the disk works while the next ones are copied: {buffered:.2f} and {buffered_busy:.2f}. What went past the page cache has to be read from
the disk: that takes {ours_read:.2f} plain writes instead of {buffered_read:.2f}. So it {idle}; while the cores are busy it {busy}.

Through the page cache goes what gains nothing by the other: operations of less (an advance of 4 MiB gained nothing or a third, one of 8 MiB up to half of its time); stores with redundancy, since
every point in time is read right after it was written, to be protected, and both together take {together:.2f} times as long past it; `sync=none`, where nobody waits for the disk;
and file systems other than ext4 and XFS, with which nobody has measured it. By hand, in a memory cgroup that left the page cache 128 MiB, both ways wrote and read equally fast.

The fastest by io_uring, {ring_way}, has {ring:.2f} and {ring_busy:.2f}. Two threads are as good, and everywhere to be had: many systems switch io_uring off
(`kernel.io_uring_disabled`, filters of containers), it takes a library, and the memory of its buffers counts for the limit on locked memory of old kernels. The writes are the system
calls that a store makes anyway, so that all that crashes and calls that fail can do is tested in the same way.

In tmpfs no system call is as fast as writing the file's pages where they are, which libcd does: the copy and its checksum are one pass then,
past the caches. The pages are of 4 KiB, where a store in memory has huge ones: to wait for the address of each took up to a fifth of the time until the copy touched
each page before it comes to it. What is left against a store in memory is the checksum, which busy cores slow down, and the copy hardly.
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
