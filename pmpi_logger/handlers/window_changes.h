// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "log_entry/reader.h"
#include "log_entry/writer.h"
#include "rma/window.h"

namespace cd::logger {

// What others have written into a window, on its way through the log. Only the bytes that differ
// from before are recorded, but the whole memory where an interval first looks: a re-execution may
// find anything in memory that no CD holds.
class WindowChanges {
public:
    explicit WindowChanges(Window &window) : window_(window) {}

    void acquire();

    // What is added stays where it is until the entry is written.
    void add_to(EntryWriter &writer);

    static void take(EntryReader &entry, Window &window);

private:
    Window &window_;
    bool acquired_ = false;
    Runs runs_;
};

} // namespace cd::logger
