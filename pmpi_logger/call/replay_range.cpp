// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "call/replay_range.h"

#include <algorithm>

namespace cd::logger {

ReplayRange::ReplayRange(cd_handle cd) {
    const auto ask = [&] {
        return static_cast<size_t>(
            cd_log_begins(cd, begins_.data(), static_cast<int>(begins_.size())));
    };
    size_t found = ask();
    while (found > begins_.size()) { // other threads may make logs meanwhile
        begins_.resize(found);
        found = ask();
    }
    begins_.resize(found);
    std::ranges::sort(begins_, {}, &cd_log_place::stream);
}

bool ReplayRange::covers(const cd_log_place &place) const {
    const auto begin = std::ranges::lower_bound(begins_, place.stream, {}, &cd_log_place::stream);
    return begin != begins_.end() && begin->stream == place.stream && begin->entry <= place.entry;
}

} // namespace cd::logger
