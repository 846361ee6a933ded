// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "config/storage_info.h"

#include <optional>
#include <string_view>

namespace cd::redset {

// "PREFIX RANK .SCHEME.grp_G_of_GROUPS.mem_M_of_N.redset". Where the prefix ends says the header.
struct SchemeName {
    std::string_view prefix_and_rank;
    Scheme scheme = Scheme::none;
    int group = 0; // counted from 0, as members are
    int groups = 0;
    int member = 0;
    int members = 0;
};

// What the name of a scheme file tells, or nothing for another file's.
std::optional<SchemeName> scheme_name_of(std::string_view name);

} // namespace cd::redset
