// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "file_store/direct_file.h"

#include "os/system.h"

#include <cerrno>

namespace cd {

DirectFile::DirectFile(const File &file)
    : file_(file), fd_(os::system().open_direct(file.descriptor(), pays_from_)) {}

int DirectFile::write(uint64_t &offset, const std::byte *from, size_t length) const {
    const uint64_t begin = offset;
    const int error = File::write(fd_, offset, from, length);
    const auto done = static_cast<size_t>(offset - begin);
    return error == EINVAL ? File::write(file_.descriptor(), offset, from + done, length - done)
                           : error;
}

void DirectFile::close() noexcept {
    if (fd_ >= 0 && file_.leads_here(fd_)) {
        os::system().close(fd_);
    }
    fd_ = -1;
}

} // namespace cd
