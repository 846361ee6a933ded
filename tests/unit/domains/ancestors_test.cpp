// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "domains/ancestors.h"

#include "../ranges/entries.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

namespace cd {
namespace {

constexpr Labels copy = {.restoration = Restoration::copy};
constexpr Labels parent = {.restoration = Restoration::parent};
constexpr Labels regen = {.restoration = Restoration::regen};

// A grandparent, a parent and a child; the child is the one that asks.
struct Ancestry : testing::Test {
    Ancestry() {
        top.identity = "0/top/0/0";
        middle.identity = "0/top/1/0";
        bottom.identity = "0/top/2/0";
        middle.parent = &top;
        bottom.parent = &middle;
    }

    cd_error check(Range range) { return check_ends_in_copy(bottom, &middle, range).code(); }

    Domain top;
    Domain middle;
    Domain bottom;
};

// Entries that do not decide may be many, and so may gaps.
TEST_F(Ancestry, EveryEntryIsLookedAtOnceHoweverManyGapsThereAre) {
    constexpr uintptr_t cells = 2000;
    for (uintptr_t cell = 0; cell < cells; ++cell) {
        put(top.entries, {2 * cell, 2 * cell + 1}, cell % 2 == 0 ? copy : regen);
        put(middle.entries, {2 * cell, 2 * cell + 1}, parent);
    }
    put(middle.entries, {2 * cells, 2 * cells + 1}, copy);
    size_t looked_at = 0;
    uintptr_t found = 0;
    uintptr_t missing = 0;
    for_each_first_holder(
        Upwards{&middle}, {0, 2 * cells + 1},
        [&](const Domain &, const Entry &entry) {
            ++looked_at;
            return entry.restoration == Restoration::copy;
        },
        [&](const Domain &, const Entry &, Range part) { return (found += part.length()) > 0; },
        [&](Range part) { return (missing += part.length()) > 0; });
    EXPECT_EQ(found, cells / 2 + 1);
    EXPECT_EQ(missing, 2 * cells - cells / 2);
    EXPECT_LT(looked_at, 4 * cells) << "of " << 2 * cells + 1;
}

TEST_F(Ancestry, TheMessageNamesTheHolderAndTheBytes) {
    put(middle.entries, {0x100, 0x200}, regen);
    EXPECT_EQ(check({0x180, 0x300}), CD_ERROR_PARENT_REGEN);
    EXPECT_NE(std::string(message()).find("128 bytes at 0x180"), std::string::npos) << message();
    EXPECT_NE(std::string(message()).find("0/top/1/0"), std::string::npos) << message();
}

// Byte by byte, what the two functions promise.
const Entry *holder(const Domain &domain, uintptr_t byte) {
    const auto at = domain.entries.find(byte);
    return at != domain.entries.end() && at->second->range.begin <= byte ? at->second : nullptr;
}

const Entry *naive_source(const Domain *domain, uintptr_t byte) {
    for (; domain != nullptr; domain = domain->parent) {
        const Entry *entry = holder(*domain, byte);
        if (entry != nullptr && entry->restoration == Restoration::copy) {
            return entry;
        }
    }
    return nullptr;
}

bool naive_ends_in_copy(const Domain *domain, uintptr_t byte) {
    for (; domain != nullptr; domain = domain->parent) {
        const Entry *entry = holder(*domain, byte);
        if (entry != nullptr && entry->restoration != Restoration::parent) {
            return entry->restoration == Restoration::copy;
        }
    }
    return false;
}

TEST_F(Ancestry, AgreesWithALookAtEachByte) {
    std::mt19937 random(6);
    int checks_passed = 0;
    for (int round = 0; round < 300; ++round) {
        top.entries.clear();
        middle.entries.clear();
        for (Domain *domain : {&top, &middle}) {
            for (uintptr_t at = random() % 4; at < 60;) {
                const uintptr_t end = at + 1 + random() % 12;
                const Labels &labels = random() % 8 == 0 ? regen : random() % 2 ? copy : parent;
                put(domain->entries, {at, end}, labels);
                at = end + (random() % 3 == 0 ? random() % 4 : 0);
            }
        }
        const Range range = {random() % 50, 50 + random() % 14};
        bool all_end_in_copy = true;
        for (uintptr_t byte = range.begin; byte < range.end; ++byte) {
            all_end_in_copy = all_end_in_copy && naive_ends_in_copy(&middle, byte);
        }
        ASSERT_EQ(check(range) == CD_ERROR_NONE, all_end_in_copy);
        checks_passed += all_end_in_copy;

        uintptr_t next = range.begin; // parts come in order, without gaps
        const auto visit = [&](const Entry *source, Range part) {
            ASSERT_EQ(part.begin, next);
            ASSERT_LT(part.begin, part.end);
            for (next = part.begin; next < part.end; ++next) {
                ASSERT_EQ(naive_source(&middle, next), source);
            }
        };
        for_each_source(
            &middle, range, [&](const Entry &source, Range part) { visit(&source, part); },
            [&](Range part) { visit(nullptr, part); });
        ASSERT_EQ(next, range.end);
    }
    EXPECT_GT(checks_passed, 5);
}

} // namespace
} // namespace cd
