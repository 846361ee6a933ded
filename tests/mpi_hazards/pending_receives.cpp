// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// Receives that are under way when a CD is restored.
#include "hazard.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace {

constexpr int before_anything = 99;

MPI_Request start_receive(Numbers &buffer, int from, int tag) {
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Irecv(buffer.data(), static_cast<int>(buffer.size()), MPI_INT, from, tag, MPI_COMM_WORLD,
              &request);
    return request;
}

bool tells(const MPI_Status &status, int source, int tag, size_t count) {
    int received = 0;
    MPI_Get_count(&status, MPI_INT, &received);
    return status.MPI_SOURCE == source && status.MPI_TAG == tag &&
           received == static_cast<int>(count);
}

bool was_cancelled(const MPI_Status &status) {
    int cancelled = 0;
    MPI_Test_cancelled(&status, &cancelled);
    return cancelled != 0;
}

// A receive that no message has met at the restore.
void unmatched(size_t count, int source, int tag) {
    if (world_rank() == 1) {
        await(0);
        send(numbers(4, count), 0, 5);
        return;
    }
    Numbers buffer = numbers(before_anything, count);
    Domain domain;
    domain.keep(buffer);
    start_receive(buffer, source, tag);
    domain.restore();
    MPI_Request request = start_receive(buffer, source, tag);
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
        const MPI_Request request = start_receive(buffer, source, tag);
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
HAZARD(unmatched_large_receive_pending) { unmatched(rendezvous, 1, 5); }
HAZARD(unmatched_wildcard_receive_pending) { unmatched(eager, MPI_ANY_SOURCE, MPI_ANY_TAG); }
HAZARD(matched_eager_receive_pending) { matched(eager, 1, 5); }
HAZARD(matched_rendezvous_receive_pending) { matched(rendezvous, 1, 5); }
HAZARD(matched_wildcard_receive_pending) { matched(eager, MPI_ANY_SOURCE, MPI_ANY_TAG); }

// The first has its message at the restore, the others have not: none overtakes another.
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
            requests[i] = start_receive(buffers[i], i % 2 == 0 ? 1 : MPI_ANY_SOURCE, 5);
        }
        signal(1);
        await(1);
        for (int i = 5; i < all; ++i) {
            requests[i] = start_receive(buffers[i], 1, 5);
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

// Messages that come between the cancelling and the posting wait in MPI, and meet the receives in
// their order.
HAZARD(messages_that_come_during_the_replay) {
    constexpr int all = 6;
    if (world_rank() == 1) {
        for (int i = 0; i < all; ++i) {
            await(0);
            send(numbers(i, i % 2 == 0 ? eager : rendezvous), 0, 5);
        }
        return;
    }
    std::vector<Numbers> buffers;
    Domain domain;
    for (int i = 0; i < all; ++i) {
        buffers.push_back(numbers(before_anything, i % 2 == 0 ? eager : rendezvous));
    }
    for (Numbers &buffer : buffers) {
        domain.keep(buffer);
    }
    std::vector<MPI_Request> requests(all);
    const auto post_until = [&](int last) {
        for (int i = 0; i < last; ++i) {
            requests[i] = start_receive(buffers[i], 1, 5);
            signal(1);
        }
    };
    for (int i = 1; i < all; ++i) {
        post_until(i);
        domain.restore();
    }
    post_until(all);
    MPI_Waitall(all, requests.data(), MPI_STATUSES_IGNORE);
    for (int i = 0; i < all; ++i) {
        CHECK(buffers[i] == numbers(i, buffers[i].size()));
    }
}

// Older than the CD and pending at the restore: the program holds its handle, and goes on with it.
HAZARD(receive_from_before_the_cd_pending) {
    if (world_rank() == 1) {
        await(0);
        send(numbers(4, eager), 0, 5);
        return;
    }
    Numbers buffer = numbers(before_anything, eager);
    MPI_Request request = start_receive(buffer, MPI_ANY_SOURCE, 5);
    Numbers state = numbers(3, eager);
    Domain domain;
    domain.keep(state);
    int flag = 0;
    MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
    CHECK(!flag);
    domain.restore();
    MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
    CHECK(!flag);
    domain.restore();
    MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
    CHECK(!flag);
    signal(1);
    MPI_Status status;
    MPI_Wait(&request, &status);
    CHECK(request == MPI_REQUEST_NULL);
    CHECK(tells(status, 1, 5, eager));
    CHECK(buffer == numbers(4, eager));
}

// The same with a message that has come, and a buffer that the restore writes.
HAZARD(receive_from_before_the_cd_matched) {
    if (world_rank() == 1) {
        await(0);
        send(numbers(4, eager), 0, 5);
        signal(0);
        return;
    }
    Numbers buffer = numbers(before_anything, eager);
    MPI_Request request = start_receive(buffer, 1, 5);
    Domain domain;
    domain.keep(buffer);
    signal(1);
    await(1);
    domain.restore();
    signal(1);
    await(1);
    MPI_Status status;
    MPI_Wait(&request, &status);
    CHECK(tells(status, 1, 5, eager));
    CHECK(buffer == numbers(4, eager));
}

// Older than the CD and completed inside it: the re-execution completes it again.
HAZARD(receive_from_before_the_cd_completed_inside) {
    if (world_rank() == 1) {
        await(0);
        send(numbers(4, eager), 0, 5);
        return;
    }
    Numbers buffer = numbers(before_anything, eager);
    MPI_Request request = start_receive(buffer, MPI_ANY_SOURCE, MPI_ANY_TAG);
    Domain domain;
    domain.keep(buffer);
    const cd_addrspec handle = {&request, sizeof request, READ_WRITE, GLOBAL};
    CHECK(add_to_cd_via_copy(domain.handle(), handle, 1) == SUCCESS);
    const auto complete = [&] {
        signal(1);
        MPI_Status status;
        MPI_Wait(&request, &status);
        CHECK(request == MPI_REQUEST_NULL);
        CHECK(tells(status, 1, 5, eager));
        CHECK(buffer == numbers(4, eager));
    };
    complete();
    for (int i = 0; i < 3; ++i) {
        destroy(buffer);
        domain.restore();
        CHECK(buffer == numbers(before_anything, eager));
        CHECK(request != MPI_REQUEST_NULL);
        complete();
    }
}

// Older than the CD, some completed before it, in every way, so that MPI has used their handles for
// others; the rest is completed inside it.
HAZARD(receives_from_before_the_cd_completed_on_both_sides) {
    constexpr int all = 24; // more than one call of those below is given
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
        requests[i] = start_receive(buffers[i], 1, i);
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

// A persistent receive: active at the restore, and with a message.
HAZARD(persistent_receive_pending) {
    if (world_rank() == 1) {
        await(0);
        send(numbers(4, eager), 0, 5);
        await(0);
        send(numbers(6, eager), 0, 5);
        signal(0);
        return;
    }
    Numbers buffer = numbers(before_anything, eager);
    Domain domain;
    domain.keep(buffer);
    MPI_Request request = MPI_REQUEST_NULL;
    const auto init = [&] {
        MPI_Recv_init(buffer.data(), static_cast<int>(eager), MPI_INT, MPI_ANY_SOURCE, 5,
                      MPI_COMM_WORLD, &request);
        MPI_Start(&request);
    };
    init();
    domain.restore(); // cancelled, posted again
    const auto first = [&] {
        init();
        signal(1);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        CHECK(request != MPI_REQUEST_NULL);
        CHECK(buffer == numbers(4, eager));
    };
    first();
    destroy(buffer);
    domain.restore();
    const auto second = [&] {
        first();
        MPI_Start(&request);
        signal(1);
        await(1);
    };
    second();
    domain.restore(); // its message has come
    second();
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(buffer == numbers(6, eager));
    MPI_Request_free(&request);
}

// The program has cancelled it; the re-execution does, too.
HAZARD(cancelled_receive) {
    if (world_rank() == 1) {
        await(0);
        send(numbers(4, eager), 0, 5);
        return;
    }
    Numbers buffer = numbers(before_anything, eager);
    Domain domain;
    domain.keep(buffer);
    const auto cancel = [&] {
        MPI_Request request = start_receive(buffer, 1, 5);
        MPI_Cancel(&request);
        MPI_Status status;
        MPI_Wait(&request, &status);
        CHECK(was_cancelled(status));
        CHECK(buffer == numbers(before_anything, eager));
    };
    cancel();
    domain.restore();
    cancel();
    MPI_Request request = start_receive(buffer, 1, 5);
    MPI_Cancel(&request);
    domain.restore();
    cancel();
    request = start_receive(buffer, 1, 5);
    MPI_Cancel(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    signal(1);
    CHECK(receive(eager, 1, 5) == numbers(4, eager));
}

// A message that a matched probe has taken out of the queue.
HAZARD(matched_probe_pending) {
    if (world_rank() == 1) {
        send(numbers(4, rendezvous), 0, 5);
        return;
    }
    Numbers buffer = numbers(before_anything, rendezvous);
    Domain domain;
    domain.keep(buffer);
    MPI_Message message = MPI_MESSAGE_NULL;
    const auto probe = [&] {
        MPI_Status status;
        MPI_Mprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &message, &status);
        CHECK(tells(status, 1, 5, rendezvous));
    };
    probe();
    domain.restore();
    probe();
    const auto start = [&] {
        MPI_Request request = MPI_REQUEST_NULL;
        MPI_Imrecv(buffer.data(), static_cast<int>(rendezvous), MPI_INT, &message, &request);
        return request;
    };
    start();
    domain.restore();
    probe();
    MPI_Request request = start();
    MPI_Status status;
    MPI_Wait(&request, &status);
    CHECK(tells(status, 1, 5, rendezvous));
    CHECK(buffer == numbers(4, rendezvous));
    destroy(buffer);
    domain.restore();
    probe();
    request = start();
    MPI_Wait(&request, &status);
    CHECK(tells(status, 1, 5, rendezvous));
    CHECK(buffer == numbers(4, rendezvous));
}

HAZARD(program_changes_what_get_status_has_brought) {
    if (world_rank() == 1) {
        send(numbers(4, eager), 0, 5);
        return;
    }
    Numbers buffer = numbers(before_anything, eager);
    Domain domain;
    domain.keep(buffer);
    const auto take = [&] {
        MPI_Message message = MPI_MESSAGE_NULL;
        MPI_Request request = MPI_REQUEST_NULL;
        MPI_Mprobe(1, 5, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
        MPI_Imrecv(buffer.data(), eager, MPI_INT, &message, &request);
        for (int complete = 0; !complete;) {
            MPI_Request_get_status(request, &complete, MPI_STATUS_IGNORE);
        }
        Numbers expected = numbers(4, eager);
        CHECK(buffer == expected);
        buffer[3] = expected[3] = 42;
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        CHECK(buffer == expected);
    };
    take();
    for (int i = 0; i < 2; ++i) {
        destroy(buffer);
        domain.restore();
        take();
    }
}

// The log ends between the two: what the program has from the log, it does not get again from MPI.
HAZARD(program_changes_what_get_status_has_brought_and_is_restored) {
    if (world_rank() == 1) {
        send(numbers(4, eager), 0, 5);
        return;
    }
    Numbers buffer = numbers(before_anything, eager);
    Domain domain;
    domain.keep(buffer);
    MPI_Request request = MPI_REQUEST_NULL;
    const auto until_it_is_there = [&] {
        MPI_Message message = MPI_MESSAGE_NULL;
        MPI_Mprobe(1, 5, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
        MPI_Imrecv(buffer.data(), eager, MPI_INT, &message, &request);
        for (int complete = 0; !complete;) {
            MPI_Request_get_status(request, &complete, MPI_STATUS_IGNORE);
        }
        CHECK(buffer == numbers(4, eager));
        buffer[3] = 42;
    };
    until_it_is_there();
    destroy(buffer);
    domain.restore();
    until_it_is_there();
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    Numbers expected = numbers(4, eager);
    expected[3] = 42;
    CHECK(buffer == expected);
}

HAZARD(data_of_a_freed_matched_receive_arrive) {
    if (world_rank() == 1) {
        send(numbers(4, rendezvous), 0, 5);
        signal(0);
        return;
    }
    Numbers buffer(rendezvous);
    const Domain domain;
    MPI_Message message = MPI_MESSAGE_NULL;
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Mprobe(1, 5, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
    MPI_Imrecv(buffer.data(), rendezvous, MPI_INT, &message, &request);
    MPI_Request_free(&request);
    await(1); // which has sent it all
    MPI_Barrier(MPI_COMM_SELF);
    CHECK(buffer == numbers(4, rendezvous));
}

// A re-execution makes it and starts it again.
HAZARD(persistent_receive_freed_while_it_is_active) {
    if (world_rank() == 1) {
        send(numbers(4, eager), 0, 5);
        signal(0);
        await(0);
        send(numbers(6, eager), 0, 6);
        return;
    }
    Numbers buffer = numbers(before_anything, eager);
    Numbers other = numbers(before_anything, eager);
    {
        Domain domain;
        domain.keep(other);
        const auto work = [&] {
            MPI_Request request = MPI_REQUEST_NULL;
            MPI_Recv_init(buffer.data(), eager, MPI_INT, 1, 5, MPI_COMM_WORLD, &request);
            MPI_Start(&request);
            MPI_Request_free(&request);
            CHECK(request == MPI_REQUEST_NULL);
            await(1);
            CHECK(buffer == numbers(4, eager));
        };
        work();
        domain.restore();
        work();
        domain.restore();
        work();
        signal(1);
        CHECK(receive(eager, 1, 6) == numbers(6, eager));
    }
}
