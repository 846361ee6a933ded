// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "checkpoint/dir_lock.h"
#include "redset/offline.h"

#include <memory>
#include <vector>

namespace cdctl {

// While it lives, no job uses the points in time that a set is of: neither one that runs, nor one
// that is started. One at a time. Sets that lie elsewhere than in a directory of points in time are
// nobody's.
class Alone {
public:
    // CD_ERROR_STORE_LOCKED: a job uses them. look_only: none that runs. May throw.
    cd::Status with(const cd::redset::FoundSet &found, bool look_only);

private:
    std::vector<std::unique_ptr<cd::checkpoint::DirLock>> locks_;
};

} // namespace cdctl
