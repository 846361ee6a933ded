// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "file_store/file_run.h"

#include "file_store/run.h"

#include <utility>

namespace cd {

FileRun::FileRun(Volume &volume, Runs runs, size_t used) noexcept
    : volume_(volume), runs_(std::move(runs)), used_(used) {
    for (const StoredRun &run : runs_) {
        size_ += run.length;
    }
    volume_.usage().change(size_, 0, used);
}

FileRun::~FileRun() {
    if (const size_t used = used_; used > 0) {
        lose(used);
    }
    for (const StoredRun &run : runs_) {
        volume_.release({run.offset, run.length});
    }
}

Status FileRun::read(size_t offset, void *to, size_t length) const {
    auto *at = static_cast<std::byte *>(to);
    return for_each(offset, length, [&](const StoredRun &run, size_t begin, size_t part) {
        Status status = read_run(volume_.file(), run, begin, at, part);
        at += part;
        return status;
    });
}

void FileRun::change_use(size_t more) noexcept {
    const size_t before = used_.fetch_add(more, std::memory_order_relaxed);
    volume_.usage().change(size_, before, before + more);
}

bool FileRun::is_sparse() const noexcept {
    const size_t used = used_;
    return Usage::is_much(Usage::waste(size_, used), used);
}

} // namespace cd
