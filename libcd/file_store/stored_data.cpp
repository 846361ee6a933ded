// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "file_store/stored_data.h"

#include "file_store/format.h"
#include "memory/crc32c.h"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

namespace cd {
namespace {

uint64_t part_length(const StoredRun &run, uint64_t part) {
    return std::min<uint64_t>(format::checked_part, run.length - part * format::checked_part);
}

Status check(const File &file, const StoredRun &run, uint64_t part, const void *bytes,
             size_t length) {
    if (run.checksums.empty() || crc32c(0, bytes, length) == run.checksums[part]) {
        return Status::ok();
    }
    const unsigned long long offset = run.offset + part * format::checked_part;
    return fail(CD_ERROR_CHECKSUM,
                "%s: the %zu bytes of data at offset %llu do not match their checksum: the file is "
                "damaged. Start with CD_RESTART=no, or with an older epoch",
                file.path(), length, offset);
}

} // namespace

Status read_run(const File &file, const StoredRun &run, uint64_t offset, void *to, size_t length) {
    auto *target = static_cast<std::byte *>(to);
    std::vector<std::byte> whole_part; // if only some bytes of a part are wanted
    while (length > 0) {
        const uint64_t part = offset / format::checked_part;
        const uint64_t begin = part * format::checked_part;
        const auto size = static_cast<size_t>(part_length(run, part));
        const size_t wanted = std::min<size_t>(length, begin + size - offset);
        std::byte *at = target;
        if (wanted < size && !run.checksums.empty()) {
            whole_part.resize(size);
            at = whole_part.data();
        }
        const size_t reading = at == target ? wanted : size;
        const uint64_t from = run.offset + (at == target ? offset : begin);
        if (Status status = file.read(from, at, reading); !status) {
            return status;
        }
        if (Status status = check(file, run, part, at, reading); !status) {
            return status;
        }
        if (at != target) {
            std::memcpy(target, at + (offset - begin), wanted);
        }
        target += wanted;
        offset += wanted;
        length -= wanted;
    }
    return Status::ok();
}

Status check_run(const File &file, const StoredRun &run) {
    std::vector<std::byte> bytes(std::min<uint64_t>(run.length, format::checked_part));
    for (uint64_t done = 0; done < run.length; done += bytes.size()) {
        const auto part = static_cast<size_t>(std::min<uint64_t>(bytes.size(), run.length - done));
        if (Status status = read_run(file, run, done, bytes.data(), part); !status) {
            return status;
        }
    }
    return Status::ok();
}

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
        const bool is_checked = !run.checksums.empty();
        const bool reads = is_checked || volume_.is_of_this_process();
        Status status = reads ? read_run(volume_.file(), run, begin, at, part) : Status::ok();
        at += part;
        if (!reads || (status.code() == CD_ERROR_CHECKSUM && !volume_.is_of_this_process())) {
            return fail(CD_ERROR_STORE_FORKED,
                        "%s: the parent process %s. Commit the root here, or end this process",
                        volume_.file().path(),
                        is_checked ? "has written over these data; memory may be partly restored"
                                   : "may have written over these data, which have no checksums");
        }
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
