// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors

// A block where a header belongs, with the right checksum if the first byte is odd: it is a header
// that makes sense, or refused.
#include "file_store/superblock.h"
#include "input.h"
#include "memory/crc32c.h"
#include "memory_file.h"

#include <algorithm>

using namespace cd;
using fuzz::require;

namespace {

constexpr size_t checksum_at = format::header_checksum;

void make_right(std::vector<std::byte> &block) {
    std::transform(format::magic.begin(), format::magic.end(), block.begin(),
                   [](unsigned char value) { return std::byte{value}; });
    const uint32_t checksum = crc32c(0, block.data(), checksum_at);
    for (size_t i = 0; i < 4; ++i) {
        block[checksum_at + i] = static_cast<std::byte>(checksum >> (8 * i));
    }
}

void require_same(const Superblock &a, const Superblock &b) {
    require(a.id == b.id && a.slot == b.slot && a.generation == b.generation && a.rank == b.rank &&
                a.name == b.name && a.snapshot.offset == b.snapshot.offset &&
                a.snapshot.length == b.snapshot.length && a.snapshot_length == b.snapshot_length &&
                a.snapshot_checksum == b.snapshot_checksum &&
                a.journal.offset == b.journal.offset && a.journal.length == b.journal.length &&
                a.copy_distance == b.copy_distance,
            "a header that is written reads as it was");
}

} // namespace

// NOLINTNEXTLINE(readability-identifier-naming): the name that libFuzzer calls
extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    fuzz::Input input(data, size);
    const bool right = (input.number8() & 1U) != 0;
    const auto bytes = input.rest();
    fuzz::MemoryFile memory;
    memory.bytes.resize(format::first_extent);
    std::copy_n(bytes.begin(), std::min(bytes.size(), format::block), memory.bytes.begin());
    if (right) {
        make_right(memory.bytes);
    }
    const File file = fuzz::MemoryFile::open();
    FoundHeader found;
    require(read_header(file, 0, found).is_ok(), "a block that is there can be read");
    if (found.kind != FoundHeader::Kind::whole) {
        return 0;
    }
    const Superblock &header = found.header;
    require(header.rank >= 0 && !header.name.empty() && header.name.size() <= format::longest_name,
            "a header names a root");
    for (const Extent &extent : header.places()) {
        require(extent.offset >= format::first_extent && extent.end() >= extent.offset &&
                    extent.end() <= INT64_MAX,
                "what a header names lies in a file");
    }
    require(header.snapshot_length <= header.snapshot.length, "a snapshot fits into its place");
    require(write_header(file, header).is_ok(), "a header can be written");
    FoundHeader again;
    require(read_header(file, header.slot, again).is_ok() && again.kind == FoundHeader::Kind::whole,
            "a header that is written is whole");
    require_same(header, again.header);
    return 0;
}
