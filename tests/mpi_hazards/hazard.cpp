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
    const Hazard *hazard = first;
    while (hazard != nullptr && (argc != 2 || std::strcmp(hazard->name, argv[1]) != 0)) {
        hazard = hazard->next;
    }
    if (hazard == nullptr) {
        std::fprintf(stderr, "use: %s HAZARD\n", argv[0]);
        return 2;
    }
    int provided = MPI_THREAD_SINGLE;
    MPI_Init_thread(&argc, &argv, hazard->threads, &provided);
    CHECK(provided >= hazard->threads);
    hazard->run();
    MPI_Finalize();
    return 0;
}
