// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// How large a store becomes when each point in time changes another small part of the same data,
// and so cuts what was added as one; docs/inside/format-store.md says how large it may.

#include "restarting.h"

#include <algorithm>
#include <random>
#include <span>

namespace restarting {
namespace {

constexpr size_t whole = 256 * kib;
using Bytes = std::span<char>;

struct Cuts {
    size_t longest;
    size_t alignment; // of begin and length
    int steps;
};
constexpr Cuts all_cuts[] = {{3000, 1, 6000}, {8, 8, 4000}, {64, 64, 4000}};

// A program that changes another part of its memory in each step; the same ones each time.
class Loop {
public:
    explicit Loop(Cuts cuts) : cuts_(cuts) {}

    Bytes memory() { return memory_; }

    Bytes change_next() {
        const size_t length = 1 + dice_() % (cuts_.longest / cuts_.alignment);
        const size_t begin = dice_() % (whole / cuts_.alignment - length + 1);
        const Bytes part = memory().subspan(begin * cuts_.alignment, length * cuts_.alignment);
        for (char &byte : part) {
            byte = static_cast<char>(++changes_ % 251);
        }
        return part;
    }

    // Runs all of it: step gets each part, changed, and the number of the step.
    template <typename Step> std::string run(const Step &step) {
        std::string wrong;
        for (int i = 0; i < cuts_.steps && wrong.empty(); ++i) {
            wrong = step(change_next(), i);
        }
        return wrong;
    }

    bool is_brought_back_by(cd_handle cd) {
        const std::vector<char> now = memory_;
        std::ranges::fill(memory_, static_cast<char>(-1));
        return restore_cd(cd) == CD_SUCCESS && memory_ == now;
    }

private:
    Cuts cuts_;
    std::vector<char> memory_ = std::vector<char>(whole);
    std::mt19937 dice_{1}; // NOLINT(cert-msc51-cpp): the same each time
    unsigned changes_ = 0;
};

class SizeOfCuts : public Restarting {
protected:
    std::string check_size(uintmax_t copies) const {
        const uintmax_t entries = 5 * (2 * whole / (8 * kib)) / 4 + 1000;
        const uintmax_t metadata = 3 * 264 * kib + 250 * entries;
        const uintmax_t rounding = copies * 64 * entries;
        const uintmax_t most = copies * whole + whole / 8 * (copies - 1) + metadata + rounding +
                               1024 * kib; // by which it grows
        return size() <= most ? "" : std::to_string(size()) + " instead of " + std::to_string(most);
    }

    // In a process of its own that holds all of the loop's memory, as READ_ONLY.
    template <typename Body> void run_with_root(Cuts cuts, const Body &body, int keep = 1) {
        run([&]() -> std::string {
            Loop loop(cuts);
            cd_handle root = create(",sync=none,keep=" + std::to_string(keep));
            cd_name_region("memory", loop.memory().data(), whole);
            return add(root, loop.memory().data(), whole, CD_READ_ONLY) ? body(root, loop)
                                                                        : refusal();
        });
    }

