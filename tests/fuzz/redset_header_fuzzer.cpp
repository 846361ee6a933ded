// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors

// Any tree in the place of redset's: what is believed of it is within bounds.
#include "input.h"
#include "redset/checksums.h"
#include "redset/header.h"
#include "redset/kvtree_file.h"
#include "redset_image.h"

#include <cstddef>
#include <cstdint>
#include <span>

using namespace cd;
using namespace cd::redset;
using fuzz::require;

namespace {

void check(const Descriptor &descriptor) {
    require(check_coding(descriptor.coding).is_ok(), "a descriptor's set can be");
    require(descriptor.member >= 0 && descriptor.member < descriptor.coding.members &&
                descriptor.group >= 0 && descriptor.group < descriptor.groups &&
                descriptor.rank >= 0 && descriptor.rank < descriptor.job_ranks,
            "a descriptor's member is in it");
}

} // namespace

// NOLINTNEXTLINE(readability-identifier-naming): the name that libFuzzer calls
extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    KvTree tree;
    uint64_t length = 0;
    const auto bytes = std::as_bytes(std::span(data, size));
    if (!decode_image(fuzz::image_around(bytes), "file", tree, length)) {
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
