// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "mpi/mpi_exchange.h"

#include <algorithm>
#include <climits>
#include <numeric>

namespace cd::mpi {
namespace {

using redset::Bytes;

constexpr int tag = 1;
constexpr size_t longest_message = size_t{1} << 30; // MPI counts with int

} // namespace

MpiExchange::MpiExchange(Communicator communicator)
    : communicator_(std::move(communicator)), members_(communicator_.size()),
      self_(communicator_.rank()) {}

MpiExchange::~MpiExchange() { give_up(); }

Status MpiExchange::gather(std::span<const std::byte> own_bytes, std::vector<Bytes> &all) {
    const auto count = static_cast<size_t>(members_);
    const auto own_size = static_cast<unsigned long long>(own_bytes.size());
    std::vector<unsigned long long> sizes(count);
    if (Status status = outcome(own().allgather(&own_size, 1, MPI_UNSIGNED_LONG_LONG, sizes.data(),
                                                1, MPI_UNSIGNED_LONG_LONG, communicator_.get()),
                                "gather sizes");
        !status) {
        return status;
    }
    const unsigned long long total = std::reduce(sizes.begin(), sizes.end());
    if (total > INT_MAX) {
        return fail(CD_ERROR_STORE_IO,
                    "%d ranks want to tell each other %llu bytes, and MPI takes %d at a time",
                    members_, total, INT_MAX);
    }
    std::vector<int> lengths(sizes.begin(), sizes.end());
    std::vector<int> offsets(count);
    std::exclusive_scan(lengths.begin(), lengths.end(), offsets.begin(), 0);
    Bytes together(static_cast<size_t>(total));
    if (Status status = outcome(own().allgatherv(own_bytes.data(), static_cast<int>(own_size),
                                                 MPI_BYTE, together.data(), lengths.data(),
                                                 offsets.data(), MPI_BYTE, communicator_.get()),
                                "gather what ranks tell");
        !status) {
        return status;
    }
    std::vector<Bytes> gathered;
    for (size_t member = 0; member < count; ++member) {
        const auto begin = together.begin() + offsets[member];
        gathered.emplace_back(begin, begin + lengths[member]);
    }
    all = std::move(gathered);
    return Status::ok();
}

template <typename Begin>
Status MpiExchange::begin(const Message &message, const Begin &begin_part) {
    for (size_t at = 0; at < message.bytes.size(); at += longest_message) {
        const size_t length = std::min(longest_message, message.bytes.size() - at);
        MPI_Request request = MPI_REQUEST_NULL;
        if (Status status = outcome(begin_part(message.bytes.data() + at, static_cast<int>(length),
                                               message.peer, request),
                                    "begin to send or receive");
            !status) {
            return status;
        }
        requests_.push_back(request);
    }
    return Status::ok();
}

// Receives first, so that what arrives has its place.
Status MpiExchange::start(std::span<const Message> outgoing, std::span<const Message> incoming) {
    const MPI_Comm comm = communicator_.get();
    const auto receive = [comm](void *to, int length, int peer, MPI_Request &request) {
        return own().irecv(to, length, MPI_BYTE, peer, tag, comm, &request);
    };
    const auto send = [comm](const void *from, int length, int peer, MPI_Request &request) {
        return own().isend(from, length, MPI_BYTE, peer, tag, comm, &request);
    };
    for (const Message &message : incoming) {
        if (Status status = begin(message, receive); !status) {
            return status;
        }
    }
    for (const Message &message : outgoing) {
        if (Status status = begin(message, send); !status) {
            return status;
        }
    }
    return Status::ok();
}

Status MpiExchange::finish() {
    const int code =
        own().waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
    if (Status status = outcome(code, "send and receive"); !status) {
        return status;
    }
    requests_.clear();
    return Status::ok();
}

// Whom these were for is gone.
void MpiExchange::give_up() {
    for (MPI_Request &request : requests_) {
        if (request != MPI_REQUEST_NULL && is_usable()) {
            own().cancel(&request);
            own().request_free(&request);
        }
    }
    requests_.clear();
}

} // namespace cd::mpi
