// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "handlers/window_attributes.h"

#include "handlers/keyvals.h"
#include "objects/lifetimes.h"

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

void AttributesOfGone::set(Window &window, int key, void *value, std::optional<MPI_Aint> number) {
    if (SetAttribute *const attribute = change(window, key)) {
        attribute->number = number.value_or(0);
        attribute->value = number ? &attribute->number : value; // C finds a number where it is
    }
}

void AttributesOfGone::remove(Window &window, int key) {
    if (SetAttribute *const attribute = change(window, key)) {
        attribute->is_there = false;
    }
}

// nullptr if the thread has no log. What lies further on in the log was set by
// a re-execution that was restored itself.
SetAttribute *AttributesOfGone::change(Window &window, int key) {
    const std::optional<cd_log_place> here = last_entry();
    if (!here) {
        return nullptr;
    }
    std::list<SetAttribute> &all = window.attributes[key];
    all.remove_if([&](const SetAttribute &set) { return !is_before(set, *here); });
    return &all.emplace_back(SetAttribute{.at = *here});
}

const SetAttribute *AttributesOfGone::find(const Window &gone, int key) {
    const std::optional<cd_log_place> here = last_entry();
    const auto all = gone.attributes.find(key);
    if (!here || all == gone.attributes.end()) {
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
