// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors

// MPI fails while something is under way: what it may still write to is neither freed nor on the
// stack, and who goes on is refused. One rank; it has libcd/mpi with an MPI that fails when told.

#include "mpi/mpi_exchange.h"

#include <malloc.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <span>
#include <vector>

namespace {

enum class Call { none, iallgather, iallreduce, iallgatherv, irecv };

Call failing = Call::none; // what is not waited for
Call last = Call::none;
const char *written_to = nullptr; // by the call that is not waited for
bool freed = false;

void note(Call call, const void *to) {
    last = call;
    if (call == failing) {
        written_to = static_cast<const char *>(to);
    }
}

int iallgather(const void *from, int count, MPI_Datatype type, void *to, int to_count,
               MPI_Datatype to_type, MPI_Comm comm, MPI_Request *request) {
    note(Call::iallgather, to);
    return PMPI_Iallgather(from, count, type, to, to_count, to_type, comm, request);
}
int iallreduce(const void *from, void *to, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
               MPI_Request *request) {
    note(Call::iallreduce, to);
    return PMPI_Iallreduce(from, to, count, type, op, comm, request);
}
int iallgatherv(const void *from, int count, MPI_Datatype type, void *to, const int counts[],
                const int offsets[], MPI_Datatype to_type, MPI_Comm comm, MPI_Request *request) {
    note(Call::iallgatherv, to);
    return PMPI_Iallgatherv(from, count, type, to, counts, offsets, to_type, comm, request);
}
int irecv(void *to, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm,
          MPI_Request *request) {
    note(Call::irecv, to);
    return PMPI_Irecv(to, count, type, peer, tag, comm, request);
}
int testall(int count, MPI_Request requests[], int *done, MPI_Status statuses[]) {
    const bool fails = failing != Call::none && last == failing;
    return fails ? MPI_ERR_OTHER : PMPI_Testall(count, requests, done, statuses);
}

void must(bool good, const char *what) {
    if (!good) {
        std::printf("%s; last error: %s\n", what, cd::message());
        std::exit(1);
    }
}

bool is_on_the_stack(const char *at) {
    const char here = 0;
    return std::labs(at - &here) < (1L << 20);
}

void must_be_refused(cd::Status status, const char *what) {
    must(!status && std::strstr(cd::message(), "half-way") != nullptr, what);
}

std::unique_ptr<cd::mpi::MpiExchange> make_exchange() {
    cd::mpi::Communicator part;
    must(cd::mpi::Communicator::split(MPI_COMM_WORLD, 0, 0, part).is_ok(), "split");
    return std::make_unique<cd::mpi::MpiExchange>(part);
}

void fail_in(Call call) {
    const auto told = std::as_bytes(std::span("what this rank tells"));
    std::vector<cd::redset::Bytes> all;
    auto exchange = make_exchange();
    must(exchange->gather(told, all) && all.front().size() == told.size(), "gather");
    failing = call;
    must(!exchange->gather(told, all), "a gather that MPI fails at has succeeded");
    failing = Call::none;
    must_be_refused(exchange->gather(told, all), "a gather after it");
    must_be_refused(exchange->check_all(cd::Status::ok()), "a check after it");
    must_be_refused(exchange->start({}, {}), "a message after it");
    must(written_to != nullptr && !is_on_the_stack(written_to), "MPI may write to the stack");
    exchange.reset();
    must(!freed, "MPI may write to what is freed");
    written_to = nullptr;
}

// The bytes of messages are the caller's, who keeps them.
void fail_between_two() {
    std::vector<std::byte> sent(100);
    std::vector<std::byte> received(100);
    const cd::redset::Exchange::Message out[] = {{0, sent}};
    const cd::redset::Exchange::Message in[] = {{0, received}};
    const auto exchange = make_exchange();
    exchange->reserve(1);
    must(exchange->start(out, in) && exchange->finish(), "a message");
    must(exchange->start(out, in).is_ok(), "another message");
    failing = last;
    must(!exchange->finish(), "a message that MPI fails at has arrived");
    failing = Call::none;
    must_be_refused(exchange->start(out, in), "a message after it");
    must(exchange->finish().is_ok(), "the message that was under way");
}

} // namespace

// What is in it may be what MPI writes to.
void operator delete(void *at) noexcept {
    const auto *begin = static_cast<const char *>(at);
    freed = freed || (written_to != nullptr && begin <= written_to &&
                      written_to < begin + malloc_usable_size(at));
    std::free(at);
}
void operator delete(void *at, size_t) noexcept { operator delete(at); }

namespace cd::mpi {

const Mpi &own() {
    static const Mpi mpi = [] {
        Mpi failing_one;
        failing_one.cancel = PMPI_Cancel;
        failing_one.comm_free = PMPI_Comm_free;
        failing_one.comm_rank = PMPI_Comm_rank;
        failing_one.comm_set_errhandler = PMPI_Comm_set_errhandler;
        failing_one.comm_size = PMPI_Comm_size;
        failing_one.comm_split = PMPI_Comm_split;
        failing_one.error_string = PMPI_Error_string;
        failing_one.iallgather = iallgather;
        failing_one.iallgatherv = iallgatherv;
        failing_one.iallreduce = iallreduce;
        failing_one.irecv = irecv;
        failing_one.isend = PMPI_Isend;
        failing_one.request_free = PMPI_Request_free;
        failing_one.testall = testall;
        return failing_one;
    }();
    return mpi;
}

bool is_usable() { return true; }

Status outcome(int code, const char *what) {
    return code == MPI_SUCCESS ? Status::ok()
                               : fail(CD_ERROR_STORE_IO, "MPI cannot %s: %d", what, code);
}

} // namespace cd::mpi

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    fail_in(Call::iallgather);
    fail_in(Call::iallreduce);
    fail_in(Call::iallgatherv);
    fail_between_two();
    MPI_Finalize();
    return 0;
}
