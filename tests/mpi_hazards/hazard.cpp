// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "hazard.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

constexpr int signal_tag = 30000;
Hazard *first = nullptr;

const Hazard *find(const char *name) {
    const Hazard *hazard = first;
    while (hazard != nullptr && std::strcmp(hazard->name, name) != 0) {
        hazard = hazard->next;
    }
    return hazard;
}

// Those of record_all.cpp look at what the logger records of a program without CDs.
bool lacks_environment(const Hazard &hazard) {
    const char *const log = std::getenv("CD_LOG");
    const bool is_recorded = log != nullptr && std::strcmp(log, "all") == 0;
    return std::strncmp(hazard.name, "record_all_", std::strlen("record_all_")) == 0 &&
           (!is_recorded || std::getenv("CD_LOG_LIMIT") == nullptr);
}

// Nothing is left for the next one in the same job.
void end_of(const Hazard &hazard) {
    MPI_Barrier(MPI_COMM_WORLD);
    int left = 0;
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &left, MPI_STATUS_IGNORE);
    if (left != 0) {
        std::fprintf(stderr, "rank %d: %s leaves a message\n", world_rank(), hazard.name);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    MPI_Barrier(MPI_COMM_WORLD); // else it may be a message of the next one
}

} // namespace

Hazard::Hazard(const char *its_name, int its_threads, void (*its_run)())
    : name(its_name), threads(its_threads), run(its_run), next(first) {
    first = this;
}

void check(bool holds, const char *condition, const char *file, int line) {
    if (!holds) {
        std::fprintf(stderr, "%s:%d: rank %d: %s does not hold; %s\n", file, line, world_rank(),
                     condition, cd_last_error_message());
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

int world_rank() {
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return rank;
}

int world_size() {
    int size = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    return size;
}

Numbers numbers(int seed, size_t count) {
    Numbers made(count);
    for (size_t i = 0; i < count; ++i) {
        made[i] = static_cast<int>(static_cast<unsigned>(seed) * 1000003U +
                                   static_cast<unsigned>(i) * 7919U);
    }
    return made;
}

void set(Numbers &memory, const Numbers &values) {
    CHECK(values.size() == memory.size());
    std::copy(values.begin(), values.end(), memory.begin());
}

void destroy(Numbers &memory) { std::fill(memory.begin(), memory.end(), 0x55555555); }

void send(const Numbers &data, int to, int tag) {
    MPI_Send(data.data(), static_cast<int>(data.size()), MPI_INT, to, tag, MPI_COMM_WORLD);
}

Numbers receive(size_t count, int from, int tag, MPI_Status *status) {
    Numbers data(count);
    MPI_Recv(data.data(), static_cast<int>(count), MPI_INT, from, tag, MPI_COMM_WORLD, status);
    return data;
}

void signal(int to) { MPI_Send(nullptr, 0, MPI_INT, to, signal_tag, MPI_COMM_WORLD); }

void await(int from) {
    MPI_Recv(nullptr, 0, MPI_INT, from, signal_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

void send_on_signal(const Numbers &data, int tag) {
    await(0);
    send(data, 0, tag);
}

Domain::Domain(cd_handle parent, const char *name, const char *storage_info)
    : handle_(create_cd(parent, storage_info,
                        parent != nullptr ? MPI_LOGGING_INHERIT : MPI_LOGGING_ENABLED,
                        parent != nullptr ? nullptr : name, nullptr)) {
    CHECK(handle_ != nullptr);
}

Domain::~Domain() { commit_cd(handle_); }

void Domain::keep(Numbers &memory) {
    const cd_addrspec range = {memory.data(), memory.size() * sizeof(int), READ_WRITE, GLOBAL};
    CHECK(add_to_cd_via_copy(handle_, range, 1) == SUCCESS);
}

void Domain::restore() {
    CHECK(info().log_length > 0); // else the logger is not there, and the test tests nothing
    CHECK(restore_cd(handle_) == SUCCESS);
}

void Domain::advance() { CHECK(advance_cd_point_in_time(handle_) == SUCCESS); }

cd_info Domain::info() const {
    cd_info info = {};
    CHECK(cd_query(handle_, &info) == SUCCESS);
    return info;
}

int main(int argc, char **argv) {
    std::vector<const Hazard *> wanted;
    int threads = MPI_THREAD_SINGLE;
    for (int i = 1; i < argc; ++i) {
        const Hazard *const hazard = find(argv[i]);
        if (hazard == nullptr) {
            std::fprintf(stderr, "there is no hazard %s\n", argv[i]);
            return 2;
        }
        if (lacks_environment(*hazard)) {
            std::fprintf(stderr, "%s needs CD_LOG=all CD_LOG_LIMIT=200K\n", hazard->name);
            return 2;
        }
        wanted.push_back(hazard);
        threads = std::max(threads, hazard->threads);
    }
    if (wanted.empty()) {
        std::fprintf(stderr, "use: %s HAZARD...\n", argv[0]);
        return 2;
    }
    int provided = MPI_THREAD_SINGLE;
    MPI_Init_thread(&argc, &argv, threads, &provided);
    CHECK(provided >= threads);
    for (const Hazard *hazard : wanted) {
        if (wanted.size() > 1 && world_rank() == 0) {
            std::fprintf(stderr, "%s\n", hazard->name);
        }
        hazard->run();
        if (hazard != wanted.back()) {
            end_of(*hazard);
        }
    }
    MPI_Finalize();
    return 0;
}
