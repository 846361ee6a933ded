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

// What became of a member's files. The reasons are sentences that name the file, "" for what is as
// it was.
struct MemberState {
    std::string data_lost;
    std::string payload_lost;
    // What takes no data to write again: a descriptor, and our checksums where any member has them.
    std::string descriptor_lost = {};
    std::string checksums_lost = {};
    bool operator==(const MemberState &) const = default;

    Lost lost() const { return {!data_lost.empty(), !payload_lost.empty()}; }
};

// What is left of a set, and what follows from it. Every member has the same, but for what says
// whose it is.
struct Survey {
    std::vector<StoredFiles> files; // that each member had
    std::optional<Layout> layout;
    std::optional<Checksums> checksums; // if any member still has them
    std::vector<MemberState> members;
    // That bring back what is lost, with the coefficients of this member's at least.
    std::shared_ptr<const std::vector<Row>> rows;
    uint64_t payload_offset = 0; // in this member's scheme file, if that is good

    // Whether a header's entry of a member is as its checksum tells, if there is one.
    bool vouches_for(const MemberEntry &entry, int member) const;
    Lost lost(int member) const;
};

// Whether contents are compared with checksums, where there are any, or only names, sizes and
// headers are looked at.
enum class Contents { compared, trusted };

// How many bytes this member has looked at since it was last told, and how many all are to look at.
using Looked = std::function<void(uint64_t bytes, uint64_t all)>;

// Looks at all that members have. Fails with CD_ERROR_REDUNDANCY_EXCEEDED, and a message with the
// ranks and reasons, when the rest does not suffice; survey.members tells of each member then, too.
Status take_survey(Exchange &exchange, const Set &set, const Place &place, Contents contents,
                   Survey &survey, const Looked &looked = {});

} // namespace cd::redset
