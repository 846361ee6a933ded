// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "redset/drafts.h"
#include "redset/encode.h"
#include "redset/header.h"
#include "redset/logical_file.h"
#include "redset/scattered_crc.h"
#include "redset/survey.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace cd::redset {

// What is left cannot be read, or is not what its checksum says.
constexpr cd_error not_as_trusted = CD_ERROR_STORE_DAMAGED;

// What a member does to rebuild. Steps follow each other, and are made when all members made the
// one before. What they throw is std::bad_alloc.
class Rebuilding : private Storage {
public:
    // contents: whether the survey has looked at them. All of these outlive it.
    Rebuilding(const Set &set, int self, const Place &place, const Options &options,
               const Survey &survey, Contents contents);

    Status prepare();
    // What goes into other files than those that rows write.
    Status prepare_tables();
    Storage &storage() { return *this; }
    // What was written, and what was read if nobody has looked at it before.
    Status check() const;
    Status finish();
    Status publish();

private:
    Status draft_data();
    Status draft_scheme_file();
    Status draft_tree(const KvTree &tree, const std::string &path, size_t &draft);
    Status open(size_t file, File &opened) const;
    Status read(Region region, uint64_t offset, std::span<std::byte> to) override;
    Status write(Region region, uint64_t offset, std::span<const std::byte> from) override;

    const Set &set_;
    const int self_;
    const Place &place_;
    const Survey &survey_;
    const Contents contents_;
    const Lost lost_;
    const StoredFiles &files_;
    Drafts drafts_;
    std::vector<std::pair<size_t, std::optional<os::FileAttributes>>> finishing_;
    std::vector<size_t> data_drafts_; // of each file
    std::optional<LogicalFile> data_;
    File payload_file_;
    uint64_t payload_at_ = 0;
    ScatteredCrc payload_crc_;
};

} // namespace cd::redset
