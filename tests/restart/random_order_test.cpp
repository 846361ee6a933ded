// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// Programs that add, share, delete and add again, and are killed: one that does the same finds what
// they had, or is told that it cannot.

#include "restarting.h"
#include "stepwise_program.h"

#include <map>
#include <random>
#include <string>
#include <vector>

namespace restarting {
namespace {

// Steps, and what the CDs hold after them.
class RandomProgram {
public:
    explicit RandomProgram(uint32_t seed) : random_(seed), cds_(1) {
        const size_t steps = 4 + pick(14);
        for (size_t i = 0; i < steps; ++i) {
            step();
        }
    }

    const std::string &text() const { return text_; }
    // The same, in memory that has something else.
    const std::string &text_of_the_next() const { return text_of_the_next_; }

    std::string restore_one() const { return "R" + questions(cds_.back()); }
    std::string restore_all() const {
        Held all;
        for (const Held &held : cds_) {
            all.insert(held.begin(), held.end());
        }
        return "r" + questions(all);
    }

private:
    using Held = std::map<char, char>; // what it was when it was added

    size_t pick(size_t count) {
        return std::uniform_int_distribution<size_t>(0, count - 1)(random_);
    }

    void step() {
        switch (pick(9)) {
        case 0:
            // None ends: what it has goes to its parent, and who comes next takes its place.
            if (cds_.size() < 3) {
                both("c");
                cds_.emplace_back();
            }
            break;
        case 1:
        case 2:
        case 3:
            remove(pick(3) == 0 ? '_' : '-');
            break;
        default:
            add(pick(4) == 0 ? '*' : '+');
        }
    }

    Held &held_by(char call) { return call == '*' || call == '_' ? cds_.front() : cds_.back(); }

    void add(char call) {
        Held &held = held_by(call);
        std::string letters;
        const size_t most = 1 + pick(2);
        for (size_t i = 0; i < most; ++i) {
            const char letter = static_cast<char>('A' + pick(4));
            if (held.count(letter) == 0) {
                const char value = next_value_++;
                text_ += std::string("=") + letter + value + " ";
                text_of_the_next_ += std::string("=") + letter + "! ";
                held[letter] = value;
                letters += letter;
            }
        }
        if (!letters.empty()) {
            both(call + letters);
        }
    }

    void remove(char call) {
        Held &held = held_by(call);
        const char letter = static_cast<char>('A' + pick(4));
        if (held.erase(letter) != 0) {
            both(std::string(1, call) + letter);
        }
    }

    void both(const std::string &step) {
        text_ += step + " ";
        text_of_the_next_ += step + " ";
    }

    static std::string questions(const Held &held) {
        std::string text;
        for (const auto &[letter, value] : held) {
            text += std::string(" ?") + letter + value;
        }
        return text;
    }

    std::mt19937 random_;
    std::vector<Held> cds_;
    std::string text_, text_of_the_next_;
    char next_value_ = '0';
};

class RandomOrder : public Restarting {
protected:
    // "" or what is wrong; "told": a call was refused, or cd_query has what waits.
    std::string outcome_of(const std::string &steps, size_t where) const {
        return processes::in_process([&]() -> std::string {
            Program program(create(), where);
            const std::string problem = program.run(steps);
            return !problem.empty() && (Program::is_refused() || program.waits()) ? "told"
                                                                                  : problem;
        });
    }
};

TEST_F(RandomOrder, LosesNothingWithoutAWord) {
    constexpr int programs = 100;
    int told = 0;
    for (int seed = 1; seed <= programs; ++seed) {
        const RandomProgram program(static_cast<uint32_t>(seed));
        for (const std::string &end : {program.restore_one(), program.restore_all()}) {
            SCOPED_TRACE(std::to_string(seed) + ": " + program.text() + "| " + end);
            std::filesystem::remove(store());
            ASSERT_EQ(outcome_of(program.text() + end, 0), "") << "it is not told from others";
            std::filesystem::remove(store());
            ASSERT_EQ(outcome_of(program.text(), 0), "");
            const std::string next = outcome_of(program.text_of_the_next() + end, 24);
            EXPECT_TRUE(next.empty() || next == "told") << next;
            told += next.empty() ? 0 : 1;
        }
    }
    EXPECT_LT(told, programs / 5) << "programs that do the same again are hardly ever refused";
}

} // namespace
} // namespace restarting
