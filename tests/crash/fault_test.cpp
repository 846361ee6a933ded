// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// Every system call of a script fails in turn. The operation says so and has changed nothing, not
// for whoever opens the store after a crash either; the CD goes on, and so does the operation when
// it is repeated.

#include "arena.h"
#include "process.h"
#include "recording.h"
#include "report.h"
#include "script.h"
#include "states.h"
#include "tape.h"
#include "truth.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <vector>

namespace crash {
namespace {

using Steps = std::vector<model::Step>;

// The reaction of a program to an operation that has failed.
enum class Answer { repeats, writes_and_repeats, restores_the_root, goes_on };

enum class Start { anew, restarts, afresh, goes_back };

// The steps of a process, and the disk that it finds.
struct Work {
    Disk disk;
    Truth truth;
    Start start = Start::anew;
    Steps steps;
    // The steps that the program tries once before it repeats the failed one.
    Steps meanwhile = {};
};

// One process that does its work with a fault.
class Attempt {
public:
    Attempt(const StoreKind &kind, const Work &work, const Fault &fault, Answer answer)
        : kind_(kind), answer_(answer), fault_(fault), disk_(work.disk), system_(disk_),
          truth_(work.truth), allowed_({work.truth.stored()}) {
        arena.set_block(kind.block);
        system_.set_fault(fault);
        system_.set_direct(kind.direct);
        Process process(system_, kind_.storage());
        process_ = &process;
        run(work);
        EXPECT_FALSE(system_.holds_room_back());
    }

    bool fault_happened() const { return system_.fault_happened(); }
    size_t states() const { return states_; }
    const Disk &disk() const { return disk_; }
    const Truth &truth() const { return truth_; }

private:
    void run(const Work &work) {
        if (!begin(work)) {
            return;
        }
        meanwhile_ = work.meanwhile;
        for (const model::Step &step : work.steps) {
            // After a failure some make no sense any more.
            if (is_legal(step) && !testing::Test::HasFailure()) {
                take(step, true);
            }
        }
        look();
    }

    bool begin(const Work &work) {
        switch (work.start) {
        case Start::anew:
            if (!take(root(1), true)) {
                return false;
            }
            // What could not be taken back either is found again, but empty.
            EXPECT_TRUE(!process_->has_restarted(1) || fault_.times > 1);
            return take(write_all(1), true);
        case Start::restarts:
            return take(root(work.truth.root()->id), false) && take(write_all(2), true) &&
                   take(restore(work.truth.root()->id), true);
        case Start::afresh:
            truth_.forget_all();
            begin_as_told("no", {nothing_stored()});
            truth_.apply(root(1));
            return take(write_all(1), true);
        case Start::goes_back:
            return go_back(work.truth.stored());
        }
        return true;
    }

    // To the oldest point in time, and on: what is newer goes with the first change.
    bool go_back(const Stored &newest) {
        Stored old = nothing_stored();
        old.cds[{}] = newest.versions.front();
        begin_as_told(std::to_string(old.cds[{}].epoch), {newest});
        take_in_the_end(restore(1));
        look();
        const Stored advanced = after_an_advance(old, kind_.keep);
        allowed_ = {newest, old, advanced};
        take_in_the_end(advance(1));
        allowed_ = {advanced};
        return true;
    }

    // Once more if it fails.
    void take_in_the_end(const model::Step &step) {
        if (const cd_error error = process_->take(step); error != CD_ERROR_NONE) {
            complain_unless_expected(step, error);
            look();
            EXPECT_EQ(process_->take(step), CD_ERROR_NONE) << cd_last_error_message();
        }
    }

    bool is_legal(const model::Step &step) const {
        return truth_.model().judge(step).allowed == std::vector{CD_ERROR_NONE};
    }

    // then: what is stored once CD_RESTART has been obeyed.
    void begin_as_told(const std::string &restart, std::vector<Stored> then) {
        system_.set_restart(restart.c_str());
        take_in_the_end(root(1));
        system_.set_restart(nullptr);
        allowed_ = std::move(then);
    }

