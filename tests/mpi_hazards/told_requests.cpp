// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// Requests of which MPI_Request_get_status has told that they are complete: what they have brought,
// and the memory that it lies in, is the program's from then on.
#include "receives.h"
#include "window.h"

#include <cd/mpi_log.h>

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <functional>

namespace told_requests {

namespace {

constexpr int length = static_cast<int>(eager);
using Start = std::function<MPI_Request(int *)>;
using Finish = std::function<void(MPI_Request &)>;

// Memory of its own, which can be taken away.
class Pages {
public:
    Pages() {
        memory_ = static_cast<int *>(
            mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
        CHECK(memory_ != MAP_FAILED);
    }
    Pages(const Pages &) = delete;
    Pages &operator=(const Pages &) = delete;
    ~Pages() { munmap(memory_, size); }
    void take_away() { CHECK(mprotect(memory_, size, PROT_NONE) == 0); }
    void give_back() { CHECK(mprotect(memory_, size, PROT_READ | PROT_WRITE) == 0); }
    int *data() { return memory_; }
    Numbers values() const { return {memory_, memory_ + eager}; }

private:
    static constexpr size_t size = eager * sizeof(int);
    int *memory_;
};

MPI_Request start_receive(int *data) {
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Irecv(data, length, MPI_INT, 1, 1, MPI_COMM_WORLD, &request);
    return request;
}

MPI_Request start_persistent_receive(int *data) {
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Recv_init(data, length, MPI_INT, 1, 1, MPI_COMM_WORLD, &request);
    MPI_Start(&request);
    return request;
}

MPI_Request start_matched_receive(int *data) {
    MPI_Message message = MPI_MESSAGE_NULL;
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Mprobe(1, 1, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
    MPI_Imrecv(data, length, MPI_INT, &message, &request);
    return request;
}

void be_told(MPI_Request request) {
    for (int complete = 0; !complete;) {
        MPI_Request_get_status(request, &complete, MPI_STATUS_IGNORE);
    }
}

void wait(MPI_Request &request) { MPI_Wait(&request, MPI_STATUS_IGNORE); }

void test(MPI_Request &request) {
    int complete = 0;
    MPI_Test(&request, &complete, MPI_STATUS_IGNORE);
    CHECK(complete);
}

void wait_all(MPI_Request &request) { MPI_Waitall(1, &request, MPI_STATUSES_IGNORE); }

void wait_some(MPI_Request &request) {
    int count = 0;
    int index = 0;
    MPI_Waitsome(1, &request, &count, &index, MPI_STATUSES_IGNORE);
    CHECK(count == 1);
}

void end(MPI_Request &request) {
    if (request != MPI_REQUEST_NULL) {
        MPI_Request_free(&request);
    }
}

// The program takes the memory away as soon as it has been told, and then ends the request.
void memory_may_go(const Start &start, const Finish &finish) {
    if (world_rank() == 1) {
        send(numbers(5, eager), 0, 1);
        return;
    }
    Domain domain;
    const auto run = [&] {
        Pages pages;
        MPI_Request request = start(pages.data());
        be_told(request);
        CHECK(pages.values() == numbers(5, eager));
        pages.take_away();
        be_told(request);
        finish(request);
        end(request);
    };
    run();
    for (int i = 0; i < 2; ++i) {
        domain.restore();
        run();
    }
}

} // namespace

HAZARD(memory_of_a_told_receive_may_go_before_it_is_waited_for) {
    memory_may_go(start_receive, wait);
}

HAZARD(memory_of_a_told_receive_may_go_before_it_is_tested) { memory_may_go(start_receive, test); }

HAZARD(memory_of_a_told_receive_may_go_before_all_are_waited_for) {
    memory_may_go(start_receive, wait_all);
}

HAZARD(memory_of_a_told_receive_may_go_before_some_are_waited_for) {
    memory_may_go(start_matched_receive, wait_some);
}

HAZARD(memory_of_a_told_persistent_receive_may_go) {
    memory_may_go(start_persistent_receive, wait);
}

HAZARD(memory_of_a_told_broadcast_may_go) {
    const auto start = [](int *data) {
        MPI_Request request = MPI_REQUEST_NULL;
        MPI_Ibcast(data, length, MPI_INT, 1, MPI_COMM_WORLD, &request);
        return request;
    };
    if (world_rank() == 0) {
        memory_may_go(start, wait);
        return;
    }
    Numbers data = numbers(5, eager);
    MPI_Request request = start(data.data());
    wait(request);
}

// The window's epoch ends the read as well.
HAZARD(memory_of_a_told_read_of_a_window_may_go) {
    Numbers memory = numbers(world_rank(), eager);
    MPI_Win window = window_over(memory);
    if (world_rank() == 0) {
        Domain domain;
        const auto run = [&] {
            Pages pages;
            MPI_Request request = MPI_REQUEST_NULL;
            MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, window);
            MPI_Rget(pages.data(), length, MPI_INT, 1, 0, length, MPI_INT, window, &request);
            be_told(request);
            CHECK(pages.values() == numbers(1, eager));
            pages.take_away();
            MPI_Win_unlock(1, window);
            wait(request);
        };
        run();
        for (int i = 0; i < 2; ++i) {
            domain.restore();
            run();
        }
    }
    MPI_Win_free(&window);
}

// The restore finds it complete, without what it has brought: that is in the log.
HAZARD(memory_of_a_told_receive_may_go_before_a_restore) {
    if (world_rank() == 1) {
        send(numbers(5, eager), 0, 1);
        return;
    }
    Domain domain;
    MPI_Request request = MPI_REQUEST_NULL;
    const auto start_and_be_told = [&](Pages &pages) {
        request = start_receive(pages.data());
        be_told(request);
        CHECK(pages.values() == numbers(5, eager));
        pages.take_away();
    };
    Pages first;
    Pages second;
    start_and_be_told(first);
    domain.restore();
    start_and_be_told(second);
    domain.restore();
    first.give_back();
    std::fill_n(first.data(), eager, 0);
    start_and_be_told(first);
    wait(request);
}

namespace {

// No domain is there yet when the program is told.
void told_before_any_cd(const Start &start, bool and_again_in_it) {
    if (world_rank() == 1) {
        send(numbers(5, eager), 0, 1);
        send({}, 0, 2);
        return;
    }
    Numbers data(eager);
    MPI_Request request = start(data.data());
    be_told(request);
    Numbers changed = numbers(5, eager);
    changed[3] = data[3] = 42;
    Domain domain;
    domain.keep(data);
    receive(0, 1, 2);
    for (int i = 0; i < 2; ++i) {
        if (and_again_in_it) {
            be_told(request);
        }
        CHECK(data == changed);
        destroy(data);
        domain.restore();
        CHECK(data == changed);
        receive(0, 1, 2);
    }
    if (and_again_in_it) {
        be_told(request);
    }
    wait(request);
    CHECK(data == changed);
    destroy(data);
    domain.restore();
    CHECK(data == changed);
    receive(0, 1, 2);
    end(request);
}

} // namespace

HAZARD(told_before_any_cd_brings_nothing_again) { told_before_any_cd(start_receive, false); }

HAZARD(told_before_any_cd_and_again_in_it_brings_nothing_again) {
    told_before_any_cd(start_receive, true);
}

HAZARD(told_of_a_matched_receive_before_any_cd_brings_nothing_again) {
    told_before_any_cd(start_matched_receive, false);
}

// It is gone in the re-execution, and the collective, which goes on, may have its handle.
HAZARD(told_of_a_receive_that_is_older_than_the_cd_is_not_told_of_a_later_operation) {
    Numbers data(eager);
    const MPI_Request begun = world_rank() == 0 ? start_receive(data.data()) : MPI_REQUEST_NULL;
    Domain domain;
    domain.keep(data);
    if (world_rank() == 1) {
        send(numbers(5, eager), 0, 1);
    }
    MPI_Request later = MPI_REQUEST_NULL;
    for (const bool again : {false, true}) {
        if (world_rank() == 0) {
            MPI_Request request = begun;
            be_told(request);
            CHECK(data == numbers(5, eager));
            wait(request);
        } else if (again) {
            break;
        }
        MPI_Ibarrier(MPI_COMM_WORLD, &later);
        if (world_rank() == 0 && !again) {
            domain.restore();
        }
    }
    wait(later);
}

// A domain that does not log is restored to before the program was told, which is told again, and
// then to after that.
HAZARD(told_in_a_cd_without_a_log_is_told_again) {
    if (world_rank() == 1) {
        send(numbers(5, eager), 0, 1);
        return;
    }
    Numbers data = numbers(9, eager);
    MPI_Request request = start_receive(data.data());
    cd_handle root = create_cd(nullptr, nullptr, COMM_LOGGING_DISABLED, "told", nullptr);
    CHECK(root != nullptr);
    const cd_addrspec range = {data.data(), data.size() * sizeof(int), READ_WRITE, GLOBAL};
    CHECK(add_to_cd_via_copy(root, &range, 1) == SUCCESS);
    be_told(request);
    CHECK(data == numbers(5, eager));
    CHECK(restore_cd(root) == SUCCESS);
    be_told(request);
    CHECK(data == numbers(5, eager));
    data[3] = 42;
    CHECK(advance_cd_point_in_time(root) == SUCCESS);
    CHECK(add_to_cd_via_copy(root, &range, 1) == SUCCESS);
    destroy(data);
    CHECK(restore_cd(root) == SUCCESS);
    CHECK(data[3] == 42);
    CHECK(commit_cd(root) == SUCCESS);
    wait(request);
    CHECK(data[3] == 42);
}

// Then what it has brought is kept as if nobody had logged it.
HAZARD(told_in_a_log_that_is_deleted_is_told_again) {
    if (world_rank() == 1) {
        send(numbers(5, eager), 0, 1);
        return;
    }
    Numbers data = numbers(9, eager);
    MPI_Request request = start_receive(data.data());
    Domain domain;
    domain.keep(data);
    be_told(request);
    CHECK(delete_MPI_log_from_cd(domain.handle()) == SUCCESS);
    CHECK(restore_cd(domain.handle()) == SUCCESS); // with no log
    be_told(request);
    CHECK(data == numbers(5, eager));
    wait(request);
    CHECK(data == numbers(5, eager));
}

namespace {

// A restore has made the log the only place where the data are, when that goes.
void told_in_a_log_that_is_deleted(const Start &start) {
    if (world_rank() == 1) {
        send(numbers(5, eager), 0, 1);
        return;
    }
    Numbers data = numbers(9, eager);
    MPI_Request request = start(data.data());
    {
        Domain domain;
        domain.keep(data);
        MPI_Barrier(MPI_COMM_SELF);
        be_told(request);
        CHECK(data == numbers(5, eager));
        domain.restore();
        CHECK(delete_MPI_log_from_cd(domain.handle()) == SUCCESS);
    }
    be_told(request);
    CHECK(data == numbers(5, eager));
    MPI_Status status;
    MPI_Wait(&request, &status);
    CHECK(status.MPI_SOURCE == 1);
    CHECK(status.MPI_TAG == 1);
    CHECK(data == numbers(5, eager));
    end(request);
}

} // namespace

HAZARD(told_in_a_log_that_is_deleted_in_its_replay_is_told_again) {
    told_in_a_log_that_is_deleted(start_receive);
}

HAZARD(told_of_a_persistent_receive_in_a_log_that_is_deleted_in_its_replay) {
    told_in_a_log_that_is_deleted(start_persistent_receive);
}

HAZARD(told_of_a_matched_receive_in_a_log_that_is_deleted_in_its_replay) {
    told_in_a_log_that_is_deleted(start_matched_receive);
}

// The re-execution takes another way after the start: the data are where the log has them.
HAZARD(told_after_a_divergence_brings_what_the_log_has) {
    if (world_rank() == 1) {
        send(numbers(5, eager), 0, 1);
        return;
    }
    setenv("CD_ON_DIVERGENCE", "live", 1);
    Numbers data = numbers(9, eager);
    Domain domain;
    domain.keep(data);
    MPI_Request request = start_receive(data.data());
    be_told(request);
    destroy(data);
    domain.restore();
    request = start_receive(data.data());
    MPI_Barrier(MPI_COMM_SELF);
    be_told(request);
    CHECK(data == numbers(5, eager));
    wait(request);
    CHECK(data == numbers(5, eager));
    unsetenv("CD_ON_DIVERGENCE");
}

} // namespace told_requests
