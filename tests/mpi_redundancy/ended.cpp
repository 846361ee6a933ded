// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors

// ended DIRECTORY STORAGE [shared] [late] [alone]: the last rank ends MPI where the others create a
// root, before they come to that, or late; after all had another one, where that is shared; or none
// creates one, and it ends MPI after more than half a minute alone. STORAGE "": as the environment
// has it; "none": nobody creates a root, and half of the ranks end late.

#include "must.h"

#include <mpi.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <thread>

namespace {

cd_handle create(const std::string &storage, const char *name) {
    return create_cd(nullptr, storage.empty() ? nullptr : storage.c_str(), COMM_LOGGING_DISABLED,
                     name, nullptr);
}

void must_be_told(const std::string &storage, const char *name, const std::string &who) {
    must(create(storage, name) == nullptr, "a root was created without the rank that has ended");
    must(cd_last_error() == CD_ERROR_ARGUMENT, "the code");
    must(std::strncmp(cd_last_error_message(), who.c_str(), who.size()) == 0, "who it was");
}

void wait(int seconds) { std::this_thread::sleep_for(std::chrono::seconds(seconds)); }

} // namespace

int main(int argc, char **argv) {
    if (argc < 3) {
        return 2;
    }
    bool shared = false;
    bool late = false;
    bool alone = false;
    for (int i = 3; i < argc; ++i) {
        shared = shared || std::strcmp(argv[i], "shared") == 0;
        late = late || std::strcmp(argv[i], "late") == 0;
        alone = alone || std::strcmp(argv[i], "alone") == 0;
    }
    MPI_Init(&argc, &argv);
    int ranks = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const bool ends = rank == ranks - 1;
    std::string storage = argv[2];
    const bool none = storage == "none";
    const std::filesystem::path directory =
        std::filesystem::path(argv[1]) / ("n" + std::to_string(rank));
    setenv("CD_GROUP", std::to_string(rank).c_str(), 1);
    if (!storage.empty()) {
        storage += ",dir=" + directory.string();
    }
    if (shared) {
        const cd_handle cd = create(storage, "shared");
        must(cd != nullptr, "create_cd");
        must(advance_cd_point_in_time(cd) == SUCCESS, "advance");
        must(commit_cd(cd) == SUCCESS, "commit");
    }
    if (alone) {
        wait(ends ? 32 : 0);
    } else if (none ? rank % 2 == 0 : ends == late) {
        wait(1);
    }
    if (!none && !alone && !ends) {
        const std::string who = "rank " + std::to_string(ranks - 1) + " has come to MPI_Finalize";
        must_be_told(storage, "first", who);
        must_be_told(storage, "second", who);
        if (!storage.empty()) {
            must_be_told(storage + ",set_size=many", "third", who);
        }
    }
    MPI_Finalize();
    std::printf("rank %d has come through\n", rank);
    return 0;
}
