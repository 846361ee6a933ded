// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "families/window_attributes.h"

#include "families/keyvals.h"
#include "lifetimes/lifetimes.h"

#include <algorithm>
#include <list>

namespace cd::logger {
namespace {

bool is_before(const SetAttribute &set, const cd_log_place &here) {
    return set.at.stream != here.stream || set.at.entry < here.entry;
}

} // namespace

Window *AttributesOfGone::window(MPI_Win handle) {
    WindowTable &table = WindowTable::instance();
    return table.is_gone(handle) ? table.find(handle) : nullptr;
}

// What lies further on in the log was set by a re-execution that was restored itself.
void AttributesOfGone::note(Window &window, int key, void *value, std::optional<MPI_Aint> number) {
    const std::optional<cd_log_place> here = last_entry();
    if (!here) {
        return;
    }
    std::list<SetAttribute> &all = window.attributes[key]; // C finds a number where it is there
    all.remove_if([&](const SetAttribute &set) { return !is_before(set, *here); });
    SetAttribute &attribute = all.emplace_back(SetAttribute{value, number.value_or(0), *here});
    if (number) {
        attribute.value = &attribute.number;
    }
}

const SetAttribute *AttributesOfGone::find(MPI_Win handle, int key) {
    const Window *const gone = window(handle);
    const std::optional<cd_log_place> here = last_entry();
    if (gone == nullptr || !here) {
        return nullptr;
    }
    const auto all = gone->attributes.find(key);
    if (all == gone->attributes.end()) {
        return nullptr;
    }
    const auto last = std::find_if(all->second.rbegin(), all->second.rend(),
                                   [&](const SetAttribute &set) { return is_before(set, *here); });
    return last != all->second.rend() ? &*last : nullptr;
}

bool AttributesOfGone::mpi_has(MPI_Win handle, int key) {
    return window(handle) == nullptr && Keyvals::has(KeyvalsOf::windows, key);
}

} // namespace cd::logger
