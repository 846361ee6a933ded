// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "fixture.h"

#include <atomic>
#include <ctime>
#include <thread>
#include <utility>

namespace {

struct Seen {
    cd_operation operation;
    cd_error error;
    std::string name;
    size_t bytes;
    uint64_t start_ns;
    uint64_t duration_ns;
    std::thread::id thread;
};

struct Log {
    std::vector<Seen> events;
};

void note(const cd_event *event, void *context) {
    static_cast<Log *>(context)->events.push_back({event->operation, event->error, event->name,
                                                   event->bytes, event->start_ns,
                                                   event->duration_ns, std::this_thread::get_id()});
}

uint64_t now_ns() {
    timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

class Observe : public CdTest {
protected:
    void TearDown() override {
        cd_observe(nullptr, nullptr);
        CdTest::TearDown();
    }

    // The one event since the last question.
    Seen only() {
        EXPECT_EQ(log.events.size(), 1U);
        Seen seen = log.events.empty() ? Seen{} : log.events.back();
        log.events.clear();
        return seen;
    }

    void expect(cd_operation operation, const char *name, size_t size) {
        const Seen seen = only();
        EXPECT_EQ(seen.operation, operation);
        EXPECT_EQ(seen.error, CD_ERROR_NONE);
        EXPECT_EQ(seen.name, name);
        EXPECT_EQ(seen.bytes, size);
    }

    void expect_in_order(const std::vector<std::pair<cd_operation, std::string>> &expected) {
        std::vector<std::pair<cd_operation, std::string>> seen;
        for (const Seen &event : log.events)
            seen.emplace_back(event.operation, event.name);
        EXPECT_EQ(seen, expected);
        log.events.clear();
    }

    Log log;
};

TEST_F(Observe, EveryOperationIsToldOnceWithItsCdAndBytes) {
    uint8_t x[8] = {}, y[16] = {};
    std::FILE *file = std::tmpfile();
    ASSERT_TRUE(succeeds(cd_observe(note, &log)));
    const cd_handle root = make_root();
    expect(CD_OP_CREATE, "0/root/0/0", 0);
    const cd_handle child = make_child(root);
    expect(CD_OP_CREATE, "0/root/1/0", 0);
    ASSERT_TRUE(succeeds(add_to_cd_via_copy(root, {rw(x)}, 1)));
    expect(CD_OP_ADD_COPY, "0/root/0/0", 8);
    ASSERT_TRUE(succeeds(add_to_cd_via_copy(root, {rw(x)}, 1)));
    expect(CD_OP_ADD_COPY, "0/root/0/0", 0); // already held
    ASSERT_TRUE(succeeds(add_to_cd_via_parent(child, {rw(x)}, 1)));
    expect(CD_OP_ADD_PARENT, "0/root/1/0", 0);
    ASSERT_TRUE(succeeds(add_to_cd_via_regen(child, {ro(y)}, 1, write_ones)));
    expect(CD_OP_ADD_REGEN, "0/root/1/0", 0);
    ASSERT_TRUE(succeeds(add_file_to_cd(child, fileno(file))));
    expect(CD_OP_ADD_FILE, "0/root/1/0", 0);
    ASSERT_TRUE(succeeds(delete_file_from_cd(child, fileno(file))));
    expect(CD_OP_DELETE_FILE, "0/root/1/0", 0);
    ASSERT_TRUE(succeeds(cd_verify(child, nullptr, nullptr)));
    EXPECT_EQ(only().operation, CD_OP_VERIFY);
    ASSERT_TRUE(succeeds(delete_from_cd(child, {rw(y)}, 1)));
    expect(CD_OP_DELETE, "0/root/1/0", 0);
    ASSERT_TRUE(succeeds(restore_cd(child)));
    expect(CD_OP_RESTORE, "0/root/1/0", 8);
    ASSERT_TRUE(succeeds(commit_cd(child)));
    expect(CD_OP_COMMIT, "0/root/1/0", 0);
    ASSERT_TRUE(succeeds(advance_cd_point_in_time(root)));
    expect(CD_OP_ADVANCE, "0/root/0/0", 8);
    ASSERT_TRUE(succeeds(commit_cd(root)));
    expect(CD_OP_COMMIT, "0/root/0/0", 0);
    std::fclose(file);
}

TEST_F(Observe, WhatARestoreDoesToDescendantsAndLogsIsToldBeforeIt) {
    const cd_handle root = make_root(COMM_LOGGING_ENABLED);
    const cd_handle child = make_child(root);
    const cd_log_part part = {"entry", 5};
    ASSERT_TRUE(succeeds(cd_log_append(child, &part, 1)));
    make_child(child);
    ASSERT_TRUE(succeeds(cd_observe(note, &log)));
    ASSERT_TRUE(succeeds(restore_cd(root)));
    expect_in_order({{CD_OP_DISCARD, "0/root/2/0"},
                     {CD_OP_DISCARD, "0/root/1/0"},
                     {CD_OP_REPLAY_BEGIN, "0/root/0/0"},
                     {CD_OP_RESTORE, "0/root/0/0"}});
    const cd_handle again = make_child(root);
    expect(CD_OP_CREATE, "0/root/1/0", 0);
    EXPECT_NE(cd_log_next(again, nullptr, nullptr), nullptr);
    expect_in_order({{CD_OP_REPLAY_END, "0/root/1/0"}, {CD_OP_LOG_GET, "0/root/1/0"}});
    ASSERT_TRUE(succeeds(cd_log_append(again, &part, 1)));
    expect(CD_OP_LOG_ADD, "0/root/1/0", 5);
    ASSERT_TRUE(succeeds(restore_cd(again)));
    expect_in_order({{CD_OP_REPLAY_BEGIN, "0/root/1/0"}, {CD_OP_RESTORE, "0/root/1/0"}});
    ASSERT_TRUE(succeeds(delete_MPI_log_from_cd(again)));
    expect_in_order({{CD_OP_REPLAY_END, "0/root/1/0"}, {CD_OP_LOG_DELETE, "0/root/1/0"}});
    ASSERT_TRUE(succeeds(delete_MPI_log_from_cd(again)));
    expect(CD_OP_LOG_DELETE, "0/root/1/0", 0);
}

TEST_F(Observe, EntriesOfTheMpiLogAreToldWithTheirBytes) {
    const cd_handle root = make_root(COMM_LOGGING_ENABLED);
    ASSERT_TRUE(succeeds(cd_observe(note, &log)));
    ASSERT_TRUE(succeeds(add_MPI_log_to_cd(root, std::calloc(3, 1), 3)));
    expect(CD_OP_LOG_ADD, "0/root/0/0", 3);
    const cd_log_part parts[] = {{"two", 3}, {"parts", 5}};
    ASSERT_TRUE(succeeds(cd_log_append(root, parts, 2)));
    expect(CD_OP_LOG_ADD, "0/root/0/0", 8);
    EXPECT_TRUE(fails_with(CD_ERROR_LOG_ENTRY, add_MPI_log_to_cd(root, nullptr, 3)));
    EXPECT_EQ(only().error, CD_ERROR_LOG_ENTRY);
    ASSERT_TRUE(succeeds(restore_cd(root)));
    log.events.clear();
    EXPECT_NE(get_MPI_log_from_cd(root, nullptr), nullptr);
    expect(CD_OP_LOG_GET, "0/root/0/0", 3);
    EXPECT_NE(get_MPI_log_from_cd(root, nullptr), nullptr);
    expect_in_order({{CD_OP_REPLAY_END, "0/root/0/0"}, {CD_OP_LOG_GET, "0/root/0/0"}});
    EXPECT_EQ(get_MPI_log_from_cd(root, nullptr), nullptr);
    expect(CD_OP_LOG_GET, "0/root/0/0", 0);
}

// With many threads there may be no moment in which no call of the observer runs.
TEST_F(Observe, TurningItOffDoesNotWaitForCallsOfTheSameOneThatIsSetAnew) {
    struct Calls {
        std::atomic<int> begun = 0;
        std::atomic<bool> let_go = false;
    } calls;
    const auto dawdle_once = [](const cd_event *, void *context) {
        auto &mine = *static_cast<Calls *>(context);
        if (mine.begun++ == 0) {
            mine.begun.notify_all();
            mine.let_go.wait(false);
        }
    };
    const cd_handle root = make_root();
    const cd_handle other = make_root(COMM_LOGGING_DISABLED, nullptr, "other");
    ASSERT_TRUE(succeeds(cd_observe(dawdle_once, &calls)));
    std::thread worker([&] { EXPECT_TRUE(succeeds(restore_cd(root))); });
    calls.begun.wait(0);
    std::thread switcher([&] { EXPECT_TRUE(succeeds(cd_observe(nullptr, nullptr))); });
    for (int before = -1; calls.begun != before;) { // until it is off
        before = calls.begun;
        EXPECT_TRUE(succeeds(restore_cd(other)));
    }
    EXPECT_TRUE(succeeds(cd_observe(dawdle_once, &calls)));
    switcher.join(); // while the call is under way
    calls.let_go = true;
    calls.let_go.notify_all();
    worker.join();
}

TEST_F(Observe, ReplayOfASiblingsOwnLogBeginsWithItsCreation) {
    const cd_handle root = make_root(COMM_LOGGING_ENABLED);
    make_child(root);
    const cd_log_part part = {"entry", 5};
    ASSERT_TRUE(succeeds(cd_log_append(make_child(root), &part, 1)));
    ASSERT_TRUE(succeeds(restore_cd(root)));
    make_child(root);
    ASSERT_TRUE(succeeds(cd_observe(note, &log)));
    const cd_handle second = make_child(root);
    expect_in_order({{CD_OP_REPLAY_BEGIN, "0/root/1/1"}, {CD_OP_CREATE, "0/root/1/1"}});
    EXPECT_NE(cd_log_next(second, nullptr, nullptr), nullptr);
    expect_in_order({{CD_OP_REPLAY_END, "0/root/1/1"}, {CD_OP_LOG_GET, "0/root/1/1"}});
}

TEST_F(Observe, ImplicitCommitIsToldBeforeTheAdvanceOfAChildAndOnlyIfItSucceeds) {
    int x = 0;
    const cd_handle root = make_root();
    const cd_handle child = make_child(root);
    const cd_handle grandchild = make_child(child);
    ASSERT_TRUE(succeeds(add_to_cd_via_copy(root, {rw(x)}, 1)));
    ASSERT_TRUE(succeeds(add_to_cd_via_copy(grandchild, {constrained(x)}, 1)));
    ASSERT_TRUE(succeeds(cd_observe(note, &log)));
    ASSERT_TRUE(succeeds(advance_cd_point_in_time(grandchild)));
    expect_in_order({{CD_OP_IMPLICIT_COMMIT, "0/root/2/0"}, {CD_OP_ADVANCE, "0/root/2/0"}});
    EXPECT_TRUE(fails_with(CD_ERROR_HAS_CHILDREN, advance_cd_point_in_time(child)));
    EXPECT_EQ(only().error, CD_ERROR_HAS_CHILDREN);
}

TEST_F(Observe, FailuresAreToldWithTheirCode) {
    const cd_handle root = make_root();
    ASSERT_TRUE(succeeds(cd_observe(note, &log)));
    EXPECT_TRUE(fails_with(CD_ERROR_INVALID_HANDLE, commit_cd(nullptr)));
    const Seen unknown = only();
    EXPECT_EQ(unknown.operation, CD_OP_COMMIT);
    EXPECT_EQ(unknown.error, CD_ERROR_INVALID_HANDLE);
    EXPECT_EQ(unknown.name, "");
    EXPECT_TRUE(fails_with(CD_ERROR_NULL_LIST, add_to_cd_via_copy(root, nullptr, 1, nullptr)));
    const Seen known = only();
    EXPECT_EQ(known.error, CD_ERROR_NULL_LIST);
    EXPECT_EQ(known.name, "0/root/0/0");
    EXPECT_EQ(known.bytes, 0U);
}

TEST_F(Observe, TimesAreOnTheMonotonicClock) {
    ASSERT_TRUE(succeeds(cd_observe(note, &log)));
    const uint64_t before = now_ns();
    make_root();
    const uint64_t after = now_ns();
    const Seen seen = only();
    EXPECT_GE(seen.start_ns, before);
    EXPECT_LE(seen.start_ns + seen.duration_ns, after);
}

TEST_F(Observe, EventsAreToldInTheThreadThatDidTheOperation) {
    const cd_handle root = make_root();
    ASSERT_TRUE(succeeds(cd_observe(note, &log)));
    std::thread::id worker;
    std::thread([&] {
        worker = std::this_thread::get_id();
        int x = 0;
        EXPECT_TRUE(succeeds(add_to_cd_via_copy(root, {rw(x)}, 1)));
        EXPECT_TRUE(succeeds(delete_from_cd(root, {rw(x)}, 1)));
    }).join();
    ASSERT_EQ(log.events.size(), 2U);
    EXPECT_EQ(log.events[0].thread, worker);
    EXPECT_NE(worker, std::this_thread::get_id());
}

TEST_F(Observe, QuestionsAreNotOperations) {
    const cd_handle root = make_root();
    ASSERT_TRUE(succeeds(cd_observe(note, &log)));
    info_of(root);
    cd_name(root);
    cd_last_error_message();
    EXPECT_TRUE(log.events.empty());
}

TEST_F(Observe, NullTurnsItOffAndALaterObserverReplacesAnEarlierOne) {
    Log second;
    const cd_handle root = make_root();
    ASSERT_TRUE(succeeds(cd_observe(note, &log)));
    ASSERT_TRUE(succeeds(cd_observe(note, &second)));
    ASSERT_TRUE(succeeds(restore_cd(root)));
    EXPECT_TRUE(log.events.empty());
    EXPECT_EQ(second.events.size(), 1U);
    ASSERT_TRUE(succeeds(cd_observe(nullptr, nullptr)));
    ASSERT_TRUE(succeeds(restore_cd(root)));
    EXPECT_EQ(second.events.size(), 1U);
}

TEST_F(Observe, WhenItIsTurnedOffNoCallOfItIsRunning) {
    struct Busy {
        std::atomic<bool> entered = false;
        std::atomic<bool> let_go = false;
        std::atomic<bool> left = false;
    } busy;
    const auto dawdle = [](const cd_event *, void *context) {
        auto &mine = *static_cast<Busy *>(context);
        mine.entered = true;
        mine.entered.notify_all();
        mine.let_go.wait(false);
        mine.left = true;
    };
    const cd_handle root = make_root();
    ASSERT_TRUE(succeeds(cd_observe(dawdle, &busy)));
    std::thread worker([&] { EXPECT_TRUE(succeeds(restore_cd(root))); });
    busy.entered.wait(false);
    std::atomic<bool> called = false;
    std::atomic<bool> returned = false;
    std::thread switcher([&] {
        called = true;
        called.notify_all();
        EXPECT_TRUE(succeeds(cd_observe(nullptr, nullptr)));
        EXPECT_TRUE(busy.left);
        returned = true;
    });
    called.wait(false);
    for (int i = 0; i < 1000 && !returned; ++i)
        std::this_thread::yield();
    EXPECT_FALSE(returned);
    busy.let_go = true;
    busy.let_go.notify_all();
    worker.join();
    switcher.join();
}

TEST_F(Observe, WhatTheObserverThrowsEndsThere) {
    const cd_handle root = make_root();
    ASSERT_TRUE(succeeds(cd_observe([](const cd_event *, void *) { throw 1; }, nullptr)));
    EXPECT_TRUE(succeeds(restore_cd(root)));
    EXPECT_TRUE(fails_with(CD_ERROR_INVALID_HANDLE, restore_cd(nullptr)));
}

TEST_F(Observe, CallsFromInsideTheObserverAreRefusedAndTheOperationsOutcomeStays) {
    static cd_handle handle;
    static std::vector<cd_error> seen;
    handle = make_root();
    seen.clear();
    const auto call_back = [](const cd_event *, void *) {
        cd_info info;
        cd_query(handle, &info);
        seen.push_back(cd_last_error());
        restore_cd(handle);
        seen.push_back(cd_last_error());
    };
    ASSERT_TRUE(succeeds(cd_observe(call_back, nullptr)));
    EXPECT_TRUE(succeeds(restore_cd(handle))) << "code and message of the operation stay, too";
    EXPECT_EQ(seen, (std::vector<cd_error>{CD_ERROR_IN_CALLBACK, CD_ERROR_IN_CALLBACK}));
}

} // namespace
