// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "logger_path.h"

#include <array>
#include <atomic>
#include <barrier>
#include <cstdint>
#include <cstring>
#include <thread>

// The part of cd/mpi_log.h that the interposition layer calls in every MPI call.
namespace {

TEST_F(LoggerPath, IsOffWithoutALoggingCd) {
    EXPECT_EQ(cd_log_mode(), CD_LOG_OFF);
    EXPECT_EQ(write("x"), nullptr);
    EXPECT_EQ(read(), "");
    cd_log_place place = {};
    EXPECT_FALSE(cd_log_here(&place));
    make_root(COMM_LOGGING_DISABLED);
    EXPECT_EQ(cd_log_mode(), CD_LOG_OFF);
}

TEST_F(LoggerPath, ARootOfItsOwnHasNothingOfTheEnvironment) {
    for (const char *programs :
         {"store=file,dir=/nowhere,redundancy=xor,flush=/nowhere", "log_limit=1M", "what=this"}) {
        setenv("CD_STORAGE_INFO", programs, 1);
        int error = -1;
        const cd_handle root = cd_log_create_root("own", &error);
        unsetenv("CD_STORAGE_INFO");
        ASSERT_NE(root, nullptr) << cd_last_error_message();
        EXPECT_EQ(error, SUCCESS);
        for (int i = 0; i < 32; ++i) {
            EXPECT_NE(write(std::string(100'000, 'x')), nullptr);
        }
        cd_info info = {};
        EXPECT_TRUE(succeeds(cd_query(root, &info)));
        EXPECT_EQ(info.log_length, 32u);
        EXPECT_EQ(info.log_in_files, 0u);
        EXPECT_TRUE(succeeds(commit_cd(root)));
    }
}

TEST_F(LoggerPath, IsPossibleWhileTheThreadHasAnActiveCd) {
    ASSERT_EQ(cd_log_mode(), CD_LOG_OFF); // also of what other tests in this process have left
    const int *possible = cd_log_possible();
    EXPECT_EQ(*possible, 0);
    const cd_handle root = make_root(COMM_LOGGING_ENABLED);
    const cd_handle child = create_cd(root, nullptr, COMM_LOGGING_INHERIT, nullptr, nullptr);
    EXPECT_NE(*possible, 0);
    std::thread([] { EXPECT_EQ(*cd_log_possible(), 0); }).join();
    ASSERT_TRUE(succeeds(commit_cd(child)));
    EXPECT_NE(*possible, 0);
    std::thread([&] { EXPECT_TRUE(succeeds(commit_cd(root))); }).join();
    EXPECT_EQ(cd_log_mode(), CD_LOG_OFF); // finds it out
    EXPECT_EQ(write("late"), nullptr);
    EXPECT_EQ(*possible, 0);
    EXPECT_EQ(cd_log_possible(), possible);
}

TEST_F(LoggerPath, FollowsTheActiveCd) {
    const cd_handle quiet = make_root(COMM_LOGGING_DISABLED);
    const cd_handle root = make_root(COMM_LOGGING_ENABLED, nullptr, "logging");
    EXPECT_EQ(cd_log_mode(), CD_LOG_RECORDING);
    ASSERT_NE(write("one"), nullptr);
    EXPECT_EQ(info_of(root).log_length, 1U);
    ASSERT_TRUE(succeeds(commit_cd(root)));
    EXPECT_EQ(cd_log_mode(), CD_LOG_OFF);
    ASSERT_TRUE(succeeds(commit_cd(quiet)));
}

class RecordingPath : public LoggerPath {
protected:
    void SetUp() override {
        LoggerPath::SetUp();
        root = make_root(COMM_LOGGING_ENABLED);
    }
    cd_handle root = nullptr;
};

TEST_F(RecordingPath, ReplaysAndThenRecordsAgain) {
    write("one");
    write("two");
    ASSERT_TRUE(succeeds(restore_cd(root)));
    EXPECT_EQ(cd_log_mode(), CD_LOG_REPLAYING);
    EXPECT_EQ(write("early"), nullptr);
    EXPECT_EQ(read(), "one");
    EXPECT_EQ(cd_log_mode(), CD_LOG_REPLAYING);
    EXPECT_EQ(read(), "two");
    EXPECT_EQ(cd_log_mode(), CD_LOG_RECORDING);
    EXPECT_EQ(read(), "");
}

// Earlier tests of the process may have left replays.
TEST_F(LoggerPath, EveryThreadKnowsHowManyLogsReplay) {
    const int *const replays = cd_log_replays();
    const int before = *replays;
    const auto replay = [&](const auto &end) {
        const cd_handle root = make_root(COMM_LOGGING_ENABLED);
        write("one");
        EXPECT_EQ(*replays, before);
        ASSERT_TRUE(succeeds(restore_cd(root)));
        ASSERT_TRUE(succeeds(restore_cd(root)));
        EXPECT_EQ(*replays, before + 1);
        std::thread([&] { EXPECT_EQ(cd_log_replays(), replays); }).join();
        end(root);
        EXPECT_EQ(*replays, before);
        static_cast<void>(commit_cd(root)); // which may be the end
    };
    replay([](cd_handle) { EXPECT_EQ(read(), "one"); });
    replay([](cd_handle root) { EXPECT_TRUE(succeeds(delete_MPI_log_from_cd(root))); });
    replay([](cd_handle root) { EXPECT_TRUE(succeeds(commit_cd(root))); });
}

TEST_F(RecordingPath, AnEntryThatWasUnreadIsReadAgain) {
    write("one");
    write("two");
    ASSERT_TRUE(succeeds(restore_cd(root)));
    EXPECT_EQ(read(), "one");
    EXPECT_EQ(read(), "two");
    cd_log_unread();
    EXPECT_EQ(cd_log_mode(), CD_LOG_REPLAYING);
    EXPECT_EQ(read(), "two");
    EXPECT_EQ(cd_log_mode(), CD_LOG_RECORDING);
}

TEST_F(RecordingPath, TheLastEntryMayBeChanged) {
    void *entry = write("one");
    ASSERT_NE(entry, nullptr);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(entry) % 16, 0U);
    std::memcpy(entry, "ONE", 3);
    ASSERT_TRUE(succeeds(restore_cd(root)));
    EXPECT_EQ(read(), "ONE");
}

TEST_F(RecordingPath, AnEntryGrowsWhileItIsWritten) {
    const cd_log_place place = here();
    cd_log_room room = cd_log_open(3);
    ASSERT_NE(room.at, nullptr);
    std::memcpy(room.at, "one", 3);
    EXPECT_EQ(here().entry, place.entry);
    const size_t length = room.size + 1;
    ASSERT_TRUE(cd_log_widen(&room, 3, length));
    std::memset(static_cast<char *>(room.at) + 3, 'x', length - 3);
    cd_log_close(length);
    EXPECT_EQ(here().entry, place.entry + 1);
    ASSERT_TRUE(succeeds(restore_cd(root)));
    EXPECT_EQ(read(), "one" + std::string(length - 3, 'x'));
}

// No arithmetic on the way may overflow.
TEST_F(LoggerPath, ASizeThatNoMemoryHasIsRefused) {
    for (const char *storage : {"log_limit=0", "log_limit=256K"}) {
        const cd_handle root = make_root(COMM_LOGGING_ENABLED, storage);
        ASSERT_NE(write("one"), nullptr);
        for (const size_t less : {0, 1, 8, 15, 16, 17, 31, 4096}) {
            const size_t size = SIZE_MAX - less;
            SCOPED_TRACE(size);
            EXPECT_EQ(cd_log_open(size).at, nullptr);
            cd_log_room room = cd_log_open(3);
            ASSERT_NE(room.at, nullptr);
            EXPECT_FALSE(cd_log_widen(&room, 3, size));
        }
        EXPECT_NE(write("two"), nullptr) << "what was open is dropped";
        EXPECT_EQ(info_of(root).log_length, 2U);
        ASSERT_TRUE(succeeds(commit_cd(root)));
    }
}

TEST_F(RecordingPath, AnEntryThatIsLeftOpenIsDropped) {
    cd_log_room room = cd_log_open(100);
    ASSERT_NE(room.at, nullptr);
    write("one");
    EXPECT_EQ(info_of(root).log_length, 1U);
    ASSERT_TRUE(succeeds(restore_cd(root)));
    EXPECT_EQ(read(), "one");
}

// The writer is inside the log, past its check of the CD, when that ends.
TEST_F(RecordingPath, ACdMayEndInAnotherThreadWhileAnEntryIsOpen) {
    write("one");
    cd_log_room room = cd_log_open(3);
    ASSERT_NE(room.at, nullptr);
    std::atomic<bool> ended = false;
    std::thread other([&] {
        EXPECT_TRUE(succeeds(commit_cd(root)));
        ended = true;
    });
    EXPECT_FALSE(comes_true(ended));
    std::memcpy(room.at, "two", 3);
    cd_log_close(3);
    other.join();
    EXPECT_EQ(cd_log_mode(), CD_LOG_OFF);
}

TEST_F(RecordingPath, OthersReadTheLogWhileItsThreadWrites) {
    std::atomic<bool> done = false;
    std::thread other([&] {
        uint64_t before = 0;
        while (!done) {
            const cd_info info = info_of(root);
            EXPECT_GE(info.log_length, before);
            before = info.log_length;
        }
    });
    for (int i = 0; i < 20000; ++i) {
        ASSERT_NE(write("entry"), nullptr);
    }
    done = true;
    other.join();
    EXPECT_EQ(info_of(root).log_length, 20000U);
}

TEST_F(RecordingPath, LeavesTheLastErrorAlone) {
    EXPECT_EQ(commit_cd(nullptr), FAILURE);
    const cd_error before = cd_last_error();
    write("one");
    EXPECT_EQ(cd_last_error(), before);
}

TEST_F(RecordingPath, AnObserverHearsOfTheReplaysEnd) {
    write("one");
    write("two");
    int ends = 0;
    const auto count = [](const cd_event *event, void *to) {
        *static_cast<int *>(to) += event->operation == CD_OP_REPLAY_END ? 1 : 0;
    };
    ASSERT_TRUE(succeeds(cd_observe(count, &ends)));
    ASSERT_TRUE(succeeds(restore_cd(CURRENT_CD)));
    EXPECT_EQ(read(), "one");
    EXPECT_EQ(ends, 0);
    EXPECT_EQ(read(), "two");
    EXPECT_EQ(ends, 1);
    ASSERT_TRUE(succeeds(cd_observe(nullptr, nullptr)));
}

TEST_F(LoggerPath, InsideACallbackNothingIsCovered) {
    static cd_handle root;
    static cd_log_place place;
    root = make_root(COMM_LOGGING_ENABLED);
    place = here();
    write("one");
    ASSERT_TRUE(cd_log_covers(root, &place));
    const auto ask = [](cd_addrspec *, int) {
        return cd_log_covers(root, &place) + cd_log_parts(&place, &place) +
               cd_log_begins(root, nullptr, 0);
    };
    uint8_t byte = 0;
    ASSERT_TRUE(succeeds(add_to_cd_via_regen(root, {bytes(&byte, 1, READ_ONLY)}, 1, ask)));
    EXPECT_TRUE(succeeds(restore_cd(root)));
}

TEST_F(RecordingPath, AnEntryIsCoveredByTheCdsThatWouldReplayIt) {
    const cd_log_place first = here();
    write("one");
    const cd_handle child = make_child(root);
    const cd_log_place second = here();
    write("two");
    EXPECT_TRUE(cd_log_covers(root, &first));
    EXPECT_TRUE(cd_log_covers(root, &second));
    EXPECT_FALSE(cd_log_covers(child, &first));
    EXPECT_TRUE(cd_log_covers(child, &second));
    EXPECT_TRUE(cd_log_covers(CURRENT_CD, &second));
    ASSERT_TRUE(succeeds(commit_cd(child)));
    EXPECT_FALSE(cd_log_covers(child, &second));
    EXPECT_TRUE(cd_log_covers(root, &second));
    ASSERT_TRUE(succeeds(advance_cd_point_in_time(root)));
    EXPECT_FALSE(cd_log_covers(root, &second));
}

TEST_F(RecordingPath, ASiblingsEntriesAreCoveredByTheParent) {
    const cd_handle first = make_child(root);
    const cd_handle second = make_child(root);
    const cd_log_place place = here();
    write("two");
    EXPECT_TRUE(cd_log_covers(root, &place));
    EXPECT_TRUE(cd_log_covers(second, &place));
    EXPECT_FALSE(cd_log_covers(first, &place));
}

TEST_F(RecordingPath, BeginsOfALogAreWhereARestoreReplaysFrom) {
    write("one");
    const cd_handle first = make_child(root);
    const cd_log_place of_first = here();
    write("two");
    const cd_handle second = make_child(root);
    const cd_log_place of_second = here();
    write("three");
    std::array<cd_log_place, 3> begins = {};
    ASSERT_EQ(cd_log_begins(first, begins.data(), 3), 1);
    EXPECT_EQ(begins[0].stream, of_first.stream);
    EXPECT_EQ(begins[0].entry, of_first.entry);
    ASSERT_EQ(cd_log_begins(second, begins.data(), 3), 1);
    EXPECT_EQ(begins[0].stream, of_second.stream);
    ASSERT_EQ(cd_log_begins(root, begins.data(), 3), 2);
    EXPECT_EQ(begins[0].stream, of_first.stream);
    EXPECT_EQ(begins[0].entry, 0U);
    EXPECT_EQ(begins[0].family, of_first.family);
    EXPECT_EQ(begins[1].stream, of_second.stream);
    begins[1] = {};
    EXPECT_EQ(cd_log_begins(root, begins.data(), 1), 2);
    EXPECT_EQ(begins[1].stream, 0U) << "there was room for one";
    ASSERT_TRUE(succeeds(commit_cd(second)));
    EXPECT_EQ(cd_log_begins(second, begins.data(), 3), 0) << "it has ended";
}

TEST_F(RecordingPath, PlacesArePartedByTheBeginningOfAnActiveCd) {
    const cd_log_place first = here();
    write("one");
    const cd_handle child = make_child(root);
    const cd_log_place second = here();
    write("two");
    const cd_handle grandchild = make_child(child);
    const cd_log_place third = here();
    write("three");
    EXPECT_TRUE(cd_log_parts(&first, &second));
    EXPECT_TRUE(cd_log_parts(&second, &third));
    EXPECT_FALSE(cd_log_parts(&second, &first));
    EXPECT_FALSE(cd_log_parts(&third, &third));
    ASSERT_TRUE(succeeds(commit_cd(grandchild)));
    EXPECT_FALSE(cd_log_parts(&second, &third));
    ASSERT_TRUE(succeeds(advance_cd_point_in_time(child)));
    EXPECT_FALSE(cd_log_parts(&first, &second));
    ASSERT_TRUE(succeeds(commit_cd(child)));
    ASSERT_TRUE(succeeds(commit_cd(root)));
    EXPECT_FALSE(cd_log_parts(&first, &third));
}

} // namespace
