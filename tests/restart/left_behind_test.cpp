// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// What a child of a process that was killed had added comes back to memory when it is added again,
// as a restore in that process would have brought it back, and is the parent's no more than there.

#include "restarting.h"

#include <algorithm>
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

class LeftBehind : public Restarting {
protected:
    using Bytes = std::vector<unsigned char>;
    static constexpr size_t size = 1000;

    static bool is(const Bytes &bytes, int value) {
        return std::ranges::all_of(bytes, [&](unsigned char byte) { return byte == value; });
    }
    static bool add_regen(cd_handle cd, Bytes &bytes, cd_regen_fn function = fill_with_sevens) {
        const cd_addrspec range = {bytes.data(), bytes.size(), CD_READ_ONLY, CD_GLOBAL};
        return add_to_cd_via_regen(cd, &range, 1, nullptr, function) == CD_SUCCESS;
    }
    static bool erase(cd_handle cd, Bytes &bytes) {
        const cd_addrspec range = {bytes.data(), bytes.size(), CD_READ_WRITE, CD_GLOBAL};
        return delete_from_cd(cd, &range, 1) == CD_SUCCESS;
    }
    // A process that is killed while a child has these bytes.
    void leave(int value) const {
        run([&]() -> std::string {
            Bytes bytes(size, static_cast<unsigned char>(value));
            return add(child_of(create()), bytes.data(), size) ? "" : refusal();
        });
    }
};

TEST_F(LeftBehind, BytesComeBackToMemoryAndAreNotTheParents) {
    leave(1);
    run([&]() -> std::string {
        cd_handle root = create();
        if (restore_cd(root) != CD_SUCCESS || info_of(root).unbound != size) {
            return "nothing waits";
        }
        cd_handle child = child_of(root);
        Bytes bytes(size, 2);
        if (!add(child, bytes.data(), size)) {
            return refusal();
        }
        if (!is(bytes, 1) || info_of(root).unbound != 0 || info_of(root).bytes != 0) {
            return "not as a restore would leave it";
        }
        bytes.assign(size, 3);
        return erase(child, bytes) && commit_cd(child) == CD_SUCCESS ? "" : refusal();
    });
    run([&]() -> std::string {
        cd_handle root = create();
        return info_of(root).unbound == 0 && advance_cd_point_in_time(root) == CD_SUCCESS
                   ? ""
                   : "the root has them";
    });
}

TEST_F(LeftBehind, BytesOfAChildThatIsKilledOnceMoreComeBackOnceMore) {
    leave(1);
    for (int again = 0; again < 3; ++again) {
        run([&]() -> std::string {
            cd_handle root = create();
            if (restore_cd(root) != CD_SUCCESS) {
                return refusal();
            }
            if (again == 1) {
                return ""; // killed before the child has come to it
            }
            Bytes bytes(size, 2);
            if (!add(child_of(root), bytes.data(), size)) {
                return refusal();
            }
            const bool came_back = is(bytes, 1);
            bytes.assign(size, 3);
            return came_back ? "" : "not the bytes of its begin";
        });
    }
}

// A child of several intervals, of which each has a child with bytes that begin with its number.
TEST_F(LeftBehind, BytesGoToTheChildOfTheSameIntervalOnly) {
    const auto run_to = [&](cd_handle root, int last) {
        cd_handle child = child_of(root);
        std::string wrong;
        for (int interval = 0; interval <= last; ++interval) {
            cd_handle inner = child_of(child);
            Bytes bytes(size, static_cast<unsigned char>(interval));
            if (!add(inner, bytes.data(), size) || !is(bytes, interval)) {
                wrong = "those of another interval";
            }
            if (interval == last) {
                break;
            }
            if (!erase(inner, bytes) || commit_cd(inner) != CD_SUCCESS ||
                advance_cd_point_in_time(child) != CD_SUCCESS) {
                wrong = refusal();
            }
        }
        return wrong;
    };
    run([&]() -> std::string { return run_to(create(), 2); });
    run([&]() -> std::string {
        cd_handle root = create();
        return restore_cd(root) == CD_SUCCESS ? run_to(root, 3) : refusal();
    });
}

class NamedAndLeftBehind : public LeftBehind {
protected:
    // A CD adds bytes of this value as the region; what they are then.
    static int use(cd_handle cd, Bytes &bytes, int value) {
        bytes.assign(size, static_cast<unsigned char>(value));
        return cd_name_region("temporary", bytes.data(), size) == CD_SUCCESS &&
                       add(cd, bytes.data(), size)
                   ? bytes[0]
                   : -1;
    }
    void SetUp() override {
        LeftBehind::SetUp();
        run([&]() -> std::string {
            Bytes bytes;
            return use(child_of(create()), bytes, 1) == 1 ? "" : refusal();
        });
    }
};

TEST_F(NamedAndLeftBehind, BytesAreNotTheParentsEither) {
    run([&]() -> std::string {
        Bytes bytes;
        cd_handle root = create();
        return restore_cd(root) == CD_SUCCESS && use(child_of(root), bytes, 2) == 1 &&
                       info_of(root).bytes == 0
                   ? ""
                   : refusal();
    });
}

