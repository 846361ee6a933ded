#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the containment-domains authors
"""check_language.py: fails where a message has more than 30 words, a text uses a phrase that says
nothing, or two folders have files of the same name."""

import collections
import pathlib
import re
import sys

MOST_WORDS = 30
PHRASES = ("of those that", "is told of", "so that nobody")
FOLDERS = ("libcd", "pmpi_logger", "tools", "fortran", "include")
# Units have the name of the call or command that they are the door of.
DOORS = (pathlib.Path("libcd/api"), pathlib.Path("tools/cdctl"))
LITERALS = re.compile(r'"(?:[^"\\\n]|\\.)*"(?:\s*(?:PRI[a-z]\w+\s*)?"(?:[^"\\\n]|\\.)*")*')


def find_long_messages(text):
    for literals in LITERALS.finditer(re.sub(r"//[^\n]*", "", text)):
        message = "".join(re.findall(r'"((?:[^"\\\n]|\\.)*)"', literals.group()))
        if len(message.split()) > MOST_WORDS and "\\n" not in message.rstrip("\\n"):
            yield f"{len(message.split())} words, at most {MOST_WORDS}: {message[:70]}..."


def find_phrases(text):
    plain = re.sub(r"\s*\n\s*(?://|\*|!)?\s*", " ", text)
    return [f'"{phrase}" says nothing' for phrase in PHRASES if phrase in plain]


def main():
    complaints = []
    stems = collections.defaultdict(set)
    for folder in FOLDERS:
        for path in sorted(pathlib.Path(folder).rglob("*")):
            if path.suffix not in (".c", ".cpp", ".h", ".hpp", ".f90"):
                continue
            text = path.read_text(encoding="utf-8")
            complaints += [f"{path}: {each}" for each in find_long_messages(text)]
            complaints += [f"{path}: {each}" for each in find_phrases(text)]
            if path.parent not in DOORS:
                stems[path.stem].add(str(path.parent))
    for stem, folders in sorted(stems.items()):
        if len(folders) > 1:
            complaints.append(f"{stem} is in {' and '.join(sorted(folders))}: rename one")
    print("\n".join(complaints), file=sys.stderr)
    return bool(complaints)


if __name__ == "__main__":
    sys.exit(main())
