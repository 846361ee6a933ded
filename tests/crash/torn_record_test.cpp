// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// What is left of a record that was cut off at any byte, or of which any sector is missing, is
// never taken for damage; and what was written whole, and damaged then, is never taken for that.

#include "file_store/format.h"
#include "file_store/record.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace crash {
namespace {

using cd::FoundRecord;

constexpr size_t blocks = 4;

class TornRecord : public testing::Test {
protected:
    TornRecord() {
        header_.id.fill(std::byte{7});
        header_.generation = 3;
        header_.journal = {40 * cd::format::block, blocks * cd::format::block};
        empty_.resize(header_.journal.length);
        cd::Unused(header_).fill(header_.journal.offset, empty_);
    }

    std::vector<std::byte> record_of(size_t changes) const {
        const std::vector<std::byte> bytes(changes, std::byte{0xa5});
        const cd::ByteWriter record = cd::encode_record(header_, 0, bytes);
        return {record.bytes().begin(), record.bytes().end()};
    }

    std::vector<std::byte> written(const std::vector<std::byte> &record) const {
        std::vector<std::byte> journal = empty_;
        std::ranges::copy(record, journal.begin());
        return journal;
    }

    FoundRecord::Kind find(const std::vector<std::byte> &journal) const {
        return cd::find_record(header_, 0, journal, 0).kind;
    }

    cd::Superblock header_;
    std::vector<std::byte> empty_;
    // Around where a record needs one block more.
    static constexpr size_t room = cd::format::block - cd::format::record_header;
    static constexpr size_t lengths[] = {1,        464,      room - 17, room - 9, room - 8,
                                         room - 7, room - 1, room,      6000};
};

TEST_F(TornRecord, CutOffAtAnyByteNeverCounted) {
    for (const size_t length : lengths) {
        const std::vector<std::byte> record = record_of(length);
        std::vector<std::byte> journal = empty_;
        for (size_t cut = 0; cut <= record.size(); ++cut) {
            const auto expected = cut == 0 ? FoundRecord::Kind::end
                                  : cut < cd::format::record_header + length
                                      ? FoundRecord::Kind::torn
                                      : FoundRecord::Kind::whole;
            ASSERT_EQ(find(journal), expected) << "cut at " << cut << " of " << length;
            if (cut < record.size()) {
                journal[cut] = record[cut];
            }
        }
    }
}

TEST_F(TornRecord, WithoutOneOfItsSectorsNeverCounted) {
    constexpr size_t sector = cd::format::sector;
    for (const size_t length : lengths) {
        const std::vector<std::byte> record = record_of(length);
        for (size_t at = 0; at < record.size(); at += sector) {
            std::vector<std::byte> journal = written(record);
            std::copy_n(empty_.begin() + static_cast<ptrdiff_t>(at), sector,
                        journal.begin() + static_cast<ptrdiff_t>(at));
            const bool needed = at < cd::format::record_header + length;
            ASSERT_EQ(find(journal), needed ? FoundRecord::Kind::torn : FoundRecord::Kind::whole)
                << "sector at " << at << " of " << length;
        }
    }
}

TEST_F(TornRecord, IsNotWhatDamageLeavesOfOneThatCounted) {
    for (const size_t length : lengths) {
        const std::vector<std::byte> journal = written(record_of(length));
        for (size_t at = 0; at < cd::format::record_header + length; ++at) {
            std::vector<std::byte> damaged = journal;
            damaged[at] ^= std::byte{0x10};
            ASSERT_EQ(find(damaged), FoundRecord::Kind::damaged) << at << " of " << length;
        }
        for (const size_t size : {cd::format::sector, cd::format::block}) {
            for (size_t at = 0; at < cd::format::record_header + length; at += size) {
                std::vector<std::byte> damaged = journal;
                std::fill_n(damaged.begin() + static_cast<ptrdiff_t>(at), size, std::byte{0});
                ASSERT_EQ(find(damaged), FoundRecord::Kind::damaged) << at << " of " << length;
            }
        }
    }
}

// The other journal had the same record in another generation, or in another place.
TEST_F(TornRecord, IsNotWhatAnotherJournalLeaves) {
    const std::vector<std::byte> journal = written(record_of(6000));
    cd::Superblock other = header_;
    ++other.generation;
    EXPECT_EQ(cd::find_record(other, 0, journal, 0).kind, FoundRecord::Kind::damaged);
    EXPECT_EQ(cd::find_record(other, 0, empty_, 0).kind, FoundRecord::Kind::damaged);
    other = header_;
    other.journal.offset += cd::format::block;
    EXPECT_EQ(cd::find_record(other, 0, empty_, 0).kind, FoundRecord::Kind::damaged);
    other = header_;
    other.id[5] ^= std::byte{1};
    EXPECT_EQ(cd::find_record(other, 0, journal, 0).kind, FoundRecord::Kind::damaged);
    EXPECT_EQ(cd::find_record(other, 0, empty_, 0).kind, FoundRecord::Kind::damaged);
}

// The disk confirmed the first of the two and did not write it.
TEST_F(TornRecord, IsNotOneThatALaterRecordFollows) {
    std::vector<std::byte> journal = empty_;
    const cd::ByteWriter later = cd::encode_record(header_, 1, {});
    std::ranges::copy(later.bytes(), journal.begin() + cd::format::block);
    EXPECT_EQ(find(journal), FoundRecord::Kind::damaged);
}

} // namespace
} // namespace crash
