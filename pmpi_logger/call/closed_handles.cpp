// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "call/closed_handles.h"

#include <atomic>
#include <utility>

namespace cd::logger {

int next_owner() {
    static std::atomic<int> last = 0;
    return ++last;
}

bool note_freed(Owner &owner, const cd_log_place &place) {
    const cd_log_place before = std::exchange(owner.freed_at, place);
    return before.family != place.family || before.stream != place.stream ||
           before.entry != place.entry;
}

Asker::Asker() { cd_log_here(&here_); }

bool Asker::has_in_log(const Owner &owner) const {
    return here_.family != 0 &&
           (owner.made.stream == here_.stream || owner.freed_at.stream == here_.stream);
}

bool Asker::may_mean(const Owner &owner, cd_handle restored) const {
    if (!owner.freed) {
        return true;
    }
    if (here_.family == 0 || here_.family != owner.freed_at.family) {
        return false;
    }
    return owner.freed_at.stream == here_.stream ? here_.entry <= owner.freed_at.entry
                                                 : cd_log_inside(restored) != 0;
}

} // namespace cd::logger
