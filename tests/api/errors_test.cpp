// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "fixture.h"

#include <cd/binding.h>

#include <climits>
#include <cstdio>
#include <fcntl.h>
#include <functional>
#include <set>
#include <thread>
#include <unistd.h>

// Every code has its cause, and every message says which CD, which range, and what to do.
// CD_ERROR_FILE_SYSTEM needs an operating system that fails: tests/unit provokes it.
// CD_ERROR_CHECKSUM: verify_test.cpp. CD_ERROR_ACTIVE_ELSEWHERE: threads_test.cpp.
namespace {

int regen_that_fails(cd_addrspec *, int) { return 7; }

template <typename Enum> Enum bad_value() {
    const int value = 7;
    Enum result;
    std::memcpy(&result, &value, sizeof result);
    return result;
}

class Errors : public CdTest {
protected:
    void SetUp() override {
        CdTest::SetUp();
        root = make_root(COMM_LOGGING_ENABLED, nullptr, "errors");
    }

    static cd_error create_fails(cd_handle parent, const char *storage, int logging,
                                 const char *name) {
        EXPECT_EQ(create_cd(parent, storage, static_cast<mpi_log>(logging), name, nullptr),
                  nullptr);
        return cd_last_error();
    }

    cd_handle root;
    uint8_t x[16] = {};
};

// ---- How errors are told -------------------------------------------------------------------

TEST_F(Errors, SuccessClearsCodeAndMessage) {
    EXPECT_TRUE(fails_with(CD_ERROR_INVALID_HANDLE, commit_cd(nullptr)));
    EXPECT_NE(last_message(), "");
    EXPECT_TRUE(succeeds(restore_cd(root)));
    EXPECT_EQ(cd_last_error(), CD_ERROR_NONE);
    EXPECT_EQ(last_message(), "");
}

TEST_F(Errors, AskingForTheErrorDoesNotChangeIt) {
    EXPECT_TRUE(fails_with(CD_ERROR_INVALID_HANDLE, commit_cd(nullptr)));
    const std::string message = last_message();
    EXPECT_STRNE(cd_strerror(CD_ERROR_NONE), "");
    EXPECT_EQ(cd_last_error(), CD_ERROR_INVALID_HANDLE);
    EXPECT_EQ(cd_last_error(), CD_ERROR_INVALID_HANDLE);
    EXPECT_EQ(last_message(), message);
}

TEST_F(Errors, EachThreadHasItsOwnError) {
    EXPECT_TRUE(fails_with(CD_ERROR_INVALID_HANDLE, commit_cd(nullptr)));
    const std::string message = last_message();
    std::thread([] {
        EXPECT_EQ(cd_last_error(), CD_ERROR_NONE);
        EXPECT_EQ(last_message(), "");
        EXPECT_TRUE(fails_with(CD_ERROR_NO_CURRENT_CD, commit_cd(CURRENT_CD)));
    }).join();
    EXPECT_EQ(cd_last_error(), CD_ERROR_INVALID_HANDLE);
    EXPECT_EQ(last_message(), message);
}

TEST_F(Errors, EveryCodeHasATextOfItsOwn) {
    std::set<std::string> texts;
    for (int code = CD_ERROR_NONE; code <= CD_ERROR_LOG_INCOMPLETE; ++code) {
        EXPECT_STRNE(cd_strerror(code), "") << code;
        EXPECT_STRNE(cd_strerror(code), cd_strerror(-1)) << code;
        EXPECT_TRUE(texts.insert(cd_strerror(code)).second) << code << ": " << cd_strerror(code);
    }
    EXPECT_EQ(texts.size(), static_cast<size_t>(CD_ERROR_LOG_INCOMPLETE) + 1);
    // A code added after the last one must be added to this test too.
    for (const int code : {-1, CD_ERROR_LOG_INCOMPLETE + 1, INT_MIN, INT_MAX}) {
        EXPECT_STREQ(cd_strerror(code), "unknown error code") << code;
    }
}

TEST_F(Errors, ABindingsErrorIsTheThreadsLastError) {
    EXPECT_EQ(cd_fail(CD_ERROR_COUNT, "100% of the array"), FAILURE);
    EXPECT_EQ(cd_last_error(), CD_ERROR_COUNT);
    EXPECT_EQ(last_message(), "100% of the array");
    EXPECT_NE(cd_name(root), nullptr);
    EXPECT_EQ(cd_last_error(), CD_ERROR_NONE);
}

TEST_F(Errors, MessageOfAVeryLongValueIsCutNotOverrun) {
    const std::string long_value(100'000, 'v');
    EXPECT_EQ(create_fails(nullptr, ("shadow=" + long_value).c_str(), COMM_LOGGING_DISABLED, "r"),
              CD_ERROR_STORAGE_VALUE);
    EXPECT_TRUE(message_has("vvv"));
    EXPECT_LT(last_message().size(), 10'000U);
}

// ---- Handles -------------------------------------------------------------------------------

TEST_F(Errors, InvalidHandle) {
    int local = 0;
    uint8_t unaligned[16] = {};
    const cd_handle committed = make_child(root);
    ASSERT_TRUE(succeeds(commit_cd(committed)));
    const cd_handle bad[] = {nullptr,
                             &local,
                             unaligned + 1,
                             committed,
                             reinterpret_cast<cd_handle>(uintptr_t{2}),
                             reinterpret_cast<cd_handle>(~uintptr_t{0}),
                             reinterpret_cast<cd_handle>(uintptr_t{1} << 63)};
    for (const cd_handle handle : bad) {
        cd_info info;
        EXPECT_TRUE(fails_with(CD_ERROR_INVALID_HANDLE, commit_cd(handle),
                               {handle != nullptr ? text_of(handle) : "handle"}));
        EXPECT_TRUE(handle == nullptr || message_has("pass the handle of a live CD"));
        EXPECT_TRUE(fails_with(CD_ERROR_INVALID_HANDLE, restore_cd(handle)));
        EXPECT_TRUE(fails_with(CD_ERROR_INVALID_HANDLE, advance_cd_point_in_time(handle)));
        EXPECT_TRUE(fails_with(CD_ERROR_INVALID_HANDLE, add_to_cd_via_copy(handle, {rw(x)}, 1)));
        EXPECT_TRUE(fails_with(CD_ERROR_INVALID_HANDLE, add_to_cd_via_parent(handle, {rw(x)}, 1)));
        EXPECT_TRUE(fails_with(CD_ERROR_INVALID_HANDLE,
                               add_to_cd_via_regen(handle, {ro(x)}, 1, regen_that_fails)));
        EXPECT_TRUE(fails_with(CD_ERROR_INVALID_HANDLE, delete_from_cd(handle, {rw(x)}, 1)));
        EXPECT_TRUE(fails_with(CD_ERROR_INVALID_HANDLE, add_file_to_cd(handle, 0)));
        EXPECT_TRUE(fails_with(CD_ERROR_INVALID_HANDLE, delete_file_from_cd(handle, 0)));
        EXPECT_TRUE(fails_with(CD_ERROR_INVALID_HANDLE, cd_query(handle, &info)));
        EXPECT_TRUE(fails_with(CD_ERROR_INVALID_HANDLE, cd_verify(handle, nullptr, nullptr)));
        EXPECT_TRUE(fails_with(CD_ERROR_INVALID_HANDLE, delete_MPI_log_from_cd(handle)));
        EXPECT_TRUE(fails_with(CD_ERROR_INVALID_HANDLE, add_MPI_log_to_cd(handle, x, 1)));
        EXPECT_EQ(cd_name(handle), nullptr);
        EXPECT_EQ(cd_last_error(), CD_ERROR_INVALID_HANDLE);
        int error = 0;
        EXPECT_EQ(get_MPI_log_from_cd(handle, &error), nullptr);
        EXPECT_EQ(error, CD_ERROR_INVALID_HANDLE);
    }
}

TEST_F(Errors, NoCurrentCd) {
    std::thread([this] {
        EXPECT_TRUE(fails_with(CD_ERROR_NO_CURRENT_CD, restore_cd(CURRENT_CD), {"CURRENT_CD"}));
        EXPECT_TRUE(fails_with(CD_ERROR_NO_CURRENT_CD, add_to_cd_via_copy(CURRENT_CD, {rw(x)}, 1)));
    }).join();
}

TEST_F(Errors, HasChildren) {
    make_child(root);
    make_child(root);
    EXPECT_TRUE(fails_with(CD_ERROR_HAS_CHILDREN, commit_cd(root), {"0/errors/0/0", "2"}));
    EXPECT_TRUE(
        fails_with(CD_ERROR_HAS_CHILDREN, advance_cd_point_in_time(root), {"0/errors/0/0"}));
}

// ---- create_cd -----------------------------------------------------------------------------

TEST_F(Errors, ACreationThatIsRefusedSaysWhy) {
    struct Row {
        cd_error code;
        cd_handle parent;
        int logging;
        const char *name;
        std::vector<const char *> parts;
    };
    const Row rows[] = {
        {CD_ERROR_NAME_MISSING, nullptr, 0, nullptr, {"name"}},
        {CD_ERROR_NAME_INVALID, nullptr, 0, "a/b", {"a/b"}},
        {CD_ERROR_NAME_INVALID, nullptr, 0, "a\x1b[2J\nb", {"\"a\\x1b[2J\\x0ab\""}},
        {CD_ERROR_NAME_ON_CHILD, root, 2, "kid", {"kid", "0/errors/0/0"}},
        {CD_ERROR_NAME_IN_USE, nullptr, 0, "errors", {"errors"}},
        {CD_ERROR_LOGGING_MODE, nullptr, 3, "other", {"3"}},
        {CD_ERROR_LOGGING_INHERIT_AT_ROOT, nullptr, 2, "other", {"other"}},
        {CD_ERROR_LOGGING_MISMATCH, root, 0, nullptr, {"0/errors/0/0"}},
    };
    for (const Row &row : rows) {
        SCOPED_TRACE(cd_strerror(row.code));
        EXPECT_EQ(create_fails(row.parent, nullptr, row.logging, row.name), row.code);
        for (const char *part : row.parts) {
            EXPECT_TRUE(message_has(part));
        }
    }
}

// ---- storage_info --------------------------------------------------------------------------

TEST_F(Errors, StorageSyntax) {
    EXPECT_EQ(create_fails(root, "sync=full,checksum", 2, nullptr), CD_ERROR_STORAGE_SYNTAX);
    EXPECT_TRUE(message_has("checksum"));
    EXPECT_EQ(create_fails(root, "sync=full,sync=none", 2, nullptr), CD_ERROR_STORAGE_SYNTAX);
    EXPECT_TRUE(message_has("sync"));
}

TEST_F(Errors, StorageKeyListsTheKeys) {
    EXPECT_EQ(create_fails(root, "colour=red", 2, nullptr), CD_ERROR_STORAGE_KEY);
    EXPECT_TRUE(message_has("colour"));
    EXPECT_TRUE(message_has("a child of CD 0/errors/0/0"));
    EXPECT_TRUE(
        fails_with(CD_ERROR_STORAGE_KEY, add_to_cd_via_copy(root, {bytes(x, 1)}, 1, "colour=red")));
    EXPECT_TRUE(message_has("0/errors/0/0"));
    for (const char *key :
         {"store", "dir", "redundancy", "set_size", "group", "sync", "checksum", "track", "config",
          "shadow", "keep", "redundancy_mode", "flush", "flush_interval"}) {
        EXPECT_TRUE(message_has(key));
    }
}

TEST_F(Errors, StorageValueListsTheValues) {
    EXPECT_EQ(create_fails(root, "checksum=md5", 2, nullptr), CD_ERROR_STORAGE_VALUE);
    EXPECT_TRUE(message_has("md5"));
    EXPECT_TRUE(message_has("crc32c"));
    EXPECT_TRUE(message_has("none"));
    EXPECT_EQ(create_fails(root, "shadow=full\r", 2, nullptr), CD_ERROR_STORAGE_VALUE);
    EXPECT_TRUE(message_has("shadow=full\\x0d"));
}

TEST_F(Errors, StorageUnsupportedSaysWhatAndWhere) {
    EXPECT_EQ(create_fails(nullptr, "track=pages", 0, "other"), CD_ERROR_STORAGE_UNSUPPORTED);
    EXPECT_TRUE(message_has("track=pages"));
    EXPECT_TRUE(message_has("root CD other"));
    EXPECT_TRUE(fails_with(CD_ERROR_STORAGE_UNSUPPORTED,
                           add_to_cd_via_copy(root, {bytes(x, 1)}, 1, "track=pages"),
                           {"track=pages", "0/errors/0/0"}));
    EXPECT_EQ(create_fails(root, "track=pages", 2, nullptr), CD_ERROR_STORAGE_UNSUPPORTED);
    EXPECT_TRUE(message_has("use track=explicit"));
    make_child(root, "track=explicit");
}

// A child has the store of its root, so no other remedy would help.
TEST_F(Errors, WhatOnlyARootCanHaveIsToldToWhoWantsItForAChild) {
    for (const char *storage :
         {"redundancy=xor", "config=scr.conf", "flush=/lustre", "store=file", "dir=/other",
          "keep=2", "store=file,redundancy=single,flush=/lustre", "set_size=3", "log_limit=1M"}) {
        SCOPED_TRACE(storage);
        EXPECT_EQ(create_fails(root, storage, 2, nullptr), CD_ERROR_STORAGE_UNSUPPORTED);
        EXPECT_TRUE(message_has("can only be given for the root"));
        EXPECT_TRUE(fails_with(CD_ERROR_STORAGE_UNSUPPORTED,
                               add_to_cd_via_copy(root, {rw(x)}, 1, storage),
                               {"can only be given for the root"}));
    }
}

TEST_F(Errors, TheRemedyForARootNeedsNoOther) {
    EXPECT_EQ(create_fails(nullptr, "flush=/lustre", 0, "other"), CD_ERROR_STORAGE_UNSUPPORTED);
    EXPECT_TRUE(message_has("use store=file,redundancy=single"));
    for (const char *storage :
         {"flush=/lustre,store=file,redundancy=single,dir=/nowhere",
          "store=file,dir=nowhere,redundancy=xor", "store=file,dir=nowhere,config=levels"}) {
        EXPECT_EQ(create_fails(nullptr, storage, 0, "r"), CD_ERROR_STORAGE_UNSUPPORTED);
        EXPECT_TRUE(message_has("need libcd_mpi") || message_has("lib/cd/<flavour>/libcd_mpi.so"));
    }
    EXPECT_TRUE(message_has("ContainmentDomains::cd_mpi"));
}

TEST_F(Errors, TheEnvironmentIsReadForARootWithoutStorageInfoOnly) {
    setenv("CD_STORAGE_INFO", "checksum=crc32c,colour=red", 1);
    EXPECT_EQ(create_fails(nullptr, nullptr, 0, "other"), CD_ERROR_STORAGE_KEY);
    make_child(root); // takes its parent's
    make_root(COMM_LOGGING_DISABLED, "shadow=none", "one");
    make_root(COMM_LOGGING_DISABLED, "", "two");
    EXPECT_EQ(create_fails(nullptr, "colour=red", 0, "three"), CD_ERROR_STORAGE_KEY);
}

// ---- Ranges --------------------------------------------------------------------------------

TEST_F(Errors, WhatIsWrongWithAListNamesTheCd) {
    const cd_addrspec one = rw(x);
    const cd_addrspec *const no_list = nullptr;
    const size_t length = sizeof x;
    struct Row {
        cd_error code;
        std::function<int()> call;
        std::vector<std::string> parts;
    };
    const Row rows[] = {
        {CD_ERROR_NULL_LIST, [&] { return add_to_cd_via_copy(root, no_list, 3, nullptr); }, {"3"}},
        {CD_ERROR_NULL_LIST, [&] { return delete_from_cd(root, no_list, 3); }, {}},
        {CD_ERROR_COUNT, [&] { return add_to_cd_via_copy(root, &one, -5); }, {"-5"}},
        {CD_ERROR_COUNT, [&] { return add_to_cd_via_parent(root, &one, -5); }, {}},
        {CD_ERROR_COUNT, [&] { return add_to_cd_via_regen(root, &one, -5, regen_that_fails); }, {}},
        {CD_ERROR_COUNT, [&] { return delete_from_cd(root, &one, -5); }, {}},
        {CD_ERROR_COUNT, [&] { return add_to_cd_via_copy(root, no_list, -1, nullptr); }, {}},
        {CD_ERROR_NULL_ADDRESS,
         [&] {
             return add_to_cd_via_copy(root, {rw(x), bytes(nullptr, 77)}, 2);
         },
         {"77", "element 1"}},
        {CD_ERROR_NULL_ADDRESS, [&] { return delete_from_cd(root, {bytes(nullptr, 77)}, 1); }, {}},
        {CD_ERROR_RANGE_WRAPS, [&] { return delete_from_cd(root, {bytes(x, SIZE_MAX)}, 1); }, {}},
        {CD_ERROR_ADDR_TYPE,
         [&] { return add_to_cd_via_copy(root, {bytes(x, 4, bad_value<addr_type>())}, 1); },
         {"7", "READ_WRITE"}},
        {CD_ERROR_ADDR_SCOPE,
         [&] {
             return add_to_cd_via_copy(root, {bytes(x, 4, READ_ONLY, bad_value<addr_scope>())}, 1);
         },
         {"7", "CONSTRAINED"}},
        {CD_ERROR_REGEN_READ_WRITE,
         [&] { return add_to_cd_via_regen(root, {bytes(x, length)}, 1, regen_that_fails); },
         {text_of(x), "16 bytes"}},
        {CD_ERROR_REGEN_NULL,
         [&] { return add_to_cd_via_regen(root, {bytes(x, length, READ_ONLY)}, 1, nullptr); },
         {"regen"}},
        {CD_ERROR_NO_PARENT,
         [&] { return add_to_cd_via_parent(root, {bytes(x, length)}, 1); },
         {text_of(x)}},
    };
    for (const Row &row : rows) {
        EXPECT_TRUE(fails_with(row.code, row.call()));
        EXPECT_TRUE(
            message_has(row.code == CD_ERROR_NO_PARENT ? "CD 0/errors/0/0 " : "CD 0/errors/0/0: "));
        for (const std::string &part : row.parts) {
            EXPECT_TRUE(message_has(part));
        }
    }
}

TEST_F(Errors, RangeWraps) {
    const size_t to_the_end = 0 - reinterpret_cast<size_t>(x);
    for (const size_t length : {SIZE_MAX, to_the_end, to_the_end + 1}) {
        EXPECT_TRUE(
            fails_with(CD_ERROR_RANGE_WRAPS, add_to_cd_via_copy(root, {bytes(x, length)}, 1)));
        EXPECT_TRUE(message_has(text_of(x)));
        EXPECT_TRUE(message_has(std::to_string(length)));
        EXPECT_TRUE(fails_with(CD_ERROR_RANGE_WRAPS, delete_from_cd(root, {bytes(x, length)}, 1)));
    }
}

TEST_F(Errors, ScopeFixed) {
    ASSERT_TRUE(succeeds(add_to_cd_via_copy(root, {bytes(x + 4, 3, READ_ONLY, CONSTRAINED)}, 1)));
    EXPECT_TRUE(fails_with(CD_ERROR_SCOPE_FIXED, add_to_cd_via_copy(root, {rw(x)}, 1),
                           {"0/errors/0/0", text_of(x + 4), "3 bytes"}));
}

TEST_F(Errors, NotInParentNamesTheMissingBytes) {
    const cd_handle child = make_child(root);
    ASSERT_TRUE(succeeds(add_to_cd_via_copy(root, {bytes(x, 10)}, 1)));
    EXPECT_TRUE(fails_with(CD_ERROR_NOT_IN_PARENT, add_to_cd_via_parent(child, {rw(x)}, 1),
                           {"0/errors/1/0", text_of(x + 10), "6 bytes"}));
}

TEST_F(Errors, ParentRegenNamesTheBytesAndTheAncestor) {
    const cd_handle child = make_child(root);
    ASSERT_TRUE(succeeds(add_to_cd_via_regen(root, {bytes(x, 5, READ_ONLY)}, 1, regen_that_fails)));
    EXPECT_TRUE(fails_with(CD_ERROR_PARENT_REGEN, add_to_cd_via_parent(child, {bytes(x, 5)}, 1),
                           {"0/errors/1/0", "0/errors/0/0", text_of(x), "5 bytes"}));
}

TEST_F(Errors, NotInCdNamesTheMissingBytes) {
    ASSERT_TRUE(succeeds(add_to_cd_via_copy(root, {bytes(x, 10)}, 1)));
    EXPECT_TRUE(fails_with(CD_ERROR_NOT_IN_CD, delete_from_cd(root, {rw(x)}, 1),
                           {"0/errors/0/0", text_of(x + 10), "6 bytes"}));
}

// ---- Files ---------------------------------------------------------------------------------

TEST_F(Errors, FileBadDescriptor) {
    EXPECT_TRUE(fails_with(CD_ERROR_FILE_BAD_DESCRIPTOR, add_file_to_cd(root, 987),
                           {"0/errors/0/0", "987"}));
}

TEST_F(Errors, FileNotSeekable) {
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    EXPECT_TRUE(fails_with(CD_ERROR_FILE_NOT_SEEKABLE, add_file_to_cd(root, ends[1]),
                           {"0/errors/0/0", std::to_string(ends[1])}));
    close(ends[0]);
    close(ends[1]);
}

TEST_F(Errors, FileChanged) {
    FILE *first = std::tmpfile();
    FILE *second = std::tmpfile();
    const int fd = fileno(first);
    ASSERT_TRUE(succeeds(add_file_to_cd(root, fd)));
    ASSERT_EQ(dup2(fileno(second), fd), fd);
    EXPECT_TRUE(
        fails_with(CD_ERROR_FILE_CHANGED, restore_cd(root), {"0/errors/0/0", std::to_string(fd)}));
    std::fclose(first);
    std::fclose(second);
}

TEST_F(Errors, FileNotInCd) {
    EXPECT_TRUE(fails_with(CD_ERROR_FILE_NOT_IN_CD, delete_file_from_cd(root, 987),
                           {"0/errors/0/0", "987"}));
}

// ---- The rest ------------------------------------------------------------------------------

TEST_F(Errors, RegenFailed) {
    ASSERT_TRUE(succeeds(add_to_cd_via_regen(root, {bytes(x, 5, READ_ONLY)}, 1, regen_that_fails)));
    EXPECT_TRUE(fails_with(CD_ERROR_REGEN_FAILED, restore_cd(root),
                           {"0/errors/0/0", "returned 7", text_of(x), "5 bytes"}));
}

// No machine has that much, and no arithmetic on the way may overflow.
TEST_F(Errors, NoMemoryLeavesTheCdUnchanged) {
    ASSERT_TRUE(succeeds(add_to_cd_via_copy(root, {bytes(x, 4, READ_ONLY)}, 1)));
    const size_t most = SIZE_MAX - reinterpret_cast<size_t>(x);
    for (const size_t length : {SIZE_MAX / 2, most, most - 4095}) {
        EXPECT_TRUE(
            fails_with(CD_ERROR_NO_MEMORY, add_to_cd_via_copy(root, {bytes(x, length)}, 1)));
        EXPECT_TRUE(message_has(std::to_string(length - 4) + " bytes"));
        EXPECT_TRUE(message_has("0/errors/0/0"));
        EXPECT_TRUE(message_has("add less"));
    }
    const cd_log_part part = {x, SIZE_MAX / 4};
    EXPECT_TRUE(fails_with(CD_ERROR_NO_MEMORY, cd_log_append(root, &part, 1),
                           {std::to_string(SIZE_MAX / 4), "0/errors/0/0", "advance more often"}));
    EXPECT_EQ(info_of(root).bytes, 4U);
    EXPECT_EQ(info_of(root).read_write, 0U);
}

TEST_F(Errors, Argument) {
    EXPECT_TRUE(fails_with(CD_ERROR_ARGUMENT, cd_query(root, nullptr), {"0/errors/0/0", "info"}));
    EXPECT_TRUE(fails_with(CD_ERROR_ARGUMENT, cd_set_rank(-1),
                           {"cd_set_rank: the rank is -1; give the one in MPI_COMM_WORLD"}));
}

TEST_F(Errors, ARegionIsToldWithItsNameAndItsBytes) {
    const std::string long_name(201, 'n');
    EXPECT_TRUE(fails_with(CD_ERROR_ARGUMENT, cd_name_region(long_name.c_str(), x, 1),
                           {"\"nnnn", "201 bytes; give one of 1 to 200"}));
    EXPECT_TRUE(fails_with(CD_ERROR_ARGUMENT, cd_name_region(nullptr, x, 1),
                           {"NULL; give one of 1 to 200"}));
    EXPECT_TRUE(fails_with(CD_ERROR_RANGE_WRAPS, cd_name_region("field", x, SIZE_MAX),
                           {"\"field\", " + std::to_string(SIZE_MAX) + " bytes at " + text_of(x),
                            "check the length"}));
    EXPECT_TRUE(
        fails_with(CD_ERROR_NULL_ADDRESS, cd_name_region("a\tb", nullptr, 1), {"\"a\\x09b\""}));
}

} // namespace