    // new_to_the_model: it does not know of the step yet. False: it has not succeeded.
    bool take(const model::Step &step, bool new_to_the_model) {
        cd_error error = process_->take(step);
        if (error != CD_ERROR_NONE) {
            complain_unless_expected(step, error);
            if (answer_ == Answer::goes_on) {
                may_have_happened(step, new_to_the_model);
                return false;
            }
            if (answer_ != Answer::writes_and_repeats) {
                look();
            }
            if (answer_ == Answer::restores_the_root && truth_.root() != nullptr &&
                step.op != model::Op::create) {
                return take(restore(truth_.root()->id), true);
            }
            if (answer_ == Answer::writes_and_repeats) {
                return repeat_with_other_data(step, new_to_the_model);
            }
            error = process_->take(step);
            EXPECT_EQ(error, CD_ERROR_NONE)
                << model::describe(step) << " again: " << cd_last_error_message();
        }
        if (new_to_the_model && error == CD_ERROR_NONE) {
            truth_.apply(step);
            if (!broken_) {
                allowed_ = {truth_.stored()};
            }
        }
        if (step.op == model::Op::restore) {
            EXPECT_EQ(Process::check_memory(truth_.model()), "");
        }
        return error == CD_ERROR_NONE;
    }

    bool repeat_with_other_data(const model::Step &step, bool new_to_the_model) {
        may_be_found_after(step, new_to_the_model);
        int value = 100;
        for (const model::Step &other : meanwhile_) {
            if (truth_.root() != nullptr && is_legal(other)) {
                try_again(other, true, value++);
            }
        }
        while (value < 110) {
            if (try_again(step, new_to_the_model, value++)) {
                return true;
            }
        }
        ADD_FAILURE() << model::describe(step) << ": " << cd_last_error_message();
        return false;
    }

    // It may have happened after all, as far as others can see, until something has succeeded.
    void may_be_found_after(const model::Step &step, bool new_to_the_model) {
        if (new_to_the_model) {
            Truth after = truth_;
            after.apply(step);
            allowed_.push_back(after.stored());
        }
    }

    // The process may be killed at each call of it.
    bool try_again(const model::Step &step, bool new_to_the_model, int value) {
        if (new_to_the_model) {
            process_->take(write_all(value));
            truth_.apply(write_all(value));
        }
        may_be_found_after(step, new_to_the_model);
        Disk disk = disk_;
        const size_t first = system_.tape().size();
        const cd_error error = process_->take(step);
        for (size_t i = first; i < system_.tape().size() && !testing::Test::HasFailure(); ++i) {
            const Event &event = system_.tape()[i];
            happen(event, disk);
            if (event.kind == Event::Kind::change) {
                look_at(disk, disk.unforced().size() - 1, {3, 1, 1});
            }
        }
        if (error != CD_ERROR_NONE) {
            look();
            return false;
        }
        if (new_to_the_model) {
            truth_.apply(step);
            allowed_ = {truth_.stored()};
        }
        look();
        if (kind_.forced && new_to_the_model) {
            const Opened found = open_store_on(disk_.after_crash(all_of(disk_)), kind_);
            EXPECT_TRUE(found.warnings.empty())
                << model::describe(step) << " has succeeded: " << found.warnings.front();
            cd::os::replace_system(&system_);
        }
        return true;
    }

    void may_have_happened(const model::Step &step, bool new_to_the_model) {
        if (!broken_ && new_to_the_model) {
            Truth after = truth_;
            after.apply(step);
            allowed_.push_back(after.stored());
        }
        broken_ = true;
    }

    void complain_unless_expected(const model::Step &step, cd_error error) const {
        EXPECT_TRUE(system_.fault_happened() && error >= CD_ERROR_STORE_DIRECTORY &&
                    error <= CD_ERROR_STORE_FULL && names_an_error_of_the_system() &&
                    fault_.kind != Fault::Kind::interrupted &&
                    fault_.kind != Fault::Kind::transfers_less)
            << model::describe(step) << ": " << error << ": " << cd_last_error_message();
    }

    bool names_an_error_of_the_system() const {
        return std::strstr(cd_last_error_message(), std::strerror(fault_.error)) != nullptr ||
               std::strstr(cd_last_error_message(), std::strerror(EIO)) != nullptr;
    }

    // Checks what another process finds on the disk after each possible crash.
    void look() { look_at(disk_, 0, {2, 2, 2}); }

