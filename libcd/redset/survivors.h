// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "redset/survey.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace cd::redset {

// What a member still has, before its data are looked at.
struct Survivors {
    std::optional<Header> header;
    std::optional<Checksums> checksums;
    std::string no_header; // why there is no header
    // The member's only file as it is now, for the case that no header describes it any more.
    std::optional<MemberEntry> only_file;
};

// Encodes what this member has, for the other members. `payload_offset`: in this member's scheme
// file, if its header is good. May throw std::bad_alloc.
Status send_survivors(const Set &set, int self, const Place &place, Bytes &sent,
                      uint64_t &payload_offset);
Status receive_survivors(const Set &set, int member, std::span<const std::byte> sent,
                         Survivors &survivors);

// Returns the checksums that members have, the most frequent ones first. May throw std::bad_alloc.
std::vector<Checksums> checksums_in(const std::vector<Survivors> &all);

// Returns why the header of a member cannot be used, "" if it can.
std::string why_header_is_lost(const Survey &survey, int member, const Survivors &survivors);

// Finds what is lost of this member's own files. May throw std::bad_alloc.
MemberState own_state(const Set &set, const Survey &survey, int self, const Place &place,
                      const Survivors &survivors, Contents contents, const Looked &looked);

} // namespace cd::redset
