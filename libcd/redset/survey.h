// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "redset/checksums.h"
#include "redset/exchange.h"
#include "redset/header.h"
#include "redset/layout.h"
#include "redset/set.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace cd::redset {

// What a member has lost, as sentences that name the file; "" for what is intact.
struct MemberState {
    std::string data_lost;
    std::string payload_lost;
    // These can be written again without data.
    std::string descriptor_lost = {};
    std::string checksums_lost = {};
    bool operator==(const MemberState &) const = default;

    Lost lost() const { return {!data_lost.empty(), !payload_lost.empty()}; }
};

// What a set has lost, and how it can be rebuilt. The same for every member, except for
// `payload_offset` and the coefficients in `rows`.
struct Survey {
    std::vector<StoredFiles> files; // that each member had
    std::optional<Layout> layout;
    std::optional<Checksums> checksums; // if any member still has them
    std::vector<MemberState> members;
    // The rows that rebuild what is lost, with the coefficients of this member's at least.
    std::shared_ptr<const std::vector<Row>> rows;
    uint64_t payload_offset = 0; // in this member's scheme file, if that is good

    // True if a member's entry in a header matches its checksum, or there are no checksums.
    bool vouches_for(const MemberEntry &entry, int member) const;
    Lost lost(int member) const;
};

// compared: contents are compared with checksums, if there are any. trusted: only names, sizes and
// headers are read.
enum class Contents { compared, trusted };

// Receives how many bytes this member has read since the last call, and how many all members will.
using Looked = std::function<void(uint64_t bytes, uint64_t all)>;

// Finds what the members have lost. Collective. CD_ERROR_REDUNDANCY_EXCEEDED names ranks and
// reasons if what survived does not suffice; survey.members is filled then, too.
Status take_survey(Exchange &exchange, const Set &set, const Place &place, Contents contents,
                   Survey &survey, const Looked &looked = {});

} // namespace cd::redset
