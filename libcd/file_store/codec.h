// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace cd {

inline bool is_zero(std::span<const std::byte> bytes) {
    return std::ranges::all_of(bytes, [](std::byte byte) { return byte == std::byte{0}; });
}

// Appends integers and texts in the format of store files. May throw std::bad_alloc.
class ByteWriter {
public:
    void fixed8(uint8_t value) { bytes_.push_back(std::byte{value}); }
    void fixed32(uint32_t value) { fixed(value, 4); }
    void fixed64(uint64_t value) { fixed(value, 8); }

    // Writes seven bits a byte, low ones first; the last byte has its top bit clear.
    void number(uint64_t value) {
        for (; value >= 0x80; value >>= 7) {
            fixed8(static_cast<uint8_t>(value | 0x80));
        }
        fixed8(static_cast<uint8_t>(value));
    }
    void text(std::string_view value) {
        number(value.size());
        raw(value.data(), value.size());
    }
    void raw(const void *from, size_t length) {
        const auto *bytes = static_cast<const std::byte *>(from);
        bytes_.insert(bytes_.end(), bytes, bytes + length);
    }
    void pad_to(size_t size) { bytes_.resize(size); }

    // Makes room, so that appending so many bytes cannot fail. Grows geometrically.
    void reserve_room(size_t more) {
        if (more > bytes_.capacity() - bytes_.size()) {
            bytes_.reserve(bytes_.size() + std::max(more, bytes_.size()));
        }
    }

    size_t size() const { return bytes_.size(); }
    bool empty() const { return bytes_.empty(); }
    std::byte *data() { return bytes_.data(); }
    std::span<const std::byte> bytes() const { return bytes_; }

private:
    void fixed(uint64_t value, int width) {
        for (int i = 0; i < width; ++i) {
            fixed8(static_cast<uint8_t>(value >> (8 * i)));
        }
    }

    std::vector<std::byte> bytes_;
};

// Reads integers and texts, never past the end: missing bytes read as 0 and make it bad().
class ByteReader {
public:
    explicit ByteReader(std::span<const std::byte> bytes) : bytes_(bytes) {}

    uint8_t fixed8() { return static_cast<uint8_t>(fixed(1)); }
    uint32_t fixed32() { return static_cast<uint32_t>(fixed(4)); }
    uint64_t fixed64() { return fixed(8); }

    uint64_t number() {
        uint64_t value = 0;
        for (unsigned shift = 0; shift < 64; shift += 7) {
            const uint8_t byte = fixed8();
            const uint64_t bits = byte & 0x7fU;
            if (shift == 63 && bits > 1) {
                break;
            }
            value |= bits << shift;
            if ((byte & 0x80U) == 0) {
                return value;
            }
        }
        bad_ = true;
        return 0;
    }
    std::string_view text() {
        const uint64_t length = number();
        if (length > left()) {
            bad_ = true;
            return {};
        }
        const auto *at = reinterpret_cast<const char *>(bytes_.data() + at_);
        at_ += length;
        return {at, length};
    }

    // Makes it bad() because of what was read.
    void reject() { bad_ = true; }

    bool bad() const { return bad_; }
    size_t at() const { return at_; }
    size_t left() const { return bytes_.size() - at_; }

private:
    uint64_t fixed(size_t width) {
        if (left() < width) {
            bad_ = true;
            at_ = bytes_.size();
            return 0;
        }
        uint64_t value = 0;
        for (size_t i = 0; i < width; ++i) {
            value |= std::to_integer<uint64_t>(bytes_[at_ + i]) << (8 * i);
        }
        at_ += width;
        return value;
    }

    std::span<const std::byte> bytes_;
    size_t at_ = 0;
    bool bad_ = false;
};

} // namespace cd
