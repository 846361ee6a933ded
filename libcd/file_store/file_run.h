// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "file_store/state.h"
#include "file_store/volume.h"
#include "store/block.h"

namespace cd {

// The data of one entry, or of what was one once, in a store file.
class FileRun : public Backing {
public:
    // Takes over the extent, which the run fills or does not.
    FileRun(Volume &volume, StoredRun run) : volume_(volume), run_(std::move(run)) {}
    FileRun(const FileRun &) = delete;
    FileRun &operator=(const FileRun &) = delete;
    ~FileRun() override { volume_.release({run_.offset, run_.length}); }

    Status read(size_t offset, void *to, size_t length) const override;

    const StoredRun &stored() const { return run_; }

    // For who has just written the data.
    void set_checksums(Checksums checksums) { run_.checksums = std::move(checksums); }

private:
    Volume &volume_;
    StoredRun run_;
};

} // namespace cd
