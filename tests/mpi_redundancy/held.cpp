// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors

// held DIRECTORY STORAGE advance|commit|nothing|again [late]: the last rank ends MPI while it has
// two roots, which the others then advance or commit; late: these wait for it. With nothing all do
// that. again: all start from what is left, and commit it.

#include "must.h"

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <string_view>
#include <thread>

namespace {

std::string who; // has ended

cd_handle create(const std::string &storage, const char *name) {
    const cd_handle cd = create_cd(nullptr, storage.c_str(), COMM_LOGGING_DISABLED, name, nullptr);
    must(cd != nullptr, name);
    return cd;
}

void keep(cd_handle cd, int &value) {
    const cd_addrspec kept = {&value, sizeof value, READ_WRITE, GLOBAL};
    must(add_to_cd_via_copy(cd, &kept, 1) == SUCCESS, "add_to_cd_via_copy");
}

void must_be_told(const char *what) {
    must(cd_last_error() == CD_ERROR_ARGUMENT, what);
    must(std::strncmp(cd_last_error_message(), who.c_str(), who.size()) == 0, what);
}

void must_not_advance(cd_handle cd) {
    must(advance_cd_point_in_time(cd) != SUCCESS, "an advance without the rank that has ended");
    must_be_told("what the advance says");
}

void must_not_commit(cd_handle cd) {
    must(commit_cd(cd) == FAILURE, "a commit without the rank that has ended");
    must_be_told("what the commit says");
}

// It has its old state, and goes on with what needs nobody else.
void must_be_usable(cd_handle cd, int &value) {
    cd_info info = {};
    must(cd_query(cd, &info) == SUCCESS && info.epoch == 1, "the epoch");
    must(info.protected_epoch == 1, "what is protected");
    const int before = value;
    ++value;
    must(restore_cd(cd) == SUCCESS, "restore_cd");
    must(value == before, "what is restored");
}

void start_again(const std::string &storage, const char *name, int expected) {
    const cd_handle cd = create(storage, name);
    cd_info info = {};
    must(cd_query(cd, &info) == SUCCESS && info.restarted == 1 && info.epoch == 1, "the start");
    int value = 0;
    keep(cd, value);
    must(restore_cd(cd) == SUCCESS && value == expected, "what it starts from");
    must(commit_cd(cd) == SUCCESS, "the commit of all");
}

void wait_for_others() { std::this_thread::sleep_for(std::chrono::milliseconds(300)); }

void go_on(std::string_view what, cd_handle first, cd_handle second) {
    if (what == "advance") {
        must_not_advance(second);
        must_not_advance(first);
    }
    must_not_commit(second);
    must_not_commit(first);
    must_not_advance(first);
    must_not_commit(second);
}

} // namespace

int main(int argc, char **argv) {
    if (argc < 4) {
        return 2;
    }
    const std::string_view what = argv[3];
    const bool late = argc > 4;
    int provided = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    int ranks = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    who = "rank " + std::to_string(ranks - 1) + " has come to MPI_Finalize";
    const bool ends = rank == ranks - 1;
    setenv("CD_GROUP", std::to_string(rank).c_str(), 1);
    const auto directory = std::filesystem::path(argv[1]) / ("n" + std::to_string(rank));
    const std::string storage = std::string(argv[2]) + ",dir=" + directory.string();
    int of_first = 10 + rank;
    int of_second = 20 + rank;
    if (what == "again") {
        start_again(storage, "first", of_first);
        start_again(storage, "second", of_second);
    } else {
        const cd_handle first = create(storage, "first");
        const cd_handle second = create(storage, "second");
        keep(first, of_first);
        keep(second, of_second);
        must(advance_cd_point_in_time(first) == SUCCESS, "advance_cd_point_in_time");
        must(advance_cd_point_in_time(second) == SUCCESS, "advance_cd_point_in_time");
        if (ends == late || what == "nothing") {
            wait_for_others();
        }
        if (!ends && what != "nothing") {
            go_on(what, first, second);
            must_be_usable(first, of_first);
            must_be_usable(second, of_second);
        }
    }
    MPI_Finalize();
    std::printf("rank %d has come through\n", rank);
    return 0;
}
