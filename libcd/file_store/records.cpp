// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "file_store/records.h"

#include "file_store/format.h"
#include "store/crc32c.h"

#include <cstring>

namespace cd {
namespace {

constexpr size_t checked_from = 8; // behind magic and checksum

// Another file's record, in a place that was that file's once, is none of ours.
uint32_t checksum_of(const Header &header, std::span<const std::byte> checked) {
    const uint32_t seed = crc32c(0, header.id.data(), header.id.size());
    return crc32c(seed, checked.data(), checked.size());
}

bool is_zero(std::span<const std::byte> bytes) {
    // Each byte is the one before it.
    return bytes.empty() || (bytes[0] == std::byte{0} &&
                             std::memcmp(bytes.data(), bytes.data() + 1, bytes.size() - 1) == 0);
}

} // namespace

uint64_t record_size(size_t changes) {
    const uint64_t used = format::record_header + changes;
    return (used + format::block - 1) / format::block * format::block;
}

ByteWriter encode_record(const Header &header, uint64_t sequence,
                         std::span<const std::byte> changes) {
    ByteWriter checked;
    checked.fixed64(header.generation);
    checked.fixed64(sequence);
    checked.fixed64(changes.size());
    checked.fixed64(0); // for a later version
    checked.raw(changes.data(), changes.size());
    ByteWriter record;
    record.fixed32(format::record_magic);
    record.fixed32(checksum_of(header, checked.bytes()));
    record.raw(checked.data(), checked.size());
    record.pad_to(record_size(changes.size()));
    return record;
}

FoundRecord find_record(const Header &header, uint64_t sequence,
                        std::span<const std::byte> journal) {
    FoundRecord found;
    // A journal is zeroed before its first use.
    if (is_zero(journal)) {
        found.kind = FoundRecord::Kind::end;
        return found;
    }
    ByteReader reader(journal);
    const uint32_t magic = reader.fixed32();
    const uint32_t checksum = reader.fixed32();
    const uint64_t generation = reader.fixed64();
    const uint64_t number = reader.fixed64();
    const uint64_t length = reader.fixed64();
    reader.fixed64();
    if (reader.bad() || magic != format::record_magic || generation != header.generation ||
        number != sequence || length > reader.left() ||
        checksum != checksum_of(header, journal.subspan(checked_from, format::record_header -
                                                                          checked_from + length))) {
        return found;
    }
    found.kind = FoundRecord::Kind::whole;
    found.changes = journal.subspan(format::record_header, length);
    found.size = record_size(length);
    return found;
}

} // namespace cd
