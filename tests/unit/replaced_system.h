// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "memory/page_pool.h"
#include "os/system.h"

#include <cstddef>
#include <cstdint>

namespace cd {

// The library's calls of the system come here as long as it lives.
class ReplacedSystem : public os::System {
public:
    ReplacedSystem() { os::replace_system(this); }
    ReplacedSystem(const ReplacedSystem &) = delete;
    ReplacedSystem &operator=(const ReplacedSystem &) = delete;
    ~ReplacedSystem() override { os::replace_system(nullptr); }
};

// Counts mapped pages and can refuse more. The process's pool is empty when it starts and ends.
class CountedPages : public ReplacedSystem {
public:
    CountedPages() { trim(); }
    ~CountedPages() override { PagePool::instance().trim(); }

    void *map_pages(size_t size) override {
        if (allowed_maps == 0) {
            return nullptr;
        }
        --allowed_maps;
        ++maps;
        mapped += size;
        return System::map_pages(size);
    }

    void unmap_pages(void *at, size_t size) override {
        mapped -= size;
        System::unmap_pages(at, size);
    }

    // Empties the process's pool of regions that were mapped earlier.
    void trim() {
        PagePool::instance().trim();
        mapped = 0;
    }

    size_t allowed_maps = SIZE_MAX;
    size_t maps = 0;
    size_t mapped = 0; // bytes
};

} // namespace cd
