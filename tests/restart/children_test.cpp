// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// What a process finds of what children of others had added, which were committed or killed.

#include "memory.h"
#include "restarting.h"

#include <sys/mman.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace restarting {
namespace {

class Children : public Restarting {
protected:
    // In a point in time of the root, which has them from a child that was committed.
    void leave_sevens_of_a_child(size_t size) const {
        run([&]() -> std::string {
            Memory heap(size);
            cd_handle root = create();
            cd_handle child = child_of(root);
            heap.fill(7);
            return add(child, heap.at(), size) && commit_cd(child) == CD_SUCCESS &&
                           advance_cd_point_in_time(root) == CD_SUCCESS
                       ? ""
                       : refusal();
        });
    }

    // A child of its own for each step, which finds the values of first, and leaves 2. The root has
    // them in its point in time after the first.
    std::string two_intervals(Memory &heap, const std::function<bool(cd_handle)> &second) const {
        cd_handle root = create();
        heap.fill(1);
        return step(heap, root) && advance_cd_point_in_time(root) == CD_SUCCESS && second(root)
                   ? ""
                   : refusal();
    }
    static bool step(Memory &heap, cd_handle parent) {
        cd_handle child = child_of(parent);
        const bool added = add(child, heap.at(), heap.size());
        heap.fill(2);
        return added && commit_cd(child) == CD_SUCCESS;
    }

