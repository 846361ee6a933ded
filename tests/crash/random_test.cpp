// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// Random programs, each of several processes: one begins on the disk that a crash of the one before
// has left.

#include "arena.h"
#include "generator.h"
#include "life.h"
#include "report.h"
#include "script.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

namespace crash {
namespace {

constexpr size_t usual_states = 30'000;

constexpr Effort random_states = {0, 0, 2};
constexpr int lives = 4;

class RandomProgram {
public:
    explicit RandomProgram(uint64_t seed) : dice_(seed) {
        // The several places that an entry of 4 KiB and more may have begin between two of them.
        constexpr size_t blocks[] = {3, 32, 32, 256, 512};
        kind_.block = blocks[dice_.below(std::size(blocks))];
        kind_.keep = dice_.one_in(2) ? 1 : dice_.between(2, 4);
        kind_.forced = !dice_.one_in(8);
        kind_.checksummed = !dice_.one_in(8);
        kind_.direct = dice_.one_in(2);
        if (dice_.one_in(2)) {
            kind_.tight = true;
            kind_.block = 512; // the several places of an entry begin between two of them
        }
        truth_ = Truth(kind_.keep);
    }

    // "" or what is wrong.
    std::string run() {
        for (int life = 0; life < lives; ++life) {
            if (std::string wrong = live(); !wrong.empty()) {
                return kind_.storage() + (kind_.direct ? ", direct" : "") +
                       (kind_.tight ? ", no room to spare" : "") + ", blocks of " +
                       std::to_string(kind_.block) + ", process " + std::to_string(life) + ": " +
                       wrong;
            }
        }
        return "";
    }

    size_t states() const { return states_; }

private:
    std::string live() {
        Life life(kind_, disk_, truth_, std::move(maybe_));
        if (std::string wrong = begin(life); !wrong.empty()) {
            return wrong;
        }
        const int first_id = 1000 * ++processes_;
        Generator generator(dice_, first_id);
        for (int steps = dice_.between(5, 120); steps > 0; --steps) {
            if (std::string wrong = life.take(generator.next(life.truth())); !wrong.empty()) {
                return wrong;
            }
        }
        std::string wrong = crash(life);
        if (!wrong.empty()) {
            wrong += "\nthe process:";
            for (const Expectation &step : life.end().steps) {
                wrong += "\n  " + step.what;
            }
        }
        return wrong;
    }

    std::string begin(Life &life) {
        const model::Cd *root = truth_.root();
        const bool empty = truth_.stored() == nothing_stored();
        if (root == nullptr || (empty && root->children.empty())) {
            return life.begin_anew();
        }
        return dice_.one_in(10) ? life.begin_afresh() : life.begin_restarted();
    }

    bool can_be_restored() const {
        const auto verdict = truth_.model().judge(restore(truth_.root()->id));
        return verdict.allowed == std::vector{CD_ERROR_NONE} &&
               !descendants_regenerate(truth_.model());
    }

    // Looks at crashes, and takes one of them for what the next process finds.
    std::string crash(Life &life) {
        const bool killed = !kind_.forced || dice_.one_in(3);
        size_t seen = 0;
        Disk disk;
        Found found;
        Sweep sweep(kind_, random_states, dice_);
        sweep.set_go_on([&](const Disk &at, const Parts &parts, const Found &what) {
            if (life.knows(what) && dice_.one_in(++seen)) {
                disk = killed ? at : at.after_crash(parts);
                found = what;
            }
            return false;
        });
        const Recording &recording = life.end();
        std::string wrong = sweep.run(recording);
        states_ += sweep.states();
        if (wrong.empty() && killed) {
            wrong = find_all(disk, recording.steps[found.step], found);
        }
        if (!wrong.empty()) {
            return wrong;
        }
        disk_ = std::move(disk);
        truth_.forget_all();
        if (life.knows(found)) {
            truth_ = life.truth_of(found);
        }
        if (!life.knows(found) || (truth_.root() != nullptr && !can_be_restored())) {
            disk_ = Disk();
            truth_.forget_all();
            maybe_.clear();
        }
        return "";
    }

    // A process that is killed loses nothing that it has done.
    std::string find_all(const Disk &disk, const Expectation &step, Found &found) {
        Parts all;
        for_each_kill(disk, disk.unforced().size(), [&](const Parts &parts) {
            all = parts;
            return false;
        });
        maybe_ = found.over ? step.after : step.during;
        return judge(disk.after_crash(all), kind_, maybe_, found.match);
    }

    Dice dice_;
    StoreKind kind_;
    Disk disk_;
    Truth truth_{1};
    std::vector<Stored> maybe_;
    int processes_ = 0;
    size_t states_ = 0;
};

size_t number_from(const char *variable, size_t otherwise) {
    const char *text = std::getenv(variable);
    return text != nullptr ? std::strtoull(text, nullptr, 10) : otherwise;
}

TEST(RandomCrash, LeavesTheOldOrTheNewState) {
    const size_t usual = std::getenv("CD_TEST_LONG") != nullptr ? 300 * usual_states : usual_states;
    const size_t enough = number_from("CD_CRASH_STATES", usual);
    const size_t first = number_from("CD_CRASH_SEED", 1);
    size_t states = 0;
    size_t seed = first;
    for (; states < enough; ++seed) {
        RandomProgram program(seed);
        ASSERT_EQ(program.run(), "") << "seed " << seed;
        states += program.states();
    }
    std::printf("             seeds %zu to %zu\n", first, seed - 1);
    report_states(states);
}

} // namespace
} // namespace crash
