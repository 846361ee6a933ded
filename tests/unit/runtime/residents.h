// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "runtime/family_lock.h"
#include "runtime/registry.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace cd {

// Domains that are registered and nothing more; they end with the test.
class Residents {
public:
    Residents() = default;
    Residents(const Residents &) = delete;
    Residents &operator=(const Residents &) = delete;
    ~Residents() {
        while (!handles_.empty()) {
            end(handles_.back());
        }
    }

    static Resident &at(cd_handle handle) {
        uint64_t generation = 0;
        return *Registry::instance().find(handle, generation)->resident;
    }

    cd_error try_root(const std::string &name, cd_handle &handle) {
        auto root = std::make_unique<Resident>();
        root->root_name = name;
        root->identity = name;
        const Status status = FamilyLock().install(std::move(root), handle);
        if (status.is_ok()) {
            handles_.push_back(handle);
        }
        return status.code();
    }

    cd_handle root(const std::string &name = "root") {
        cd_handle handle = nullptr;
        try_root(name, handle);
        return handle;
    }

    cd_handle child(cd_handle parent) {
        auto child = std::make_unique<Resident>();
        Resident &resident = *child;
        child->parent = &at(parent);
        child->depth = at(parent).depth + 1;
        child->sibling = at(parent).children_numbers.lowest_free();
        cd_handle handle = nullptr;
        if (FamilyLock().install(std::move(child), handle).is_ok()) {
            at(parent).children.push_back(&resident);
            at(parent).children_numbers.take(resident.sibling);
            handles_.push_back(handle);
        }
        return handle;
    }

    void end(cd_handle handle) {
        std::erase(handles_, handle);
        FamilyLock lock;
        if (lock.lock(handle, FamilyLock::Reach::parent).is_ok()) {
            lock.prepare_discard(1);
            lock.discard(lock.domain());
        }
    }

private:
    std::vector<cd_handle> handles_;
};

} // namespace cd
