// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include <atomic>

namespace cd::logger {

// Whether a replay compares the data that are sent. CD_SENT_DATA=ignore leaves them out, for
// programs that send bytes which mean nothing: gaps of structs, memory that they have not written.
// The same for all that a process records, as it is read once, before the first of that.
class SentData {
public:
    static bool are_compared() {
        const What known = known_.load(std::memory_order_relaxed);
        return known == compared || (known == unknown && read());
    }

private:
    enum What : char { unknown, compared, ignored };

    [[gnu::noinline]] static bool read();

    static inline constinit std::atomic<What> known_ = unknown;
};

} // namespace cd::logger
