// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors

// Any tree in the place of a rank's record: what is believed of it is within bounds, and written
// again as it was.
#include "checkpoint/checkpoint.h"
#include "input.h"
#include "redset/kvtree_file.h"
#include "redset_image.h"

#include <algorithm>
#include <cstdint>
#include <span>

using namespace cd;
using namespace cd::checkpoint;
using fuzz::require;

// NOLINTNEXTLINE(readability-identifier-naming): the name that libFuzzer calls
extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    redset::KvTree tree;
    uint64_t length = 0;
    const auto bytes = std::as_bytes(std::span(data, size));
    if (!redset::decode_image(fuzz::image_around(bytes), "file", tree, length)) {
        return 0;
    }
    Record record;
    if (!read_record(tree, "file", record)) {
        require(record == Record(), "what is refused changes nothing");
        return 0;
    }
    require(check_set(record.set, record.set.coding.members).is_ok(), "the set can be");
    require(std::ranges::find(record.set.ranks, record.rank) != record.set.ranks.end(),
            "the rank is in it");
    Record again;
    require(read_record(record_tree(record), "file", again).is_ok() && again == record,
            "what was read can be written");
    return 0;
}
