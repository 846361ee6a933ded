// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors

// MPI fails while something is under way: what it may still write to is neither freed nor on the
// stack, and who goes on is refused. With two ranks it fails when one of them begins something, or
// lacks memory: the other does not wait for it. The program has libcd/mpi with an MPI that fails
// when told.

#include "mpi/mpi_exchange.h"

#include <malloc.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <span>
#include <vector>

namespace {

enum class Call { none, iallgather, iallgatherv, irecv, isend };

Call refused = Call::none; // what is not begun
Call failing = Call::none; // what is not waited for
bool fails_when_done = false;
Call last = Call::none;
const char *written_to = nullptr; // by the call that is not waited for
bool freed = false;
bool no_memory = false;
int calls = 0;

// Whether it is to be begun.
bool note(Call call, const void *to) {
    last = call;
    ++calls;
    if (call == failing) {
        written_to = static_cast<const char *>(to);
    }
    return call != refused;
}

int iallgather(const void *from, int count, MPI_Datatype type, void *to, int to_count,
               MPI_Datatype to_type, MPI_Comm comm, MPI_Request *request) {
    return note(Call::iallgather, to)
               ? PMPI_Iallgather(from, count, type, to, to_count, to_type, comm, request)
               : MPI_ERR_OTHER;
}
int iallgatherv(const void *from, int count, MPI_Datatype type, void *to, const int counts[],
                const int offsets[], MPI_Datatype to_type, MPI_Comm comm, MPI_Request *request) {
    return note(Call::iallgatherv, to)
               ? PMPI_Iallgatherv(from, count, type, to, counts, offsets, to_type, comm, request)
               : MPI_ERR_OTHER;
}
int irecv(void *to, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm,
          MPI_Request *request) {
    return note(Call::irecv, to) ? PMPI_Irecv(to, count, type, peer, tag, comm, request)
                                 : MPI_ERR_OTHER;
}
// What says that there is nothing to wait for is sent all the same.
int isend(const void *from, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm,
          MPI_Request *request) {
    return count == 0 || note(Call::isend, nullptr)
               ? PMPI_Isend(from, count, type, peer, tag, comm, request)
               : MPI_ERR_OTHER;
}
int testall(int count, MPI_Request requests[], int *done, MPI_Status statuses[]) {
    const bool fails = failing != Call::none && last == failing;
    if (fails && !fails_when_done) {
        return MPI_ERR_OTHER;
    }
    const int code = PMPI_Testall(count, requests, done, statuses);
    return fails && *done != 0 ? MPI_ERR_OTHER : code;
}

int frees = 0;
int comm_free(MPI_Comm *comm) {
    ++frees;
    return PMPI_Comm_free(comm);
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

// Too long to be told at once.
const std::vector<std::byte> long_text(100, std::byte{'x'});

std::unique_ptr<cd::mpi::MpiExchange> make_exchange() {
    std::unique_ptr<cd::mpi::MpiExchange> exchange;
    must(cd::mpi::MpiExchange::make(MPI_COMM_WORLD, 0, 0, exchange).is_ok(), "an exchange");
    return exchange;
}

void fail_in(Call call) {
    const auto &told = long_text;
    std::vector<cd::redset::Bytes> all;
    auto exchange = make_exchange();
    must(exchange->gather(told, all) && all.front().size() == told.size(), "gather");
    failing = call;
    must(!exchange->gather(told, all), "a gather that MPI fails at has succeeded");
    failing = Call::none;
    must_be_refused(exchange->gather(told, all), "a gather after it");
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
    must_be_refused(exchange->finish(), "the message that was under way");
}

// Large enough that it is sent when somebody receives it.
cd::Status send_to(int other, cd::mpi::MpiExchange &exchange) {
    static std::vector<std::byte> sent(1 << 20);
    static std::vector<std::byte> received(1 << 20);
    const cd::redset::Exchange::Message out[] = {{other, sent}};
    const cd::redset::Exchange::Message in[] = {{other, received}};
    exchange.reserve(1);
    cd::Status status = exchange.start(out, in);
    return status ? exchange.finish() : status;
}

// In rank 1, and rank 0 waits for it.
void refuse(Call call) {
    const auto &told = long_text;
    std::vector<cd::redset::Bytes> all;
    cd::mpi::MpiExchange &exchange = *make_exchange().release(); // what is under way never ends
    const int self = exchange.self();
    must(send_to(1 - self, exchange) && exchange.gather(told, all), "before something is refused");
    MPI_Barrier(MPI_COMM_WORLD);
    refused = self == 1 ? call : Call::none;
    const bool message = call == Call::irecv || call == Call::isend;
    const cd::Status status = message ? send_to(1 - self, exchange) : exchange.gather(told, all);
    refused = Call::none;
    must(!status, "what one rank cannot begin has succeeded");
    must(self == 1 || std::strstr(cd::message(), "called it off") != nullptr, "rank 0 was told");
    must_be_refused(exchange.gather(told, all), "a gather after it");
    must_be_refused(send_to(1 - self, exchange), "a message after it");
}

// Rank 1 alone fails at the last thing that the ranks do together, and rank 0 has it behind it when
// it is told.
void end_after_a_failure() {
    const int before = frees;
    auto exchange = make_exchange();
    const bool fails = exchange->self() == 1;
    std::vector<cd::redset::Bytes> all;
    failing = fails ? Call::iallgather : Call::none;
    fails_when_done = true;
    must(exchange->gather({}, all).is_ok() != fails, "the last gather");
    failing = Call::none;
    exchange.reset();
    must(frees == before, "a communicator was freed on which MPI has failed in one rank");
    make_exchange().reset();
    must(frees == before + 1, "a communicator was not freed on which nothing has failed");
}

// What is short takes one call, and whoever tells more two. Rank 1 alone has no memory for either.
void gather_with_and_without_memory() {
    for (const size_t size : {size_t{0}, size_t{56}, size_t{57}}) {
        const auto exchange = make_exchange();
        const int self = exchange->self();
        std::vector<cd::redset::Bytes> all;
        const std::vector<std::byte> told(self == 1 ? size : 1, std::byte{'y'});
        calls = 0;
        must(exchange->gather(told, all).is_ok(), "a gather");
        must(calls == (size > 56 ? 2 : 1), "the number of calls");
        must(all[0].size() == 1 && all[1].size() == size &&
                 std::ranges::count(all[1], std::byte{'y'}) == static_cast<long>(size),
             "what was gathered");
        no_memory = self == 1;
        const cd::Status status = exchange->gather(told, all);
        no_memory = false;
        must(status.code() == (self == 1 ? CD_ERROR_NO_MEMORY : CD_ERROR_STORE_IO),
             "a gather that rank 1 has no memory for");
        must_be_refused(exchange->gather(told, all), "a gather after it");
    }
}

} // namespace

void *operator new(size_t size) {
    void *const at = no_memory ? nullptr : std::malloc(size);
    return at != nullptr ? at : throw std::bad_alloc();
}

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
        failing_one.comm_free = comm_free;
        failing_one.comm_rank = PMPI_Comm_rank;
        failing_one.comm_set_errhandler = PMPI_Comm_set_errhandler;
        failing_one.comm_size = PMPI_Comm_size;
        failing_one.comm_split = PMPI_Comm_split;
        failing_one.error_string = PMPI_Error_string;
        failing_one.iallgather = iallgather;
        failing_one.iallgatherv = iallgatherv;
        failing_one.iprobe = PMPI_Iprobe;
        failing_one.irecv = irecv;
        failing_one.isend = isend;
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
    int ranks = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (ranks == 2) {
        for (const Call call : {Call::irecv, Call::isend, Call::iallgather, Call::iallgatherv}) {
            refuse(call);
        }
        end_after_a_failure();
        gather_with_and_without_memory();
    } else {
        fail_in(Call::iallgather);
        fail_in(Call::iallgatherv);
        fail_between_two();
    }
    MPI_Finalize();
    return 0;
}
