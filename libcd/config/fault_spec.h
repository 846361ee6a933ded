// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "base/status.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cd {

// A failure that the user injects: the CDs that it hits, and at which occurrence. Fields that are
// not given match anything.
struct Injection {
    std::optional<int> rank;
    std::optional<std::string> root_name;
    std::optional<int> depth;
    std::optional<int> sibling;
    int at = 1;    // the first occurrence that fails
    int times = 1; // how many occurrences in a row fail
};

// Parses "cd=RANK/NAME/DEPTH/SIBLING,at=N,times=N", several with semicolons between them, or "",
// and appends the injections to `into`. docs/howto/run-again.md explains the keys. `origin` names
// the text in messages. An error or std::bad_alloc leaves `into` unchanged.
Status parse_injections(std::string_view text, const char *origin, std::vector<Injection> &into);

} // namespace cd
