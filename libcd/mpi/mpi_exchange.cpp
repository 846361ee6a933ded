// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "mpi/mpi_exchange.h"

#include "base/no_throw.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <climits>
#include <numeric>
#include <thread>

namespace cd::mpi {
namespace {

using redset::Bytes;

constexpr int tag = 1;
constexpr int called_off = 2;                       // the tag of a message that calls it off
constexpr size_t longest_message = size_t{1} << 30; // MPI counts with int

// Fails if another rank has called the operation off. Its message stays: nothing else is received
// with that tag.
Status check_called_off(MPI_Comm comm, const char *what) {
    int arrived = 0;
    const int code = own().iprobe(MPI_ANY_SOURCE, called_off, comm, &arrived, MPI_STATUS_IGNORE);
    if (Status status = outcome(code, what); !status || arrived == 0) {
        return status;
    }
    return fail(CD_ERROR_STORE_IO,
                "MPI cannot %s: it has failed in another rank, which called it off", what);
}

// Tells the other ranks of comm, as far as MPI still can, not to wait for this rank any more.
void call_off(MPI_Comm comm) {
    int self = 0;
    int members = 0;
    own().comm_rank(comm, &self);
    own().comm_size(comm, &members);
    for (int peer = 0; peer < members; ++peer) {
        MPI_Request request = MPI_REQUEST_NULL;
        if (peer != self &&
            own().isend(nullptr, 0, MPI_BYTE, peer, called_off, comm, &request) == MPI_SUCCESS) {
            own().request_free(&request);
        }
    }
}

} // namespace

Status MpiExchange::make(MPI_Comm whole, int color, int key,
                         std::unique_ptr<MpiExchange> &exchange) {
    MPI_Comm comm = MPI_COMM_NULL;
    if (Status status = outcome(own().comm_split(whole, color, key, &comm), "split a communicator");
        !status) {
        return status;
    }
    Status status =
        outcome(own().comm_set_errhandler(comm, MPI_ERRORS_RETURN), "set an error handler");
    status =
        status ? catch_exceptions([&] { exchange = std::make_unique<MpiExchange>(comm); }) : status;
    if (!status) {
        call_off(comm);
    }
    return status;
}

MpiExchange::MpiExchange(MPI_Comm comm) : comm_(comm) {
    own().comm_size(comm, &members_);
    own().comm_rank(comm, &self_);
}

// All ranks free the communicator, or none does: MPI uses its number again, and what a rank calls
// off here would arrive there.
MpiExchange::~MpiExchange() {
    const SavedMessage keeper;
    for (MPI_Request &request : requests_) {
        if (request != MPI_REQUEST_NULL && is_usable()) {
            own().cancel(&request);
            own().request_free(&request);
        }
    }
    std::vector<Bytes> none;
    if (MpiExchange::gather({}, none)) {
        own().comm_free(&comm_);
    }
}

// Runs action(), whose failure ends the exchange.
template <typename Action> Status MpiExchange::unless_failed(const Action &action) {
    if (!is_usable()) {
        return fail(CD_ERROR_ARGUMENT,
                    "MPI has ended, and the ranks cannot meet any more: advance and commit roots "
                    "with redundancy before MPI_Finalize");
    }
    if (failed_) {
        return fail(CD_ERROR_STORE_IO, "an earlier exchange between the ranks failed half-way");
    }
    Status status = catch_exceptions(action);
    if (!status) {
        failed_ = true;
        call_off(comm_);
    }
    return status;
}

// Yields at first, and sleeps later: MPI's own waiting may keep the processor from the ranks that
// are waited for.
Status MpiExchange::wait_for(std::span<MPI_Request> requests, const char *what) const {
    constexpr int looks_before_sleep = 50;
    constexpr std::chrono::microseconds sleep{50};
    constexpr int looks_after_call_off = 200; // a rank may fail after this call has succeeded in it
    for (int looks = 1, refusals = 0;; ++looks) {
        int done = 0;
        const int code = own().testall(static_cast<int>(requests.size()), requests.data(), &done,
                                       MPI_STATUSES_IGNORE);
        if (Status status = outcome(code, what); !status || done != 0) {
            return status;
        }
        if (looks < looks_before_sleep) {
            std::this_thread::yield();
            continue;
        }
        Status status = check_called_off(comm_, what);
        if (!status && ++refusals > looks_after_call_off) {
            return status;
        }
        std::this_thread::sleep_for(sleep);
    }
}

// The buffers that MPI uses while ranks gather bytes.
struct MpiExchange::Gathering {
    // Sent by a member in the first call: all of its bytes, if they are few.
    struct Part {
        unsigned long long size = 0;
        std::array<std::byte, 56> bytes = {};
    };

