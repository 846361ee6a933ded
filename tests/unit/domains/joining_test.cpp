// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors

// What was one range when it was added is one entry again as soon as its parts are alike.
#include "domains/add.h"
#include "domains/advance.h"
#include "domains/remove.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <iterator>
#include <vector>

namespace cd {
namespace {

class Joining : public testing::Test {
protected:
    void keep(size_t begin, size_t end, addr_type access, bool in_place = false) {
        const cd_addrspec range = {&memory[begin], end - begin, access, CD_GLOBAL};
        AddRequest request;
        request.list = &range;
        request.count = 1;
        request.in_place = in_place;
        request.call = ++calls;
        size_t copied = 0;
        ASSERT_TRUE(add(domain, request, copied).is_ok());
    }

    void advance_all() {
        std::vector<FilePosition> positions;
        size_t copied = 0;
        ASSERT_TRUE(advance(domain, Locked::parent, positions, copied)->is_ok());
    }

    auto entries() const { return std::distance(domain.entries.begin(), domain.entries.end()); }

    std::vector<std::byte> memory = std::vector<std::byte>(100);
    Domain domain;
    uint64_t calls = 0;
};

TEST_F(Joining, OfPartsThatHaveTheSameLabelsAgain) {
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

TEST_F(Joining, OfPartsWhoseDataLieSideBySideAfterAnAdvance) {
    keep(0, 100, CD_READ_ONLY, true);
    keep(0, 20, CD_READ_WRITE);
    keep(80, 100, CD_READ_WRITE);
    EXPECT_EQ(entries(), 3);
    advance_all();
    EXPECT_EQ(entries(), 1);
}

TEST_F(Joining, OfWhatWasAddedAroundOtherBytesOnceTheseAreGoneIsNone) {
    keep(40, 60, CD_READ_WRITE);
    keep(0, 100, CD_READ_WRITE);
    EXPECT_EQ(entries(), 3);
    const cd_addrspec middle = {&memory[40], 20, CD_READ_WRITE, CD_GLOBAL};
    ASSERT_TRUE(remove(domain, &middle, 1).is_ok());
    advance_all();
    EXPECT_EQ(entries(), 2);
}

TEST_F(Joining, OfRangesThatWereAddedOneByOneIsNone) {
    keep(0, 50, CD_READ_WRITE);
    keep(50, 100, CD_READ_WRITE);
    keep(0, 100, CD_READ_WRITE);
    advance_all();
    EXPECT_EQ(entries(), 2);
}

} // namespace
} // namespace cd
