// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "handlers/window_changes.h"

#include "rma/interval.h"

#include <cstring>

namespace cd::logger {

void WindowChanges::acquire() {
    window_.acquire(runs_);
    acquired_ = true;
}

void WindowChanges::add_to(EntryWriter &writer) {
    if (acquired_ && window_.recorded_in != Interval::now()) {
        window_.recorded_in = Interval::now();
        runs_.clear();
        if (window_.size() > 0) {
            runs_.push_back({0, window_.size()});
        }
    }
    join_near(runs_);
    writer.add(uint64_t{runs_.size()});
    writer.add(runs_.data(), runs_.size() * sizeof(Run));
    for (const Run &run : runs_) {
        writer.add(static_cast<std::byte *>(window_.memory()) + run.offset, run.length);
    }
}

void WindowChanges::take(EntryReader &entry, Window &window) {
    const auto count = entry.take<uint64_t>();
    const std::byte *const runs = entry.take(count * sizeof(Run));
    for (uint64_t i = 0; i < count; ++i) {
        Run run;
        std::memcpy(&run, runs + i * sizeof run, sizeof run);
        std::memcpy(static_cast<std::byte *>(window.memory()) + run.offset, entry.take(run.length),
                    run.length);
    }
    window.recorded_in = Interval::now();
}

} // namespace cd::logger
