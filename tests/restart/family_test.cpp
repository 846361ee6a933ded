// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// Children and roots that another process finds in the store.

#include "cd/mpi_log.h"
#include "restarting.h"

#include <algorithm>
#include <array>

namespace restarting {
namespace {

std::array<int, 4> value;

class Family : public Restarting {
protected:
    static bool keep(cd_handle cd, size_t index) { return add(cd, &value[index], sizeof(int)); }
    static size_t bytes_of(cd_handle cd) { return info_of(cd).bytes; }
};

TEST_F(Family, AfterACrashInsideAChildTheRootIsRestoredInFull) {
    run([&] {
        cd_handle root = create();
        value = {1, 2, 3, 4};
        cd_handle child = child_of(root);
        cd_handle grandchild = child_of(child);
        const bool kept = keep(root, 0) && keep(child, 1) && keep(grandchild, 2) &&
                          commit_cd(grandchild) == CD_SUCCESS && keep(child, 3);
        value = {9, 9, 9, 9};
        return kept && advance_cd_point_in_time(child) == CD_SUCCESS;
    });
    run([&] {
        cd_handle root = create();
        return restore_cd(root) == CD_SUCCESS && value == std::array<int, 4>{1, 2, 3, 4};
    });
}

TEST_F(Family, TheSameNestingAttachesToTheChildWhichRestoresAlone) {
    run([&] {
        cd_handle root = create();
        value = {1, 2, 3, 4};
        cd_handle child = child_of(root);
        return keep(root, 0) && keep(child, 1);
    });
    run([&]() -> std::string {
        cd_handle child = child_of(create());
        if (info_of(child).restarted != 1 || bytes_of(child) != sizeof(int)) {
            return "not that child";
        }
        value = {};
        return restore_cd(child) == CD_SUCCESS && value == std::array<int, 4>{0, 2, 0, 0}
                   ? ""
                   : refusal();
    });
}

TEST_F(Family, AnEmptyChildKeepsThePlaceOfThoseBehindIt) {
    run([&] {
        cd_handle root = create();
        child_of(root);
        cd_handle second = child_of(root);
        child_of(second);
        cd_handle second_of_second = child_of(second);
        return keep(second_of_second, 1);
    });
    run([&]() -> std::string {
        cd_handle root = create();
        cd_handle first = child_of(root);
        cd_handle second = child_of(root);
        cd_handle first_of_second = child_of(second);
        cd_handle second_of_second = child_of(second);
        if (bytes_of(first) != 0 || bytes_of(second) != 0 || bytes_of(first_of_second) != 0) {
            return "what is not its own was given to an empty child";
        }
        return bytes_of(second_of_second) == sizeof(int) ? "" : "what was kept is not there";
    });
}

TEST_F(Family, AnEmptyChildThatComesInFrontOfAKeptOneIsKnownToo) {
    run([&] {
        cd_handle root = create();
        cd_handle first = child_of(root);
        cd_handle second = child_of(root);
        const bool kept = keep(second, 1) && commit_cd(first) == CD_SUCCESS;
        return kept && child_of(root) != nullptr; // with the index of the first
    });
    run([&]() -> std::string {
        cd_handle root = create();
        cd_handle first = child_of(root);
        cd_handle second = child_of(root);
        if (bytes_of(first) != 0 || info_of(first).restarted != 1) {
            return "the younger one was taken for the empty one";
        }
        return bytes_of(second) == sizeof(int) && info_of(second).restarted == 1
                   ? ""
                   : "what was kept is not there";
    });
}

TEST_F(Family, ChildrenComeBackInTheOrderOfTheirIndices) {
    run([&] {
        cd_handle root = create();
        cd_handle first = child_of(root);
        cd_handle second = child_of(root);
        value = {1, 2, 3, 4};
        return keep(second, 1) && commit_cd(first) == CD_SUCCESS && keep(child_of(root), 2);
    });
    run([&]() -> std::string {
        cd_handle root = create();
        value = {};
        if (restore_cd(child_of(root)) != CD_SUCCESS || value != std::array<int, 4>{0, 0, 3, 0}) {
            return "the first that is created is not the last that was";
        }
        return restore_cd(child_of(root)) == CD_SUCCESS && value == std::array<int, 4>{0, 2, 3, 0}
                   ? ""
                   : "the second is not the elder one";
    });
}

TEST_F(Family, EmptyChildrenThatEndCostNothing) {
    run([&]() -> std::string {
        cd_handle root = create();
        if (!keep(root, 0)) {
            return refusal();
        }
        const auto written = std::filesystem::last_write_time(store());
        for (int i = 0; i < 1000; ++i) {
            if (commit_cd(child_of(root)) != CD_SUCCESS) {
                return refusal();
            }
        }
        return std::filesystem::last_write_time(store()) == written ? "" : "the file was written";
    });
}

TEST_F(Family, AChildThatCameBackFindsItsLogAfterARestoreOfTheRoot) {
    const std::string storage = "store=file,sync=none,dir=" + directory_;
    const auto child_of_a_root_that_logs = [&](cd_handle &root) {
        root = create_cd(nullptr, storage.c_str(), CD_COMM_LOGGING_ENABLED, "root", nullptr);
        return child_of(root);
    };
    run([&] {
        cd_handle root = nullptr;
        return keep(child_of_a_root_that_logs(root), 0);
    });
    run([&]() -> std::string {
        cd_handle root = nullptr;
        cd_handle child = child_of_a_root_that_logs(root);
        const cd_log_part part = {"entry", 5};
        if (info_of(child).restarted != 1 || cd_log_append(child, &part, 1) != CD_SUCCESS ||
            restore_cd(root) != CD_SUCCESS) {
            return refusal();
        }
        return cd_log_next(child_of(root), nullptr, nullptr) != nullptr ? "" : "ran live";
    });
}

} // namespace
} // namespace restarting