    void look_at(const Disk &disk, size_t newest, const Effort &effort) {
        Dice dice(system_.calls());
        const auto visit = [&](const Parts &parts) {
            ++states_;
            size_t match = 0;
            const std::string wrong = judge(disk.after_crash(parts), kind_, allowed_, match);
            EXPECT_EQ(wrong, "") << describe(disk, parts);
            return wrong.empty();
        };
        if (kind_.forced) {
            for_each_crash(disk, newest, effort, dice, visit);
        } else {
            for_each_kill(disk, disk.unforced().size(), visit);
        }
        cd::os::replace_system(&system_);
    }

    // Returns the case in which all that was not forced is on the medium.
    static Parts all_of(const Disk &disk) {
        Parts all;
        for_each_kill(disk, disk.unforced().size(), [&](const Parts &parts) {
            all = parts;
            return false;
        });
        return all;
    }

    const StoreKind &kind_;
    Answer answer_;
    Steps meanwhile_;
    Fault fault_;
    Disk disk_;
    DiskSystem system_;
    Truth truth_;
    std::vector<Stored> allowed_;
    bool broken_ = false;
    size_t states_ = 0;
    Process *process_ = nullptr;
};

class FailingCall : public testing::Test {
protected:
    Work first_process() const {
        return {Disk(), Truth(kind_.keep), Start::anew, every_operation()};
    }

    Work process_after(Work work, Start start, Steps steps) const {
        Attempt undisturbed(kind_, work, {}, Answer::repeats);
        work.disk = kind_.forced ? undisturbed.disk().after_crash({}) : undisturbed.disk();
        work.truth = undisturbed.truth();
        work.start = start;
        work.steps = std::move(steps);
        return work;
    }

    Work second_process() const {
        return process_after(first_process(), Start::restarts,
                             {add(1, {bytes(0, 20, CD_READ_WRITE)}), write(0, 20, 5), advance(1),
                              child(1, 2), add(2, {bytes(90, 9, CD_READ_WRITE)}), commit(2),
                              write(90, 9, 7), advance(1), commit(1)});
    }

    // Returns a process that finds a journal that is nearly full.
    Work process_that_moves_the_metadata() const {
        Work work = first_process();
        work.steps = until_the_journal_is_full();
        const Steps more(work.steps.begin(), work.steps.begin() + 24);
        work.steps.resize(84); // 28 rounds of two records
        return process_after(work, Start::restarts, more);
    }

    // Its records are so long that they do not fit into what is left of the journal; then it tries
    // shorter ones, with data that find room in what was to be the next generation.
    Work process_whose_record_is_too_long(int records_before) const {
        Work work = first_process();
        work.steps = until_the_journal_is_full();
        work.steps.resize(90); // 30 rounds of two records
        std::vector<model::Element> many;
        for (int i = 0; i < 700; ++i) {
            many.push_back(bytes(100 + i % 40 * 2, 1, CD_READ_WRITE));
        }
        work.steps.push_back(add(1, many));
        for (int i = 0; i < records_before; ++i) {
            work.steps.push_back(advance(1));
        }
        work = process_after(work, Start::restarts, {add(1, many), write(0, 192, 9), advance(1)});
        work.meanwhile = {add(1, {bytes(0, 40, CD_READ_WRITE)}), advance(1)};
        return work;
    }

    void sweep(const Work &work, Fault fault, Answer answer) {
        bool happened = true;
        for (fault.at = 0; happened; ++fault.at) {
            Attempt attempt(kind_, work, fault, answer);
            ASSERT_FALSE(HasFailure()) << "call " << fault.at;
            happened = attempt.fault_happened();
            states_ += attempt.states();
            ++runs_;
        }
        ASSERT_GT(fault.at, 20U) << "the sweep saw too few calls";
    }

    void sweep_both(const Fault &fault, Answer answer) {
        sweep(first_process(), fault, answer);
        sweep(second_process(), fault, answer);
    }

    void TearDown() override {
        std::printf("             %zu runs\n", runs_);
        report_states(states_);
    }

