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

// Computes CRC-32 as in zlib and KVTree's files, by ISA-L if libcd was built with it.
uint32_t crc32(std::span<const std::byte> data) noexcept;
uint32_t crc32_portable(std::span<const std::byte> data) noexcept;

// The format in which KVTree writes a tree at the beginning of a file. docs/inside/format-redset.md
// describes it.

// The largest header that is read or written: for some hundred thousand files.
constexpr uint64_t largest_image = uint64_t{64} << 20;
constexpr int deepest_tree = 64;

// Encodes a tree without sorting it.
Status encode_image(const KvTree &tree, const char *file, std::vector<std::byte> &image);

// Decodes the image at the beginning of `bytes`; `size` receives its length. Errors name `file` and
// the offset, and change neither tree nor size.
Status decode_image(std::span<const std::byte> bytes, const char *file, KvTree &tree,
                    uint64_t &size);

// Decodes the image at the beginning of an open file.
Status read_image(const File &file, KvTree &tree, uint64_t &size);

} // namespace cd::redset
