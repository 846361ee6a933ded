// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// A script of every operation, cut off at every system call.

#include "arena.h"
#include "life.h"
#include "report.h"
#include "script.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace crash {
namespace {

using Steps = std::vector<model::Step>;

// All subsets, but while a file is laid out that has no name yet.
constexpr Effort every_state = {12, 40, 20};
constexpr Effort some_states = {3, 2, 2};

const std::string store_name = "0-alpha.cds";

int folder_of_stores(const Disk &disk) {
    return disk.find(disk.find(disk.find(Disk::root, "stores"), "of"), "us");
}

// The store that was kept aside; negative: there is none.
int aside_on(const Disk &disk) { return disk.find(folder_of_stores(disk), store_name + ".old"); }

// A disk on which the store that was kept aside has its name back.
Disk with_old_name(Disk disk) {
    const int stores = folder_of_stores(disk);
    if (const int aside = aside_on(disk); aside >= 0) {
        disk.make({.kind = Change::Kind::rename,
                   .inode = stores,
                   .name = store_name + ".old",
                   .to = store_name,
                   .target = aside});
    }
    return disk;
}

class ScriptedCrash : public testing::Test {
protected:
    void take(Life &life, const Steps &steps) {
        for (const model::Step &step : steps) {
            const std::string wrong = life.take(step);
            ASSERT_EQ(wrong, "");
        }
    }

    // Looks at every crash of what the process has done.
    void sweep(Life &life, const Effort &effort, Sweep::GoOn go_on = nullptr) {
        Sweep sweep(kind_, effort, dice_);
        sweep.set_go_on(std::move(go_on));
        const std::string wrong = sweep.run(life.end());
        states_ += sweep.states();
        last_sampled_step_ = sweep.last_sampled_step();
        ASSERT_EQ(wrong, "");
    }

    void sweep_script(const Effort &effort, const Steps &steps) {
        Life life(kind_, Disk(), Truth(kind_.keep));
        ASSERT_EQ(life.begin_anew(), "");
        take(life, steps);
        sweep(life, effort);
    }

    // The disk of a process that has done the steps, with everything on the medium.
    Disk disk_after(const Steps &steps, Truth &truth) {
        Life life(kind_, Disk(), truth);
        EXPECT_EQ(life.begin_anew(), "");
        take(life, steps);
        life.end();
        truth = life.truth();
        return life.disk().after_crash({});
    }

    // Expects that a new process can work with the disk.
    void go_on_from(const Disk &disk, const Truth &truth) {
        Life life(kind_, disk, truth);
        if (truth.stored() == nothing_stored()) {
            ASSERT_EQ(life.begin_anew(), "");
        } else {
            ASSERT_EQ(life.begin_restarted(), "");
        }
        const int root = life.truth().root()->id;
        take(life, {add(root, {bytes(0, 20, CD_READ_WRITE)}), write(0, 20, 5), advance(root),
                    add(root, {bytes(5, 1, CD_READ_WRITE)}), write(5, 1, 6), advance(root)});
        life.end();
        size_t match = 0;
        const Disk after = life.disk().after_crash({});
        ASSERT_EQ(judge(after, kind_, {life.truth().stored()}, match), "");
        EXPECT_TRUE(open_store_on(after, kind_).warnings.empty());
        ++states_;
    }

    // So can what each crash of a process leaves that did every operation.
    void go_on_from_each_crash() {
        Life life(kind_, Disk(), Truth(kind_.keep));
        ASSERT_EQ(life.begin_anew(), "");
        take(life, every_operation());
        size_t seen = 0;
        sweep(life, {5, 4, 4}, [&](const Disk &disk, const Parts &parts, const Found &found) {
            if (++seen % 7 == 0 && !descendants_regenerate(life.truth_of(found).model())) {
                go_on_from(disk.after_crash(parts), life.truth_of(found));
            }
            return HasFatalFailure();
        });
    }

    void TearDown() override { report_states(states_); }

