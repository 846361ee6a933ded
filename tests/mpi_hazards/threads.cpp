// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// MPI_THREAD_MULTIPLE: each thread has a CD of its own, and each CD its own log.
#include "hazard.h"
#include "unwilling_mpi.h"
#include "worker_thread.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>
#include <thread>
#include <vector>

namespace threads {

namespace {

constexpr int threads = 2;
constexpr int messages = 50;

int tag_of(int thread, int message) { return thread * 1000 + message; }

void send_all(int thread) {
    for (int i = 0; i < messages; ++i) {
        send(numbers(tag_of(thread, i), eager), 0, tag_of(thread, i));
    }
}

void take(int thread, int first, int last) {
    for (int i = first; i < last; ++i) {
        CHECK(receive(eager, 1, tag_of(thread, i)) == numbers(tag_of(thread, i), eager));
    }
}

template <typename Work> void in_threads(const Work &work) {
    std::vector<std::thread> running;
    for (int i = 0; i < threads; ++i) {
        running.emplace_back(work, i);
    }
    for (std::thread &thread : running) {
        thread.join();
    }
}

} // namespace

HAZARD_IN_THREADS(threads_replay_their_own_logs) {
    for (const bool are_siblings : {true, false}) {
        if (world_rank() == 1) {
            in_threads(send_all);
            continue;
        }
        const Domain parent;
        in_threads([&](int thread) {
            Domain own(are_siblings ? parent.handle() : nullptr, thread == 0 ? "zero" : "one");
            for (int last = 5; last < messages; last += 5) {
                take(thread, 0, last);
                own.restore();
            }
            take(thread, 0, messages);
        });
    }
}

// Both have receives under way whenever one of them restores.
HAZARD_IN_THREADS(threads_restore_while_both_have_receives_under_way) {
    if (world_rank() == 1) {
        in_threads(send_all);
        return;
    }
    in_threads([&](int thread) {
        Domain own(nullptr, thread == 0 ? "zero" : "one");
        std::vector<Numbers> buffers(messages, Numbers(eager));
        std::vector<MPI_Request> requests(messages, MPI_REQUEST_NULL);
        // Five are begun and five finished in a step, three later than begun.
        const auto work = [&](int last) {
            for (int i = 0; i < last; ++i) {
                MPI_Irecv(buffers[i].data(), eager, MPI_INT, 1, tag_of(thread, i), MPI_COMM_WORLD,
                          &requests[i]);
                if (i % 5 == 4 && i > 5) {
                    MPI_Waitall(5, &requests[i - 7], MPI_STATUSES_IGNORE);
                }
            }
        };
        for (int last = 5; last < messages; last += 5) {
            work(last);
            own.restore();
        }
        work(messages);
        MPI_Waitall(messages, requests.data(), MPI_STATUSES_IGNORE);
        for (int i = 0; i < messages; ++i) {
            CHECK(buffers[i] == numbers(tag_of(thread, i), eager));
        }
    });
}

// One thread calls MPI, and keeps the table of requests to itself; another restores meanwhile.
HAZARD_WITH(another_thread_restores_while_one_calls_mpi, MPI_THREAD_FUNNELED) {
    if (world_rank() == 1) {
        send_all(0);
        return;
    }
    std::atomic<bool> done = false;
    std::thread other([&] {
        Domain own(nullptr, "other");
        Numbers state = numbers(9, eager);
        own.keep(state);
        while (!done) {
            destroy(state);
            CHECK(restore_cd(own.handle()) == SUCCESS);
            CHECK(state == numbers(9, eager));
        }
    });
    Domain own;
    for (int last = 1; last <= messages; ++last) {
        for (int i = 0; i < last; ++i) {
            Numbers buffer(eager);
            MPI_Request request = MPI_REQUEST_NULL;
            MPI_Irecv(buffer.data(), eager, MPI_INT, 1, tag_of(0, i), MPI_COMM_WORLD, &request);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
            CHECK(buffer == numbers(tag_of(0, i), eager));
        }
        own.restore();
    }
    done = true;
    other.join();
}

// Fortran's number of a file that is closed, and put back by a restore, is given to a sibling's.
HAZARD_IN_THREADS(files_of_siblings) {
    if (world_rank() == 1) {
        return;
    }
    const auto open = [](MPI_File &file) {
        CHECK(MPI_File_open(MPI_COMM_SELF, "/dev/null", MPI_MODE_RDWR, MPI_INFO_NULL, &file) ==
              MPI_SUCCESS);
    };
    const auto close = [](MPI_File file) { CHECK(MPI_File_close(&file) == MPI_SUCCESS); };
    const auto look = [](MPI_File file) { CHECK(MPI_File_f2c(MPI_File_c2f(file)) == file); };
    MPI_File closed = MPI_FILE_NULL;
    MPI_File other = MPI_FILE_NULL;
    MPI_Fint number = 0;
    Domain parent;
    std::optional<Domain> first;
    std::optional<Domain> second;
    WorkerThread in_first;
    WorkerThread in_second;
    in_first([&] {
        first.emplace(parent.handle());
        open(closed);
        number = MPI_File_c2f(closed);
        close(closed);
    });
    in_second([&] {
        second.emplace(parent.handle());
        open(other);
#ifdef OPEN_MPI // gives the least that is free
        CHECK(MPI_File_c2f(other) == number);
#endif
    });
    in_first([&] { first->restore(); });
    in_second([&] {
        look(other);
        close(other);
        open(other);
        look(other);
    });
    in_first([&] {
        open(closed);
        CHECK(MPI_File_c2f(closed) == number);
        look(closed);
        close(closed);
        first.reset();
    });
    in_second([&] {
        look(other);
        close(other);
        second.reset();
    });
}

namespace {

MPI_Comm freed_by_regeneration = MPI_COMM_NULL;
std::atomic<bool> regenerates, changes;

int free_while_another_thread_changes(cd_addrspec *, int) {
    regenerates = true;
    regenerates.notify_all();
    changes.wait(false);
    std::this_thread::sleep_for(std::chrono::milliseconds(100)); // it waits for the domains around
    return MPI_Comm_free(&freed_by_regeneration) == MPI_SUCCESS ? 0 : 1;
}

} // namespace

// A restore holds the domains around while the function runs: who asks about them, to learn
// whether an older undoing of the change is enough, keeps nobody from MPI.
HAZARD_IN_THREADS(regeneration_calls_mpi_while_another_thread_changes_an_object) {
    if (world_rank() == 1) {
        return;
    }
    MPI_Comm_dup(MPI_COMM_SELF, &freed_by_regeneration);
    MPI_Comm changed = MPI_COMM_NULL;
    MPI_Comm_dup(MPI_COMM_SELF, &changed);
    Domain parent;
    Domain child(parent.handle());
    uint8_t byte = 0;
    const cd_addrspec range = {&byte, 1, READ_ONLY, GLOBAL};
    CHECK(add_to_cd_via_regen(child.handle(), range, 1, free_while_another_thread_changes) ==
          SUCCESS);
    WorkerThread elsewhere;
    std::optional<Domain> sibling;
    elsewhere([&] { sibling.emplace(parent.handle()); });
    const auto name = [&](const char *text) {
        CHECK(MPI_Comm_set_name(changed, text) == MPI_SUCCESS);
    };
    std::thread in_time([&] {
        elsewhere([&] {
            name("one");
            { // to before the second alone nobody goes back any more
                const Domain inner(sibling->handle());
                name("two");
            }
            const Domain inner(sibling->handle());
            regenerates.wait(false);
            changes = true;
            changes.notify_all();
            name("three");
        });
    });
    MPI_Barrier(MPI_COMM_SELF);
    child.restore();
    MPI_Barrier(MPI_COMM_SELF);
    in_time.join();
    elsewhere([&] { sibling.reset(); });
    MPI_Comm_free(&changed);
}

namespace {

// What another thread does meanwhile, of whose sends nothing is kept, since no domain logs there.
bool got_the_handle = false;
MPI_Request ended = MPI_REQUEST_NULL;

void send_to_itself_in_another_thread() {
    std::thread([] {
        constexpr int most = 100; // handles that MPI gives before
        std::vector<MPI_Request> requests(most, MPI_REQUEST_NULL);
        const int one = 1;
        for (MPI_Request &request : requests) {
            MPI_Isend(&one, 1, MPI_INT, 0, 2, MPI_COMM_SELF, &request);
            got_the_handle |= request == ended;
        }
        for (int i = 0; i < most; ++i) {
            int received = 0;
            MPI_Recv(&received, 1, MPI_INT, 0, 2, MPI_COMM_SELF, MPI_STATUS_IGNORE);
            CHECK(received == 1);
        }
        for (MPI_Request &request : requests) {
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        }
    }).join();
}

} // namespace

HAZARD_IN_THREADS(another_thread_gets_the_handle_of_a_request_that_just_ends) {
    const Numbers sent = numbers(4, eager);
    Domain domain;
    const auto execute = [&sent](bool first) {
        MPI_Request request = MPI_REQUEST_NULL;
        MPI_Isend(sent.data(), eager, MPI_INT, 0, 1, MPI_COMM_SELF, &request);
        Numbers received(eager);
        MPI_Recv(received.data(), eager, MPI_INT, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE);
        CHECK(received == sent);
        if (first) {
            ended = request;
            call_at_the_end_of_a_wait(send_to_itself_in_another_thread);
        }
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    };
    execute(true);
    CHECK(got_the_handle);
    domain.restore();
    execute(false);
    CHECK(domain.info().replaying == 0);
}

// A root whose log ends with what need not be done again advances, although another thread's child
// has gone on meanwhile.
HAZARD_IN_THREADS(root_advances_although_polls_and_clocks_are_left_unread) {
    const auto exchange = [](int tag) {
        const int sent = tag;
        int received = 0;
        MPI_Sendrecv(&sent, 1, MPI_INT, 0, tag, &received, 1, MPI_INT, 0, tag, MPI_COMM_SELF,
                     MPI_STATUS_IGNORE);
        CHECK(received == tag);
    };
    Domain domain;
    const auto run = [&](bool first) {
        MPI_Barrier(MPI_COMM_SELF);
        if (first) {
            int found = 0;
            MPI_Iprobe(0, 1, MPI_COMM_SELF, &found, MPI_STATUS_IGNORE);
            CHECK(!found);
            MPI_Wtime();
        }
        std::thread([&] {
            const Domain child(domain.handle());
            exchange(1);
            if (!first) {
                exchange(2);
            }
        }).join();
    };
    run(true);
    domain.restore();
    run(false);
    domain.advance();
}

} // namespace threads
