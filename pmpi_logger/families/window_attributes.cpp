// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "families/window_attributes.h"

#include "lifetimes/lifetimes.h"

namespace cd::logger {

Window *AttributesOfGone::window(MPI_Win handle) {
    WindowTable &table = WindowTable::instance();
    return table.is_gone(handle) ? table.find(handle) : nullptr;
}

void AttributesOfGone::note(Window &window, int key, void *value, std::optional<MPI_Aint> number) {
    if (const std::optional<cd_log_place> place = last_entry()) {
        SetAttribute &attribute = window.attributes[key]; // where C looks for a number it stays
        attribute = {value, number.value_or(0), number.has_value(), *place};
        if (number) {
            attribute.value = &attribute.number;
        }
    }
}

// One that lies further on in the log was set by a re-execution that was restored itself.
const SetAttribute *AttributesOfGone::find(MPI_Win handle, int key) {
    const Window *const gone = window(handle);
    const std::optional<cd_log_place> here = last_entry();
    if (gone == nullptr || !here) {
        return nullptr;
    }
    const auto set = gone->attributes.find(key);
    const bool is_of_this =
        set != gone->attributes.end() &&
        (set->second.at.stream != here->stream || set->second.at.entry < here->entry);
    return is_of_this ? &set->second : nullptr;
}

} // namespace cd::logger
