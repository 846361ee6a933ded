// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "disk_system.h"
#include "model.h"
#include "step.h"

#include "cd/cd.h"

#include <map>
#include <string>
#include <vector>

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

    // Returns whether the root came back from the store and was not restored yet.
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

// What a program does that finds its root in a store, before it restores it: adds what the store
// cannot have, functions and descriptors. To the model they are there already.
std::vector<model::Step> added_again(const model::Cd &root);

// Whether a root would have to make its descendants again, and give them their functions, before
// it can be restored.
bool descendants_regenerate(const model::Model &model);

// After the restore: where its files stand, of which the model knows more.
std::vector<model::Step> seek_all();

} // namespace crash