    std::string change_in_root(cd_handle root, Loop &loop, uintmax_t copies) const {
        std::string wrong = loop.run([&](Bytes part, int step) {
            const bool done =
                add(root, part.data(), part.size()) && advance_cd_point_in_time(root) == CD_SUCCESS;
            return !done ? refusal() : step % 100 == 99 ? check_size(copies) : "";
        });
        return !wrong.empty() || loop.is_brought_back_by(root) ? wrong : "other data: " + refusal();
    }
};

TEST_F(SizeOfCuts, IsTwiceTheDataWhateverPartsChangeOneAfterTheOther) {
    for (const Cuts cuts : all_cuts) {
        run_with_root(cuts,
                      [&](cd_handle root, Loop &loop) { return change_in_root(root, loop, 2); });
        run_with_root(cuts, [&](cd_handle root, Loop &loop) -> std::string {
            loop.run([](Bytes, int) { return ""; }); // as the process before
            return loop.is_brought_back_by(root) ? "" : "another process: " + refusal();
        });
        std::filesystem::remove(store());
    }
}

TEST_F(SizeOfCuts, IsACopyMoreForEachOlderPointInTime) {
    run_with_root(
        {3000, 1, 4000}, [&](cd_handle root, Loop &loop) { return change_in_root(root, loop, 4); },
        3);
}

TEST_F(SizeOfCuts, IsTwiceTheDataOfEachThatHasThemAlsoIfAChildChangesThem) {
    run_with_root({8, 8, 3000}, [&](cd_handle root, Loop &loop) -> std::string {
        cd_handle child = child_of(root);
        if (!add(child, loop.memory().data(), whole, CD_READ_ONLY)) {
            return refusal();
        }
        const std::string wrong = change_in_root(child, loop, 4);
        return !wrong.empty() || loop.is_brought_back_by(child) ? wrong : refusal();
    });
}

// Their parts may cover many older ones.
TEST_F(SizeOfCuts, IsTwiceTheDataAlsoIfChildrenComeAndGoThatChangeThem) {
    for (const Cuts cuts : {Cuts{8, 8, 4000}, Cuts{3000, 1, 4000}, Cuts{50000, 1, 2000}}) {
        run_with_root(cuts, [&](cd_handle root, Loop &loop) {
            return loop.run([&](Bytes part, int step) {
                cd_handle child = child_of(root);
                const bool done = add(child, part.data(), part.size()) &&
                                  commit_cd(child) == CD_SUCCESS &&
                                  (step % 10 != 0 || advance_cd_point_in_time(root) == CD_SUCCESS);
                return !done ? refusal() : step % 100 == 99 ? check_size(2) : "";
            });
        });
        std::filesystem::remove(store());
    }
}

TEST_F(SizeOfCuts, IsTwiceTheDataAlsoIfChildrenTakeOverWhatTheirsHaveChanged) {
    run_with_root({3000, 1, 4000}, [&](cd_handle root, Loop &loop) {
        cd_handle child = nullptr;
        return loop.run([&](Bytes part, int step) {
            child = child != nullptr ? child : child_of(root);
            cd_handle grandchild = child_of(child);
            const bool ends = step % 10 == 9;
            const bool done =
                add(grandchild, part.data(), part.size()) && commit_cd(grandchild) == CD_SUCCESS &&
                (!ends ||
                 (commit_cd(child) == CD_SUCCESS && advance_cd_point_in_time(root) == CD_SUCCESS));
            child = ends ? nullptr : child;
            return !done ? refusal() : step % 100 == 99 ? check_size(2) : "";
        });
    });
}

// Each makes the metadata a little longer, and the data are too short to use what these leave.
TEST_F(SizeOfCuts, IsLittleMoreThanTheDataAlsoIfRangesComeFewByFew) {
    constexpr size_t ranges = 24000;
    constexpr size_t few = 10;
    constexpr size_t length = 100;
    run([&]() -> std::string {
        std::vector<char> memory(ranges * 2 * length);
        std::mt19937 dice(1); // NOLINT(cert-msc51-cpp): the same each time
        const auto add_at = [&](cd_handle cd, const auto &place_of) {
            cd_addrspec list[few];
            for (size_t i = 0; i < few; ++i) {
                list[i] = {&memory[place_of(i) * 2 * length], length, CD_READ_WRITE, CD_GLOBAL};
            }
            return add_to_cd_via_copy(cd, list, few, nullptr) == CD_SUCCESS;
        };
        cd_handle root = create();
        for (size_t held = 0; held < ranges; held += few) {
            if (!add_at(root, [&](size_t i) { return held + i; }) ||
                !add_at(root, [&](size_t) { return dice() % (held + few); }) ||
                advance_cd_point_in_time(root) != CD_SUCCESS) {
                return refusal();
            }
        }
        constexpr uintmax_t of_each = 2 * 128 + 500;
        return size() <= ranges * of_each + 2048 * kib ? "" : std::to_string(size());
    });
}

// They have no data that could be copied, and are cut all the same.
TEST_F(SizeOfCuts, IsTwiceTheDataOfTheParentAlsoIfAChildTakesThemFromIt) {
    run_with_root({8, 8, 3000}, [&](cd_handle root, Loop &loop) -> std::string {
        cd_handle child = child_of(root);
        const auto add_by_parent = [&](Bytes part, addr_type access) {
            const cd_addrspec range = {part.data(), part.size(), access, CD_GLOBAL};
            return add_to_cd_via_parent(child, &range, 1) == CD_SUCCESS;
        };
        if (!add_by_parent(loop.memory(), CD_READ_ONLY)) {
            return refusal();
        }
        return loop.run([&](Bytes part, int step) {
            const bool done =
                add_by_parent(part, CD_READ_WRITE) && advance_cd_point_in_time(child) == CD_SUCCESS;
            return !done ? refusal() : step % 100 == 99 ? check_size(2) : "";
        });
    });
}

} // namespace
} // namespace restarting
