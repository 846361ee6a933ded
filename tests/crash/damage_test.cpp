// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// A medium that changes bits. What is opened then is a state that the store once had, or an error;
// and a process that goes on with it finds what it has written.

#include "arena.h"
#include "life.h"
#include "report.h"
#include "script.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

namespace crash {
namespace {

using Steps = std::vector<model::Step>;

class Damage : public testing::Test {
protected:
    void work(const Steps &steps) {
        life_ = std::make_unique<Life>(kind_, Disk(), Truth(kind_.keep));
        ASSERT_EQ(life_->begin_anew(), "");
        take(*life_, steps);
    }

    // In another process.
    void go_on(const Steps &steps) {
        life_ = std::make_unique<Life>(kind_, disk_, truth_);
        ASSERT_EQ(life_->begin_restarted(), "");
        take(*life_, steps);
    }

    void take(Life &life, const Steps &steps) {
        for (const model::Step &step : steps) {
            ASSERT_EQ(life.take(step), "");
        }
        truth_ = life.truth();
        once_stored_.clear();
        for (const Expectation &step : life.end().steps) {
            once_stored_.push_back(step.after.front());
        }
        disk_ = life.disk().after_crash({});
        const int stores = disk_.find(disk_.find(disk_.find(Disk::root, "stores"), "of"), "us");
        file_ = disk_.find(stores, "0-alpha.cds");
    }

    std::byte byte_at(uint64_t offset) const {
        std::byte byte = {};
        disk_.content(file_).read(offset, &byte, 1);
        return byte;
    }

    Opened open_with(uint64_t offset, std::vector<std::byte> bytes) {
        damaged_ = disk_;
        damaged_.make({.kind = Change::Kind::write,
                       .inode = file_,
                       .offset = offset,
                       .bytes = std::make_shared<std::vector<std::byte>>(std::move(bytes))});
        ++states_;
        return open_store_on(damaged_, kind_);
    }

    // Nothing is found but what was there once, and not without a word if it is not the newest.
    void check(const Opened &found, const std::string &what) {
        if (!found.wrong.empty()) {
            EXPECT_TRUE(found.error == CD_ERROR_STORE_DAMAGED || found.error == CD_ERROR_CHECKSUM)
                << what << ": " << found.error << ": " << found.wrong;
            EXPECT_TRUE(found.warnings.empty())
                << what << ": a state was taken that is not whole: " << found.wrong;
            ++errors_;
            return;
        }
        if (!(found.stored == once_stored_.back())) {
            EXPECT_FALSE(found.warnings.empty()) << what << " costs something without a word";
            EXPECT_NE(std::ranges::find(once_stored_, found.stored), once_stored_.end())
                << what << ": " << difference(found.stored, once_stored_.back());
            ++older_;
        }
        // Damage that is told of changes more than the rest, most of which is of unused journal.
        if (!HasFailure() && which_goes_on_.one_in(found.warnings.empty() ? silent_ones_ : 10)) {
            go_on_with(found.stored, what);
        }
    }

    // Writes to the store; the damage is gone then, and nothing else is.
    void go_on_with(const Stored &stored, const std::string &what) {
        const auto newest = std::find(once_stored_.rbegin(), once_stored_.rend(), stored);
        const Found found = {static_cast<size_t>(once_stored_.rend() - newest) - 1, true, 0};
        const Truth truth = life_->truth_of(found);
        if (descendants_regenerate(truth.model())) {
            return;
        }
        Life life(kind_, damaged_, truth);
        std::string wrong = life.begin_restarted();
        const int root = truth.root()->id;
        for (int value = 5; value < 8; ++value) {
            for (const model::Step &step :
                 {add(root, {bytes(0, 20, CD_READ_WRITE)}), write(0, 20, value), advance(root)}) {
                wrong = wrong.empty() ? life.take(step) : wrong;
            }
        }
        ASSERT_EQ(wrong, "") << what;
        const Stored expected = life.truth().stored();
        life.end();
        const Opened reopened = open_store_on(life.disk().after_crash({}), kind_);
        EXPECT_EQ(reopened.wrong, "") << what;
        EXPECT_EQ(difference(reopened.stored, expected), "") << what;
        EXPECT_TRUE(reopened.warnings.empty()) << what << ": " << reopened.warnings.front();
        ++went_on_;
    }

    // A bit of each third byte that is not 0, and of some that are: tests/damage changes every bit
    // of the metadata of stores like these. CD_TEST_LONG: of each byte that is not 0.
    void flip_everywhere() {
        const size_t distance = std::getenv("CD_TEST_LONG") != nullptr ? 1 : 3;
        const uint64_t size = disk_.content(file_).size();
        for (uint64_t offset = 0; offset < size && !HasFailure(); ++offset) {
            const std::byte byte = byte_at(offset);
            if (dice_.one_in(byte != std::byte{0} ? distance : 300U)) {
                const auto bit = std::byte{1} << dice_.below(8);
                check(open_with(offset, {byte ^ bit}), "a bit at offset " + std::to_string(offset));
            }
        }
        EXPECT_GT(errors_, 0U);
        EXPECT_GT(older_, 0U);
    }

