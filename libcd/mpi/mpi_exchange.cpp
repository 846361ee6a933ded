// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "mpi/mpi_exchange.h"

#include "base/no_throw.h"
#include "mpi/waiting.h"

#include <algorithm>
#include <array>
#include <climits>
#include <functional>
#include <numeric>

namespace cd::mpi {
namespace {

using redset::Bytes;

constexpr int tag = 1;
constexpr char tells_the_end[] = "tell others of the end";
constexpr size_t longest_message = size_t{1} << 30; // MPI counts with int

} // namespace

// What one member tells: all of it, if that is short, as outcomes mostly are.
struct MpiExchange::Telling {
    unsigned long long size = 0;
    int code = CD_ERROR_NONE; // that it lacks the memory for what is short
    int leaver = 0;           // 1 + the rank of who tells that it comes to no more meetings
    std::array<std::byte, 56> bytes = {};

    Telling() = default;
    Telling(std::span<const std::byte> all, Status ready) : size(all.size()), code(ready.code()) {
        std::ranges::copy(all.first(std::min(all.size(), bytes.size())), bytes.begin());
    }
    bool is_short() const { return size <= bytes.size(); }
};

struct MpiExchange::Buffers {
    explicit Buffers(size_t members) : told(members) {}

    Communicator::Tally tally;
    Telling own;
    std::vector<Telling> told; // by member
};

MpiExchange::MpiExchange(Communicator &communicator)
    : members_(communicator.size()), self_(communicator.rank()),
      buffers_(std::make_unique<Buffers>(static_cast<size_t>(members_))) {
    communicator_ = std::move(communicator);
}

// All free the communicator, or none does: MPI gives its number to another one, where what one rank
// calls off in this one would arrive.
MpiExchange::~MpiExchange() {
    const SavedMessage keeper;
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

    Gathering(std::span<const std::byte> own_bytes, const std::vector<Telling> &told)
        : own(own_bytes.begin(), own_bytes.end()), offsets(told.size()), apart(told.size()) {
        for (size_t member = 0; member < apart.size(); ++member) {
            lengths.push_back(static_cast<int>(told[member].size));
            apart[member].resize(told[member].size);
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
    if (left_) {
        return fail_as_left();
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

// What is short is with all at once; for more they have to have the memory, and then the rest
// cannot fail in one alone.
Status MpiExchange::gather(std::span<const std::byte> own_bytes, std::vector<Bytes> &all) {
    std::vector<Bytes> heard;
    Status ready = catch_exceptions([&] {
        heard.assign(static_cast<size_t>(members_), Bytes(Telling().bytes.size()));
        return Status::ok();
    });
    if (Status status = tell_all(own_bytes, ready); !status) {
        return status;
    }
    const std::vector<Telling> &told = buffers_->told;
    if (!std::ranges::all_of(told, &Telling::is_short)) {
        return gather_long(own_bytes, all);
    }
    for (size_t member = 0; member < told.size(); ++member) {
        heard[member].resize(told[member].size);
        std::copy_n(told[member].bytes.begin(), told[member].size, heard[member].begin());
    }
    all = std::move(heard);
    return Status::ok();
}

Status MpiExchange::tell_all(std::span<const std::byte> own_bytes, Status ready) {
    const auto tell = [&](Buffers &buffers) {
        buffers.own = Telling(own_bytes, ready);
        return together(
            communicator_.get(),
            [&](MPI_Request &request) { return begin_to_tell(buffers, request); }, "gather sizes");
    };
    if (Status status = with_buffers(tell); !status) {
        return status;
    }
    if (first_leaver() != nullptr) {
        left_ = true;
        return fail_as_left();
    }
    const auto lacking = std::ranges::find_if(
        buffers_->told, [](const Telling &each) { return each.code != CD_ERROR_NONE; });
    return lacking == buffers_->told.end() || !ready
               ? ready
               : fail(static_cast<cd_error>(lacking->code), "another rank: %s",
                      describe(lacking->code));
}

int MpiExchange::begin_to_tell(Buffers &buffers, MPI_Request &request) {
    return own().iallgather(&buffers.own, sizeof buffers.own, MPI_BYTE, buffers.told.data(),
                            sizeof buffers.own, MPI_BYTE, communicator_.get(), &request);
}

// Of those who have been heard.
const MpiExchange::Telling *MpiExchange::first_leaver() const {
    const auto leaves = [](const Telling &each) { return each.leaver != 0; };
    const auto first = std::ranges::find_if(buffers_->told, leaves);
    return first != buffers_->told.end() ? &*first : nullptr;
}

Status MpiExchange::fail_as_left() const {
    return fail(CD_ERROR_ARGUMENT,
                "rank %d has come to MPI_Finalize, and the root cannot be advanced or committed "
                "any more: all its ranks do that together, before any of them ends MPI. What is "
                "protected stays, and a restart finds it",
                first_leaver()->leaver - 1);
}

void MpiExchange::begin_to_leave(int rank) noexcept {
    const SavedMessage keeper;
    if (leaves_) {
        return;
    }
    leaves_ = true;
    (void)with_buffers([&](Buffers &buffers) {
        buffers.own = Telling();
        buffers.own.leaver = rank + 1;
        return begun(communicator_.get(), begin_to_tell(buffers, leaving_), tells_the_end);
    }).is_ok();
}

checkpoint::Parting MpiExchange::leave() noexcept {
    const SavedMessage keeper;
    if (leaving_ == MPI_REQUEST_NULL) {
        return checkpoint::Parting::later;
    }
    Status told = with_buffers([&](Buffers &) {
        return wait_for(communicator_.get(), {&leaving_, 1}, tells_the_end);
    });
    if (!told) {
        return checkpoint::Parting::later;
    }
    const auto leaves = [](const Telling &each) { return each.leaver != 0; };
    left_ = !std::ranges::all_of(buffers_->told, leaves);
    if (!left_) {
        return checkpoint::Parting::together;
    }
    return first_leaver()->leaver == buffers_->own.leaver ? checkpoint::Parting::first
                                                          : checkpoint::Parting::later;
}

// After it is known what size everybody's has.
Status MpiExchange::gather_long(std::span<const std::byte> own_bytes, std::vector<Bytes> &all) {
    const MPI_Comm comm = communicator_.get();
    const std::vector<Telling> &told = buffers_->told;
    const unsigned long long total =
        std::transform_reduce(told.begin(), told.end(), 0ULL, std::plus<>(),
                              [](const Telling &each) { return each.size; });
    if (total > INT_MAX) {
        return fail(CD_ERROR_STORE_IO,
                    "%d ranks want to tell each other %llu bytes, and MPI takes %d at a time",
                    members_, total, INT_MAX);
    }
    std::unique_ptr<Gathering> gathering;
    Status ready =
        catch_exceptions([&] { gathering = std::make_unique<Gathering>(own_bytes, told); });
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
