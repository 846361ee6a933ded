// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "os/system.h"

#include <cstddef>

// Makes the Nth request for memory fail: operator new, in all its forms, and mapped pages.
namespace faults {

// From now on, in this thread: the request with this number (1 is the next) fails, and if
// only_once is false all that follow. 0: none fails.
void fail_request(size_t number, bool only_once = true);

// Returns whether the request that was to fail has been made.
bool happened();

// Blocks from operator new that were not deleted yet, in the whole process.
long live_blocks();

// Passes calls on to the real system, but maps pages only if no fault is due.
class System : public cd::os::System {
public:
    void *map_pages(size_t size) override;
    void unmap_pages(void *at, size_t size) override;
    long mapped_regions() const { return mapped_; }

private:
    long mapped_ = 0;
};

} // namespace faults
