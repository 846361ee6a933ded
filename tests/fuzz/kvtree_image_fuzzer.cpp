// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors

// Any bytes as the header of a redset file: taken as a whole, or refused with a message.
#include "redset/kvtree_file.h"

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

using namespace cd;
using namespace cd::redset;

namespace {

void require(bool holds, const char *rule) {
    if (!holds) {
        std::fprintf(stderr, "violated: %s\n", rule);
        std::abort();
    }
}

void put_big_endian(std::vector<std::byte> &bytes, size_t at, size_t width, uint64_t value) {
    for (size_t i = 0; i < width; ++i) {
        bytes[at + i] = static_cast<std::byte>(value >> (8 * (width - 1 - i)));
    }
}

// No fuzzer finds a checksum: this one, the magic and the length are made right.
std::vector<std::byte> sealed(std::vector<std::byte> bytes) {
    bytes.resize(bytes.size() < 24 ? 28 : bytes.size() + 4);
    const size_t end = bytes.size() - 4;
    put_big_endian(bytes, 0, 4, 0x951fc3f5);
    put_big_endian(bytes, 4, 4, 0x00010001);
    put_big_endian(bytes, 8, 8, bytes.size());
    put_big_endian(bytes, 16, 4, 1);
    put_big_endian(bytes, end, 4, crc32(std::span(bytes).first(end)));
    return bytes;
}

void take(const std::vector<std::byte> &bytes) {
    clear_message();
    KvTree tree;
    uint64_t size = 0;
    if (!decode_image(bytes, "file", tree, size)) {
        require(tree.empty() && size == 0, "what is refused changes nothing");
        require(std::strstr(message(), "file: ") == message(), "what is refused names the file");
        require(std::strstr(message(), "offset") != nullptr, "and the offset");
        return;
    }
    require(size <= bytes.size(), "a header is inside its file");
    std::vector<std::byte> again;
    require(encode_image(tree, "file", again).is_ok(), "what was read can be written");
    KvTree twin;
    uint64_t twin_size = 0;
    require(decode_image(again, "file", twin, twin_size).is_ok() && twin == tree,
            "and is the same then");
}

} // namespace

// NOLINTNEXTLINE(readability-identifier-naming): the name that libFuzzer calls
extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const auto *first = reinterpret_cast<const std::byte *>(data);
    const std::vector<std::byte> bytes(first, first + size);
    take(bytes);
    take(sealed(bytes));
    return 0;
}
