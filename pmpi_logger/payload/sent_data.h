// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

namespace cd::logger {

bool read_whether_sent_data_are_compared();

// Whether a replay compares the data that are sent. CD_SENT_DATA=ignore leaves them out, for
// programs that send bytes which mean nothing: gaps of structs, memory that they have not written.
// The same for all that a process records, as it is read once, before the first of that.
[[gnu::always_inline]] inline bool sent_data_compared() {
    static const bool compared = read_whether_sent_data_are_compared();
    return compared;
}

} // namespace cd::logger
