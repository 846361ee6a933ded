// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// Lets every single allocation of a call fail that other ranks make too: this one meets them all
// the same, once.

#include "allocation_faults.h"
#include "cd/cd.h"
#include "cd/protection.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>

namespace {

// The protector of this process: it counts the meetings, and needs no memory.
int meetings = 0;
char protection_of_all = 0;

int decline(const char *, int own, cd_protection_message *) {
    ++meetings;
    return own;
}
int open(const cd_protected_root *, void **protection, cd_protected_start *,
         cd_protection_message *) {
    ++meetings;
    *protection = &protection_of_all;
    return CD_ERROR_NONE;
}
int opened(void *, int own, cd_protection_message *) { return own; }
int may_advance(void *, uint64_t, int own, cd_protection_message *) {
    meetings += own == CD_ERROR_NONE ? 0 : 1; // else protect() follows
    return own;
}
int protect(void *, const cd_offered_point *point, cd_protection_message *) {
    ++meetings;
    if (point->write_image != nullptr) {
        point->release(point->context);
    }
    return CD_ERROR_NONE;
}
uint64_t protected_epoch(void *) { return 0; }
int commit(void *, int own, cd_protection_message *) {
    ++meetings;
    return own;
}
void close(void *) {}

constexpr cd_protector protector = {sizeof protector, decline,         open,   opened, may_advance,
                                    protect,          protected_epoch, commit, close};

class TakingPart : public testing::Test {
protected:
    void SetUp() override {
        ASSERT_EQ(cd_protect_by(&protector), CD_SUCCESS) << cd_last_error_message();
        std::string pattern = (std::filesystem::temp_directory_path() / "cd-part-XXXXXX").string();
        ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
        scratch_ = pattern;
        storage_ = "store=file,redundancy=xor,sync=none,dir=" + scratch_.string();
    }
    void TearDown() override { std::filesystem::remove_all(scratch_); }

    cd_handle create() const {
        return create_cd(nullptr, storage_.c_str(), CD_COMM_LOGGING_DISABLED, "root", nullptr);
    }

    // Makes call with its nth allocation failing, as long as there is one, after prepare() without
    // faults. Checks that each meets the others, but for so many of the first.
    template <typename Prepare, typename Call>
    static void fail_each(const Prepare &prepare, const Call &call, size_t too_early = 0) {
        bool happened = true;
        size_t nth = 1;
        for (; happened; ++nth) {
            prepare();
            meetings = 0;
            faults::fail_request(nth);
            call();
            happened = faults::happened();
            faults::fail_request(0);
            if (nth > too_early) {
                EXPECT_EQ(meetings, 1) << "allocation " << nth;
            }
        }
        EXPECT_GT(nth, too_early + 3);
    }

    // Ends the root if there is one.
    void end_root() {
        if (root_ != nullptr) {
            EXPECT_EQ(commit_cd(root_), CD_SUCCESS) << cd_last_error_message();
        }
        root_ = nullptr;
    }

    cd_handle root_ = nullptr;
    std::filesystem::path scratch_;
    std::string storage_;
};

TEST_F(TakingPart, InAnAdvanceWhateverAllocationFails) {
    root_ = create();
    ASSERT_NE(root_, nullptr) << cd_last_error_message();
    char memory[5000] = {};
    const cd_addrspec range = {memory, sizeof memory, CD_READ_WRITE, CD_GLOBAL};
    fail_each([&] { EXPECT_EQ(add_to_cd_via_copy(root_, &range, 1, nullptr), CD_SUCCESS); },
              [&] { (void)advance_cd_point_in_time(root_); });
    end_root();
}

TEST_F(TakingPart, InACommitWhateverAllocationFails) {
    fail_each(
        [&] {
            root_ = root_ != nullptr ? root_ : create();
            EXPECT_NE(root_, nullptr) << cd_last_error_message();
        },
        [&] { root_ = commit_cd(root_) == CD_SUCCESS ? nullptr : root_; });
}

// Before that, it is not known whether there is a protection.
TEST_F(TakingPart, InACreationOnceItsStorageInfoIsRead) {
    constexpr size_t until_it_is_read = 3;
    fail_each([&] { end_root(); }, [&] { root_ = create(); }, until_it_is_read);
    end_root();
}

} // namespace