    // What a child of the next process finds in memory that was filled with 3 before it adds it.
    void expect_of_filled(size_t size, int expected) const {
        run([&]() -> std::string {
            Memory heap(size);
            cd_handle root = create();
            const bool restored = restore_cd(root) == CD_SUCCESS;
            heap.fill(3);
            return restored && add(child_of(root), heap.at(), size) && heap.is(expected)
                       ? ""
                       : "it has " + std::to_string(*heap.at()) + ": " + refusal();
        });
    }
};

TEST_F(Children, AddsOfAChildBindWhatItHasLeftToItsAncestors) {
    run([&]() -> std::string {
        Memory heap(1000);
        heap.fill(4);
        cd_handle root = create();
        cd_handle child = child_of(root);
        return add(child, heap.at(), 1000) && commit_cd(child) == CD_SUCCESS ? "" : refusal();
    });
    run([&]() -> std::string {
        Memory heap(7000);
        cd_handle root = create();
        cd_handle child = child_of(root);
        if (!add(child, heap.at(1000), 1000) || restore_cd(root) != CD_SUCCESS) {
            return refusal();
        }
        return heap.at(1000)[999] == 4 ? "" : "wrong data";
    });
}

// Ranges of one length, which nothing but their order tells apart; killed each time.
TEST_F(Children, RangesOfAChildAreFoundOneAfterTheOtherHoweverManyProcessesAddThem) {
    const auto fill_or_compare = [](std::vector<Memory> &ranges, bool is_first) {
        bool is_right = true;
        for (size_t i = 0; i < ranges.size(); ++i) {
            const int value = static_cast<int>(i) + 1;
            if (is_first) {
                ranges[i].fill(value);
            }
            is_right &= ranges[i].is(value);
        }
        return is_right;
    };
    for (const bool in_one_call : {false, true}) {
        for (int process = 0; process < 3; ++process) {
            run([&]() -> std::string {
                std::vector<Memory> ranges;
                std::vector<cd_addrspec> list;
                for (int i = 0; i < 4; ++i) {
                    Memory &range = ranges.emplace_back(1000);
                    list.push_back({range.at(), 1000, CD_READ_WRITE, CD_GLOBAL});
                }
                cd_handle root = create();
                // The last one finds them in the child itself.
                const bool is_last = process == 2;
                bool is_restored = is_last || restore_cd(root) == CD_SUCCESS;
                cd_handle child = child_of(root);
                is_restored &= !is_last || restore_cd(child) == CD_SUCCESS;
                bool is_added = process > 0 || fill_or_compare(ranges, true);
                const int count = in_one_call ? 4 : 1;
                for (int i = 0; i < 4; i += count) {
                    is_added &= add_to_cd_via_copy(child, &list[static_cast<size_t>(i)], count,
                                                   nullptr) == CD_SUCCESS;
                }
                return is_restored && is_added && fill_or_compare(ranges, false) &&
                               info_of(root).unbound == 0
                           ? ""
                           : "process " + std::to_string(process) + ": " + refusal();
            });
        }
        std::filesystem::remove(store());
    }
}

// Where a child of another process has a range of another length in its place, which may be what
// the root is told to forget.
TEST_F(Children, WhatAChildWasCommittedWithStaysInLaterPointsInTime) {
    constexpr size_t size = 5000;
    leave_sevens_of_a_child(size);
    run([&]() -> std::string {
        Memory heap(2 * size);
        cd_handle root = create();
        return restore_cd(root) == CD_SUCCESS && add(child_of(root), heap.at(), 2 * size)
                   ? ""
                   : refusal();
    });
    run([&]() -> std::string {
        Memory heap(size);
        cd_handle root = create();
        const bool done = restore_cd(root) == CD_SUCCESS && add(child_of(root), heap.at(), size);
        return done && heap.is(7) ? "" : "other data: " + refusal();
    });
}

// The same where it is the process after it that goes on to the next point in time, without it.
TEST_F(Children, WhatAChildOfAKilledProcessWasCommittedWithStaysOnceTheRootHasAdvanced) {
    constexpr size_t size = 5000;
    run([&]() -> std::string {
        Memory heap(size);
        heap.fill(7);
        cd_handle child = child_of(create());
        return add(child, heap.at(), size, CD_READ_ONLY) && commit_cd(child) == CD_SUCCESS
                   ? ""
                   : refusal();
    });
    run([&]() -> std::string {
        Memory heap(2 * size);
        cd_handle root = create();
        return restore_cd(root) == CD_SUCCESS && advance_cd_point_in_time(root) == CD_SUCCESS &&
                       add(child_of(root), heap.at(), 2 * size, CD_READ_ONLY)
                   ? ""
                   : refusal();
    });
    run([&]() -> std::string {
        Memory heap(size);
        cd_handle root = create();
        const bool done =
            restore_cd(root) == CD_SUCCESS && add(child_of(root), heap.at(), size, CD_READ_ONLY);
        return done && heap.is(7) ? "" : "other data: " + refusal();
    });
}

// Of a killed process, which the root has gone on with since.
TEST_F(Children, WhatAKilledProcessHasLeftIsOwedUntilTheNextPointInTimeOnly) {
    constexpr size_t size = 5000;
    const auto adds_in_child = [this](Memory &heap, bool advances) {
        cd_handle root = create();
        return restore_cd(root) == CD_SUCCESS &&
               (!advances || advance_cd_point_in_time(root) == CD_SUCCESS) &&
               add(child_of(root), heap.at(), heap.size(), CD_READ_ONLY);
    };
    const auto leave = [&](size_t length, int value, bool advances) {
        run([&]() -> std::string {
            Memory heap(length);
            heap.fill(value);
            return adds_in_child(heap, advances) ? "" : refusal();
        });
    };
    leave(size, 7, false);
    leave(2 * size, 8, true);
    run([&]() -> std::string {
        Memory heap(size);
        return adds_in_child(heap, false) && heap.is(0) ? "" : "other data: " + refusal();
    });
}

// The root got it after its point in time, so that it is what the next process does anew.
TEST_F(Children, WhatACommittedChildOfAKilledProcessHeldWithAnotherLengthDoesNotHoldUpTheRoot) {
    constexpr size_t size = 5000;
    for (const size_t length : {size, 2 * size}) {
        run([&]() -> std::string {
            Memory heap(length);
            cd_handle root = create();
            const bool restored = restore_cd(root) == CD_SUCCESS;
            cd_handle child = child_of(root);
            const bool done =
                restored && add(child, heap.at(), length) && commit_cd(child) == CD_SUCCESS;
            return done && (length == size || advance_cd_point_in_time(root) == CD_SUCCESS)
                       ? ""
                       : refusal();
        });
    }
}

TEST_F(Children, WhatAChildChangesAgainStaysInThePointInTime) {
    constexpr size_t size = 5000;
    run([&]() -> std::string {
        Memory heap(size);
        heap.fill(7);
        cd_handle root = create();
        for (int time = 0; time < 2; ++time) {
            cd_handle child = child_of(root);
            const bool added = add(child, heap.at(), size);
            heap.fill(time == 0 ? 7 : 9);
            if (!added || commit_cd(child) != CD_SUCCESS ||
                (time == 0 && advance_cd_point_in_time(root) != CD_SUCCESS)) {
                return refusal();
            }
        }
        return "";
    });
    for (const size_t length : {2 * size, size}) {
        run([&]() -> std::string {
            Memory heap(length);
            cd_handle root = create();
            const bool done =
                restore_cd(root) == CD_SUCCESS && add(child_of(root), heap.at(), length);
            return done && heap.is(length == size ? 7 : 0) ? "" : "other data: " + refusal();
        });
    }
}

// Whether the program had filled it, or counts on what it had, nothing tells: it is told.
TEST_F(Children, WhatTheProgramHadMadeOfMemoryThatTheRootGetsBackWithAnAddIsToldOnce) {
    constexpr size_t size = 100000;
    const auto step = [&](Memory &heap, cd_handle root, int first, int last) {
        cd_handle child = child_of(root);
        heap.fill(first);
        const bool added = add(child, heap.at(), size);
        const int got = *heap.at();
        heap.fill(last);
        return added && commit_cd(child) == CD_SUCCESS ? got : -1;
    };
    run([&]() -> std::string {
        Memory heap(size);
        cd_handle root = create();
        return step(heap, root, 1, 2) == 1 && advance_cd_point_in_time(root) == CD_SUCCESS
                   ? ""
                   : refusal();
    });
    const std::string was_stored = path("copy");
    std::filesystem::copy(store(), was_stored);
    for (const int value : {1, 0}) { // zeros may be what the program has made of it, too
        std::filesystem::copy(was_stored, store(),
                              std::filesystem::copy_options::overwrite_existing);
        const std::string said = said_by([&]() -> std::string {
            Memory heap(size);
            cd_handle root = create();
            return restore_cd(root) == CD_SUCCESS && step(heap, root, value, 2) == 2 &&
                           step(heap, root, 3, 2) == 3 // as in a process that lives on
                       ? ""
                       : refusal();
        });
        EXPECT_EQ(said.find("containment-domains: CD 0/root/1/0 has added memory of which a CD "
                            "above it has data from its store " +
                            store()),
                  0U)
            << said;
        EXPECT_EQ(std::ranges::count(said, '\n'), 1) << said;
    }
}

// A child has found there what another one had left, by checksums: zeros are the system's.
TEST_F(Children, ZerosAreNotToldWhereTheProgramIsKnownToCarryWhatTheyWere) {
    constexpr size_t size = 100000;
    for (const bool checksummed : {true, false}) {
        const auto begin = [&] {
            return create(checksummed ? ",sync=none" : ",sync=none,checksum=none");
        };
        run([&]() -> std::string {
            Memory heap(size);
            heap.fill(1);
            cd_handle root = begin();
            return step(heap, root) && advance_cd_point_in_time(root) == CD_SUCCESS &&
                           step(heap, root)
                       ? ""
                       : refusal();
        });
        const std::string said = said_by([&]() -> std::string {
            Memory heap(size);
            cd_handle root = begin();
            const bool added =
                restore_cd(root) == CD_SUCCESS && add(child_of(root), heap.at(), size);
            return added && heap.is(2) ? "" : refusal();
        });
        EXPECT_EQ(said.empty(), checksummed) << said;
        std::filesystem::remove(store());
    }
}

TEST_F(Children, WhatTheProgramFilledAnewInTheProcessBeforeIsKept) {
    for (const size_t size : {size_t{8}, size_t{200000}}) {
        run([&]() -> std::string {
            Memory heap(size);
            return two_intervals(heap, [&](cd_handle root) {
                heap.fill(1);
                return step(heap, root);
            });
        });
        expect_of_filled(size, 3);
        expect_of_filled(size, 3); // which has killed the child of that one
        std::filesystem::remove(store());
    }
}

// In parts, of which the last is as it was.
TEST_F(Children, WhatWasFilledAnewInPartsOnlyComesBackAsAWhole) {
    constexpr size_t size = 200000;
    run([&]() -> std::string {
        Memory heap(size);
        return two_intervals(heap, [&](cd_handle root) {
            cd_handle child = child_of(root);
            const bool cut = add(child, heap.at(), 65536) && commit_cd(child) == CD_SUCCESS &&
                             advance_cd_point_in_time(root) == CD_SUCCESS;
            std::fill(heap.at(), heap.at() + 65536, 1);
            return cut && step(heap, root);
        });
    });
    expect_of_filled(size, 2);
}

TEST_F(Children, WhatTheProgramFilledAnewInALaterIntervalIsKept) {
    constexpr size_t size = 5000;
    run([&]() -> std::string {
        Memory heap(size);
        return two_intervals(heap, [&](cd_handle root) {
            const bool carried = step(heap, root);
            return carried && advance_cd_point_in_time(root) == CD_SUCCESS &&
                   (heap.fill(5), true) && step(heap, root) &&
                   advance_cd_point_in_time(root) == CD_SUCCESS;
        });
    });
    expect_of_filled(size, 3);
}

TEST_F(Children, WhatTheProgramFilledAnewForAChildThatWasKilledIsKept) {
    constexpr size_t size = 5000;
    for (const bool by_a_grandchild : {false, true}) {
        run([&]() -> std::string {
            Memory heap(size);
            return two_intervals(heap, [&](cd_handle root) {
                heap.fill(1);
                cd_handle child = child_of(root);
                return add(by_a_grandchild ? child_of(child) : child, heap.at(), size);
            });
        });
        expect_of_filled(size, 3);
        std::filesystem::remove(store());
    }
}

// What later children find they have from the first.
TEST_F(Children, WhatTheFirstChildAfterAPointInTimeHasFoundInMemoryComesBack) {
    constexpr size_t size = 5000;
    using Second = std::function<bool(Memory &, cd_handle)>;
    const std::vector<Second> ways = {
        [](Memory &, cd_handle) { return true; }, // nothing tells what it would have found
        [](Memory &heap, cd_handle root) { return step(heap, root); },
        [](Memory &heap, cd_handle root) {
            const bool first = step(heap, root);
            heap.fill(6);
            return first && step(heap, root);
        },
        [](Memory &heap, cd_handle root) {
            cd_handle child = child_of(root);
            const bool first = step(heap, child);
            heap.fill(6);
            return first && step(heap, child) && commit_cd(child) == CD_SUCCESS;
        },
        [](Memory &heap, cd_handle root) { // what the child has now it did not have then
            cd_handle child = child_of(root);
            const bool added = add(child, heap.at(), heap.size());
            heap.fill(6);
            return added && advance_cd_point_in_time(child) == CD_SUCCESS &&
                   commit_cd(child) == CD_SUCCESS;
        },
        [](Memory &heap, cd_handle root) {
            cd_handle child = child_of(root);
            const cd_addrspec all = {heap.at(), heap.size(), CD_READ_WRITE, CD_GLOBAL};
            const bool added =
                add(child, heap.at(), heap.size()) && delete_from_cd(child, &all, 1) == CD_SUCCESS;
            heap.fill(6);
            return added && add(child, heap.at(), heap.size()) && commit_cd(child) == CD_SUCCESS;
        },
        [](Memory &heap, cd_handle root) { // and the second ends first
            cd_handle first = child_of(root);
            const bool added = add(first, heap.at(), heap.size());
            heap.fill(6);
            return step(heap, root) && added && commit_cd(first) == CD_SUCCESS;
        },
        [](Memory &heap, cd_handle root) { // and is killed with it
            const bool added = add(child_of(root), heap.at(), heap.size());
            heap.fill(6);
            return added && add(child_of(root), heap.at(), heap.size());
        },
        [](Memory &heap, cd_handle root) { // and is its parent
            cd_handle child = child_of(root);
            cd_handle grandchild = child_of(child);
            const bool added = add(grandchild, heap.at(), heap.size());
            heap.fill(6);
            return added && add(child, heap.at(), heap.size()) &&
                   commit_cd(grandchild) == CD_SUCCESS && commit_cd(child) == CD_SUCCESS;
        },
        [](Memory &heap, cd_handle root) { // filled anew, but a part of it only is added then
            heap.fill(1);
            const bool anew = step(heap, root) && advance_cd_point_in_time(root) == CD_SUCCESS;
            cd_handle child = child_of(root);
            return anew && add(child, heap.at(), 1000) && commit_cd(child) == CD_SUCCESS;
        },
    };
    for (size_t way = 0; way < ways.size(); ++way) {
        SCOPED_TRACE(way);
        run([&]() -> std::string {
            Memory heap(size);
            return two_intervals(heap, [&](cd_handle root) { return ways[way](heap, root); });
        });
        expect_of_filled(size, 2);
        std::filesystem::remove(store());
    }
}

// Also where the program has given it none, which memory does not tell from zeros.
TEST_F(Children, WhatIsKeptInThePlaceOfWhatTheRootHasIsTold) {
    constexpr size_t size = 100000;
    run([&]() -> std::string {
        Memory heap(size);
        return two_intervals(heap, [&](cd_handle root) {
            heap.fill(1);
            return step(heap, root);
        });
    });
    const std::string said = said_by([&]() -> std::string {
        Memory heap(size);
        cd_handle root = create();
        return restore_cd(root) == CD_SUCCESS && add(child_of(root), heap.at(), size) && heap.is(0)
                   ? ""
                   : refusal();
    });
    EXPECT_NE(said.find("before this add is kept"), std::string::npos) << said;
    EXPECT_EQ(std::ranges::count(said, '\n'), 1) << said;
}

TEST_F(Children, WhatTheRootGetsBackWithAnAddOfMemoryThatCannotBeWrittenToIsAnError) {
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

} // namespace
} // namespace restarting
