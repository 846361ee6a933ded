// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "call/reach.h"

namespace cd::logger {

// Replays that have stopped since the re-execution does something else than the log: what it gets
// from there would be data of another execution. Threads may take each other's places meanwhile.
class StoppedReplays {
public:
    // The thread's active CD's, where its log is. It goes on when a restore begins it anew, or when
    // the log is forgotten.
    static void stop();
    static bool is_stopped();

    // Whether the thread's active CD's has stopped, and nobody has asked this before.
    static bool is_to_be_told();

    // After a restore.
    static void begun_anew(const Reach &reach);
};

} // namespace cd::logger
