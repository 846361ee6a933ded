// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "mpi/mpi_exchange.h"

#include "base/no_throw.h"

#include <algorithm>
#include <array>
#include <climits>
#include <functional>
#include <numeric>
#include <thread>

namespace cd::mpi {
namespace {

using redset::Bytes;

constexpr int tag = 1;
constexpr size_t longest_message = size_t{1} << 30; // MPI counts with int
constexpr int looks_before_sleep = 50;
constexpr std::chrono::microseconds sleep{50};
constexpr int called_off = 2; // the tag of a message that says so

// Yields at first, and sleeps later.
class Pause {
public:
    bool is_long() const { return looks_ == looks_before_sleep; }
    void make() {
        if (is_long()) {
            std::this_thread::sleep_for(sleep);
        } else {
            ++looks_;
            std::this_thread::yield();
        }
    }

private:
    int looks_ = 1;
};

// Fails if another rank has called the operation off. Its message stays: nothing else is received
// on that communicator.
Status check_called_off(MPI_Comm comm, const char *what) {
    int arrived = 0;
    if (Status status = outcome(
            own().iprobe(MPI_ANY_SOURCE, called_off, comm, &arrived, MPI_STATUS_IGNORE), what);
        !status) {
        return status;
    }
    return arrived == 0
               ? Status::ok()
               : fail(CD_ERROR_STORE_IO,
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

Status started(MPI_Comm comm, int code, const char *what) {
    Status status = outcome(code, what);
    if (!status) {
        call_off(comm);
    }
    return status;
}

Status wait_for(MPI_Comm comm, std::span<MPI_Request> requests, const char *what) {
    int done = 0;
    Pause pause;
    // NOLINTNEXTLINE(bugprone-infinite-loop): MPI says when it is done
    while (done == 0) {
        const int code = own().testall(static_cast<int>(requests.size()), requests.data(), &done,
                                       MPI_STATUSES_IGNORE);
        if (Status status = started(comm, code, what); !status) {
            return status;
        }
        if (done == 0 && pause.is_long()) {
            if (Status status = check_called_off(comm, what); !status) {
                return status;
            }
        }
        if (done == 0) {
            pause.make();
        }
    }
    return Status::ok();
}

Status wait_until(std::chrono::steady_clock::time_point deadline, MPI_Request &request,
                  const char *what) {
    int done = 0;
    for (Pause pause; done == 0 && std::chrono::steady_clock::now() < deadline; pause.make()) {
        if (Status status = outcome(own().testall(1, &request, &done, MPI_STATUSES_IGNORE), what);
            !status) {
            return status;
        }
    }
    return Status::ok();
}

Communicator::~Communicator() {
    if (comm_ != MPI_COMM_NULL && is_usable()) {
        own().comm_free(&comm_);
    }
}

Status Communicator::split(MPI_Comm whole, int color, int key, Communicator &part) {
    Communicator made;
    if (Status status =
            outcome(own().comm_split(whole, color, key, &made.comm_), "split a communicator");
        !status) {
        return status;
    }
    part = std::move(made);
    return outcome(own().comm_set_errhandler(part.comm_, MPI_ERRORS_RETURN),
                   "set an error handler");
}

Status Communicator::check_all(Status own_outcome, Tally &tally, Status &all) const {
    tally.own = own_outcome.code();
    // Of several failures any will do.
    const auto find_largest = [&](MPI_Request &request) {
        return own().iallreduce(&tally.own, &tally.largest, 1, MPI_INT, MPI_MAX, comm_, &request);
    };
    if (Status status = together(comm_, find_largest, "find out whether all can go on"); !status) {
        return status;
    }
    const int largest = tally.largest;
    all = largest == CD_ERROR_NONE || !own_outcome
              ? own_outcome
              : fail(static_cast<cd_error>(largest), "another rank: %s", describe(largest));
    return Status::ok();
}

int Communicator::size() const {
    int size = 0;
    own().comm_size(comm_, &size);
    return size;
}

int Communicator::rank() const {
    int rank = 0;
    own().comm_rank(comm_, &rank);
    return rank;
}

Status MpiExchange::make(MPI_Comm whole, int color, int key,
                         std::unique_ptr<MpiExchange> &exchange) {
    // For where there is no memory. MPI may write to it as long as the thread lives.
    static thread_local Communicator::Tally spare;
    Communicator part;
    if (Status status = Communicator::split(whole, color, key, part); !status) {
        return status;
    }
    std::unique_ptr<MpiExchange> made;
    Status ready = catch_exceptions([&] { made = std::make_unique<MpiExchange>(part); });
    if (made == nullptr) {
        Status all;
        Status met = part.check_all(ready, spare, all);
        if (!met) {
            part.abandon();
        }
        return met ? all : met;
    }
    Status status = made->check_all(ready);
    if (status) {
        exchange = std::move(made);
    }
    return status;
}

// What one member sends in the first gather: all of its bytes, if they are few.
struct MpiExchange::Outcome {
    unsigned long long size = 0;
    int code = CD_ERROR_NONE; // no memory for short outcomes of all
    std::array<std::byte, 56> bytes = {};

    Outcome() = default;
    Outcome(std::span<const std::byte> all, Status ready) : size(all.size()), code(ready.code()) {
        std::ranges::copy(all.first(std::min(all.size(), bytes.size())), bytes.begin());
    }
    bool is_short() const { return size <= bytes.size(); }
};

struct MpiExchange::Buffers {
    explicit Buffers(size_t members) : outcomes(members) {}

    Communicator::Tally tally;
    Outcome own;
    std::vector<Outcome> outcomes; // by member
};

MpiExchange::MpiExchange(Communicator &communicator)
    : members_(communicator.size()), self_(communicator.rank()),
      buffers_(std::make_unique<Buffers>(static_cast<size_t>(members_))) {
    communicator_ = std::move(communicator);
}

// All ranks free the communicator, or none does: MPI uses its number again, and what a rank calls
// off here would arrive there.
MpiExchange::~MpiExchange() {
    const SavedMessage keeper;
    give_up();
    if (is_usable() && !check_all(Status::ok())) {
        communicator_.abandon();
    }
}

// The buffers of a long gather.
struct MpiExchange::Gathering {
    Bytes own;
    std::vector<int> lengths;
    std::vector<int> offsets;
    Bytes together;
    std::vector<Bytes> apart;

    Gathering(std::span<const std::byte> own_bytes, const std::vector<Outcome> &outcomes)
        : own(own_bytes.begin(), own_bytes.end()), offsets(outcomes.size()),
          apart(outcomes.size()) {
        for (size_t member = 0; member < apart.size(); ++member) {
            lengths.push_back(static_cast<int>(outcomes[member].size));
            apart[member].resize(outcomes[member].size);
        }
        std::exclusive_scan(lengths.begin(), lengths.end(), offsets.begin(), 0);
        together.resize(static_cast<size_t>(std::reduce(lengths.begin(), lengths.end())));
    }

    void take_apart() {
        for (size_t member = 0; member < apart.size(); ++member) {
            std::copy_n(together.begin() + offsets[member], lengths[member], apart[member].begin());
        }
    }
};

// Runs action(), which fails only where MPI does.
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

template <typename Collective> Status MpiExchange::with_buffers(const Collective &collective) {
    return unless_failed([&] {
        Status status = collective(*buffers_);
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

// One collective call where all members have few bytes. Else all make sure of their memory first,
// so that the second call cannot fail in one of them alone.
Status MpiExchange::gather(std::span<const std::byte> own_bytes, std::vector<Bytes> &all) {
    std::vector<Bytes> gathered;
    Status ready = catch_exceptions([&] {
        gathered.assign(static_cast<size_t>(members_), Bytes(Outcome().bytes.size()));
        return Status::ok();
    });
    if (Status status = gather_outcomes(own_bytes, ready); !status) {
        return status;
    }
    const std::vector<Outcome> &outcomes = buffers_->outcomes;
    if (!std::ranges::all_of(outcomes, &Outcome::is_short)) {
        return gather_long(own_bytes, all);
    }
    for (size_t member = 0; member < outcomes.size(); ++member) {
        gathered[member].resize(outcomes[member].size);
        std::copy_n(outcomes[member].bytes.begin(), outcomes[member].size,
                    gathered[member].begin());
    }
    all = std::move(gathered);
    return Status::ok();
}

Status MpiExchange::gather_outcomes(std::span<const std::byte> own_bytes, Status ready) {
    const auto tell = [&](Buffers &buffers) {
        buffers.own = Outcome(own_bytes, ready);
        return together(
            communicator_.get(),
            [&](MPI_Request &request) { return start_gather(buffers, request); }, "gather sizes");
    };
    if (Status status = with_buffers(tell); !status) {
        return status;
    }
    const auto lacking = std::ranges::find_if(
        buffers_->outcomes, [](const Outcome &each) { return each.code != CD_ERROR_NONE; });
    return lacking == buffers_->outcomes.end() || !ready
               ? ready
               : fail(static_cast<cd_error>(lacking->code), "another rank: %s",
                      describe(lacking->code));
}

int MpiExchange::start_gather(Buffers &buffers, MPI_Request &request) {
    return own().iallgather(&buffers.own, sizeof buffers.own, MPI_BYTE, buffers.outcomes.data(),
                            sizeof buffers.own, MPI_BYTE, communicator_.get(), &request);
}

// The sizes of all are known.
Status MpiExchange::gather_long(std::span<const std::byte> own_bytes, std::vector<Bytes> &all) {
    const MPI_Comm comm = communicator_.get();
    const std::vector<Outcome> &outcomes = buffers_->outcomes;
    const unsigned long long total =
        std::transform_reduce(outcomes.begin(), outcomes.end(), 0ULL, std::plus<>(),
                              [](const Outcome &each) { return each.size; });
    if (total > INT_MAX) {
        return fail(CD_ERROR_STORE_IO,
                    "%d ranks want to tell each other %llu bytes, and MPI takes %d at a time",
                    members_, total, INT_MAX);
    }
    std::unique_ptr<Gathering> gathering;
    Status ready =
        catch_exceptions([&] { gathering = std::make_unique<Gathering>(own_bytes, outcomes); });
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
        if (Status status = started(communicator_.get(),
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

// Starts receives before sends.
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
        return started(communicator_.get(), code, "send and receive");
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

// Cancels what is under way.
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
