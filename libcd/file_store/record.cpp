// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "file_store/record.h"

#include "file_store/codec.h"
#include "file_store/format.h"
#include "memory/crc32c.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

namespace cd {
namespace {

constexpr size_t width = 8;

// Handled a word at a time: every opening compares a whole journal.
constexpr uint64_t little_endian(uint64_t word) {
    return std::endian::native == std::endian::little ? word : __builtin_bswap64(word);
}

} // namespace

Unused::Unused(const Superblock &header) {
    ByteReader id(header.id);
    const uint64_t low = id.fixed64();
    const uint64_t high = id.fixed64();
    first_ = (low ^ high) + header.generation * format::unused_generation_step;
}

uint64_t Unused::word_at(uint64_t offset) const {
    return little_endian(first_ + offset * format::unused_offset_step);
}

void Unused::fill(uint64_t offset, std::span<std::byte> bytes) const {
    for (size_t at = 0; at < bytes.size(); at += width) {
        const uint64_t word = word_at(offset + at);
        std::memcpy(&bytes[at], &word, width);
    }
}

size_t Unused::find(uint64_t offset, std::span<const std::byte> bytes, bool unused) const {
    for (size_t at = 0; at < bytes.size(); at += width) {
        uint64_t word = 0;
        std::memcpy(&word, &bytes[at], width);
        if ((word == word_at(offset + at)) == unused) {
            return at;
        }
    }
    return bytes.size();
}

Status Unused::write(const File &file, uint64_t offset, uint64_t length) const {
    std::array<std::byte, 4 *format::block> piece = {};
    for (uint64_t done = 0; done < length; done += piece.size()) {
        const auto part = static_cast<size_t>(std::min<uint64_t>(piece.size(), length - done));
        fill(offset + done, std::span(piece).first(part));
        if (Status status = file.write(offset + done, piece.data(), part); !status) {
            return status;
        }
    }
    return Status::ok();
}

namespace {

constexpr size_t checked_from = 8; // behind magic and checksum

// Includes the id of the file: a record that another file left in this place does not match.
uint32_t checksum_of(const Superblock &header, std::span<const std::byte> checked) {
    const uint32_t seed = crc32c(0, header.id.data(), header.id.size());
    return crc32c(seed, checked.data(), checked.size());
}

// The beginning of a record, before its changes.
struct Start {
    bool whole = false;
    uint32_t checksum = 0;
    uint64_t number = 0;
    uint64_t length = 0;
};

// bytes: at least a block.
Start read_start(const Superblock &header, std::span<const std::byte> bytes) {
    ByteReader reader(bytes);
    const uint32_t magic = reader.fixed32();
    Start start;
    start.checksum = reader.fixed32();
    const uint64_t generation = reader.fixed64();
    start.number = reader.fixed64();
    start.length = reader.fixed64();
    const uint32_t checksum = reader.fixed32();
    const auto checked = bytes.subspan(checked_from, format::record_header_checked - checked_from);
    start.whole = magic == format::record_magic && generation == header.generation &&
                  checksum == checksum_of(header, checked) &&
                  start.length <= bytes.size() - format::record_header;
    return start;
}

// Returns the length up to the first word behind the changes: a record is whole if that was
// written, whatever became of the zeros behind.
uint64_t words_of(uint64_t changes) {
    return (format::record_header + changes + 7) / 8 * 8 + format::record_end;
}

// True if a later record, which has a greater number, begins in one of the blocks.
bool has_newer(const Superblock &header, uint64_t sequence, std::span<const std::byte> bytes) {
    for (size_t at = 0; at < bytes.size(); at += format::block) {
        const Start start = read_start(header, bytes.subspan(at));
        if (start.whole && start.number > sequence) {
            return true;
        }
    }
    return false;
}

} // namespace

uint64_t record_size(size_t changes) {
    const uint64_t used = format::record_header + changes + format::record_end;
    return format::whole_blocks(used);
}

ByteWriter encode_record(const Superblock &header, uint64_t sequence,
                         std::span<const std::byte> changes) {
    ByteWriter checked;
    checked.fixed64(header.generation);
    checked.fixed64(sequence);
    checked.fixed64(changes.size());
    checked.fixed32(checksum_of(header, checked.bytes()));
    checked.fixed32(0); // for a later version
    checked.raw(changes.data(), changes.size());
    ByteWriter record;
    record.fixed32(format::record_magic);
    record.fixed32(checksum_of(header, checked.bytes()));
    record.raw(checked.data(), checked.size());
    record.pad_to(record_size(changes.size()));
    return record;
}

FoundRecord find_record(const Superblock &header, uint64_t sequence,
                        std::span<const std::byte> journal, uint64_t used) {
    const auto rest = journal.subspan(used);
    const uint64_t offset = header.journal.offset + used;
    const Unused unused(header);
    FoundRecord found;
    if (unused.is_all_of(offset, rest)) {
        found.kind = FoundRecord::Kind::end;
        return found;
    }
    const Start start = read_start(header, rest);
    const bool expected = start.whole && start.number == sequence;
    const auto behind = std::min<uint64_t>(rest.size(), record_size(start.length));
    if (expected &&
        start.checksum ==
            checksum_of(header, rest.subspan(checked_from, format::record_header - checked_from +
                                                               start.length))) {
        found.kind = FoundRecord::Kind::whole;
        found.changes = rest.subspan(format::record_header, start.length);
        found.size = behind;
        return found;
    }
    // No later record is written before this one is on the disk.
    const auto own = expected ? words_of(start.length) : format::sector;
    if (unused.is_some_of(offset, rest.first(std::min<uint64_t>(rest.size(), own))) &&
        !has_newer(header, sequence, rest)) {
        found.kind = FoundRecord::Kind::torn;
    }
    return found;
}

} // namespace cd
