// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// Receives that are older than the CD, and end before it, inside it, or after a restore.
#include "complaints.h"
#include "receives.h"

#include <algorithm>

namespace older_receives {

// A re-execution that waits for another one, or for none, gets neither its data nor its status. The
// log of the CD around has their starts, which a restore of that replays.
HAZARD(receives_from_the_cd_around_are_not_taken_for_each_other) {
    if (world_rank() == 1) {
        send_on_signal(numbers(4, eager), 4);
        send(numbers(5, eager), 0, 5);
        return;
    }
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    Numbers first = numbers(before_anything, eager);
    Numbers second = first;
    Domain around;
    around.keep(first);
    around.keep(second);
    for (const bool again : {false, true}) {
        if (again) {
            around.restore();
        }
        const MPI_Request begun[] = {post_receive(first, 1, 4), post_receive(second, 1, 5)};
        signal(1);
        Domain domain(around.handle());
        domain.keep(first);
        domain.keep(second);
        const auto wait_for_both = [&] {
            MPI_Request requests[] = {begun[0], begun[1]};
            MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
            CHECK(first == numbers(4, eager));
            MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
            CHECK(second == numbers(5, eager));
        };
        wait_for_both();
        for (MPI_Request wrong : {begun[1], MPI_Request(MPI_REQUEST_NULL)}) {
            destroy(first);
            domain.restore();
            MPI_Status status = {};
            status.MPI_TAG = 9;
            const Complaints complaints;
            CHECK(MPI_Wait(&wrong, &status) != MPI_SUCCESS);
            CHECK(status.MPI_TAG == 9);
            CHECK(first == numbers(before_anything, eager));
            domain.restore();
            wait_for_both();
        }
    }
}

// Older than the CD, some completed before it, in every way, so that MPI has used their handles for
// others; the rest is completed inside it.
HAZARD(receives_from_before_the_cd_completed_on_both_sides) {
    constexpr int all = 1500; // more than the logger only notes, and one call below is given
    constexpr int before = 6;
    if (world_rank() == 1) {
        for (int i = 0; i < all; ++i) {
            if (i == 0 || i == before || i == before + 1) {
                await(0);
            }
            send(numbers(i, eager), 0, i);
        }
        return;
    }
    std::vector<Numbers> buffers(all, numbers(before_anything, eager));
    std::vector<MPI_Request> requests(all);
    for (int i = 0; i < all; ++i) {
        requests[i] = post_receive(buffers[i], 1, i);
    }
    signal(1);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    MPI_Waitall(2, &requests[0], MPI_STATUSES_IGNORE); // one of which has ended before
    int some = 0;
    std::vector<int> indices(all);
    MPI_Waitsome(1, &requests[2], &some, indices.data(), MPI_STATUSES_IGNORE);
    int flag = 0;
    while (!flag) {
        MPI_Testall(2, &requests[3], &flag, MPI_STATUSES_IGNORE);
    }
    int index = 0;
    MPI_Waitany(all - before, &requests[before - 1], &index, MPI_STATUS_IGNORE);
    CHECK(index == 0);
    // Sends and a receive that may have handles of those.
    std::vector<MPI_Request> others(3);
    Numbers own = numbers(before_anything, eager);
    MPI_Irecv(own.data(), eager, MPI_INT, 0, 77, MPI_COMM_WORLD, &others[0]);
    for (int i = 1; i < 3; ++i) {
        MPI_Isend(buffers[i].data(), eager, MPI_INT, 0, 76 + i, MPI_COMM_WORLD, &others[i]);
    }
    Numbers last = numbers(before_anything, eager);
    MPI_Recv(last.data(), eager, MPI_INT, 0, 78, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK(last == numbers(2, eager));
    signal(1);
    MPI_Wait(&requests[before], MPI_STATUS_IGNORE); // while others are under way
    for (int i = 0; i <= before; ++i) {
        CHECK(requests[i] == MPI_REQUEST_NULL && buffers[i] == numbers(i, eager));
    }

    Domain domain;
    for (Numbers &buffer : buffers) {
        domain.keep(buffer);
    }
    domain.keep(own);
    const cd_addrspec handles[] = {
        {requests.data(), requests.size() * sizeof requests[0], READ_WRITE, GLOBAL},
        {others.data(), others.size() * sizeof others[0], READ_WRITE, GLOBAL}};
    CHECK(add_to_cd_via_copy(domain.handle(), handles, 2) == SUCCESS);
    const auto complete = [&] {
        signal(1);
        MPI_Waitall(3, others.data(), MPI_STATUSES_IGNORE);
        MPI_Waitall(all, requests.data(), MPI_STATUSES_IGNORE);
        CHECK(own == numbers(1, eager));
        for (int i = 0; i < all; ++i) {
            CHECK(buffers[i] == numbers(i, eager));
        }
    };
    complete();
    for (int i = 0; i < 2; ++i) {
        std::for_each(buffers.begin(), buffers.end(), destroy);
        destroy(own);
        domain.restore();
        CHECK(buffers.back() == numbers(before_anything, eager));
        complete();
    }
}

// The program is told of it, and has the data, before it completes the request.
HAZARD(receive_from_before_the_cd_asked_for_inside) {
    if (world_rank() == 1) {
        send(numbers(4, eager), 0, 5);
        signal(0);
        return;
    }
    Numbers buffer = numbers(before_anything, eager);
    const MPI_Request posted = post_receive(buffer, 1, 5);
    await(1);
    Domain domain;
    for (int i = 0; i < 3; ++i) {
        MPI_Request request = posted;
        MPI_Status status;
        int complete = 0;
        while (complete == 0) {
            MPI_Request_get_status(request, &complete, &status);
        }
        CHECK(tells(status, 1, 5, eager));
        CHECK(buffer == numbers(4, eager));
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        CHECK(buffer == numbers(4, eager));
        if (i < 2) {
            domain.restore();
            destroy(buffer);
        }
    }
}

HAZARD(restore_is_refused_between_get_status_and_wait) {
    if (world_rank() == 1) {
        send(numbers(4, eager), 0, 5);
        return;
    }
    Numbers buffer = numbers(before_anything, eager);
    MPI_Request request = post_receive(buffer, 1, 5);
    Domain domain;
    domain.keep(buffer);
    for (int complete = 0; complete == 0;) {
        MPI_Request_get_status(request, &complete, MPI_STATUS_IGNORE);
    }
    CHECK(restore_cd(domain.handle()) != SUCCESS);
    CHECK(buffer == numbers(4, eager));
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

} // namespace older_receives
