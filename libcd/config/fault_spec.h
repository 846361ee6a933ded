// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "base/status.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cd {

// A failure that the user wants to rehearse: which CDs it hits, and at which of the times that it
// could. What is not given matches anything.
struct Injection {
    std::optional<int> rank;
    std::optional<std::string> root_name;
    std::optional<int> depth;
    std::optional<int> sibling;
    int at = 1;    // the first occurrence that fails
    int times = 1; // and how many in a row
};

// Reads "cd=RANK/NAME/DEPTH/SIBLING,at=N,times=N", several with semicolons between them, "" for
// none, and appends them to into; on an error into is unchanged. origin names the text in messages.
// docs/howto/run-again.md explains the keys. May throw std::bad_alloc; then too into is unchanged.
Status parse_injections(std::string_view text, const char *origin, std::vector<Injection> &into);

} // namespace cd
