// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "mpi/mpi_exchange.h"

#include "base/attempt.h"
#include "mpi/waiting.h"

#include <algorithm>
#include <climits>
#include <numeric>

namespace cd::mpi {
namespace {

using redset::Bytes;

constexpr int tag = 1;
constexpr size_t longest_message = size_t{1} << 30; // MPI counts with int

} // namespace

struct MpiExchange::Buffers {
    explicit Buffers(size_t members) : sizes(members) {}

    Communicator::Tally tally;
    unsigned long long own_size = 0;
    std::vector<unsigned long long> sizes; // of what members tell
};

MpiExchange::MpiExchange(Communicator &communicator)
    : members_(communicator.size()), self_(communicator.rank()),
      buffers_(std::make_unique<Buffers>(static_cast<size_t>(members_))) {
    communicator_ = std::move(communicator);
}

// All free the communicator, or none does: MPI gives its number to another one, where what one rank
// calls off in this one would arrive.
MpiExchange::~MpiExchange() {
    const MessageKeeper keeper;
    give_up();
    if (is_usable() && !check_all(Status::ok())) {
        communicator_.abandon();
    }
}

// What members tell each other, its lengths, and where it all goes.
struct MpiExchange::Gathering {
    Bytes own;
    std::vector<int> lengths;
    std::vector<int> offsets;
    Bytes together;
    std::vector<Bytes> apart;

    Gathering(std::span<const std::byte> own_bytes, const std::vector<unsigned long long> &sizes)
        : own(own_bytes.begin(), own_bytes.end()), lengths(sizes.begin(), sizes.end()),
          offsets(sizes.size()), together(std::reduce(sizes.begin(), sizes.end())),
          apart(sizes.size()) {
        std::exclusive_scan(lengths.begin(), lengths.end(), offsets.begin(), 0);
        for (size_t member = 0; member < apart.size(); ++member) {
            apart[member].resize(static_cast<size_t>(lengths[member]));
        }
    }

    void take_apart() {
        for (size_t member = 0; member < apart.size(); ++member) {
            std::copy_n(together.begin() + offsets[member], lengths[member], apart[member].begin());
        }
    }
};

// A failure of action() is one of MPI.
template <typename Action> Status MpiExchange::unless_failed(const Action &action) {
    if (!is_usable()) {
        return fail(CD_ERROR_ARGUMENT,
                    "MPI has ended, and the ranks cannot meet any more: advance and commit roots "
                    "with redundancy before MPI_Finalize");
    }
    if (failed_) {
        return fail(CD_ERROR_STORE_IO, "an earlier exchange between the ranks failed half-way");
    }
    Status status = action();
    failed_ = !status;
    return status;
}

template <typename Together> Status MpiExchange::with_buffers(const Together &do_together) {
    return unless_failed([&] {
        Status status = do_together(*buffers_);
        if (!status) {
            (void)buffers_.release(); // MPI has them
        }
        return status;
    });
}

Status MpiExchange::check_all(Status own_outcome) {
    Status all;
    Status met = with_buffers(
        [&](Buffers &buffers) { return communicator_.check_all(own_outcome, buffers.tally, all); });
    return met ? all : met;
}

// When all have the memory the rest cannot fail in one alone.
Status MpiExchange::gather(std::span<const std::byte> own_bytes, std::vector<Bytes> &all) {
    const MPI_Comm comm = communicator_.get();
    const auto gather_sizes = [&](Buffers &buffers) {
        buffers.own_size = static_cast<unsigned long long>(own_bytes.size());
        return together(
            comm,
            [&](MPI_Request &request) {
                return own().iallgather(&buffers.own_size, 1, MPI_UNSIGNED_LONG_LONG,
                                        buffers.sizes.data(), 1, MPI_UNSIGNED_LONG_LONG, comm,
                                        &request);
            },
            "gather sizes");
    };
    if (Status status = with_buffers(gather_sizes); !status) {
        return status;
    }
    const auto &sizes = buffers_->sizes;
    const unsigned long long total = std::reduce(sizes.begin(), sizes.end());
    if (total > INT_MAX) {
        return fail(CD_ERROR_STORE_IO,
                    "%d ranks want to tell each other %llu bytes, and MPI takes %d at a time",
                    members_, total, INT_MAX);
    }
    std::unique_ptr<Gathering> gathering;
    Status ready = attempt([&] { gathering = std::make_unique<Gathering>(own_bytes, sizes); });
    if (Status status = check_all(ready); !status) {
        return status;
    }
    const auto gather_bytes = [&](Buffers &) {
        return together(
            comm,
            [&](MPI_Request &request) {
                return own().iallgatherv(gathering->own.data(),
                                         static_cast<int>(gathering->own.size()), MPI_BYTE,
                                         gathering->together.data(), gathering->lengths.data(),
                                         gathering->offsets.data(), MPI_BYTE, comm, &request);
            },
            "gather what ranks tell");
    };
    if (Status status = with_buffers(gather_bytes); !status) {
        (void)gathering.release();
        return status;
    }
    gathering->take_apart();
    all = std::move(gathering->apart);
    return Status::ok();
}

void MpiExchange::reserve(size_t messages) { requests_.reserve(2 * messages); }

template <typename Begin>
Status MpiExchange::begin(const Message &message, const Begin &begin_part) {
    for (size_t at = 0; at < message.bytes.size(); at += longest_message) {
        const size_t length = std::min(longest_message, message.bytes.size() - at);
        MPI_Request request = MPI_REQUEST_NULL;
        if (Status status = begun(communicator_.get(),
                                  begin_part(message.bytes.data() + at, static_cast<int>(length),
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
    return unless_failed([&] {
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
    });
}

Status MpiExchange::get_on() {
    return unless_failed([&] {
        int done = 0;
        const int code = own().testall(static_cast<int>(requests_.size()), requests_.data(), &done,
                                       MPI_STATUSES_IGNORE);
        return begun(communicator_.get(), code, "send and receive");
    });
}

Status MpiExchange::finish() {
    return unless_failed([&] {
        Status status = wait_for(communicator_.get(), requests_, "send and receive");
        if (status) {
            requests_.clear();
        }
        return status;
    });
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
