// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors

// What a program over MPI waits for in an advance: without redundancy, with redundancy_mode=async,
// which is to be the same, and with redundancy_mode=sync. Advances of the three take turns, and
// while one is measured nothing else goes on.
#include "../domains.h"
#include "workplace.h"

#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <string>
#include <thread>

namespace {

constexpr int rounds = 7;

// Where MPI_Barrier may keep a processor from those who are waited for.
void wait_for_all() {
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    for (int done = 0; done == 0;) {
        std::this_thread::yield();
        MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    }
}

// A root with data of its own, all of which changes from one point in time to the next.
class Advancing {
public:
    Advancing(const char *name, const std::string &storage_info, const Workplace &workplace)
        : memory_(workplace.bytes), root_(name, storage_info.c_str()) {}

    void advance(bool is_protected) {
        std::fill_n(memory_.at(), memory_.size(), static_cast<std::byte>(++value_));
        add(root_.handle(), {{memory_.at(), memory_.size(), READ_WRITE, GLOBAL}});
        wait_for_all();
        const auto start = std::chrono::steady_clock::now();
        must(advance_cd_point_in_time(root_.handle()));
        const double own =
            std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
        wait_until_protected(is_protected);
        wait_for_all();
        double longest = 0;
        MPI_Allreduce(&own, &longest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
        best = std::min(best, longest);
    }

    double best = 1e9; // the longest that a rank waited, in seconds

private:
    void wait_until_protected(bool is_protected) const {
        cd_info info = {};
        do {
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
            must(cd_query(root_.handle(), &info));
        } while (is_protected && info.protected_epoch != info.epoch);
    }

    Memory memory_;
    Root root_;
    int value_ = 0;
};

void run(const Workplace &workplace) {
    int rank = 0;
    int ranks = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    int process = ::getpid(); // of the first rank
    MPI_Bcast(&process, 1, MPI_INT, 0, MPI_COMM_WORLD);
    const std::string folder = workplace.folder + "/cd-bench-advances." + std::to_string(process);
    const std::string node = folder + "/" + std::to_string(rank);
    const std::string local = "store=file,sync=none,dir=" + node;
    const std::string coded = local + ",redundancy=xor,set_size=" + std::to_string(ranks) +
                              ",group=" + std::to_string(rank);
    {
        Advancing plain("plain", local, workplace);
        Advancing async("async", coded + ",redundancy_mode=async", workplace);
        Advancing sync("sync", coded, workplace);
        for (int round = 0; round < rounds; ++round) {
            plain.advance(false);
            async.advance(true);
            sync.advance(true);
        }
        if (rank == 0) {
            std::printf("advance of %d ranks with %zu MiB each: %.4f s without redundancy, async "
                        "%.2f, sync %.2f of that\n",
                        ranks, workplace.bytes >> 20, plain.best, async.best / plain.best,
                        sync.best / plain.best);
        }
    }
    wait_for_all();
    if (rank == 0) {
        std::filesystem::remove_all(folder);
    }
}

} // namespace

int main(int argc, char **argv) {
    int provided = MPI_THREAD_SINGLE;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    Workplace workplace{"/dev/shm", size_t{64} << 20, CLOCK_PROCESS_CPUTIME_ID};
    if (!read_arguments(argc, argv, workplace)) {
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    run(workplace);
    MPI_Finalize();
    return 0;
}