    StoreKind kind_;
    Dice dice_{1};
    size_t states_ = 0;
    size_t last_sampled_step_ = 0;
};

TEST_F(ScriptedCrash, AtEveryCallOfEveryOperationLeavesTheOldOrTheNewState) {
    sweep_script(every_state, every_operation());
    EXPECT_EQ(last_sampled_step_, 0U) << "not every state was looked at";
}

TEST_F(ScriptedCrash, OfAFileThatGrowsLeavesTheOldOrTheNewState) {
    kind_.block = Arena::largest_block;
    sweep_script({4, 20, 10}, every_operation());
}

TEST_F(ScriptedCrash, WhileOlderPointsInTimeAreKeptLeavesAllOfThem) {
    kind_.keep = 3;
    constexpr Effort every_state_of_a_copy = {9, 20, 20}; // a record is in two places
    sweep_script(every_state_of_a_copy, every_operation());
}

TEST_F(ScriptedCrash, WhileTheJournalBeginsAgainLeavesTheOldOrTheNewState) {
    kind_.block = 3;
    sweep_script(some_states, until_the_journal_is_full());
}

// Neither place of the metadata is free for the next generation.
TEST_F(ScriptedCrash, WhileTheJournalOfAnotherProcessBeginsAgainLeavesTheOldOrTheNewState) {
    kind_.block = 3;
    Steps steps = until_the_journal_is_full();
    const Steps more = steps;
    steps.resize(97); // then the older ones are the first in the file, where room is looked for
    Truth truth(kind_.keep);
    const Disk disk = disk_after(steps, truth);
    Life life(kind_, disk, truth);
    ASSERT_EQ(life.begin_restarted(), "");
    for (int i = 0; i < 2; ++i) { // so that the metadata move more than once
        take(life, more);
    }
    sweep(life, {1, 1, 1});
}

// The metadata come back to places where they were before.
TEST_F(ScriptedCrash, ThatDoesNotHappenLeavesNothingToWarnOfHoweverOftenTheJournalBegins) {
    Life life(kind_, Disk(), Truth(kind_.keep));
    ASSERT_EQ(life.begin_anew(), "");
    for (int i = 0; i < 4; ++i) {
        take(life, until_the_journal_is_full());
    }
    life.end();
    const Disk disk = life.disk().after_crash({});
    size_t match = 0;
    EXPECT_EQ(judge(disk, kind_, {life.truth().stored()}, match), "");
    EXPECT_TRUE(open_store_on(disk, kind_).warnings.empty());
    ++states_;
}

TEST_F(ScriptedCrash, WithoutChecksumsOfDataLeavesTheOldOrTheNewState) {
    kind_.checksummed = false;
    sweep_script(some_states, every_operation());
}

TEST_F(ScriptedCrash, OfDataThatGoPastThePageCacheLeavesTheOldOrTheNewState) {
    kind_.block = Arena::largest_block;
    kind_.direct = true;
    sweep_script(some_states, every_operation());
}

TEST_F(ScriptedCrash, OfTheProcessAloneCostsNothingAlsoIfNothingIsForced) {
    kind_.forced = false;
    sweep_script({}, every_operation());
    sweep_script({}, until_the_journal_is_full());
}

TEST_F(ScriptedCrash, WhileTheRootIsCommittedLeavesItOrNothing) {
    Steps steps = every_operation();
    steps.push_back(commit(1));
    sweep_script(some_states, steps);
}

TEST_F(ScriptedCrash, LeavesAStoreThatTheNextProcessCanGoOnWith) { go_on_from_each_crash(); }

// A record that is in one of the two journals only is one that counts, and the other journal has no
// place for those that follow.
TEST_F(ScriptedCrash, WhileOlderPointsInTimeAreKeptLeavesAStoreThatTheNextProcessCanGoOnWith) {
    kind_.keep = 3;
    go_on_from_each_crash();
}

// What a killed process had written but not forced is what the next one sees. Once that has told
// its program so, the machine may go down.
TEST_F(ScriptedCrash, AfterANewProcessHasOpenedTheStoreOfAKilledOneLeavesWhatThatFound) {
    Life killed(kind_, Disk(), Truth(kind_.keep));
    ASSERT_EQ(killed.begin_anew(), "");
    take(killed, every_operation());
    const Recording recording = killed.end();
    Disk disk = recording.start;
    size_t step = 0;
    for (const Event &event : recording.tape) {
        happen(event, disk);
        step = event.kind == Event::Kind::begin ? event.step : step;
        if (event.kind != Event::Kind::change) {
            continue;
        }
        std::vector<Stored> candidates = recording.steps[step].during;
        Found found = {step, false, 0};
        Parts all;
        for_each_kill(disk, disk.unforced().size(), [&](const Parts &parts) {
            all = parts;
            return false;
        });
        ASSERT_EQ(judge(disk.after_crash(all), kind_, candidates, found.match), "");
        const Truth truth = killed.truth_of(found);
        // The library alone, before the program does anything.
        const Disk opened = disk_that_was_opened(disk, kind_);
        ASSERT_EQ(judge(opened.after_crash({}), kind_, {truth.stored()}, found.match), "");
        if (descendants_regenerate(truth.model())) {
            continue;
        }
        Life life(kind_, disk, truth, candidates);
        const bool anew = truth.stored() == nothing_stored();
        ASSERT_EQ(anew ? life.begin_anew() : life.begin_restarted(), "");
        const int root = life.truth().root()->id;
        take(life, {add(root, {bytes(0, 20, CD_READ_WRITE)}), write(0, 20, 5), advance(root)});
        sweep(life, some_states);
        ASSERT_FALSE(HasFatalFailure());
    }
}

TEST_F(ScriptedCrash, WhileAStoreIsRestoredLeavesTheOldOrTheNewState) {
    Truth truth(kind_.keep);
    Steps steps = every_operation();
    steps.resize(21); // in the middle of a family of four
    const Disk disk = disk_after(steps, truth);
    Life life(kind_, disk, truth);
    ASSERT_EQ(life.begin_restarted(), "");
    take(life, {add(1, {bytes(0, 20, CD_READ_WRITE)}), write(0, 20, 5), advance(1)});
    sweep(life, every_state);
}

TEST_F(ScriptedCrash, WhileANewStoreTakesThePlaceOfAnOldOneLeavesOneOfThem) {
    Truth truth(kind_.keep);
    const Disk disk = disk_after(every_operation(), truth);
    const Stored old = truth.stored();
    Life life(kind_, disk, truth);
    ASSERT_EQ(life.begin_afresh(), "");
    const size_t begun = 1; // steps
    take(life, {add(1, {bytes(0, 3, CD_READ_WRITE)}), write(0, 3, 5), advance(1),
                add(1, {bytes(0, 3, CD_READ_WRITE)}), write(0, 3, 6), advance(1)});
    const size_t first_advance = begun + 3;
    sweep(life, every_state, [&](const Disk &at, const Parts &parts, const Found &found) {
        // Until the new one has a point in time the old one is there, under one name or the other.
        const bool advanced = found.step == first_advance && (found.over || found.match == 1);
        if (found.step <= first_advance && !advanced) {
            const Disk state = at.after_crash(parts);
            size_t match = 0;
            EXPECT_TRUE(judge(state, kind_, {old}, match).empty() ||
                        judge(with_old_name(state), kind_, {old}, match).empty())
                << "during step " << found.step << describe(at, parts);
        }
        // Once that advance has returned it is gone for good.
        if (found.step > first_advance || (found.step == first_advance && found.over)) {
            EXPECT_LT(aside_on(at.after_crash(parts)), 0) << describe(at, parts);
        }
        return HasFailure();
    });
}

// Blocks as large as a snapshot, so that what is given up could be taken for one; without
// checksums nothing else would tell.
TEST_F(ScriptedCrash, WhileAnOlderPointInTimeIsChosenOverwritesNothingOfTheNewest) {
    kind_.keep = 3;
    kind_.block = Arena::largest_block;
    kind_.checksummed = false;
    Truth truth(kind_.keep);
    const Disk disk = disk_after(every_operation(), truth);
    Life life(kind_, disk, truth);
    ASSERT_EQ(life.begin_at(0), "");
    life.end();
    sweep(life, every_state);
}

TEST_F(ScriptedCrash, WhileAnOlderPointInTimeIsChosenLeavesTheNewestOrThatOne) {
    kind_.keep = 3;
    Truth truth(kind_.keep);
    const Disk disk = disk_after(every_operation(), truth);
    Life life(kind_, disk, truth);
    ASSERT_EQ(life.begin_at(0), "");
    life.end();
    sweep(life, every_state);
}

} // namespace
} // namespace crash
