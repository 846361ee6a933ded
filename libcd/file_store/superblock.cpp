// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "file_store/superblock.h"

#include "file_store/codec.h"
#include "memory/crc32c.h"

#include <algorithm>
#include <climits>
#include <cstring>

namespace cd {
namespace {

bool has_checksum_at(std::span<const std::byte> bytes, size_t at) {
    return ByteReader(bytes.subspan(at)).fixed32() == crc32c(0, bytes.data(), at);
}

// False if the header makes no sense.
bool decode(ByteReader &reader, uint32_t features, Superblock &header) {
    for (std::byte &byte : header.id) {
        byte = std::byte{reader.fixed8()};
    }
    header.generation = reader.fixed64();
    const uint32_t rank = reader.fixed32();
    header.snapshot = {reader.fixed64(), reader.fixed64()};
    header.snapshot_length = reader.fixed64();
    header.snapshot_checksum = reader.fixed32();
    header.journal = {reader.fixed64(), reader.fixed64()};
    header.slot = reader.fixed32();
    header.name = reader.text();
    header.rank = static_cast<int>(rank);
    header.names_all_objects = features == format::names_all_objects;
    header.copy_distance = reader.fixed64();
    const auto possible = [](const Extent &extent) {
        return extent.offset >= format::first_extent && extent.offset % format::block == 0 &&
               extent.offset <= INT64_MAX && extent.length <= INT64_MAX - extent.offset;
    };
    const bool is_known = features == 0 || header.names_all_objects;
    return is_known && !reader.bad() && header.generation <= format::greatest_number &&
           rank <= INT_MAX && !header.name.empty() && header.name.size() <= format::longest_name &&
           std::ranges::all_of(header.places(), possible) &&
           header.snapshot_length <= header.snapshot.length &&
           header.journal.length % format::block == 0;
}

} // namespace

Status read_header(const File &file, size_t slot, FoundHeader &found) {
    std::array<std::byte, format::block> bytes = {};
    if (Status status = file.read(slot * format::block, bytes.data(), bytes.size()); !status) {
        return status;
    }
    found.kind = FoundHeader::Kind::damaged;
    if (is_zero(bytes)) {
        found.kind = FoundHeader::Kind::none;
        return Status::ok();
    }
    ByteReader reader(bytes);
    for (const unsigned char expected : format::magic) {
        if (reader.fixed8() != expected) {
            return Status::ok();
        }
    }
    // Every version has its number here. From version 2 on the checksum is at the same place.
    found.version = reader.fixed32();
    if (!has_checksum_at(bytes, found.version == 1 ? format::header_checksum_of_version_1
                                                   : format::header_checksum)) {
        return Status::ok();
    }
    const uint32_t features =
        ByteReader(std::span(bytes).subspan(format::header_features)).fixed32();
    if (found.version != format::version) {
        found.kind = FoundHeader::Kind::other_version;
    } else if (is_zero(std::span(bytes).subspan(format::sector)) &&
               decode(reader, features, found.header) && found.header.slot == slot) {
        found.kind = FoundHeader::Kind::whole;
    }
    return Status::ok();
}

Status write_header(const File &file, const Superblock &header) {
    ByteWriter writer;
    writer.raw(format::magic.data(), format::magic.size());
    writer.fixed32(format::version);
    writer.raw(header.id.data(), header.id.size());
    writer.fixed64(header.generation);
    writer.fixed32(static_cast<uint32_t>(header.rank));
    writer.fixed64(header.snapshot.offset);
    writer.fixed64(header.snapshot.length);
    writer.fixed64(header.snapshot_length);
    writer.fixed32(header.snapshot_checksum);
    writer.fixed64(header.journal.offset);
    writer.fixed64(header.journal.length);
    writer.fixed32(static_cast<uint32_t>(header.slot));
    writer.text(header.name);
    writer.fixed64(header.copy_distance);
    writer.pad_to(format::header_features);
    writer.fixed32(header.names_all_objects ? format::names_all_objects : 0);
    writer.pad_to(format::header_checksum);
    writer.fixed32(crc32c(0, writer.data(), format::header_checksum));
    writer.pad_to(format::block);
    return file.write(header.slot * format::block, writer.data(), writer.size());
}

} // namespace cd
