// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors

// threads DIRECTORY: threads of two ranks create roots, one after the other, and advance and commit
// them at the same time, all of them more than once. Before that each rank has a root of its own,
// with a name that only it gives.

#include "cd/cd.hpp"

#include <mpi.h>

#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <filesystem>
#include <mutex>
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

// The same order in both ranks.
class Turns {
public:
    void wait_for(int number) {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return next_ == number; });
    }
    void end() {
        const std::lock_guard lock(mutex_);
        ++next_;
        changed_.notify_all();
    }

private:
    std::mutex mutex_;
    std::condition_variable changed_;
    int next_ = 0;
};

Turns turns;

cd_handle create(const std::string &storage, const std::string &name) {
    return create_cd(nullptr, storage.c_str(), COMM_LOGGING_DISABLED, name.c_str(), nullptr);
}

void advance_and_commit(cd_handle cd, int value) {
    const cd_addrspec keep = {&value, sizeof value, READ_WRITE, GLOBAL};
    must(add_to_cd_via_copy(cd, &keep, 1) == SUCCESS, "add_to_cd_via_copy");
    must(advance_cd_point_in_time(cd) == SUCCESS, "advance_cd_point_in_time");
    cd_info info = {};
    must(cd_query(cd, &info) == SUCCESS && info.protected_epoch == 1, "what is protected");
    must(commit_cd(cd) == SUCCESS, "commit_cd");
}

void use(const std::string &storage, int thread) {
    for (int i = 0; i < times; ++i) {
        turns.wait_for(i * threads + thread);
        const cd_handle cd = create(storage, "root" + std::to_string(thread));
        must(cd != nullptr, "create_cd");
        turns.end();
        advance_and_commit(cd, i);
    }
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
    std::vector<std::thread> all;
    for (int thread = 0; thread < threads; ++thread) {
        all.emplace_back(use, storage, thread);
    }
    for (std::thread &thread : all) {
        thread.join();
    }
    MPI_Finalize();
    std::printf(failures == 0 ? "rank %d has come through\n" : "rank %d has failed\n", rank);
    return failures == 0 ? 0 : 1;
}
