// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "fixture.h"

#include <cd/binding.h>

#include <cstdio>
#include <fcntl.h>
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
        root = make_root(COMM_LOGGING_DISABLED, nullptr, "errors");
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
    std::thread([] {
        EXPECT_EQ(cd_last_error(), CD_ERROR_NONE);
        EXPECT_EQ(last_message(), "");
        EXPECT_TRUE(fails_with(CD_ERROR_NO_CURRENT_CD, commit_cd(CURRENT_CD)));
    }).join();
    EXPECT_EQ(cd_last_error(), CD_ERROR_INVALID_HANDLE);
}

TEST_F(Errors, EveryCodeHasATextOfItsOwn) {
    std::set<std::string> texts;
    for (int code = CD_ERROR_NONE; code <= CD_ERROR_LOG_INCOMPLETE; ++code) {
        EXPECT_STRNE(cd_strerror(code), "") << code;
        EXPECT_STRNE(cd_strerror(code), cd_strerror(-1)) << code;
        EXPECT_TRUE(texts.insert(cd_strerror(code)).second) << code << ": " << cd_strerror(code);
    }
    EXPECT_EQ(texts.size(), static_cast<size_t>(CD_ERROR_LOG_INCOMPLETE) + 1);
}

TEST_F(Errors, ABindingsErrorIsTheThreadsLastError) {
    EXPECT_EQ(cd_fail(CD_ERROR_COUNT, "100% of the array"), FAILURE);
    EXPECT_EQ(cd_last_error(), CD_ERROR_COUNT);
    EXPECT_EQ(last_message(), "100% of the array");
    EXPECT_NE(cd_name(root), nullptr);
    EXPECT_EQ(cd_last_error(), CD_ERROR_NONE);
}

TEST_F(Errors, UnknownCodesHaveATextToo) {
    for (const int code : {-1, CD_ERROR_LOG_INCOMPLETE + 1, 1'000'000}) {
        ASSERT_NE(cd_strerror(code), nullptr);
        EXPECT_STRNE(cd_strerror(code), "");
    }
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
        EXPECT_TRUE(fails_with(CD_ERROR_INVALID_HANDLE, commit_cd(handle)));
        EXPECT_TRUE(message_has(handle != nullptr ? text_of(handle) : "handle"));
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
        EXPECT_TRUE(fails_with(CD_ERROR_NO_CURRENT_CD, restore_cd(CURRENT_CD)));
        EXPECT_TRUE(message_has("CURRENT_CD"));
        EXPECT_TRUE(fails_with(CD_ERROR_NO_CURRENT_CD, add_to_cd_via_copy(CURRENT_CD, {rw(x)}, 1)));
    }).join();
}

TEST_F(Errors, HasChildren) {
    make_child(root);
    make_child(root);
    EXPECT_TRUE(fails_with(CD_ERROR_HAS_CHILDREN, commit_cd(root)));
    EXPECT_TRUE(message_has("0/errors/0/0"));
    EXPECT_TRUE(message_has("2"));
    EXPECT_TRUE(fails_with(CD_ERROR_HAS_CHILDREN, advance_cd_point_in_time(root)));
    EXPECT_TRUE(message_has("0/errors/0/0"));
}

// ---- create_cd -----------------------------------------------------------------------------

TEST_F(Errors, NameMissing) {
    EXPECT_EQ(create_fails(nullptr, nullptr, 0, nullptr), CD_ERROR_NAME_MISSING);
    EXPECT_TRUE(message_has("name"));
}

TEST_F(Errors, NameInvalid) {
    EXPECT_EQ(create_fails(nullptr, nullptr, 0, "a/b"), CD_ERROR_NAME_INVALID);
    EXPECT_TRUE(message_has("a/b"));
}

TEST_F(Errors, NameOnChild) {
    EXPECT_EQ(create_fails(root, nullptr, 2, "kid"), CD_ERROR_NAME_ON_CHILD);
    EXPECT_TRUE(message_has("kid"));
    EXPECT_TRUE(message_has("0/errors/0/0"));
}

TEST_F(Errors, NameInUse) {
    EXPECT_EQ(create_fails(nullptr, nullptr, 0, "errors"), CD_ERROR_NAME_IN_USE);
    EXPECT_TRUE(message_has("errors"));
}

TEST_F(Errors, LoggingMode) {
    EXPECT_EQ(create_fails(nullptr, nullptr, 3, "other"), CD_ERROR_LOGGING_MODE);
    EXPECT_TRUE(message_has("3"));
}

