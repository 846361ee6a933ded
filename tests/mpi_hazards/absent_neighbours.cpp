// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// Operations with nobody (MPI_PROC_NULL) where others have a neighbour: at the ends of a grid, for
// example. What the program has in the place of what would come from there stays.
#include "hazard.h"
#include "window.h"

#include <functional>

namespace absent_neighbours {

namespace {

constexpr int length = eager;

// Two ranks in a row: one has nobody on its left, the other on its right.
class Row {
public:
    Row() {
        const int size = 2;
        const int periodic = 0;
        MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &periodic, 0, &comm);
    }
    Row(const Row &) = delete;
    Row &operator=(const Row &) = delete;
    ~Row() { MPI_Comm_free(&comm); }

    MPI_Comm comm = MPI_COMM_NULL;
};

using Operation = std::function<void(const Numbers &out, Numbers &in, MPI_Comm comm)>;

void wait(MPI_Request request) { MPI_Wait(&request, MPI_STATUS_IGNORE); }

const int counts[] = {length, length};
const int places[] = {0, length};
const MPI_Aint byte_places[] = {0, length * sizeof(int)};
const MPI_Datatype types[] = {MPI_INT, MPI_INT};

const Operation operations[] = {
    [](const Numbers &out, Numbers &in, MPI_Comm comm) {
        MPI_Neighbor_alltoall(out.data(), length, MPI_INT, in.data(), length, MPI_INT, comm);
    },
    [](const Numbers &out, Numbers &in, MPI_Comm comm) {
        MPI_Request request = MPI_REQUEST_NULL;
        MPI_Ineighbor_alltoall(out.data(), length, MPI_INT, in.data(), length, MPI_INT, comm,
                               &request);
        wait(request);
    },
    [](const Numbers &out, Numbers &in, MPI_Comm comm) {
        MPI_Request request = MPI_REQUEST_NULL;
        MPI_Ineighbor_alltoallv(out.data(), counts, places, MPI_INT, in.data(), counts, places,
                                MPI_INT, comm, &request);
        wait(request);
    },
    [](const Numbers &out, Numbers &in, MPI_Comm comm) {
        MPI_Request request = MPI_REQUEST_NULL;
        MPI_Ineighbor_alltoallw(out.data(), counts, byte_places, types, in.data(), counts,
                                byte_places, types, comm, &request);
        wait(request);
    },
};

} // namespace

HAZARD(places_of_absent_neighbours_stay) {
    const Row row;
    // What goes to nobody need not be the same in the re-execution.
    const int there = world_rank() == 0 ? length : 0; // where the other rank's part begins
    Numbers out = numbers(world_rank(), 2 * length);
    Numbers expected = numbers(5, 2 * length);
    const Numbers from_other = numbers(1 - world_rank(), 2 * length);
    for (int i = 0; i < length; ++i) {
        expected[static_cast<size_t>(there + i)] =
            from_other[static_cast<size_t>(length - there + i)];
    }
    int anything = 0;
    for (const Operation &operation : operations) {
        const auto communicate = [&] {
            Numbers in = numbers(5, 2 * length);
            out[static_cast<size_t>(length - there)] = ++anything;
            operation(out, in, row.comm);
            CHECK(in == expected);
        };
        Domain domain;
        communicate();
        if (world_rank() == 0) {
            domain.restore();
            communicate();
        }
    }
}

