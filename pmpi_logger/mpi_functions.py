#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the containment-domains authors

"""Writes docs/reference/mpi-functions.md from the logger's table of functions; with --check fails if it is not
what would be written."""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TABLE = ROOT / "pmpi_logger" / "functions.def"
REASONS = ROOT / "pmpi_logger" / "handlers" / "passthrough.h"
DOCUMENT = ROOT / "docs" / "reference" / "mpi-functions.md"

# What is recorded, and what a replay does.
HANDLERS = {
    "Blocking": ("the outcome", "gives it; nothing is sent"),
    "Probe": (
        "the outcome of a find; finding nothing is counted",
        "finds nothing as often, then what was found",
    ),
    "NonblockingSend": (
        "the call and a checksum of the data, which go out from a copy",
        "gives a request; nothing is sent",
    ),
    "NonblockingBufferedSend": ("the call and a checksum of the data", "gives a request; nothing is sent"),
    "NonblockingReceive": (
        "the call; the data where the request completes",
        "gives a request; posted again if a restore took it back",
    ),
    "NonblockingExchange": ("the call; the data where the request completes", "gives a request"),
    "NonblockingMatchedReceive": ("the call; the data where the request completes", "gives a request"),
    "NonblockingCollective": ("the call; the data where the request completes", "gives a request"),
    "NonblockingDuplicate": ("the call; the communicator where the request completes", "gives a request"),
    "NonblockingFileRead": ("the call; the data where the request completes", "gives a request"),
    "NonblockingFileWrite": ("the call and a checksum of the data", "gives a request; nothing is written"),
    "GeneralizedStart": ("the call", "gives a request that the log completes"),
    "GeneralizedComplete": ("the call", "nothing, if the log completed the request"),
    "Completion": (
        "which requests completed, in which order, statuses, the data that they brought",
        "completes the same ones in the same order",
    ),
    "RequestStatus": ("flag, status and data", "gives the same"),
    "RequestStatusOfMany": ("`MPI_Request_get_status` of one after another", "gives the same"),
    "PartitionedInit": ("the request", "gives the same request; without copies only if its buffers have not moved"),
    "PartitionedReady": ("which parts, and a checksum of them", "nothing is sent"),
    "PartitionedArrived": ("the answer and the part; that it had not arrived only as a count", "gives the same answer, and the part"),
    "PersistentSend": ("the request", "gives the same request"),
    "PersistentReceive": ("the request", "gives the same request"),
    "PersistentCollective": ("the request", "gives the same request; without copies only if its buffers have not moved"),
    "PersistentStart": (
        "which requests, and a checksum of what they send",
        "marks them as started; nothing is sent",
    ),
    "RequestCancel": ("result", "gives it, or cancels what is still under way"),
    "RequestFree": ("the call, unless data are still to come: then it is refused", "forgets the request"),
    "BufferAttach": ("the call", "the program's buffer is attached; messages lie in one of ours"),
    "BufferDetach": ("the call", "gives the buffer back"),
    "TypeCreate": (
        "the type, and a checksum of where its parts lie",
        "gives the same one; makes another where parts lie elsewhere",
    ),
    "ObjectFree": ("the call; the object is freed when the log is forgotten", "gives the null handle"),
    "MemoryFree": ("the call; the memory is freed when the log is forgotten", "nothing"),
    "CommQuery": (
        "nothing",
        "goes to MPI, which keeps freed communicators until no log names them",
    ),
    "CommCompare": (
        "nothing",
        "goes to MPI, which keeps freed communicators until no log names them",
    ),
    "ErrorHandlerCall": ("nothing", "calls it again, unless the object is closed, disconnected or a freed window"),
    "CommPack": ("nothing", "goes to MPI, with another communicator for one that is freed"),
    "KeyvalCreate": ("the key", "gives the same one"),
    "FileOpen": ("the file", "gives the same one"),
    "FileClose": ("the call; the file is closed at once", "gives the null handle"),
    "FileFortranHandle": ("nothing", "gives the handle that a closed file had"),
    "CommFortranHandle": ("nothing", "gives the handle that a freed communicator had"),
    "WindowFortranHandle": ("nothing", "gives the handle that a freed window had"),
    "CommFree": (
        "the call; the communicator is freed when the log is forgotten, or disconnected at once if it "
        "is an intercommunicator",
        "gives the null handle",
    ),
    "AttributeChange": ("the call", "is made again; a restore brings back what was there before"),
    "ErrorHandlerSet": ("the call", "is made again; a restore brings back what was there before"),
    "NameSet": ("the call", "is made again; a restore brings back what was there before"),
    "InfoChange": ("the call", "is made again; a restore brings back what was there before"),
    "RmaOperation": (
        "the call and a checksum of what it sends; what it brings where a synchronization ends it",
        "accesses no window",
    ),
    "NonblockingRmaWrite": (
        "the call and a checksum of the data, which go out from a copy",
        "gives a request; nothing is written",
    ),
    "NonblockingRmaRead": ("the call; the data where the request completes", "gives a request"),
    "WindowCreate": ("the window", "gives the same one"),
    "WindowAllocate": ("the window and its memory", "gives the same ones"),
    "WindowFree": ("the call, and what others had written last", "gives the null handle"),
    "RmaSync": (
        "what others have written into this rank's memory, and what operations have brought that end here",
        "writes both",
    ),
    "WindowAttributeGet": (
        "the attribute, unless the logger knows it itself: `MPI_WIN_BASE`, `MPI_WIN_MODEL`",
        "gives it, also when the window is gone",
    ),
    "SplitBegin": ("the call, and a checksum of the data written; MPI works on a copy", "nothing"),
    "SplitEndWrite": ("status", "gives it"),
    "SplitEndRead": ("status and data", "gives them"),
    "ClockRead": ("the time", "the same time; reading more or less often is allowed"),
    "JobConnect": ("the communicator, and what else the call wrote", "gives them"),
    "Initialize": ("result and level of threads", "gives them; MPI stays up"),
    "Finalize": ("nothing, but what waited for a log to be forgotten is freed", "a restore to before it is refused"),
    "SessionInit": ("the session", "gives the same one"),
    "SessionFinalize": ("the call; the last one does what `MPI_Finalize` does", "gives the null handle; a restore to before the last one is refused"),
    "Abort": ("nothing, but what `CD_LOG=all` has recorded is written to its file", "is made"),
    "WindowCreateDynamic": ("the window", "gives the same one"),
    "Refused": ("", ""),
    "RefusedAttach": ("", ""),
    "TypeContents": ("result and types", "gives the same types; MPI answers the rest"),
    "Local": ("", ""),
}

