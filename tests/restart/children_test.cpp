// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// What a process finds of what children of others had added, which were committed or killed.

#include "memory.h"
#include "restarting.h"

#include <sys/mman.h>

#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

namespace restarting {
namespace {

int calls = 0; // of the function, in one process

int fill_with_sevens(cd_addrspec *specs, int count) {
    ++calls;
    for (int i = 0; i < count; ++i) {
        std::memset(specs[i].address, 7, specs[i].length);
    }
    return 0;
}

int fail_to_fill(cd_addrspec *, int) { return 3; }

class Children : public Restarting {
protected:
    // Leaves a point in time of the root that holds sevens of a committed child.
    void leave_sevens_of_a_child(size_t size) const {
        run([&] {
            Memory heap(size);
            cd_handle root = create();
            cd_handle child = child_of(root);
            heap.fill(7);
            return add(child, heap.at(), size) && commit_cd(child) == CD_SUCCESS &&
                   advance_cd_point_in_time(root) == CD_SUCCESS;
        });
    }

    static bool add_regen(cd_handle cd, Memory &heap, cd_regen_fn function) {
        const cd_addrspec range = {heap.at(), heap.size(), CD_READ_ONLY, CD_GLOBAL};
        return add_to_cd_via_regen(cd, &range, 1, nullptr, function) == CD_SUCCESS;
    }
};

// Where a child of another process has a range of another length in its place, which may be what
// the root is told to forget.
TEST_F(Children, WhatAChildWasCommittedWithStaysInLaterPointsInTime) {
    constexpr size_t size = 5000;
    leave_sevens_of_a_child(size);
    run([&] {
        Memory heap(2 * size);
        cd_handle root = create();
        return restore_cd(root) == CD_SUCCESS && add(child_of(root), heap.at(), 2 * size);
    });
    run([&]() -> std::string {
        Memory heap(size);
        cd_handle root = create();
        const bool done = restore_cd(root) == CD_SUCCESS && add(child_of(root), heap.at(), size);
        return done && heap.is(7) ? "" : "other data: " + refusal();
    });
}

TEST_F(Children, StoredDataForMemoryThatCannotBeWrittenToAreAnError) {
    constexpr size_t size = 8192;
    leave_sevens_of_a_child(size);
    run([&]() -> std::string {
        void *const constant = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        cd_handle root = create();
        if (constant == MAP_FAILED || restore_cd(root) != CD_SUCCESS ||
            add(child_of(root), constant, size)) {
            return "no error";
        }
        return refusal().find("cannot be written to") != std::string::npos ? "" : refusal();
    });
}

TEST_F(Children, DataOfACommittedChildReplaceTheContentOfTheMemoryThatIsAdded) {
    constexpr size_t size = 5000;
    leave_sevens_of_a_child(size);
    run([&] {
        Memory heap(size);
        cd_handle root = create();
        const bool restored = restore_cd(root) == CD_SUCCESS;
        heap.fill(3);
        return restored && add(child_of(root), heap.at(), size) && heap.is(7);
    });
}

TEST_F(Children, ARestoredRootDropsWhatAKilledChildHadWhichTheChildAddsAgain) {
    constexpr size_t size = 5000;
    for (int process = 0; process < 3; ++process) {
        run([&] {
            Memory heap(size);
            cd_handle root = create();
            const bool restored = restore_cd(root) == CD_SUCCESS && info_of(root).unbound == 0;
            heap.fill(3 + process);
            return restored && add(child_of(root), heap.at(), size) && heap.is(3 + process) &&
                   info_of(root).bytes == 0;
        });
    }
}

TEST_F(Children, AChildIsNotCommittedBeforeItHasAddedWhatTheStoreHoldsOfIt) {
    run([&] {
        Memory heap(1000);
        return add(child_of(create()), heap.at(), 1000);
    });
    run([&]() -> std::string {
        cd_handle child = child_of(create());
        if (commit_cd(child) == CD_SUCCESS || cd_last_error() != CD_ERROR_RESTART_UNBOUND ||
            refusal().find(store()) == std::string::npos) {
            return "committed, or: " + refusal();
        }
        Memory heap(1000);
        return add(child, heap.at(), 1000) && commit_cd(child) == CD_SUCCESS ? "" : refusal();
    });
}

TEST_F(Children, FunctionsOfACommittedChildAreTheParentsWhenTheyAreGivenAgain) {
    constexpr size_t size = 1000;
    run([&] {
        Memory heap(size);
        heap.fill(7);
        cd_handle root = create();
        cd_handle child = child_of(root);
        return add_regen(child, heap, fill_with_sevens) && commit_cd(child) == CD_SUCCESS &&
               advance_cd_point_in_time(root) == CD_SUCCESS;
    });
    run([&]() -> std::string {
        Memory heap(size);
        cd_handle root = create();
        if (restore_cd(root) != CD_SUCCESS || !add_regen(child_of(root), heap, fill_with_sevens)) {
            return refusal();
        }
        if (!heap.is(7) || calls != 1 || info_of(root).bytes != size) {
            return "not regenerated, or not the root's";
        }
        heap.fill(3);
        return restore_cd(root) == CD_SUCCESS && heap.is(7) ? "" : refusal();
    });
}

TEST_F(Children, AFunctionThatFailsFailsTheAddWhichCanBeRepeated) {
    run([&] {
        Memory heap(1000);
        return add_regen(create(), heap, fill_with_sevens);
    });
    run([&] {
        Memory heap(1000);
        cd_handle root = create();
        if (restore_cd(root) != CD_SUCCESS || add_regen(root, heap, fail_to_fill) ||
            cd_last_error() != CD_ERROR_REGEN_FAILED || info_of(root).bytes != 0) {
            return false;
        }
        return add_regen(root, heap, fill_with_sevens) && heap.is(7);
    });
}

} // namespace
} // namespace restarting
