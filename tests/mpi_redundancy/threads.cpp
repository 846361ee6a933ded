// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors

// threads DIRECTORY: threads of two ranks create, advance and commit roots at the same time, all of
// them more than once. In which order they come to meet is not known, so that a root is protected
// by both ranks or, where they do not meet each other, by one. Before that each rank has a root of
// its own, with a name that only it gives, and then one that the other gives to its next.

#include "cd/cd.hpp"

#include <mpi.h>

#include <array>
#include <atomic>
#include <cstdio>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr int threads = 3;
constexpr int times = 5;

std::atomic<int> failures = 0;

void must(bool good, const char *what) {
    if (!good) {
        std::printf("%s: code %d: %s\n", what, cd_last_error(), cd_last_error_message());
        std::fflush(stdout);
        ++failures;
    }
}

// The files of one rank's root have that rank's number in the program.
void use_alone(const std::string &storage, const std::string &directory, int rank) {
    const std::string name = "of " + std::to_string(rank);
    const cd_handle cd =
        create_cd(nullptr, storage.c_str(), COMM_LOGGING_DISABLED, name.c_str(), nullptr);
    must(cd != nullptr, "create_cd");
    must(advance_cd_point_in_time(cd) == SUCCESS, "advance_cd_point_in_time");
    cd_info info = {};
    must(cd_query(cd, &info) == SUCCESS && info.protected_epoch == 1, "what is protected");
    const std::string image = std::to_string(rank) + ".image";
    int images = 0;
    for (const auto &file :
         std::filesystem::recursive_directory_iterator(directory + "/" + name + ".points")) {
        images += file.path().filename() == image ? 1 : 0;
    }
    must(images == 1, "the image's name");
    must(commit_cd(cd) == SUCCESS, "commit_cd");
}

cd_handle advance_new(const std::string &storage, const std::string &name, int &value) {
    const cd_handle cd =
        create_cd(nullptr, storage.c_str(), COMM_LOGGING_DISABLED, name.c_str(), nullptr);
    must(cd != nullptr, "create_cd");
    const cd_addrspec keep = {&value, sizeof value, READ_WRITE, GLOBAL};
    must(add_to_cd_via_copy(cd, &keep, 1) == SUCCESS, "add_to_cd_via_copy");
    must(advance_cd_point_in_time(cd) == SUCCESS, "advance_cd_point_in_time");
    cd_info info = {};
    must(cd_query(cd, &info) == SUCCESS && info.protected_epoch == 1, "what is protected");
    return cd;
}

void use(const std::string &storage, const std::string &name) {
    for (int i = 0; i < times; ++i) {
        int value = i;
        must(commit_cd(advance_new(storage, name, value)) == SUCCESS, "commit_cd");
    }
}

// What one rank sees of the other's first root is not the other's second, which has its name.
void use_crossed(const std::string &storage, int rank) {
    const std::array<std::string, 2> names{"left", "right"};
    std::array<int, 2> values{};
    const cd_handle first = advance_new(storage, names.at(rank), values[0]);
    const cd_handle second = advance_new(storage, names.at(1 - rank), values[1]);
    must(commit_cd(second) == SUCCESS && commit_cd(first) == SUCCESS, "commit_cd");
}

} // namespace

int main(int argc, char **argv) {
    if (argc != 2) {
        return 2;
    }
    int provided = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const std::string directory = std::string(argv[1]) + "/n" + std::to_string(rank);
    const std::string storage = "store=file,redundancy=partner,sync=none,dir=" + directory +
                                ",group=" + std::to_string(rank);
    use_alone(storage, directory, rank);
    use_crossed(storage, rank);
    std::vector<std::thread> all;
    for (int thread = 0; thread < threads; ++thread) {
        all.emplace_back(use, storage, "root" + std::to_string(thread));
    }
    for (std::thread &thread : all) {
        thread.join();
    }
    MPI_Finalize();
    std::printf(failures == 0 ? "rank %d has come through\n" : "rank %d has failed\n", rank);
    return failures == 0 ? 0 : 1;
}
