// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "redset/scheme.h"

#include "base/text.h"

#include <strings.h>

#include <algorithm>
#include <string>

namespace cd::redset {
namespace {

std::string checks_text(const Coding &coding) {
    return coding.scheme == Scheme::partner ? counted(coding.checks, "copy", "copies")
                                            : counted(coding.checks, "checksum");
}

} // namespace

Status check_coding(const Coding &coding) {
    constexpr int field = 256;
    constexpr int most_members = 65535; // so that a damaged file takes no memory
    const int members = coding.members;
    const int checks = coding.checks;
    bool fits = false;
    switch (coding.scheme) {
    case Scheme::single:
        fits = members == 1 && checks == 0;
        break;
    case Scheme::partner:
        fits = checks >= 1 && checks < members;
        break;
    case Scheme::xor_set:
        fits = checks == 1 && members >= 2;
        break;
    case Scheme::reed_solomon:
        fits = checks >= 1 && checks < members && members + checks <= field;
        break;
    case Scheme::none:
        break;
    }
    if (fits && members <= most_members) {
        return Status::ok();
    }
    return fail(CD_ERROR_ARGUMENT,
                "%s cannot have redundancy %s with %s: single takes 1, xor at least 2, partner and "
                "rs more than copies or checksums; rs at most %d, all %d",
                counted(members, "member").c_str(), scheme_name(coding.scheme),
                checks_text(coding).c_str(), field, most_members);
}

std::string describe_coding(const Coding &coding) {
    const std::string members =
        std::string(scheme_name(coding.scheme)) + ", " + counted(coding.members, "member");
    return coding.checks == 0 ? members : members + ", " + checks_text(coding);
}

const char *scheme_name(Scheme scheme) {
    switch (scheme) {
    case Scheme::single:
        return "SINGLE";
    case Scheme::partner:
        return "PARTNER";
    case Scheme::xor_set:
        return "XOR";
    case Scheme::reed_solomon:
        return "RS";
    case Scheme::none:
        break;
    }
    return "NONE";
}

Scheme scheme_named(std::string_view name) {
    const std::string text(name);
    for (const Scheme scheme :
         {Scheme::single, Scheme::partner, Scheme::xor_set, Scheme::reed_solomon}) {
        if (strcasecmp(text.c_str(), scheme_name(scheme)) == 0) {
            return scheme;
        }
    }
    return Scheme::none;
}

uint64_t chunk_size(const Coding &coding, std::span<const uint64_t> logical_sizes) {
    const uint64_t largest = *std::max_element(logical_sizes.begin(), logical_sizes.end());
    const auto data = static_cast<uint64_t>(coding.members - coding.checks);
    return std::max<uint64_t>(1, largest / data + (largest % data != 0 ? 1 : 0));
}

} // namespace cd::redset
