// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// Receives that are under way when a CD is restored.
#include "receives.h"

namespace pending_receives {

namespace {

// A receive that no message has met at the restore.
void unmatched(size_t count, int source, int tag) {
    if (world_rank() == 1) {
        send_on_signal(numbers(4, count), 5);
        return;
    }
    Numbers buffer = numbers(before_anything, count);
    Domain domain;
    domain.keep(buffer);
    post_receive(buffer, source, tag);
    domain.restore();
    MPI_Request request = post_receive(buffer, source, tag);
    signal(1);
    MPI_Status status;
    MPI_Wait(&request, &status);
    CHECK(buffer == numbers(4, count));
    CHECK(tells(status, 1, 5, count));
}

// A receive whose message has come at the restore, and which nobody has waited for.
void matched(size_t count, int source, int tag) {
    if (world_rank() == 1) {
        await(0);
        const Numbers data = numbers(4, count);
        MPI_Request request = MPI_REQUEST_NULL;
        MPI_Isend(data.data(), static_cast<int>(count), MPI_INT, 0, 5, MPI_COMM_WORLD, &request);
        signal(0);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        return;
    }
    Numbers buffer = numbers(before_anything, count + 3);
    Domain domain;
    domain.keep(buffer);
    const auto until_it_has_come = [&] {
        const MPI_Request request = post_receive(buffer, source, tag);
        signal(1);
        await(1);
        return request;
    };
    until_it_has_come();
    domain.restore();
    until_it_has_come();
    domain.restore(); // its data are kept for a second time
    MPI_Request request = until_it_has_come();
    MPI_Status status;
    MPI_Wait(&request, &status);
    CHECK(tells(status, 1, 5, count));
    CHECK(!was_cancelled(status));
    Numbers expected = numbers(4, count);
    const Numbers untouched = numbers(before_anything, count + 3);
    expected.insert(expected.end(), untouched.end() - 3, untouched.end());
    CHECK(buffer == expected);
}

} // namespace

HAZARD(unmatched_receive_pending) { unmatched(eager, 1, 5); }
HAZARD(unmatched_wildcard_receive_pending) { unmatched(eager, MPI_ANY_SOURCE, MPI_ANY_TAG); }
HAZARD(matched_eager_receive_pending) { matched(eager, 1, 5); }
HAZARD(matched_rendezvous_receive_pending) { matched(rendezvous, 1, 5); }
// Some have their message at the restore, others get it during the replay: none overtakes another.
HAZARD(receives_of_one_tag_keep_their_order) {
    constexpr int all = 8;
    if (world_rank() == 1) {
        await(0);
        for (int i = 0; i < 3; ++i) {
            send(numbers(i, eager), 0, 5);
        }
        signal(0);
        await(0);
        for (int i = 3; i < all; ++i) {
            send(numbers(i, eager), 0, 5);
        }
        return;
    }
    std::vector<Numbers> buffers(all, numbers(before_anything, eager));
    Domain domain;
    for (Numbers &buffer : buffers) {
        domain.keep(buffer);
    }
    std::vector<MPI_Request> requests(all);
    const auto until_some_have_come = [&] {
        for (int i = 0; i < 5; ++i) {
            requests[i] = post_receive(buffers[i], i % 2 == 0 ? 1 : MPI_ANY_SOURCE, 5);
        }
        signal(1);
        await(1);
        for (int i = 5; i < all; ++i) {
            requests[i] = post_receive(buffers[i], 1, 5);
        }
    };
    until_some_have_come();
    domain.restore();
    until_some_have_come();
    domain.restore();
    until_some_have_come();
    signal(1);
    MPI_Waitall(all, requests.data(), MPI_STATUSES_IGNORE);
    for (int i = 0; i < all; ++i) {
        CHECK(buffers[i] == numbers(i, eager));
    }
}

} // namespace pending_receives