TEST_F(Errors, LoggingInheritAtRoot) {
    EXPECT_EQ(create_fails(nullptr, nullptr, 2, "other"), CD_ERROR_LOGGING_INHERIT_AT_ROOT);
    EXPECT_TRUE(message_has("other"));
}

TEST_F(Errors, LoggingMismatch) {
    EXPECT_EQ(create_fails(root, nullptr, 1, nullptr), CD_ERROR_LOGGING_MISMATCH);
    EXPECT_TRUE(message_has("0/errors/0/0"));
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
}

TEST_F(Errors, StorageUnsupportedSaysWhat) {
    EXPECT_EQ(create_fails(root, "redundancy=xor", 2, nullptr), CD_ERROR_STORAGE_UNSUPPORTED);
    EXPECT_TRUE(message_has("redundancy"));
    EXPECT_EQ(create_fails(nullptr, "track=pages", 0, "other"), CD_ERROR_STORAGE_UNSUPPORTED);
    EXPECT_TRUE(message_has("track=pages"));
    EXPECT_TRUE(message_has("root CD other"));
    EXPECT_TRUE(fails_with(CD_ERROR_STORAGE_UNSUPPORTED,
                           add_to_cd_via_copy(root, {bytes(x, 1)}, 1, "track=pages")));
    EXPECT_TRUE(message_has("track=pages"));
    EXPECT_TRUE(message_has("0/errors/0/0"));
}

TEST_F(Errors, RedundancyWithoutAProtectorSaysWhatToLink) {
    for (const char *storage :
         {"store=file,dir=nowhere,redundancy=xor", "store=file,dir=nowhere,config=levels"}) {
        EXPECT_EQ(create_fails(nullptr, storage, COMM_LOGGING_DISABLED, "r"),
                  CD_ERROR_STORAGE_UNSUPPORTED);
        EXPECT_TRUE(message_has("ContainmentDomains::cd_mpi"));
        EXPECT_TRUE(message_has("lib/cd/<flavour>/libcd_mpi.so"));
    }
}

// ---- Ranges --------------------------------------------------------------------------------

TEST_F(Errors, NullList) {
    EXPECT_TRUE(fails_with(CD_ERROR_NULL_LIST, add_to_cd_via_copy(root, nullptr, 3, nullptr)));
    EXPECT_TRUE(message_has("3"));
    EXPECT_TRUE(fails_with(CD_ERROR_NULL_LIST,
                           delete_from_cd(root, static_cast<const cd_addrspec *>(nullptr), 3)));
}

TEST_F(Errors, WhatIsWrongWithAListNamesTheCd) {
    const cd_addrspec one = rw(x);
    const auto fails_naming_cd = [](int result) {
        return result == FAILURE ? message_has("CD 0/errors/0/0: ")
                                 : testing::AssertionFailure() << "succeeds";
    };
    EXPECT_TRUE(fails_naming_cd(add_to_cd_via_copy(root, nullptr, 3, nullptr)));
    EXPECT_TRUE(fails_naming_cd(add_to_cd_via_copy(root, &one, -5)));
    EXPECT_TRUE(fails_naming_cd(delete_from_cd(root, &one, -5)));
    EXPECT_TRUE(fails_naming_cd(add_to_cd_via_copy(root, {bytes(nullptr, 77)}, 1)));
    EXPECT_TRUE(fails_naming_cd(delete_from_cd(root, {bytes(x, SIZE_MAX)}, 1)));
    EXPECT_TRUE(
        fails_naming_cd(add_to_cd_via_copy(root, {bytes(x, 4, bad_value<addr_type>())}, 1)));
    EXPECT_TRUE(fails_naming_cd(
        add_to_cd_via_copy(root, {bytes(x, 4, READ_ONLY, bad_value<addr_scope>())}, 1)));
    EXPECT_TRUE(fails_naming_cd(add_to_cd_via_regen(root, {bytes(x, 16)}, 1, regen_that_fails)));
    EXPECT_TRUE(fails_naming_cd(add_to_cd_via_regen(root, {bytes(x, 16, READ_ONLY)}, 1, nullptr)));
}

