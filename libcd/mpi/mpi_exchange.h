// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "mpi/pmpi_table.h"
#include "redset/exchange.h"

#include <memory>
#include <span>
#include <vector>

namespace cd::mpi {

// The ranks of a communicator of our own, as members of an exchange. Where MPI fails in one of
// them, or memory runs out, all later calls fail; buffers that MPI may still write to are never
// freed; and the other ranks get a message to give up, as far as MPI can still send it.
class MpiExchange : public redset::Exchange {
public:
    // All ranks of `whole` call it. Those with the same color get an exchange in the order of their
    // keys. Unlike MPI_Comm_dup it copies no attributes, so that it calls no function of the
    // program. Does not throw.
    static Status make(MPI_Comm whole, int color, int key, std::unique_ptr<MpiExchange> &exchange);

    // Takes over a communicator that returns errors.
    explicit MpiExchange(MPI_Comm comm);
    MpiExchange(const MpiExchange &) = delete;
    MpiExchange &operator=(const MpiExchange &) = delete;
    // Collective, as the other calls, unless MPI has ended.
    ~MpiExchange() override;

    int members() const override { return members_; }
    int self() const override { return self_; }
    Status gather(std::span<const std::byte> own, std::vector<redset::Bytes> &all) override;
    void reserve(size_t messages) override { requests_.reserve(2 * messages); }
    Status start(std::span<const Message> outgoing, std::span<const Message> incoming) override;
    Status get_on() override;
    Status finish() override;

    MPI_Comm communicator() const { return comm_; }

private:
    struct Gathering;
    template <typename Action> Status unless_failed(const Action &action);
    Status wait_for(std::span<MPI_Request> requests, const char *what) const;
    Status gather_into(Gathering &buffers) const;

    MPI_Comm comm_;
    int members_ = 0;
    int self_ = 0;
    bool failed_ = false;
    std::vector<MPI_Request> requests_;
};

} // namespace cd::mpi
