// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors

// Any tree in the place of redset's: what is believed of it is within bounds.
#include "redset/checksums.h"
#include "redset/crc32.h"
#include "redset/header.h"
#include "redset/kvtree_image.h"

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
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

// A header whose tree is the input.
std::vector<std::byte> around(const std::byte *tree, size_t size) {
    std::vector<std::byte> bytes(20);
    bytes.insert(bytes.end(), tree, tree + size);
    bytes.resize(bytes.size() + 4);
    put_big_endian(bytes, 0, 4, 0x951fc3f5);
    put_big_endian(bytes, 4, 4, 0x00010001);
    put_big_endian(bytes, 8, 8, bytes.size());
    put_big_endian(bytes, 16, 4, 1);
    const size_t end = bytes.size() - 4;
    put_big_endian(bytes, end, 4, crc32(std::span(bytes).first(end)));
    return bytes;
}

void check(const Descriptor &descriptor) {
    require(check_shape(descriptor.shape).is_ok(), "a descriptor's set can be");
    require(descriptor.member >= 0 && descriptor.member < descriptor.shape.members &&
                descriptor.group >= 0 && descriptor.group < descriptor.groups &&
                descriptor.rank >= 0 && descriptor.rank < descriptor.job_ranks,
            "a descriptor's member is in it");
}

} // namespace

// NOLINTNEXTLINE(readability-identifier-naming): the name that libFuzzer calls
extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    KvTree tree;
    uint64_t length = 0;
    if (!decode_image(around(reinterpret_cast<const std::byte *>(data), size), "file", tree,
                      length)) {
        return 0;
    }
    Header header;
    if (read_header(tree, "file", header)) {
        for (const auto &[member, entry] : header.members) {
            check(entry.descriptor);
            require(entry.descriptor.member == member, "an entry is that of its member");
            require(logical_size(entry.files) <= uint64_t{1} << 53, "offsets cannot overflow");
        }
    }
    const Set set{{Scheme::xor_set, 2, 1}, 0, 1, 2, {0, 1}};
    Checksums checksums;
    if (read_checksums(tree, "file", set, checksums)) {
        require(checksums.size() == 2, "checksums are of all members");
    }
    return 0;
}