// A program may leave it as it finds it.
HAZARD(what_goes_to_nobody_may_differ) {
    if (world_rank() == 1) {
        return;
    }
    Numbers sent(eager);
    Numbers received(eager);
    const auto communicate = [&](int seed) {
        sent = numbers(seed, eager);
        MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
        MPI_Send(sent.data(), length, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD);
        MPI_Sendrecv(sent.data(), length, MPI_INT, MPI_PROC_NULL, 1, received.data(), length,
                     MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Isend(sent.data(), length, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &requests[0]);
        MPI_Send_init(sent.data(), length, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &requests[1]);
        MPI_Start(&requests[1]);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        MPI_Request_free(&requests[1]);
    };
    Domain domain;
    communicate(1);
    domain.restore();
    communicate(2);
}

// What goes there may be memory that nobody has ever written.
HAZARD(accesses_to_nobodys_window_change_nothing_and_may_differ) {
    Numbers exposed(eager);
    MPI_Win window = window_over(exposed);
    const auto access = [&](int operand) {
        int result = 7;
        const int nobody = MPI_PROC_NULL;
        Numbers in = numbers(5, eager);
        MPI_Request request = MPI_REQUEST_NULL;
        MPI_Win_lock_all(0, window);
        MPI_Rget(in.data(), length, MPI_INT, MPI_PROC_NULL, 0, length, MPI_INT, window, &request);
        wait(request);
        MPI_Get(in.data(), length, MPI_INT, MPI_PROC_NULL, 0, length, MPI_INT, window);
        MPI_Fetch_and_op(&operand, &result, MPI_INT, nobody, 0, MPI_SUM, window);
        MPI_Compare_and_swap(&operand, &operand, &result, MPI_INT, nobody, 0, window);
        MPI_Accumulate(&operand, 1, MPI_INT, nobody, 0, 1, MPI_INT, MPI_SUM, window);
        MPI_Put(&operand, 1, MPI_INT, nobody, 0, 1, MPI_INT, window);
        MPI_Win_unlock_all(window);
        CHECK(result == 7 && in == numbers(5, eager));
    };
    {
        Domain domain;
        access(1);
        if (world_rank() == 0) {
            domain.restore();
            access(2);
        }
    }
    MPI_Win_free(&window);
}

namespace {

using Requests = std::vector<MPI_Request>;

const std::function<void(Requests &)> waits[] = {
    [](Requests &requests) {
        MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
    },
    // MPICH has no more to tell when those with somebody are complete.
    [](Requests &requests) {
        Numbers indices(requests.size());
        for (int count = 0; count != MPI_UNDEFINED;) {
            MPI_Waitsome(static_cast<int>(requests.size()), requests.data(), &count, indices.data(),
                         MPI_STATUSES_IGNORE);
        }
    },
    [](Requests &requests) {
        for (int index = 0, flag = 0; flag == 0 || index != MPI_UNDEFINED;) {
            MPI_Testany(static_cast<int>(requests.size()), requests.data(), &index, &flag,
                        MPI_STATUS_IGNORE);
        }
    },
};

// A rank at the end of a row, with itself for the neighbour that it has.
class EndOfRow {
public:
    explicit EndOfRow(bool starts_at_once) : at_once_(starts_at_once) {}

    void keep(Domain &domain) { domain.keep(out_); }

    // In as many steps as it is told.
    void run(const std::function<void(Requests &)> &wait, int steps) {
        MPI_Recv_init(&in_[0], 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_SELF, &requests_[0]);
        MPI_Send_init(&out_[0], 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_SELF, &requests_[1]);
        MPI_Bsend_init(&out_[0], 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_SELF, &requests_[2]);
        MPI_Recv_init(&in_[1], 1, MPI_INT, 0, 1, MPI_COMM_SELF, &requests_[3]);
        MPI_Send_init(&out_[0], 1, MPI_INT, 0, 1, MPI_COMM_SELF, &requests_[4]);
        for (int use = 0; use < uses; ++use) {
            out_[0] = use;
            if (at_once_) {
                MPI_Startall(static_cast<int>(requests_.size()), requests_.data());
            }
            for (size_t i = 0; i < requests_.size() && !at_once_; ++i) {
                if (steps-- == 0) {
                    return;
                }
                MPI_Start(&requests_[i]);
            }
            if (steps-- == 0) {
                return;
            }
            wait(requests_);
            CHECK((in_ == Numbers{5, use}));
        }
        for (MPI_Request &request : requests_) {
            if (steps-- == 0) {
                return;
            }
            MPI_Request_free(&request);
        }
    }
    static constexpr int uses = 3;
    static constexpr int all_steps = uses * 6 + 5;

private:
    bool at_once_;
    Requests requests_ = Requests(5, MPI_REQUEST_NULL);
    Numbers in_ = {5, 5};
    Numbers out_ = {5};
};

} // namespace

HAZARD(persistent_requests_with_nobody_are_used_again) {
    if (world_rank() == 1) {
        return;
    }
    for (const auto &wait : waits) {
        for (int failure = 1; failure <= EndOfRow::all_steps; ++failure) {
            for (const bool starts_at_once : {false, true}) {
                EndOfRow row(starts_at_once);
                Domain domain;
                row.keep(domain);
                row.run(wait, failure);
                domain.restore();
                row.run(wait, failure - 1); // and in the re-execution
                domain.restore();
                row.run(wait, EndOfRow::all_steps);
            }
        }
    }
}

} // namespace absent_neighbours
