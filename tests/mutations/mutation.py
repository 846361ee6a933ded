# SPDX-License-Identifier: BSD-3-Clause
# Copyright the containment-domains authors

"""One thing that is taken away."""

from dataclasses import dataclass


@dataclass
class Mutation:
    name: str
    file: str  # in libcd/ and the folder
    function: str  # how it begins
    old: str  # the first of these in the function
    new: str
    # Why no test can see it; "": a test has to fail.
    survives: str = ""
    folder: str = "file_store"

    @property
    def path(self):
        return f"libcd/{self.folder}/{self.file}"
