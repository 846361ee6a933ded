// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// CD_LOG=all: what each thread records, and for how long.
#include "cd/mpi_log.h"
#include "hazard.h"
#include "worker_thread.h"

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <future>
#include <thread>

namespace record_all {

namespace {

void in_a_thread(const std::function<void()> &run) { std::thread(run).join(); }

bool is_recorded() { return cd_log_mode() == CD_LOG_RECORDING; }

void reduce(int &value) {
    const int given = value;
    MPI_Allreduce(&given, &value, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF);
}

// The number at the end of the data that stand at its end.
int last_number(const void *entry, size_t length) {
    int number = 0;
    std::memcpy(&number, static_cast<const std::byte *>(entry) + length - sizeof number,
                sizeof number);
    return number;
}

} // namespace

HAZARD(record_all_keeps_its_newest_calls) {
    const size_t limit = size_t{1024} * static_cast<size_t>(std::atoi(std::getenv("CD_LOG_LIMIT")));
    constexpr int calls = 20000;
    cd_info info = {};
    for (int i = 1; i <= calls; ++i) {
        int number = i;
        reduce(number);
        cd_query(CD_CURRENT_CD, &info);
        CHECK(info.log_bytes < limit);
        CHECK(i < calls / 2 || info.log_bytes > limit / 4);
    }
    CHECK(info.log_length > 500);
    // Nobody does this; but so the log can be read.
    CHECK(restore_cd(CD_CURRENT_CD) == SUCCESS);
    size_t length = 0;
    int expected = calls - static_cast<int>(info.log_length);
    while (const void *entry = cd_log_read(&length)) {
        CHECK(last_number(entry, length) == ++expected);
    }
    CHECK(expected == calls);
}

HAZARD_IN_THREADS(record_all_records_a_thread_when_its_own_domain_has_ended) {
    in_a_thread([] {
        int number = 1;
        {
            const Domain domain;
            reduce(number);
        }
        CHECK(!is_recorded());
        reduce(number);
        CHECK(is_recorded());
    });
}

// The thread has heard of nothing, and takes it at first that it records in its own domain still.
HAZARD_IN_THREADS(record_all_records_a_thread_whose_own_domain_another_one_has_ended) {
    int number = 1;
    reduce(number);
    WorkerThread elsewhere;
    cd_handle own = nullptr;
    elsewhere([&] {
        own = create_cd(nullptr, nullptr, COMM_LOGGING_ENABLED, "own", nullptr);
        reduce(number);
        reduce(number);
    });
    CHECK(commit_cd(own) == SUCCESS);
    elsewhere([&] {
        reduce(number); // finds out
        reduce(number);
        CHECK(is_recorded());
    });
}

// The library can make nothing while it calls a function of the program's.
HAZARD_IN_THREADS(record_all_records_a_thread_that_began_inside_an_observer) {
    in_a_thread([] {
        cd_observe(
            [](const cd_event *, void *) {
                int number = 1;
                reduce(number);
            },
            nullptr);
        CHECK(create_cd(nullptr, nullptr, MPI_LOGGING_DISABLED, "no\nname", nullptr) == nullptr);
        cd_observe(nullptr, nullptr);
        CHECK(!is_recorded());
        int number = 1;
        reduce(number);
        CHECK(is_recorded());
    });
}

namespace {

int copied_types = 0;
int freed_types = 0;

int count_copied(MPI_Datatype, int, void *, void *value, void *copy, int *is_copied) {
    ++copied_types;
    *static_cast<void **>(copy) = value;
    *is_copied = 1;
    return MPI_SUCCESS;
}

int count_freed(MPI_Datatype, int, void *, void *) {
    ++freed_types;
    return MPI_SUCCESS;
}

} // namespace

// Nobody restores what is recorded, so that nothing waits for the log's end.
HAZARD(record_all_holds_no_type_longer_than_its_receive) {
    int key = MPI_KEYVAL_INVALID;
    MPI_Type_create_keyval(count_copied, count_freed, &key, nullptr);
    constexpr int receives = 10;
    for (int i = 1; i <= receives; ++i) {
        MPI_Datatype pair = MPI_DATATYPE_NULL;
        MPI_Type_contiguous(2, MPI_INT, &pair);
        MPI_Type_commit(&pair);
        MPI_Type_set_attr(pair, key, nullptr);
        int received[2] = {};
        MPI_Request request = MPI_REQUEST_NULL;
        MPI_Irecv(received, 1, pair, 0, 1, MPI_COMM_SELF, &request);
        MPI_Type_free(&pair);
        CHECK(freed_types == i - 1); // else nothing is tested: the logger needs it till the end
        const int sent[2] = {i, -i};
        MPI_Send(sent, 2, MPI_INT, 0, 1, MPI_COMM_SELF);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        CHECK(received[0] == i && received[1] == -i);
        CHECK(freed_types == i);
        CHECK(copied_types == 0);
    }
    MPI_Type_free_keyval(&key);
}

// Those are functions that look for what they are about before they look for a log.
HAZARD_IN_THREADS(record_all_records_a_thread_from_any_first_call) {
    static std::byte buffer[1000 + MPI_BSEND_OVERHEAD];
    in_a_thread([] {
        MPI_Buffer_attach(buffer, sizeof buffer);
        CHECK(is_recorded());
    });
    in_a_thread([] {
        void *detached = nullptr;
        int size = 0;
        MPI_Buffer_detach(&detached, &size);
        CHECK(is_recorded());
        CHECK(detached == buffer && size == sizeof buffer);
    });
    int number = 0;
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Recv_init(&number, 1, MPI_INT, 0, 1, MPI_COMM_SELF, &request);
    MPI_Start(&request);
    in_a_thread([&] {
        MPI_Cancel(&request);
        CHECK(is_recorded());
    });
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    in_a_thread([&] {
        MPI_Request_free(&request);
        CHECK(is_recorded());
    });
}

namespace {

// Tells of a thread's CD; waits there for the first call of MPI that another thread makes.
struct Waiting {
    cd_operation where = {};
    std::atomic<bool> waits = false;
    std::promise<void> other_has_called;
    std::atomic<bool> in_time = false;
};

void wait_for_other(const cd_event *event, void *context) {
    Waiting &waiting = *static_cast<Waiting *>(context);
    if (event->operation != waiting.where || waiting.waits.exchange(true)) {
        return;
    }
    waiting.in_time = waiting.other_has_called.get_future().wait_for(std::chrono::seconds(5)) ==
                      std::future_status::ready;
}

} // namespace

// It is the program's, and may wait for what it likes.
HAZARD_IN_THREADS(record_all_whose_observer_waits_for_another_thread) {
    for (const cd_operation where : {CD_OP_CREATE, CD_OP_COMMIT}) {
        Waiting waiting;
        waiting.where = where;
        CHECK(cd_observe(wait_for_other, &waiting) == SUCCESS);
        std::thread one([] { MPI_Wtime(); });
        std::thread other([&waiting] {
            while (!waiting.waits) {
                std::this_thread::yield();
            }
            MPI_Wtime();
            waiting.other_has_called.set_value();
        });
        one.join();
        other.join();
        CHECK(cd_observe(nullptr, nullptr) == SUCCESS);
        CHECK(waiting.in_time);
    }
}

} // namespace record_all
