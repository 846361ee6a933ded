// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "disk_system.h"
#include "model.h"
#include "step.h"

#include "cd/cd.h"

#include <map>
#include <string>

namespace crash {

// A process that uses the library on a disk: from its start to the end of this object, which leaves
// everything as a killed process does.
class Process {
public:
    Process(DiskSystem &system, std::string storage);
    Process(const Process &) = delete;
    Process &operator=(const Process &) = delete;
    ~Process();

    // Does the step with the library.
    cd_error take(const model::Step &step);

    // Whether the root came back from the store, and was not restored yet.
    bool has_restarted(int root) const;

    // "" or where memory differs from the model's.
    static std::string check_memory(const model::Model &model);

private:
    cd_error create(const model::Step &step);
    cd_error call(const model::Step &step, cd_handle handle) const;

    DiskSystem &system_;
    std::string storage_;
    std::map<int, cd_handle> handles_;
};

// The step that writes all of memory.
model::Step write_all(int value);

} // namespace crash
