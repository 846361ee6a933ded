// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors

// Any bytes as the header of a redset file: taken as a whole, or refused with a message.
#include "input.h"
#include "redset/kvtree_file.h"
#include "redset_image.h"

#include <cstring>
#include <vector>

using namespace cd;
using namespace cd::redset;
using fuzz::require;

namespace {

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
    take(fuzz::sealed(bytes));
    return 0;
}
