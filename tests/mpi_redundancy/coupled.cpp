// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors

// coupled STORAGE EPOCHS NODE...: ranks of two codes, each half of them with a root of its own, on
// the nodes of these names, %n in STORAGE. Says what each root starts from, or why it does not,
// advances it so many times, and leaves it.

#include "cd/cd.h"

#include <mpi.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace {

void must(bool good, const char *what) {
    if (!good) {
        std::fprintf(stderr, "%s: %s\n", what, cd_last_error_message());
        MPI_Abort(MPI_COMM_WORLD, 3);
    }
}

std::string with_node(std::string storage, const std::string &node) {
    for (size_t at = 0; (at = storage.find("%n", at)) != std::string::npos;) {
        storage.replace(at, 2, node);
    }
    return storage;
}

uint64_t state = 0;

} // namespace

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    int rank = 0;
    int ranks = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    must(argc == 3 + ranks, "one node for each rank");
    const char *root = rank < ranks / 2 ? "ocean" : "air";
    const std::string storage = with_node(argv[1], argv[3 + rank]);

    cd_handle cd = create_cd(nullptr, storage.c_str(), COMM_LOGGING_DISABLED, root, nullptr);
    if (cd == nullptr) {
        std::printf("rank %d: %s: %s\n", rank, root, cd_last_error_message());
    } else {
        const cd_addrspec kept = {&state, sizeof state, READ_WRITE, GLOBAL};
        cd_info info = {};
        must(add_to_cd_via_copy(cd, &kept, 1) == SUCCESS, "add_to_cd_via_copy");
        must(cd_query(cd, &info) == SUCCESS, "cd_query");
        must(info.restarted == 0 || restore_cd(cd) == SUCCESS, "restore_cd");
        std::printf("rank %d: %s from epoch %d, state %d\n", rank, root,
                    static_cast<int>(info.epoch), static_cast<int>(state));
        for (int i = std::atoi(argv[2]); i > 0; --i) {
            must(add_to_cd_via_copy(cd, &kept, 1) == SUCCESS, "add_to_cd_via_copy");
            state += rank + 1U;
            must(advance_cd_point_in_time(cd) == SUCCESS, "advance_cd_point_in_time");
        }
    }
    std::fflush(stdout);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return EXIT_SUCCESS;
}
