// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "redset/checksums.h"
#include "redset/exchange.h"
#include "redset/header.h"
#include "redset/set.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace cd::redset {

// What a member still has, before its data are looked at.
struct Remains {
    std::optional<Header> header;
    std::optional<Checksums> checksums;
    std::string no_header; // why not
    // Its only file as it is there, whoever made it what it is: of what no header tells any more.
    std::optional<MemberEntry> only_file;
};

// How members tell each other. payload_offset: in this member's scheme file, if its header is good.
// May throw std::bad_alloc.
Status tell_remains(const Set &set, int self, const Place &place, Bytes &told,
                    uint64_t &payload_offset);
Status hear_remains(const Set &set, int member, std::span<const std::byte> told, Remains &remains);

// Checksums that members have, those that most of them have first. May throw std::bad_alloc.
std::vector<Checksums> checksums_in(const std::vector<Remains> &all);

} // namespace cd::redset
