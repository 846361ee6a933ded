// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "checkpoint/job.h"
#include "mpi/communicator.h"
#include "redset/exchange.h"

#include <memory>
#include <span>
#include <vector>

namespace cd::mpi {

// The ranks of a communicator, as members. Where MPI fails in one of them, what it may still write
// to is never freed, all that follows fails, and so do the others, who are told as far as MPI still
// can: who waits for this rank gives up, and who does not yet does when it comes to wait.
class MpiExchange : public redset::Exchange {
public:
    // Takes it over, or throws std::bad_alloc.
    explicit MpiExchange(Communicator &communicator);
    // All members come to it, as to the other calls, unless MPI has ended.
    ~MpiExchange() override;

    int members() const override { return members_; }
    int self() const override { return self_; }
    Status gather(std::span<const std::byte> own, std::vector<redset::Bytes> &all) override;
    void reserve(size_t messages) override;
    Status start(std::span<const Message> outgoing, std::span<const Message> incoming) override;
    Status get_on() override;
    Status finish() override;

    bool has_been_left() const override { return left_; }

    // As Job has it; rank: this one's in the program. A second time nothing is told.
    void begin_to_leave(int rank) noexcept;
    checkpoint::Parting leave() noexcept;

    const Communicator &communicator() const { return communicator_; }

    // As Communicator has it.
    Status check_all(Status own);

private:
    struct Telling;
    struct Buffers; // of what all ranks do together
    struct Gathering;
    template <typename Together> Status with_buffers(const Together &do_together);
    template <typename Begin> Status begin(const Message &message, const Begin &begin);
    template <typename Action> Status unless_failed(const Action &action);
    Status tell_all(std::span<const std::byte> own, Status ready);
    int begin_to_tell(Buffers &buffers, MPI_Request &request);
    const Telling *first_leaver() const;
    Status fail_as_left() const;
    Status gather_long(std::span<const std::byte> own, std::vector<redset::Bytes> &all);
    void give_up();

    Communicator communicator_;
    const int members_;
    const int self_;
    bool failed_ = false; // MPI has
    bool left_ = false;   // by some, while others go on
    bool leaves_ = false; // this rank
    MPI_Request leaving_ = MPI_REQUEST_NULL;
    std::unique_ptr<Buffers> buffers_;
    std::vector<MPI_Request> requests_;
};

} // namespace cd::mpi
