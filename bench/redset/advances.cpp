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
#include <vector>

namespace {

constexpr int rounds = 15;

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
        const double begin = now();
        must(advance_cd_point_in_time(root_.handle()));
        const double end = now();
        wait_until_protected(is_protected);
        wait_for_all();
        took_.push_back(greatest(end) + greatest(-begin));
    }

    // Seconds from the first rank's call to the last one's return: the median, since where the
    // system puts the ranks makes some rounds half as long.
    double time() {
        const auto middle = took_.begin() + rounds / 2;
        std::nth_element(took_.begin(), middle, took_.end());
        return *middle;
    }

private:
    // The same clock for all ranks: they are on one machine.
    static double now() {
        const auto time = std::chrono::steady_clock::now().time_since_epoch();
        return std::chrono::duration<double>(time).count();
    }

    static double greatest(double own) {
        double greatest = 0;
        MPI_Allreduce(&own, &greatest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
        return greatest;
    }

    void wait_until_protected(bool is_protected) const {
        cd_info info = {};
        do {
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
            must(cd_query(root_.handle(), &info));
        } while (is_protected && info.protected_epoch != info.epoch);
    }

    Memory memory_;
    Root root_;
    std::vector<double> took_;
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
                        ranks, workplace.bytes >> 20, plain.time(), async.time() / plain.time(),
                        sync.time() / plain.time());
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
