// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "base/status.h"
#include "redset/kvtree.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace cd {
class File;
}

namespace cd::redset {

// CRC-32 as zlib and KVTree's files have it; by ISA-L where libcd was built with it.
uint32_t crc32(std::span<const std::byte> data) noexcept;
uint32_t crc32_portable(std::span<const std::byte> data) noexcept;

// A tree as KVTree writes it into files. It may stand at the beginning of one, and other data
// behind it. docs/inside/format-redset.md describes it.

// What is read or written at most: room for the headers of some hundred thousand files.
constexpr uint64_t largest_image = uint64_t{64} << 20;
constexpr int deepest_tree = 64;

// The image of a tree as it is, unsorted: whoever made the tree sorts it.
Status encode_image(const KvTree &tree, const char *file, std::vector<std::byte> &image);

// Takes an image at the beginning of bytes; size is its length. What is wrong is told as the file's
// with the offset, and changes neither tree nor size.
Status decode_image(std::span<const std::byte> bytes, const char *file, KvTree &tree,
                    uint64_t &size);

// The same from the beginning of an open file.
Status read_image(const File &file, KvTree &tree, uint64_t &size);

} // namespace cd::redset
