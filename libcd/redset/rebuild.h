// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "redset/atomic_files.h"
#include "redset/encode.h"
#include "redset/member_files.h"
#include "redset/survey.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace cd::redset {

// Rebuilds what a set has lost since apply(): files of members, with mode and times, scheme files,
// descriptors and checksums. Intact files are not touched. Collective, also for members that have
// lost everything; all get the same status. On a failure old files stay, unless giving the new ones
// their names failed half-way. `survey` receives what was found. May throw std::bad_alloc.
Status rebuild(Exchange &exchange, const Set &set, const Place &place, const Options &options,
               Survey &survey);

// The steps of rebuild(), for callers that rebuild several sets or none. No file changes before
// publish(). The destructor removes what is not published.
class Rebuild : private Storage {
public:
    // All arguments must outlive it.
    Rebuild(Exchange &exchange, const Set &set, const Place &place, const Options &options,
            Survey &survey);

    Status look();    // fails if names, sizes and headers show that too much is lost
    Status prepare(); // reads, compares, and writes new files beside the names of the old ones
    // Takes the place of both where `survey` is one with Contents::compared. Does not change it.
    Status prepare_surveyed();
    Status publish();

private:
    Status draft();
    Status draft_tree(const KvTree &tree, const std::string &path);
    Status finish();
    Status open(size_t file, File &opened) const;
    Status read(Region region, uint64_t offset, std::span<std::byte> to) override;
    Status write(Region region, uint64_t offset, std::span<const std::byte> from) override;

    Exchange &exchange_;
    const Set &set_;
    const Place &place_;
    const Options &options_;
    Survey &survey_;
    const int self_;
    Lost lost_;
    Drafts drafts_;
    std::vector<size_t> data_drafts_; // of each file
    std::vector<size_t> tree_drafts_;
    std::optional<LogicalFile> data_;
    File payload_file_;
    uint64_t payload_at_ = 0;
    ScatteredCrc payload_crc_;
};

} // namespace cd::redset
