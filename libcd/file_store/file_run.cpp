// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "file_store/file_run.h"

#include "file_store/run.h"

namespace cd {

Status FileRun::read(size_t offset, void *to, size_t length) const {
    return read_run(volume_.file(), run_, offset, to, length);
}

} // namespace cd