    StoreKind kind_;
    size_t states_ = 0;
    size_t runs_ = 0;
};

TEST_F(FailingCall, ForAnyReasonHasChangedNothingAndTheOperationCanBeRepeated) {
    for (const int error : {EIO, ENOSPC, EDQUOT}) {
        sweep_both({Fault::Kind::fails, 0, error}, Answer::repeats);
    }
}

TEST_F(FailingCall, LeavesTheCdWithItsOldStateWhichCanBeRestored) {
    sweep_both({Fault::Kind::fails, 0, EIO}, Answer::restores_the_root);
    kind_.keep = 2;
    sweep_both({Fault::Kind::fails, 0, ENOSPC}, Answer::restores_the_root);
}

TEST_F(FailingCall, WhileTheMetadataMoveHasChangedNothing) {
    const Work work = process_that_moves_the_metadata();
    sweep(work, {Fault::Kind::fails, 0, EIO}, Answer::repeats);
    sweep(work, {Fault::Kind::fails, 0, EIO, 3}, Answer::writes_and_repeats);
}

// The undoing of the failed call fails, too.
TEST_F(FailingCall, AndThoseThatFollowLeaveTheOldOrTheNewState) {
    sweep_both({Fault::Kind::fails, 0, EIO, 2}, Answer::writes_and_repeats);
    sweep_both({Fault::Kind::fails, 0, EIO, 3}, Answer::writes_and_repeats);
}

TEST_F(FailingCall, HasChangedNothingForWhatTheProgramDoesInstead) {
    kind_.block = 200;
    for (const int records_before : {1, 2}) { // of three blocks two are left, or one
        const Work work = process_whose_record_is_too_long(records_before);
        sweep(work, {Fault::Kind::fails, 0, EIO, 2}, Answer::writes_and_repeats);
    }
}

TEST_F(FailingCall, WhileANewStoreTakesThePlaceOfAnOldOneHasChangedNothing) {
    const Work work =
        process_after(first_process(), Start::afresh,
                      {add(1, {bytes(0, 3, CD_READ_WRITE)}), write(0, 3, 5), advance(1)});
    sweep(work, {Fault::Kind::fails, 0, EIO}, Answer::repeats);
    sweep(work, {Fault::Kind::fails, 0, ENOSPC}, Answer::repeats);
}

TEST_F(FailingCall, WhileAnOlderPointInTimeIsChosenHasChangedNothing) {
    kind_.keep = 3;
    const Work work = process_after(first_process(), Start::goes_back, {});
    sweep(work, {Fault::Kind::fails, 0, EIO}, Answer::repeats);
    sweep(work, {Fault::Kind::fails, 0, ENOSPC}, Answer::repeats);
}

TEST_F(FailingCall, ThatIsInterruptedOrTransfersLessIsNoFailure) {
    sweep_both({Fault::Kind::interrupted, 0, EINTR}, Answer::repeats);
    sweep_both({Fault::Kind::transfers_less, 0, 0}, Answer::repeats);
}

// The call may be any, such as opening or renaming a file.
TEST_F(FailingCall, ThatASignalHasInterruptedHasChangedNothing) {
    sweep_both({Fault::Kind::fails, 0, EINTR}, Answer::repeats);
}

// Whatever the program does then, the last state that was stored is there, or that of the
// operation that failed first.
TEST_F(FailingCall, OnADiskThatStaysBrokenLeavesTheLastState) {
    sweep_both({Fault::Kind::fails_from_then_on, 0, EIO}, Answer::goes_on);
    sweep_both({Fault::Kind::fails_from_then_on, 0, ENOSPC}, Answer::goes_on);
}

TEST_F(FailingCall, OnTheWayPastThePageCacheHasChangedNothing) {
    kind_.block = Arena::largest_block;
    kind_.direct = true;
    sweep_both({Fault::Kind::fails, 0, EIO}, Answer::repeats);
    sweep_both({Fault::Kind::transfers_less, 0, 0}, Answer::repeats);
}

TEST_F(FailingCall, WhileNothingIsForcedHasChangedNothingToo) {
    kind_.forced = false;
    sweep_both({Fault::Kind::fails, 0, EDQUOT}, Answer::repeats);
    sweep_both({Fault::Kind::transfers_less, 0, 0}, Answer::repeats);
}

} // namespace
} // namespace crash
