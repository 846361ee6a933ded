// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "redset/checksums.h"
#include "redset/exchange.h"
#include "redset/header.h"
#include "redset/layout.h"
#include "redset/set.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace cd::redset {

// The losses of a member, as sentences that name the file; "" for files that are intact.
struct MemberState {
    std::string data_lost;
    std::string payload_lost;
    // These can be written again without data.
    std::string descriptor_lost = {};
    std::string checksums_lost = {};
    bool operator==(const MemberState &) const = default;

    Lost lost() const { return {!data_lost.empty(), !payload_lost.empty()}; }
};

// The losses of a set, and how to rebuild them. All members have the same survey, except for the
// coefficients in `rows`.
struct Survey {
    std::vector<StoredFiles> files; // that each member had
    std::optional<Layout> layout;
    std::optional<Checksums> checksums; // if any member still has them
    std::vector<MemberState> members;
    std::vector<uint64_t> payload_offsets; // in scheme files that are good
    std::vector<Row> rows;                 // that rebuild what is lost

    // True if a member's entry in a header matches its checksum, or there are no checksums.
    bool vouches_for(const MemberEntry &entry, int member) const;
    Lost lost(int member) const { return members[index(member)].lost(); }
};

// compared: contents are compared with checksums, if there are any. trusted: only names, sizes and
// headers are read.
enum class Contents { compared, trusted };

// Finds what the members have lost. Collective. CD_ERROR_REDUNDANCY_EXCEEDED names ranks and
// reasons if what survived does not suffice; survey.members is filled then, too.
Status take_survey(Exchange &exchange, const Set &set, const Place &place, Contents contents,
                   Survey &survey);

// The steps of a survey, for callers with all members. May throw std::bad_alloc.

// The remaining files of a member, before its data are read.
struct Survivors {
    int member = 0;
    std::optional<Header> header;
    std::string no_header; // why there is no header
    uint64_t payload_offset = 0;
    std::optional<Checksums> checksums;
};
Survivors find_survivors(const Set &set, int member, const Place &place);

// Finds the files that members had. `all`: at least one for each member.
Status find_files(const Set &set, const std::vector<Survivors> &all, Survey &survey);

// Finds what is lost of a member.
MemberState find_losses(const Set &set, const Survey &survey, const Survivors &survivors,
                        const Place &place, Contents contents);

// Plans the rows that rebuild what survey.members have lost.
Status plan_rows(const Set &set, Makers makers, Survey &survey);

} // namespace cd::redset
