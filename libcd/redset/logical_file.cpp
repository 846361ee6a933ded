// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "redset/logical_file.h"

#include <algorithm>
#include <utility>

namespace cd::redset {
namespace {

constexpr size_t most_open = 32; // all members may be in one process

} // namespace

LogicalFile::LogicalFile(const std::vector<uint64_t> &sizes, Open open) : open_(std::move(open)) {
    uint64_t begin = 0;
    for (const uint64_t size : sizes) {
        parts_.push_back({begin, begin + size, {}});
        begin += size;
    }
}

Status LogicalFile::read(uint64_t offset, std::span<std::byte> to) {
    return each_part(offset, to, [](const File &file, uint64_t at, std::span<std::byte> bytes) {
        return file.read(at, bytes.data(), bytes.size());
    });
}

Status LogicalFile::write(uint64_t offset, std::span<const std::byte> from) {
    return each_part(offset, from,
                     [](const File &file, uint64_t at, std::span<const std::byte> bytes) {
                         return file.write(at, bytes.data(), bytes.size());
                     });
}

std::vector<uint32_t> LogicalFile::checksums() const {
    std::vector<uint32_t> checksums;
    std::transform(parts_.begin(), parts_.end(), std::back_inserter(checksums),
                   [](const Part &part) { return part.crc.whole(); });
    return checksums;
}

template <typename Byte, typename Transfer>
Status LogicalFile::each_part(uint64_t offset, std::span<Byte> bytes, const Transfer &transfer) {
    auto part = std::upper_bound(parts_.begin(), parts_.end(), offset,
                                 [](uint64_t at, const Part &each) { return at < each.end; });
    for (; !bytes.empty(); ++part) {
        const auto here = bytes.first(std::min<uint64_t>(bytes.size(), part->end - offset));
        const File *file = nullptr;
        if (here.empty()) {
            continue; // an empty file
        }
        if (Status status = opened(static_cast<size_t>(part - parts_.begin()), file); !status) {
            return status;
        }
        if (Status status = transfer(*file, offset - part->begin, here); !status) {
            return status;
        }
        part->crc.add(offset - part->begin, here);
        bytes = bytes.subspan(here.size());
        offset += here.size();
    }
    return Status::ok();
}

Status LogicalFile::opened(size_t part, const File *&file) {
    const auto found = std::find_if(opened_.begin(), opened_.end(),
                                    [part](const Opened &each) { return each.part == part; });
    if (found != opened_.end()) {
        opened_.splice(opened_.begin(), opened_, found);
    } else {
        File fresh;
        if (Status status = open_(part, fresh); !status) {
            return status;
        }
        if (opened_.size() == most_open) {
            opened_.pop_back();
        }
        opened_.push_front({part, std::move(fresh)});
    }
    file = &opened_.front().file;
    return Status::ok();
}

} // namespace cd::redset
