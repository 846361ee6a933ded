// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "file_store/allocator.h"
#include "file_store/file.h"
#include "file_store/state.h"
#include "memory/block.h"

#include <absl/container/inlined_vector.h>

#include <algorithm>
#include <atomic>
#include <cstddef>

namespace cd {

// Reads `length` bytes at `offset` of a run, and compares the checked parts that they lie in with
// their checksums. After an error `to` holds anything. May throw std::bad_alloc.
Status read_run(const File &file, const StoredRun &run, uint64_t offset, void *to, size_t length);

// Reads and checks a whole run.
Status check_run(const File &file, const StoredRun &run);

// The data of one entry, or of fragments of it, in a store file: one run, or several if no room was
// long enough.
class FileRun : public Backing {
public:
    using Runs = absl::InlinedVector<StoredRun, 1>;

    // Takes over the extents of the runs.
    FileRun(Volume &volume, Runs runs, size_t used) noexcept;
    FileRun(const FileRun &) = delete;
    FileRun &operator=(const FileRun &) = delete;
    ~FileRun() override;

    Status read(size_t offset, void *to, size_t length) const override;
    void use(size_t length) noexcept override { change_use(length); }
    void lose(size_t length) noexcept override { change_use(-length); }
    bool is_sparse() const noexcept override;

    // For the writer of the data.
    Runs &runs() { return runs_; }

    // Calls visit(run, offset in it, length) for each run that the bytes lie in.
    template <typename Visit>
    Status for_each(size_t offset, size_t length, const Visit &visit) const {
        Status status;
        for (auto run = runs_.begin(); length > 0 && status.is_ok(); ++run) {
            if (offset >= run->length) {
                offset -= run->length;
                continue;
            }
            const size_t part = std::min<size_t>(length, run->length - offset);
            status = visit(*run, offset, part);
            length -= part;
            offset = 0;
        }
        return status;
    }

private:
    void change_use(size_t more) noexcept;

    Volume &volume_;
    Runs runs_;
    size_t size_ = 0;
    std::atomic<size_t> used_;
};

} // namespace cd
