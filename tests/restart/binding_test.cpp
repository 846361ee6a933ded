// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// What a store holds finds its place in another process, in each of the ways in which it can be
// known there.

#include "memory.h"
#include "restarting.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace restarting {
namespace {

std::array<unsigned char, 5000> global;

class Binding : public Restarting {
protected:
    // A process that leaves a point in time in which memory has the value.
    void leave(unsigned char *at, size_t length, int value) {
        run([&] {
            cd_handle root = create();
            std::memset(at, value, length);
            return root != nullptr && add(root, at, length) &&
                   advance_cd_point_in_time(root) == CD_SUCCESS;
        });
    }
    void leave_heap(size_t size, int value) {
        Memory heap(size);
        leave(heap.at(), heap.size(), value);
    }
};

TEST_F(Binding, GlobalsAreKnownByObjectAndOffsetAndNeedNoAdd) {
    leave(global.data(), global.size(), 7);
    run([&]() -> std::string {
        cd_handle root = create();
        const cd_info info = info_of(root);
        if (info.restarted != 1 || info.bytes != global.size() || info.unbound != 0) {
            return "restarted " + std::to_string(info.restarted) + ", bytes " +
                   std::to_string(info.bytes) + ", unbound " + std::to_string(info.unbound);
        }
        global.fill(0);
        if (restore_cd(root) != CD_SUCCESS) {
            return refusal();
        }
        const bool right =
            std::ranges::all_of(global, [](unsigned char byte) { return byte == 7; });
        return !right ? "wrong data" : info_of(root).restarted != 0 ? "restarted for ever" : "";
    });
}

TEST_F(Binding, WhatIsAdjacentAndAlikeIsOneEntryWhicheverCallsAddedIt) {
    run([&] {
        cd_handle root = create();
        const bool added = add(root, &global[0], 100) && add(root, &global[100], 100);
        return added && info_of(root).entries == 2;
    });
    run([&]() -> std::string {
        const cd_info info = info_of(create());
        return info.entries == 1 && info.bytes == 200 ? "" : std::to_string(info.entries);
    });
}

TEST_F(Binding, NamedRegionsAreFoundWhereTheyAreNow) {
    run([&] {
        Memory heap(3000);
        heap.fill(1);
        cd_name_region("field", heap.at(), heap.size());
        return add(create(), heap.at(100), 2000);
    });
    for (const bool named_before : {true, false}) {
        run([&]() -> std::string {
            Memory heap(9000);
            const auto name = [&] { cd_name_region("field", heap.at(4000), 3000); };
            if (named_before) {
                name();
            }
            cd_handle root = create();
            name();
            if (!named_before && !add(root, heap.at(4100), 2000)) {
                return refusal();
            }
            if (restore_cd(root) != CD_SUCCESS) {
                return refusal();
            }
            const auto *byte = heap.at();
            for (size_t i = 0; i < heap.size(); ++i) {
                if (byte[i] != (i >= 4100 && i < 6100 ? 1 : 0)) {
                    return "byte " + std::to_string(i);
                }
            }
            return "";
        });
    }
}

// Named before the CD comes back, or after.
TEST_F(Binding, ANamedRegionOfAnotherLengthIsRefusedAndBothAreNamed) {
    std::vector<char> bytes(3000);
    run([&] {
        return cd_name_region("grid", bytes.data(), 1000) == CD_SUCCESS &&
               add(create(), bytes.data(), 1000);
    });
    const auto expect_refused = [this](size_t length) -> std::string {
        const std::string text = refusal();
        return cd_last_error() == CD_ERROR_RESTART_MISMATCH &&
                       text.find("has " + std::to_string(length) + " bytes in this") !=
                           std::string::npos &&
                       text.find("\"grid\"") != std::string::npos &&
                       text.find("and 1000 in the store") != std::string::npos &&
                       text.find(store()) != std::string::npos
                   ? ""
                   : text;
    };
    for (const size_t length : {size_t{500}, size_t{999}, size_t{1001}, size_t{2000}}) {
        run([&]() -> std::string {
            cd_name_region("grid", bytes.data(), length);
            return create() != nullptr ? "attached" : expect_refused(length);
        });
        run([&]() -> std::string {
            cd_handle root = create();
            cd_name_region("grid", bytes.data(), length);
            if (root == nullptr || add(root, bytes.data(), std::min(length, size_t{400}))) {
                return "bound in part";
            }
            const std::string wrong = expect_refused(length);
            if (info_of(root).unbound != 1000 || info_of(root).bytes != 0) {
                return "bound in part, although the call failed";
            }
            return wrong;
        });
    }
    run([&]() -> std::string {
        cd_name_region("grid", bytes.data() + 7, 1000);
        cd_handle root = create();
        return info_of(root).bytes == 1000 ? "" : "not bound where it is as long as it was";
    });
}

TEST_F(Binding, AnotherLengthIsRefusedAndBothAreNamed) {
    leave_heap(1000, 1);
    run([&]() -> std::string {
        Memory heap(999);
        cd_handle root = create();
        if (add(root, heap.at(), heap.size()) || cd_last_error() != CD_ERROR_RESTART_MISMATCH) {
            return "taken, or refused with " + refusal();
        }
        const std::string message = cd_last_error_message();
        return message.find("999 bytes") != std::string::npos &&
                       message.find("1000 bytes") != std::string::npos &&
                       message.find(store()) != std::string::npos
                   ? ""
                   : message;
    });
}

TEST_F(Binding, WhatIsAddedAfterTheRestoreIsRestoredThen) {
    leave_heap(1000, 1);
    run([&] {
        Memory heap(1000);
        cd_handle root = create();
        return restore_cd(root) == CD_SUCCESS && add(root, heap.at(), heap.size()) && heap.is(1);
    });
}

// The length of the region tells whether the program fits the store.
TEST_F(Binding, AnOlderPointInTimeIsGoneBackToWhenAllThatItNeedsIsKnown) {
    const auto choose = [&](const char *restart, size_t length, int expected) {
        run([&]() -> std::string {
            std::vector<char> bytes(2000);
            setenv("CD_RESTART", restart, 1);
            cd_name_region("grid", bytes.data(), length);
            cd_handle root = create(",sync=none,keep=5");
            if (root == nullptr) {
                return expected < 0 ? "" : refusal();
            }
            return info_of(root).epoch == static_cast<uint64_t>(expected) ? "" : "another epoch";
        });
    };
    run([&] {
        std::vector<char> bytes(1000);
        cd_name_region("grid", bytes.data(), bytes.size());
        cd_handle root = create(",sync=none,keep=5");
        for (int i = 0; i < 4; ++i) {
            if (!add(root, bytes.data(), bytes.size()) ||
                advance_cd_point_in_time(root) != CD_SUCCESS) {
                return false;
            }
        }
        return true;
    });
    choose("2", 2000, -1);
    choose("yes", 1000, 4);
    choose("2", 1000, 2);
    choose("yes", 1000, 4); // nothing was changed
}

int fill_with_threes(cd_addrspec *specs, int count) {
    for (int i = 0; i < count; ++i) {
        std::memset(specs[i].address, 3, specs[i].length);
    }
    return 0;
}

int fill_with_nines(cd_addrspec *specs, int count) {
    for (int i = 0; i < count; ++i) {
        std::memset(specs[i].address, 9, specs[i].length);
    }
    return 0;
}

TEST_F(Binding, RegenIsTheFunctionThatTheNewProcessGives) {
    const auto add_regen = [](cd_handle cd, Memory &memory, cd_regen_fn regen) {
        const cd_addrspec range = {memory.at(), memory.size(), CD_READ_ONLY, CD_GLOBAL};
        return add_to_cd_via_regen(cd, &range, 1, nullptr, regen) == CD_SUCCESS;
    };
    run([&] {
        Memory heap(1000);
        return add_regen(create(), heap, fill_with_threes);
    });
    run([&]() -> std::string {
        Memory heap(1000);
        cd_handle root = create();
        if (!add_regen(root, heap, fill_with_nines) || restore_cd(root) != CD_SUCCESS) {
            return refusal();
        }
        return heap.is(9) ? "" : "not that function";
    });
}

} // namespace
} // namespace restarting