TEST_F(Errors, Count) {
    const cd_addrspec one = rw(x);
    EXPECT_TRUE(fails_with(CD_ERROR_COUNT, add_to_cd_via_copy(root, &one, -5)));
    EXPECT_TRUE(message_has("-5"));
    EXPECT_TRUE(fails_with(CD_ERROR_COUNT, add_to_cd_via_parent(root, &one, -5)));
    EXPECT_TRUE(fails_with(CD_ERROR_COUNT, add_to_cd_via_regen(root, &one, -5, regen_that_fails)));
    EXPECT_TRUE(fails_with(CD_ERROR_COUNT, delete_from_cd(root, &one, -5)));
    EXPECT_TRUE(fails_with(CD_ERROR_COUNT, add_to_cd_via_copy(root, nullptr, -1, nullptr)))
        << "the count is looked at before the list";
}

TEST_F(Errors, NullAddress) {
    EXPECT_TRUE(fails_with(CD_ERROR_NULL_ADDRESS,
                           add_to_cd_via_copy(root, {rw(x), bytes(nullptr, 77)}, 2)));
    EXPECT_TRUE(message_has("77"));
    EXPECT_TRUE(message_has("element 1"));
    EXPECT_TRUE(fails_with(CD_ERROR_NULL_ADDRESS, delete_from_cd(root, {bytes(nullptr, 77)}, 1)));
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

TEST_F(Errors, AddrType) {
    EXPECT_TRUE(fails_with(CD_ERROR_ADDR_TYPE,
                           add_to_cd_via_copy(root, {bytes(x, 4, bad_value<addr_type>())}, 1)));
    EXPECT_TRUE(message_has("7"));
    EXPECT_TRUE(message_has("READ_WRITE"));
}

TEST_F(Errors, AddrScope) {
    EXPECT_TRUE(
        fails_with(CD_ERROR_ADDR_SCOPE,
                   add_to_cd_via_copy(root, {bytes(x, 4, READ_ONLY, bad_value<addr_scope>())}, 1)));
    EXPECT_TRUE(message_has("7"));
    EXPECT_TRUE(message_has("CONSTRAINED"));
}

TEST_F(Errors, ScopeFixed) {
    ASSERT_TRUE(succeeds(add_to_cd_via_copy(root, {bytes(x + 4, 3, READ_ONLY, CONSTRAINED)}, 1)));
    EXPECT_TRUE(fails_with(CD_ERROR_SCOPE_FIXED, add_to_cd_via_copy(root, {rw(x)}, 1)));
    EXPECT_TRUE(message_has("0/errors/0/0"));
    EXPECT_TRUE(message_has(text_of(x + 4)));
    EXPECT_TRUE(message_has("3 bytes"));
}

TEST_F(Errors, RegenReadWrite) {
    EXPECT_TRUE(fails_with(CD_ERROR_REGEN_READ_WRITE,
                           add_to_cd_via_regen(root, {bytes(x, 16)}, 1, regen_that_fails)));
    EXPECT_TRUE(message_has(text_of(x)));
    EXPECT_TRUE(message_has("16 bytes"));
}

TEST_F(Errors, RegenNull) {
    EXPECT_TRUE(fails_with(CD_ERROR_REGEN_NULL,
                           add_to_cd_via_regen(root, {bytes(x, 16, READ_ONLY)}, 1, nullptr)));
    EXPECT_TRUE(message_has("regen"));
}

TEST_F(Errors, NoParent) {
    EXPECT_TRUE(fails_with(CD_ERROR_NO_PARENT, add_to_cd_via_parent(root, {bytes(x, 16)}, 1)));
    EXPECT_TRUE(message_has("0/errors/0/0"));
    EXPECT_TRUE(message_has(text_of(x)));
}

TEST_F(Errors, NotInParentNamesTheMissingBytes) {
    const cd_handle child = make_child(root);
    ASSERT_TRUE(succeeds(add_to_cd_via_copy(root, {bytes(x, 10)}, 1)));
    EXPECT_TRUE(fails_with(CD_ERROR_NOT_IN_PARENT, add_to_cd_via_parent(child, {rw(x)}, 1)));
    EXPECT_TRUE(message_has("0/errors/1/0"));
    EXPECT_TRUE(message_has(text_of(x + 10)));
    EXPECT_TRUE(message_has("6 bytes"));
}

TEST_F(Errors, ParentRegenNamesTheBytesAndTheAncestor) {
    const cd_handle child = make_child(root);
    ASSERT_TRUE(succeeds(add_to_cd_via_regen(root, {bytes(x, 5, READ_ONLY)}, 1, regen_that_fails)));
    EXPECT_TRUE(fails_with(CD_ERROR_PARENT_REGEN, add_to_cd_via_parent(child, {bytes(x, 5)}, 1)));
    EXPECT_TRUE(message_has("0/errors/1/0"));
    EXPECT_TRUE(message_has("0/errors/0/0"));
    EXPECT_TRUE(message_has(text_of(x)));
    EXPECT_TRUE(message_has("5 bytes"));
}

TEST_F(Errors, NotInCdNamesTheMissingBytes) {
    ASSERT_TRUE(succeeds(add_to_cd_via_copy(root, {bytes(x, 10)}, 1)));
    EXPECT_TRUE(fails_with(CD_ERROR_NOT_IN_CD, delete_from_cd(root, {rw(x)}, 1)));
    EXPECT_TRUE(message_has("0/errors/0/0"));
    EXPECT_TRUE(message_has(text_of(x + 10)));
    EXPECT_TRUE(message_has("6 bytes"));
}

// ---- Files ---------------------------------------------------------------------------------

TEST_F(Errors, FileBadDescriptor) {
    EXPECT_TRUE(fails_with(CD_ERROR_FILE_BAD_DESCRIPTOR, add_file_to_cd(root, 987)));
    EXPECT_TRUE(message_has("0/errors/0/0"));
    EXPECT_TRUE(message_has("987"));
}

TEST_F(Errors, FileNotSeekable) {
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    EXPECT_TRUE(fails_with(CD_ERROR_FILE_NOT_SEEKABLE, add_file_to_cd(root, ends[1])));
    EXPECT_TRUE(message_has("0/errors/0/0"));
    EXPECT_TRUE(message_has(std::to_string(ends[1])));
    close(ends[0]);
    close(ends[1]);
}

TEST_F(Errors, FileChanged) {
    FILE *first = std::tmpfile();
    FILE *second = std::tmpfile();
    const int fd = fileno(first);
    ASSERT_TRUE(succeeds(add_file_to_cd(root, fd)));
    ASSERT_EQ(dup2(fileno(second), fd), fd);
    EXPECT_TRUE(fails_with(CD_ERROR_FILE_CHANGED, restore_cd(root)));
    EXPECT_TRUE(message_has("0/errors/0/0"));
    EXPECT_TRUE(message_has(std::to_string(fd)));
    std::fclose(first);
    std::fclose(second);
}

TEST_F(Errors, FileNotInCd) {
    EXPECT_TRUE(fails_with(CD_ERROR_FILE_NOT_IN_CD, delete_file_from_cd(root, 987)));
    EXPECT_TRUE(message_has("0/errors/0/0"));
    EXPECT_TRUE(message_has("987"));
}

// ---- The rest ------------------------------------------------------------------------------

TEST_F(Errors, RegenFailed) {
    ASSERT_TRUE(succeeds(add_to_cd_via_regen(root, {bytes(x, 5, READ_ONLY)}, 1, regen_that_fails)));
    EXPECT_TRUE(fails_with(CD_ERROR_REGEN_FAILED, restore_cd(root)));
    EXPECT_TRUE(message_has("0/errors/0/0"));
    EXPECT_TRUE(message_has("returned 7"));
    EXPECT_TRUE(message_has(text_of(x)));
}

// No machine has that much, and no arithmetic on the way may overflow.
TEST_F(Errors, NoMemoryLeavesTheCdUnchanged) {
    ASSERT_TRUE(succeeds(add_to_cd_via_copy(root, {bytes(x, 4, READ_ONLY)}, 1)));
    const size_t most = SIZE_MAX - reinterpret_cast<size_t>(x);
    for (const size_t length : {SIZE_MAX / 2, most, most - 4095}) {
        EXPECT_TRUE(
            fails_with(CD_ERROR_NO_MEMORY, add_to_cd_via_copy(root, {bytes(x, length)}, 1)));
        EXPECT_NE(last_message(), "");
    }
    EXPECT_EQ(info_of(root).bytes, 4U);
    EXPECT_EQ(info_of(root).read_write, 0U);
}

TEST_F(Errors, Argument) {
    EXPECT_TRUE(fails_with(CD_ERROR_ARGUMENT, cd_query(root, nullptr)));
    EXPECT_TRUE(message_has("0/errors/0/0"));
    EXPECT_TRUE(message_has("info"));
    EXPECT_TRUE(fails_with(CD_ERROR_ARGUMENT, cd_set_rank(-1)));
    EXPECT_TRUE(message_has("-1"));
}

} // namespace