    // Blocks that are written to where others belong, or written twice.
    void misplace_blocks() {
        constexpr uint64_t block = 4096;
        std::vector<uint64_t> used;
        for (uint64_t at = 0; at < disk_.content(file_).size(); at += block) {
            const std::vector<std::byte> bytes = block_at(at);
            if (std::ranges::any_of(bytes, [](std::byte byte) { return byte != std::byte{0}; })) {
                used.push_back(at);
            }
        }
        for (const uint64_t from : used) {
            for (const uint64_t to : used) {
                check(open_with(to, block_at(from)),
                      "the block at offset " + std::to_string(from) + " at " + std::to_string(to));
                ASSERT_FALSE(HasFailure());
            }
        }
    }

    void lose_blocks() {
        silent_ones_ = 50;
        for (const uint64_t size : {uint64_t{4096}, sector}) {
            for (uint64_t at = 0; at < disk_.content(file_).size() && !HasFailure(); at += size) {
                check(open_with(at, std::vector<std::byte>(size)),
                      std::to_string(size) + " zeros at offset " + std::to_string(at));
            }
        }
    }

    // Loses the header that is in force.
    Stored without_the_newest_header() {
        const uint64_t generation_at = 28;
        const bool second = byte_at(generation_at) < byte_at(4096 + generation_at);
        const uint64_t newest = second ? 4096 : 0;
        const Opened found = open_with(newest, std::vector<std::byte>(4096));
        EXPECT_EQ(found.wrong, "");
        EXPECT_FALSE(found.warnings.empty());
        EXPECT_FALSE(open_with(newest, block_at(4096 - newest)).warnings.empty())
            << "the older header in the place of the newer one is taken without a word";
        return found.stored;
    }

    std::vector<std::byte> block_at(uint64_t offset) const {
        std::vector<std::byte> bytes(4096);
        disk_.content(file_).read(offset, bytes.data(), bytes.size());
        return bytes;
    }

    void TearDown() override {
        std::printf("             %zu errors, %zu older states, %zu went on\n", errors_, older_,
                    went_on_);
        EXPECT_TRUE(HasFailure() || states_ < 100 || went_on_ > 10)
            << went_on_ << " of " << states_;
        report_states(states_);
    }

    StoreKind kind_{.block = 10};
    Dice dice_{1};
    Dice which_goes_on_{2};
    size_t silent_ones_ = 1000; // of so many one
    Disk disk_;
    Disk damaged_;
    std::unique_ptr<Life> life_;
    int file_ = 0;
    Truth truth_{1};
    std::vector<Stored> once_stored_;
    size_t states_ = 0;
    size_t errors_ = 0;
    size_t older_ = 0;
    size_t went_on_ = 0;
};

TEST_F(Damage, OfABitIsFound) {
    work(every_operation());
    flip_everywhere();
}

TEST_F(Damage, ByLostBlocksIsFoundWhicheverItIs) {
    work(every_operation());
    lose_blocks();
}

TEST_F(Damage, ByBlocksInWrongPlacesIsFound) {
    Steps steps = every_operation();
    for (const model::Step &step : until_the_journal_is_full()) {
        steps.push_back(step);
    }
    work(steps);
    misplace_blocks();
}

// This holds while nothing overwrites the data they refer to: here data are only added.
TEST_F(Damage, OfTheNewestHeaderLeavesWhatTheMetadataSaidBeforeTheyMoved) {
    kind_.block = Arena::largest_block;
    Steps steps = until_the_journal_is_full();
    steps.resize(97); // the last of them is the first of the second generation
    work(steps);
    const Stored before = without_the_newest_header();
    ASSERT_NE(before, once_stored_.back());
    Steps more;
    for (int id = 2; id < 6; ++id) {
        more.push_back(child(1, id));
        more.push_back(add(id, {bytes(0, 190, CD_READ_ONLY)}));
    }
    go_on(more);
    EXPECT_EQ(difference(without_the_newest_header(), before), "");
    steps.insert(steps.end(), more.begin(), more.end());
    work(steps);
    EXPECT_EQ(difference(without_the_newest_header(), before), "");
}

TEST_F(Damage, OfABitIsFoundAlsoAfterTheMetadataHaveMoved) {
    Steps steps = every_operation();
    for (const model::Step &step : until_the_journal_is_full()) {
        steps.push_back(step);
    }
    work(steps);
    flip_everywhere();
}

} // namespace
} // namespace crash