// A name is used by one after the other: each begins with what the program has put there.
TEST_F(NamedAndLeftBehind, BytesGoToTheChildThatLeftThemOnly) {
    const auto second_of = [&](cd_handle root) {
        Bytes first;
        cd_handle child = child_of(root);
        cd_handle second = child_of(root);
        const bool is_first =
            use(child, first, 4) == 4 && erase(child, first) && commit_cd(child) == CD_SUCCESS;
        return is_first ? second : nullptr;
    };
    std::filesystem::remove(store());
    run([&]() -> std::string {
        Bytes bytes;
        return use(second_of(create()), bytes, 5) == 5 ? "" : refusal();
    });
    run([&]() -> std::string {
        Bytes bytes;
        cd_handle root = create();
        return restore_cd(root) == CD_SUCCESS && use(second_of(root), bytes, 6) == 5 ? ""
                                                                                     : refusal();
    });
}

TEST_F(NamedAndLeftBehind, BytesThatTheParentHasItselfAreItsOwn) {
    run([&]() -> std::string {
        Bytes bytes;
        cd_handle root = create();
        if (restore_cd(root) != CD_SUCCESS || use(root, bytes, 2) != 2) {
            return refusal();
        }
        const cd_handle child = child_of(root);
        return add(child, bytes.data(), size) && is(bytes, 2) && info_of(root).unbound == 0
                   ? ""
                   : refusal();
    });
}

// It is there before the root is.
TEST_F(NamedAndLeftBehind, BytesOfARegionThatIsNamedAlreadyAreNotTheParentsEither) {
    run([&]() -> std::string { return restore_cd(create()) == CD_SUCCESS ? "" : refusal(); });
    run([&]() -> std::string {
        Bytes bytes(size, 2);
        if (cd_name_region("temporary", bytes.data(), size) != CD_SUCCESS) {
            return refusal();
        }
        cd_handle root = create();
        return restore_cd(root) == CD_SUCCESS && info_of(root).bytes == 0 &&
                       add(child_of(root), bytes.data(), size) && is(bytes, 1)
                   ? ""
                   : refusal();
    });
}

TEST_F(LeftBehind, WhatACommittedChildHadGivenStaysTheParents) {
    const auto give = [&](cd_handle root, int value) {
        Bytes bytes(size, static_cast<unsigned char>(value));
        cd_handle child = child_of(root);
        return add(child, bytes.data(), size) && is(bytes, 1) && commit_cd(child) == CD_SUCCESS &&
               info_of(root).bytes == size;
    };
    run([&]() -> std::string { return give(create(), 1) ? "" : refusal(); });
    run([&]() -> std::string {
        cd_handle root = create();
        return restore_cd(root) == CD_SUCCESS && give(root, 2) ? "" : refusal();
    });
}

TEST_F(LeftBehind, FunctionsAreCalledWhenTheChildGivesThemAgain) {
    run([&]() -> std::string {
        Bytes bytes(size, 7);
        return add_regen(child_of(create()), bytes) ? "" : refusal();
    });
    run([&]() -> std::string {
        cd_handle root = create();
        Bytes bytes(size, 2);
        if (restore_cd(root) != CD_SUCCESS || !add_regen(child_of(root), bytes)) {
            return refusal();
        }
        return is(bytes, 7) && calls == 1 && info_of(root).bytes == 0 ? "" : "not regenerated";
    });
}

TEST_F(LeftBehind, FunctionsOfACommittedChildAreTheParentsWhenTheyAreGivenAgain) {
    run([&]() -> std::string {
        Bytes bytes(size, 7);
        cd_handle root = create();
        cd_handle child = child_of(root);
        return add_regen(child, bytes) && commit_cd(child) == CD_SUCCESS &&
                       advance_cd_point_in_time(root) == CD_SUCCESS
                   ? ""
                   : refusal();
    });
    run([&]() -> std::string {
        cd_handle root = create();
        Bytes bytes(size, 2);
        if (restore_cd(root) != CD_SUCCESS || !add_regen(child_of(root), bytes)) {
            return refusal();
        }
        if (!is(bytes, 7) || calls != 1 || info_of(root).bytes != size) {
            return "not regenerated, or not the root's";
        }
        bytes.assign(size, 3);
        return restore_cd(root) == CD_SUCCESS && is(bytes, 7) ? "" : refusal();
    });
}

TEST_F(LeftBehind, AFunctionThatFailsFailsTheAddWhichCanBeRepeated) {
    run([&]() -> std::string {
        Bytes bytes(size, 7);
        return add_regen(create(), bytes) ? "" : refusal();
    });
    run([&]() -> std::string {
        cd_handle root = create();
        Bytes bytes(size, 2);
        if (restore_cd(root) != CD_SUCCESS || add_regen(root, bytes, fail_to_fill) ||
            cd_last_error() != CD_ERROR_REGEN_FAILED || info_of(root).bytes != 0) {
            return refusal();
        }
        return add_regen(root, bytes) && is(bytes, 7) ? "" : refusal();
    });
}

} // namespace
} // namespace restarting
