// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// How large a store becomes whose data are changed, deleted and added in other pieces than they
// were added in before; docs/inside/format-store.md says how large it may.

#include "restarting.h"

#include <algorithm>
#include <random>

namespace restarting {
namespace {

class SizeOfPieces : public Restarting {
protected:
    static constexpr size_t whole = 4096 * kib;

    // Runs it in a process of its own: a root, all of memory, and what to do in each step. The
    // number of steps makes no difference.
    template <typename Step>
    void stays_small(size_t steps, const Step &step, uintmax_t copies = 2,
                     const std::string &more = "") {
        run([&]() -> std::string {
            std::vector<char> memory(whole);
            cd_handle root = create(",sync=none" + more);
            for (size_t i = 0; i < steps; ++i) {
                if (!step(root, memory.data(), i)) {
                    return "step " + std::to_string(i) + ": " + refusal();
                }
                if (size() > most(copies)) {
                    return "step " + std::to_string(i) + ": " + std::to_string(size()) +
                           " instead of " + std::to_string(most(copies));
                }
            }
            return restores(root, memory) ? "" : "other data: " + refusal();
        });
        std::filesystem::remove(store());
    }

    // Returns whether a restore brings back all bytes that the root holds as they are now.
    static bool restores(cd_handle root, std::vector<char> &memory) {
        constexpr char other = -1;
        const std::vector<char> now = memory;
        std::ranges::fill(memory, other);
        return restore_cd(root) == CD_SUCCESS &&
               (memory == now || // which is mostly so, and sooner known than byte by byte
                std::ranges::equal(memory, now,
                                   [](char a, char b) { return a == b || a == other; }));
    }

    static uintmax_t most(uintmax_t copies) {
        const uintmax_t beside = whole / 8 * (copies - 1);
        return copies * whole + beside + 3 * 264 * kib + 1024 * kib;
    }

    static bool change(cd_handle cd, char *at, size_t length) {
        static char value = 0;
        value = static_cast<char>((value + 1) % 100);
        std::fill(at, at + length, value);
        return add(cd, at, length) && advance_cd_point_in_time(cd) == CD_SUCCESS;
    }
    static bool remove(cd_handle cd, char *at, size_t length) {
        const cd_addrspec range = {at, length, CD_READ_WRITE, CD_GLOBAL};
        return delete_from_cd(cd, &range, 1) == CD_SUCCESS;
    }
};

TEST_F(SizeOfPieces, IsACopyForEachPointInTimeAndOneMoreIfThePartThatChangesGetsSmaller) {
    for (const int keep : {1, 3}) {
        for (const size_t steps : {16, 700}) {
            const auto step = [&](cd_handle root, char *memory, size_t i) {
                const size_t done = whole / steps * i;
                return change(root, memory + done, whole - done);
            };
            stays_small(steps, step, keep + 1U, ",keep=" + std::to_string(keep));
        }
    }
}

TEST_F(SizeOfPieces, IsTwiceTheDataThatChildrenGiveTheirParentBitByBit) {
    stays_small(50, [&](cd_handle root, char *memory, size_t i) {
        cd_handle child = child_of(root);
        return add(child, memory, whole / 50 * (i + 1)) && commit_cd(child) == CD_SUCCESS;
    });
}

// Each process leaves too little behind to be compacted at once.
TEST_F(SizeOfPieces, IsTwiceTheDataAlsoIfEachProcessChangesALittleLess) {
    constexpr size_t processes = 40;
    for (size_t process = 0; process < processes; ++process) {
        run([&]() -> std::string {
            std::vector<char> memory(whole);
            cd_handle root = create();
            cd_name_region("memory", memory.data(), whole);
            const size_t done = whole / processes * process;
            const bool changed = (process > 0 || add(root, memory.data(), whole)) &&
                                 change(root, memory.data() + done, whole - done);
            return changed && size() <= most(2) ? "" : std::to_string(size()) + " " + refusal();
        });
    }
}

// The root keeps a little of each place that the child had.
TEST_F(SizeOfPieces, IsTwiceTheDataThatAChildGivesItsParentBitByBitAndTwiceItsOwn) {
    cd_handle child = nullptr;
    const auto step = [&](cd_handle root, char *memory, size_t i) {
        child = i == 0 ? child_of(root) : child;
        const size_t length = whole / 50 * (i + 1);
        std::fill(memory + whole / 50 * i, memory + length, static_cast<char>(i));
        return add(child, memory, length) && advance_cd_point_in_time(child) == CD_SUCCESS &&
               remove(child, memory, length);
    };
    stays_small(50, step, 4);
}

// Each process knows only what the file says.
TEST_F(SizeOfPieces, IsTwiceTheDataAlsoIfProcessesGoOnWithEachOthers) {
    for (size_t process = 0; process < 8; ++process) {
        run([&]() -> std::string {
            std::vector<char> memory(whole, static_cast<char>(100 + process));
            cd_handle root = create();
            if (!add(root, memory.data(), whole) ||
                (process > 0 && restore_cd(root) != CD_SUCCESS)) {
                return refusal();
            }
            const char before = process > 0 ? 8 : 100; // steps of a process, or none
            for (size_t i = 0; i < 8; ++i) {
                const size_t done = whole / 64 * (process * 8 + i);
                if (memory[done] != (i > 0 ? static_cast<char>(i) : before)) {
                    return "step " + std::to_string(i) + " finds " + std::to_string(memory[done]);
                }
                if (!change(root, memory.data() + done, whole - done)) {
                    return refusal();
                }
            }
            return size() <= most(2) ? "" : std::to_string(size());
        });
    }
}

TEST_F(SizeOfPieces, IsTwiceTheDataOfPiecesThatComeAndGoAtRandom) {
    for (const size_t longest : {whole / 2, whole / 50}) {
        std::mt19937 dice(1); // NOLINT(cert-msc51-cpp): the same each time
        std::vector<bool> held(whole / kib);
        stays_small(300, [&](cd_handle root, char *memory, size_t) {
            const size_t length = 1 + dice() % (longest / kib);
            const size_t begin = dice() % (held.size() - length);
            const size_t end = begin + length;
            if (dice() % 3 != 0) {
                std::fill(held.begin() + static_cast<ptrdiff_t>(begin),
                          held.begin() + static_cast<ptrdiff_t>(end), true);
                return change(root, memory + begin * kib, length * kib);
            }
            size_t first = begin;
            for (size_t i = begin; i < end; ++i) {
                first = held[i] ? first : i + 1;
                const bool last = held[i] && (i + 1 == end || !held[i + 1]);
                if (last && !remove(root, memory + first * kib, (i + 1 - first) * kib)) {
                    return false;
                }
            }
            std::fill(held.begin() + static_cast<ptrdiff_t>(begin),
                      held.begin() + static_cast<ptrdiff_t>(end), false);
            return true;
        });
    }
}

} // namespace
} // namespace restarting
