// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "mpi/pmpi_table.h"
#include "redset/exchange.h"

#include <chrono>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace cd::mpi {

// Waits for the requests, and yields and sleeps meanwhile: MPI's own waiting may keep the processor
// from the ranks that are waited for. Where MPI fails in one rank of comm it fails in all of them.
// what: names the operation in messages.
Status wait_for(MPI_Comm comm, std::span<MPI_Request> requests, const char *what);

// The same on a communicator of the program, where failures stay in this rank. The request may
// still be under way at the deadline.
Status wait_until(std::chrono::steady_clock::time_point deadline, MPI_Request &request,
                  const char *what);

// The outcome of an operation that this rank has started. Calls it off where that has failed.
Status started(MPI_Comm comm, int code, const char *what);

// Starts a collective operation of comm, and waits for it.
template <typename Begin> Status together(MPI_Comm comm, const Begin &begin, const char *what) {
    MPI_Request request = MPI_REQUEST_NULL;
    if (Status status = started(comm, begin(request), what); !status) {
        return status;
    }
    return wait_for(comm, {&request, 1}, what);
}

// A communicator of our own that returns errors. All of its ranks free it, unless MPI has ended.
class Communicator {
public:
    Communicator() = default;
    Communicator(Communicator &&other) noexcept
        : comm_(std::exchange(other.comm_, MPI_COMM_NULL)) {}
    Communicator &operator=(Communicator &&other) noexcept {
        std::swap(comm_, other.comm_);
        return *this;
    }
    ~Communicator();

    // Never frees it. MPI uses the numbers of communicators again, so that messages under way could
    // arrive on another one.
    void abandon() { comm_ = MPI_COMM_NULL; }

    // All ranks of `whole` call it. Unlike MPI_Comm_dup it copies no attributes, so that it calls
    // no function of the program.
    static Status split(MPI_Comm whole, int color, int key, Communicator &part);

    // Buffers of check_all(). MPI may write to them for ever where it fails.
    struct Tally {
        int own = 0;
        int largest = 0;
    };

    // all: this rank's outcome, or the code of another rank's failure. Fails where MPI does.
    Status check_all(Status own, Tally &tally, Status &all) const;

    MPI_Comm get() const { return comm_; }
    int size() const;
    int rank() const;

private:
    MPI_Comm comm_ = MPI_COMM_NULL;
};

// The ranks of a communicator, as members of an exchange. Where MPI fails in one of them, all later
// calls fail, buffers that MPI may still write to are never freed, and the other ranks are told to
// give up, as far as MPI still can.
class MpiExchange : public redset::Exchange {
public:
    // All ranks of `whole` call it. Those with the same color get an exchange in the order of their
    // keys, and one outcome. Does not throw.
    static Status make(MPI_Comm whole, int color, int key, std::unique_ptr<MpiExchange> &exchange);

    // Takes the communicator over, or throws std::bad_alloc.
    explicit MpiExchange(Communicator &communicator);
    // Collective, as the other calls, unless MPI has ended.
    ~MpiExchange() override;

    int members() const override { return members_; }
    int self() const override { return self_; }
    Status gather(std::span<const std::byte> own, std::vector<redset::Bytes> &all) override;
    void reserve(size_t messages) override;
    Status start(std::span<const Message> outgoing, std::span<const Message> incoming) override;
    Status get_on() override;
    Status finish() override;

    const Communicator &communicator() const { return communicator_; }

    // As Communicator::check_all().
    Status check_all(Status own);

private:
    struct Outcome;
    struct Buffers; // of collective operations
    struct Gathering;
    template <typename Collective> Status with_buffers(const Collective &collective);
    template <typename Begin> Status begin(const Message &message, const Begin &begin);
    template <typename Action> Status unless_failed(const Action &action);
    Status gather_outcomes(std::span<const std::byte> own, Status ready);
    int start_gather(Buffers &buffers, MPI_Request &request);
    Status gather_long(std::span<const std::byte> own, std::vector<redset::Bytes> &all);
    void give_up();

    Communicator communicator_;
    const int members_;
    const int self_;
    bool failed_ = false; // MPI has
    std::unique_ptr<Buffers> buffers_;
    std::vector<MPI_Request> requests_;
};

} // namespace cd::mpi
