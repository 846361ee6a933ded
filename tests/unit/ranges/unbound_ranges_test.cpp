// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "ranges/unbound_ranges.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace cd {
namespace {

// What answers is compared with all that there is.
class FindingUnbound : public testing::Test {
protected:
    using Known = Unbound::Known;
    using Numbers = UnboundRanges::Numbers;

    static constexpr uint64_t spaces = 3;
    static constexpr uint64_t ordinals = 4;
    static constexpr uint64_t end_of_space = 400;
    static constexpr uint64_t last_base =
        14; // where objects and regions begin, or at 0, or between
    static constexpr std::array<const char *, 3> names = {"", "0", "1.0"};

    uint64_t below(uint64_t end) { return random_() % end; }

    template <typename Holds> Numbers those(const Holds &holds) const {
        Numbers numbers;
        for (size_t number = 0; number < waiting_.size(); ++number) {
            if (holds(waiting_[number])) {
                numbers.push_back(number);
            }
        }
        return numbers;
    }

    bool is_free(uint64_t space, Range bytes) const {
        return those([&](const Unbound &found) {
                   return found.space == space && found.old.begin < bytes.end &&
                          bytes.begin < found.old.end;
               })
            .empty();
    }

    void add() {
        Unbound found;
        found.space = below(spaces);
        const uint64_t begin = last_base + below(end_of_space);
        found.old = {begin, begin + 1 + below(30)};
        found.known = static_cast<Known>(below(3));
        found.name = std::make_shared<const std::string>(names[below(names.size())]);
        found.ordinal = below(ordinals);
        found.offset = begin - below(3) * last_base / 2;
        if (is_free(found.space, found.old)) {
            waiting_.push_back(std::move(found));
        }
    }

    void split() {
        const size_t number = below(waiting_.size());
        const Range old = waiting_[number].old;
        if (old.length() > 1) {
            waiting_.push_back(waiting_[number].split(old.begin + 1 + below(old.length() - 1)));
        }
    }

    // Those that go are replaced by the last one as long as that goes, too.
    void remove() {
        const size_t one_in = below(4) == 0 ? 2 : 9;
        const Numbers going = those([&](const Unbound &) { return below(one_in) == 0; });
        std::vector<std::pair<uint64_t, uint64_t>> left;
        for (size_t number = 0; number < waiting_.size(); ++number) {
            left.emplace_back(waiting_[number].space, waiting_[number].old.begin);
        }
        for (auto number = going.rbegin(); number != going.rend(); ++number) {
            left[*number] = {spaces, 0};
        }
        for (size_t number = 0; number < left.size();) {
            if (left[number].first == spaces) {
                left[number] = left.back();
                left.pop_back();
            } else {
                ++number;
            }
        }
        waiting_.remove(going);
        ASSERT_EQ(waiting_.size(), left.size());
        for (size_t number = 0; number < left.size(); ++number) {
            ASSERT_EQ(waiting_[number].space, left[number].first);
            ASSERT_EQ(waiting_[number].old.begin, left[number].second);
        }
    }

    void ask() {
        const std::string name = names[below(names.size())];
        const uint64_t ordinal = below(ordinals);
        EXPECT_EQ(waiting_.of_order(name, ordinal), those([&](const Unbound &found) {
                      return found.known == Known::by_order && *found.name == name &&
                             found.ordinal == ordinal;
                  }));
        const uint64_t space = below(spaces);
        const uint64_t begin = below(end_of_space);
        const Range bytes{begin, begin + 1 + below(60)};
        EXPECT_EQ(waiting_.in(space, bytes), those([&](const Unbound &found) {
                      return found.space == space && found.old.begin < bytes.end &&
                             bytes.begin < found.old.end;
                  }));
        const auto known = below(2) == 0 ? Known::in_object : Known::in_region;
        const uint64_t offset = below(end_of_space);
        const uint64_t length = 1 + below(40);
        EXPECT_EQ(waiting_.in_named(known, name, offset, length), those([&](const Unbound &found) {
                      return found.known == known && *found.name == name &&
                             found.offset < offset + length &&
                             offset < found.offset + found.old.length();
                  }));
        const Numbers all_of_name = those(
            [&](const Unbound &found) { return found.known == known && *found.name == name; });
        const size_t one = waiting_.one_of(known, name);
        EXPECT_EQ(one == waiting_.size(), all_of_name.empty());
        EXPECT_TRUE(all_of_name.empty() || std::ranges::count(all_of_name, one) == 1);
        size_t of_objects = 0;
        waiting_.each_object([&](const std::string &object) {
            const Numbers of_this = those([&](const Unbound &found) {
                return found.known == Known::in_object && *found.name == object;
            });
            EXPECT_FALSE(of_this.empty());
            of_objects += of_this.size();
        });
        EXPECT_EQ(of_objects, those([](const Unbound &found) {
                                  return found.known == Known::in_object;
                              }).size());
    }

    UnboundRanges waiting_;
    std::mt19937 random_{1};
};

TEST_F(FindingUnbound, FindsAllThatThereIsAfterWhateverWasAddedSplitAndRemoved) {
    size_t most = 0;
    for (int step = 0; step < 6000 && !HasFailure(); ++step) {
        const uint64_t what = below(20);
        if (what < 12 || waiting_.empty()) {
            add();
        } else if (what < 17) {
            split();
        } else {
            remove();
        }
        most = std::max(most, waiting_.size());
        ask();
    }
    EXPECT_GT(most, 30U);
}

TEST_F(FindingUnbound, BeginsAnewOnceNothingWaits) {
    for (int round = 0; round < 2; ++round) {
        while (waiting_.size() < 10) {
            add();
        }
        ask();
        waiting_.remove(those([](const Unbound &) { return true; }));
        EXPECT_TRUE(waiting_.empty());
        ask();
    }
}

} // namespace
} // namespace cd
