// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "domains/domain.h"

#include <vector>

namespace cd {

// The position of the file that now names, among those that another process has left: of several
// the first, since numbers of descriptors mean nothing in this one; the end if there is none.
std::vector<FilePosition>::iterator find_waiting(std::vector<FilePosition> &waiting,
                                                 const FilePosition &now);

// The files of one CD.
struct CdFiles {
    FileTable held;
    std::vector<FilePosition> waiting; // as Domain::unbound_files
};

// What a parent has of files when the child has given it its own. The older position stays, which
// is the parent's: also where that waits, and the child holds the file. May throw std::bad_alloc.
CdFiles files_with_those_of(const Domain &child, const Domain &parent);

} // namespace cd
