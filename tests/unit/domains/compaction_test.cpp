// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors

// A range that was split becomes one entry again as soon as its parts are alike.
#include "domains/add.h"
#include "domains/advance.h"
#include "domains/compaction.h"
#include "domains/delete_ranges.h"
#include "domains/give_to_parent.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <iterator>
#include <random>
#include <vector>

namespace cd {
namespace {

class Compaction : public testing::Test {
protected:
    void keep(size_t begin, size_t end, addr_type access, bool in_place = false) {
        keep_in(domain, begin, end, access, in_place);
    }

    void keep_in(Domain &cd, size_t begin, size_t end, addr_type access, bool in_place = false) {
        const cd_addrspec range = {&memory[begin], end - begin, access, CD_GLOBAL};
        AddRequest request;
        request.list = &range;
        request.count = 1;
        request.in_place = in_place;
        request.checksummed = checksummed;
        request.call = ++calls;
        size_t copied = 0;
        ASSERT_TRUE(add(cd, request, copied).is_ok());
    }

    void advance_all() {
        std::vector<FilePosition> positions;
        size_t copied = 0;
        ASSERT_TRUE(advance(domain, Locked::parent, positions, copied)->is_ok());
    }

    void use(size_t bytes) {
        memory.resize(bytes);
        std::ranges::fill(memory, std::byte{0});
        keep(0, bytes, CD_READ_ONLY);
        advance_all();
    }

    // Changes this part, as one step of a program, and advances.
    void change(size_t begin, size_t end) {
        keep(begin, end, CD_READ_WRITE);
        std::fill(memory.begin() + static_cast<ptrdiff_t>(begin),
                  memory.begin() + static_cast<ptrdiff_t>(end),
                  static_cast<std::byte>(++changes % 251));
        advance_all();
    }

    bool holds_what_is_in_memory() const {
        return std::ranges::all_of(domain.entries, [](const auto &held) {
            const Entry &entry = *held.second;
            return std::memcmp(entry.data.at(), entry.range.address(), entry.range.length()) == 0 &&
                   entry.data.block().intact(entry.data.offset(), entry.range.length());
        });
    }

    auto entries() const { return std::distance(domain.entries.begin(), domain.entries.end()); }

    std::vector<std::byte> memory = std::vector<std::byte>(100);
    Domain domain;
    uint64_t calls = 0;
    unsigned changes = 0;
    bool checksummed = false;
};

TEST_F(Compaction, JoinsPartsThatHaveTheSameLabelsAgain) {
    keep(0, 100, CD_READ_ONLY);
    keep(40, 60, CD_READ_WRITE);
    EXPECT_EQ(entries(), 3);
    keep(50, 55, CD_READ_ONLY);
    EXPECT_EQ(entries(), 5);
    keep(40, 60, CD_READ_ONLY);
    EXPECT_EQ(entries(), 1);
    keep(0, 10, CD_READ_WRITE);
    keep(10, 100, CD_READ_WRITE);
    EXPECT_EQ(entries(), 1);
}

TEST_F(Compaction, JoinsPartsWhoseDataLieSideBySideAfterAnAdvance) {
    keep(0, 100, CD_READ_ONLY, true);
    keep(0, 20, CD_READ_WRITE);
    keep(80, 100, CD_READ_WRITE);
    EXPECT_EQ(entries(), 3);
    advance_all();
    EXPECT_EQ(entries(), 1);
}

TEST_F(Compaction, DoesNotJoinPartsThatWereAddedAroundDeletedBytes) {
    keep(40, 60, CD_READ_WRITE);
    keep(0, 100, CD_READ_WRITE);
    EXPECT_EQ(entries(), 3);
    const cd_addrspec middle = {&memory[40], 20, CD_READ_WRITE, CD_GLOBAL};
    ASSERT_TRUE(delete_ranges(domain, &middle, 1).is_ok());
    advance_all();
    EXPECT_EQ(entries(), 2);
}

TEST_F(Compaction, DoesNotJoinRangesThatWereAddedOneByOne) {
    keep(0, 50, CD_READ_WRITE);
    keep(50, 100, CD_READ_WRITE);
    keep(0, 100, CD_READ_WRITE);
    advance_all();
    EXPECT_EQ(entries(), 2);
}

// Twice as many as parts of longest_joined, and what may be cut before it is looked at again.
TEST_F(Compaction, KeepsEntriesFewWhateverPartsChangeOneAfterTheOther) {
    for (checksummed = false;; checksummed = true) {
        const size_t size = 128 * longest_joined;
        use(size);
        std::mt19937 dice(1); // NOLINT(cert-msc51-cpp): the same each time
        for (int i = 0; i < 6000; ++i) {
            const size_t begin = dice() % (size - 100);
            change(begin, begin + 1 + dice() % 100);
            ASSERT_LT(entries(), 2 * 128 + 1500);
        }
        EXPECT_TRUE(holds_what_is_in_memory());
        const cd_addrspec all = {memory.data(), size, CD_READ_WRITE, CD_GLOBAL};
        ASSERT_TRUE(delete_ranges(domain, &all, 1).is_ok());
        if (checksummed) {
            break;
        }
    }
}

// A child's range may cover many older ones, whose borders are not needed any more.
TEST_F(Compaction, KeepsEntriesFewWhateverPartsChildrenChange) {
    const size_t size = 128 * longest_joined;
    use(size);
    std::mt19937 dice(1); // NOLINT(cert-msc51-cpp): the same each time
    for (int i = 0; i < 4000; ++i) {
        const size_t begin = dice() % (size - 50000);
        Domain child;
        child.parent = &domain;
        keep_in(child, begin, begin + 1 + dice() % 50000, CD_READ_WRITE);
        GiveToParent given(child, GiveToParent::Kind::move);
        ASSERT_TRUE(given.prepare(Locked::ancestors));
        given.publish();
        join_fragments(domain);
        if (i % 10 == 9) {
            advance_all();
        }
        ASSERT_LT(entries(), 2 * 128 + 1500);
    }
}

TEST_F(Compaction, LeavesAloneWhatAProgramUsesAgainAndAgain) {
    constexpr int parts = 1000;
    constexpr size_t distance = 1000;
    use(parts * distance);
    for (int step = 0; step < 40; ++step) {
        for (size_t i = 0; i < parts; ++i) {
            keep(i * distance + 500, i * distance + 600, CD_READ_WRITE);
        }
        advance_all();
        ASSERT_EQ(entries(), 2 * parts + 1);
    }
}

TEST_F(Compaction, LeavesAloneWhatIsDamaged) {
    checksummed = true;
    use(2 * longest_joined);
    domain.entries.begin()->second->data.block().mark_damaged(0, 1);
    for (size_t i = 0; i < 1000; ++i) {
        change(longest_joined + 2 * i, longest_joined + 2 * i + 1);
    }
    EXPECT_LT(entries(), 1000);
    EXPECT_FALSE(holds_what_is_in_memory());
}

} // namespace
} // namespace cd
