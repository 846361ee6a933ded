// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "file_store/unused.h"

#include "file_store/codec.h"
#include "file_store/format.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

namespace cd {
namespace {

constexpr size_t width = 8;

// Every opening compares a whole journal: a word at a time, not its bytes.
constexpr uint64_t little_endian(uint64_t word) {
    return std::endian::native == std::endian::little ? word : __builtin_bswap64(word);
}

uint64_t read_word(std::span<const std::byte> bytes, size_t at) {
    uint64_t word = 0;
    std::memcpy(&word, &bytes[at], width);
    return little_endian(word);
}

void write_word(std::span<std::byte> bytes, size_t at, uint64_t word) {
    word = little_endian(word);
    std::memcpy(&bytes[at], &word, width);
}

} // namespace

Unused::Unused(const Superblock &header) {
    ByteReader id(header.id);
    const uint64_t low = id.fixed64();
    const uint64_t high = id.fixed64();
    first_ = (low ^ high) + header.generation * format::unused_generation_step;
}

uint64_t Unused::word_at(uint64_t offset) const {
    return first_ + offset * format::unused_offset_step;
}

void Unused::fill(uint64_t offset, std::span<std::byte> bytes) const {
    for (size_t at = 0; at < bytes.size(); at += width) {
        write_word(bytes, at, word_at(offset + at));
    }
}

bool Unused::is_all_of(uint64_t offset, std::span<const std::byte> bytes) const {
    for (size_t at = 0; at < bytes.size(); at += width) {
        if (read_word(bytes, at) != word_at(offset + at)) {
            return false;
        }
    }
    return true;
}

bool Unused::is_some_of(uint64_t offset, std::span<const std::byte> bytes) const {
    for (size_t at = 0; at < bytes.size(); at += width) {
        if (read_word(bytes, at) == word_at(offset + at)) {
            return true;
        }
    }
    return false;
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

} // namespace cd