INTRODUCTION = """\
<!-- SPDX-License-Identifier: BSD-3-Clause -->
<!-- Copyright the containment-domains authors -->

# MPI functions

<!-- Written by pmpi_logger/mpi_functions.py from pmpi_logger/functions.def. -->

Look up what the logger records of a function of MPI, and what a replay does. A row also holds for `PMPI_X`, the large-count form
`MPI_X_c`, an `MPIX_X` of the same meaning, and the Fortran routine. [mpi-replay.md](../inside/mpi-replay.md) explains.

*The outcome* is the result, the status, what the call wrote, and the data that it brought to this rank.

{recorded} functions are recorded and replayed, {refused} are refused while a CD logs. The other {local} concern the process alone, so that a re-execution finds the same, and go to MPI. So does `MPI_T_*`, the interface for tools.
"""

REFUSED = """\
## Refused

In a CD that logs these fail with `MPI_ERR_UNSUPPORTED_OPERATION`, and say why on standard error. Elsewhere, and under
`CD_LOG=all`, they go to MPI.
"""

# The names of functions that are refused for one reason.
PATTERNS = {
    "separate_buffer": ["MPI_Comm_*_buffer", "MPI_Session_*_buffer"],
    "experimental": ["MPIX_* that this page does not name"],
}


def rows():
    section = None
    for line in TABLE.read_text().splitlines():
        if line.startswith("// ---- "):
            section = re.split(r"[.]| -", line[8:])[0].strip()
        found = re.match(r"CD_FUNCTION\((\w+), *(\w+), *(\w+)", line)
        if found:
            yield section, *found.groups()


def reasons():
    text = REASONS.read_text()
    for name, words in re.findall(r'const char \*(\w+) =\s*((?:"[^"]*"\s*)+);', text):
        yield name, "".join(re.findall(r'"([^"]*)"', words))


def refuses(handler):
    return handler.startswith("Refused")


def names(functions):
    return ", ".join(f"`{name}`" for name in functions)


def shortened(functions, blocking):
    """Names the twins of all blocking functions in a word each."""
    for prefix, suffix in (("MPI_I", ""), ("MPI_", "_init")):
        if functions == [prefix + (name[4:].lower() if prefix == "MPI_I" else name[4:]) + suffix for name in blocking]:
            return f"`{prefix}*{suffix}` of these"
    return names(functions)


def grouped(pairs):
    groups = {}
    for key, value in pairs:
        groups.setdefault(key, []).append(value)
    return groups


def recorded_part(table):
    lines = []
    for section, entries in grouped((row[0], row[1:]) for row in table).items():
        kept = [entry for entry in entries if entry[1] != "Local" and not refuses(entry[1])]
        if not kept:
            continue
        lines += [f"## {section}", "", "| functions | recorded | a replay |", "| --- | --- | --- |"]
        meanings = grouped((HANDLERS[handler], name) for name, handler, _ in kept)
        blocking = next(iter(meanings.values()))
        for meaning, functions in meanings.items():
            lines.append(f"| {shortened(functions, blocking)} | {meaning[0]} | {meaning[1]} |")
        lines.append("")
    return lines


def refused_part(table):
    why = dict(reasons())
    groups = grouped((row[3], row[1]) for row in table if refuses(row[2]))
    lines = ["| functions | reason |", "| --- | --- |"]
    groups.update(PATTERNS)
    lines += [f"| {names(functions)} | {why[reason]} |" for reason, functions in groups.items()]
    return lines


def document():
    table = list(rows())
    unknown = sorted({row[2] for row in table} - set(HANDLERS))
    if unknown:
        sys.exit(f"{Path(__file__).name}: say in HANDLERS what these do: {', '.join(unknown)}")
    local = sum(row[2] == "Local" for row in table)
    refused = sum(refuses(row[2]) for row in table)
    recorded = len(table) - local - refused
    lines = [INTRODUCTION.format(recorded=recorded, local=local, refused=refused)]
    lines += recorded_part(table)
    if refused:
        lines += [REFUSED, *refused_part(table)]
    return "\n".join(lines) + "\n"


def main():
    text = document()
    if sys.argv[1:] == ["--check"]:
        if not DOCUMENT.exists() or DOCUMENT.read_text() != text:
            sys.exit("docs/reference/mpi-functions.md is not what pmpi_logger/mpi_functions.py writes: run it")
    else:
        DOCUMENT.write_text(text)


main()