    Gathering(std::span<const std::byte> bytes, int members)
        : sent(bytes.begin(), bytes.end()), parts(static_cast<size_t>(members)) {
        own.size = bytes.size();
        std::ranges::copy(bytes.first(std::min(bytes.size(), own.bytes.size())), own.bytes.begin());
    }

    Bytes sent;
    Part own;
    std::vector<Part> parts; // by member
    std::vector<int> lengths;
    std::vector<int> offsets;
    Bytes together; // for the second call
    std::vector<Bytes> all;
};

Status MpiExchange::gather(std::span<const std::byte> own_bytes, std::vector<Bytes> &all) {
    return unless_failed([&] {
        auto buffers = std::make_unique<Gathering>(own_bytes, members_);
        Status status = gather_into(*buffers);
        if (status) {
            all = std::move(buffers->all);
        } else {
            (void)buffers.release(); // MPI has them
        }
        return status;
    });
}

// Makes one collective call where all members have few bytes, else a second one.
Status MpiExchange::gather_into(Gathering &buffers) const {
    MPI_Request request = MPI_REQUEST_NULL;
    constexpr int part_size = sizeof buffers.own;
    Status status =
        outcome(own().iallgather(&buffers.own, part_size, MPI_BYTE, buffers.parts.data(), part_size,
                                 MPI_BYTE, comm_, &request),
                "gather sizes");
    status = status ? wait_for({&request, 1}, "gather sizes") : status;
    if (!status) {
        return status;
    }
    unsigned long long total = 0;
    bool is_short = true;
    for (const auto &[size, bytes] : buffers.parts) {
        total += size;
        is_short = is_short && size <= bytes.size();
    }
    if (total > INT_MAX) {
        return fail(CD_ERROR_STORE_IO,
                    "%d ranks exchange %llu bytes at once, and MPI takes at most %d", members_,
                    total, INT_MAX);
    }
    if (is_short) {
        for (const auto &[size, bytes] : buffers.parts) {
            buffers.all.emplace_back(bytes.begin(),
                                     bytes.begin() + static_cast<std::ptrdiff_t>(size));
        }
        return status;
    }
    for (const auto &[size, bytes] : buffers.parts) {
        buffers.lengths.push_back(static_cast<int>(size));
    }
    buffers.offsets.resize(buffers.lengths.size());
    std::exclusive_scan(buffers.lengths.begin(), buffers.lengths.end(), buffers.offsets.begin(), 0);
    buffers.together.resize(total);
    status = outcome(own().iallgatherv(buffers.sent.data(), static_cast<int>(buffers.sent.size()),
                                       MPI_BYTE, buffers.together.data(), buffers.lengths.data(),
                                       buffers.offsets.data(), MPI_BYTE, comm_, &request),
                     "gather the bytes of the ranks");
    status = status ? wait_for({&request, 1}, "gather the bytes of the ranks") : status;
    for (size_t member = 0; status && member < buffers.parts.size(); ++member) {
        const auto begin = buffers.together.begin() + buffers.offsets[member];
        buffers.all.emplace_back(begin, begin + buffers.lengths[member]);
    }
    return status;
}

// Starts receives before sends.
Status MpiExchange::start(std::span<const Message> outgoing, std::span<const Message> incoming) {
    const auto begin = [this](const Message &message, const auto &begin_part) {
        for (size_t at = 0; at < message.bytes.size(); at += longest_message) {
            const size_t length = std::min(longest_message, message.bytes.size() - at);
            MPI_Request request = MPI_REQUEST_NULL;
            if (Status status =
                    outcome(begin_part(message.bytes.data() + at, static_cast<int>(length),
                                       MPI_BYTE, message.peer, tag, comm_, &request),
                            "begin to send or receive");
                !status) {
                return status;
            }
            requests_.push_back(request);
        }
        return Status::ok();
    };
    return unless_failed([&] {
        for (const Message &message : incoming) {
            if (Status status = begin(message, own().irecv); !status) {
                return status;
            }
        }
        for (const Message &message : outgoing) {
            if (Status status = begin(message, own().isend); !status) {
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
        return outcome(code, "send and receive");
    });
}

Status MpiExchange::finish() {
    return unless_failed([&] {
        Status status = wait_for(requests_, "send and receive");
        if (status) {
            requests_.clear();
        }
        return status;
    });
}

} // namespace cd::mpi
