// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// A process that may not make files as long as its store has to be.

#include "restarting.h"

#include <sys/resource.h>

#include <algorithm>
#include <cstring>

namespace restarting {
namespace {

class FileSizeLimit : public Restarting {
protected:
    static void limit_files_to(rlim_t length) {
        rlimit limit = {};
        ::getrlimit(RLIMIT_FSIZE, &limit);
        limit.rlim_cur = std::min(length, limit.rlim_max);
        ::setrlimit(RLIMIT_FSIZE, &limit);
    }
};

std::vector<char> memory(8 * kib * kib);

TEST_F(FileSizeLimit, IsAnErrorThatNamesItAndTheCallCanBeRepeated) {
    run([&]() -> std::string {
        cd_name_region("memory", memory.data(), memory.size());
        limit_files_to(4 * kib * kib);
        cd_handle root = create();
        std::ranges::fill(memory, 1);
        if (root == nullptr || add(root, memory.data(), memory.size())) {
            return "not refused";
        }
        if (cd_last_error() != CD_ERROR_STORE_FULL ||
            refusal().find("4194304 bytes (RLIMIT_FSIZE)") == std::string::npos) {
            return refusal();
        }
        limit_files_to(RLIM_INFINITY);
        return add(root, memory.data(), memory.size()) ? "" : refusal();
    });
    run([&]() -> std::string {
        cd_name_region("memory", memory.data(), memory.size());
        limit_files_to(4 * kib * kib);
        cd_handle root = create();
        if (root == nullptr || restore_cd(root) != CD_SUCCESS || memory.back() != 1) {
            return refusal();
        }
        return advance_cd_point_in_time(root) != CD_SUCCESS &&
                       cd_last_error() == CD_ERROR_STORE_FULL
                   ? ""
                   : "not refused";
    });
}

TEST_F(FileSizeLimit, ThatHasNoRoomForAnyStoreIsAnErrorOfCreate) {
    run([&] {
        limit_files_to(kib);
        return create() == nullptr && cd_last_error() == CD_ERROR_STORE_FULL;
    });
}

} // namespace
} // namespace restarting
