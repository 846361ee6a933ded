// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "specimen.h"

#include "file_store/change_encoder.h"
#include "file_store/format.h"
#include "file_store/record.h"
#include "file_store/stored_data.h"
#include "file_store/superblock.h"
#include "memory/crc32c.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <span>
#include <string>
#include <vector>

namespace damage {
namespace {

constexpr size_t block = cd::format::block;

// Few enough records that each bit has its turn, and so many that the metadata have moved.
constexpr int few = 2;
constexpr int many = 30;

enum class Found { right, older, error };

struct Kind {
    int advances;
    bool checksummed;
    int keep = 1;
};

class Metadata : public testing::TestWithParam<Kind> {
protected:
    Metadata()
        : store_(GetParam().advances, GetParam().keep,
                 GetParam().checksummed ? "" : ",checksum=none") {}

    bool has_moved() const { return GetParam().advances == many; }

    // Loads the damaged store and returns the outcome; expects that it is an allowed one.
    Found load(const std::string &what) {
        cd::Loaded loaded;
        const cd::Status status = cd::load(store_.file(), loaded);
        if (!status) {
            const std::string message = cd::message();
            EXPECT_TRUE(status.code() == CD_ERROR_STORE_DAMAGED ||
                        status.code() == CD_ERROR_CHECKSUM)
                << what << ": " << message;
            EXPECT_NE(message.find("specimen.cds"), std::string::npos) << what << ": " << message;
            EXPECT_NE(message.find("offset"), std::string::npos) << what << ": " << message;
            return Found::error;
        }
        const std::string state = text_of(loaded.state);
        if (loaded.doubt.empty()) {
            EXPECT_EQ(state == store_.newest(), true) << what << ": another state, and no warning";
            return Found::right;
        }
        EXPECT_TRUE(store_.states().contains(state)) << what << ": a state that never was";
        EXPECT_TRUE(GetParam().checksummed || !has_data(loaded.state))
            << what << ": nothing tells whether its data are whole";
        return Found::older;
    }

    static bool has_data(const cd::State &state) {
        return std::ranges::any_of(state.cds, [](const auto &cd) {
            return std::ranges::any_of(
                cd.second.entries, [](const auto &entry) { return entry.second.run != nullptr; });
        });
    }

    void flip(size_t offset, unsigned bit) {
        const std::byte flipped = store_.bytes()[offset] ^ std::byte{1} << bit;
        store_.put(offset, &flipped, 1);
    }

    // must: nothing is allowed to hide that.
    void flip_all(size_t begin, size_t end, unsigned bits, bool must) {
        bits = GetParam().checksummed ? bits : 1; // the metadata are the same
        for (size_t offset = begin; offset < end && !HasFailure(); ++offset) {
            for (unsigned i = 0; i < bits; ++i) {
                const unsigned bit = bits == 8 ? i : static_cast<unsigned>(random_() % 8);
                const std::string what =
                    "bit " + std::to_string(bit) + " of byte " + std::to_string(offset);
                flip(offset, bit);
                const Found found = load(what);
                EXPECT_TRUE(!must || found != Found::right) << what << " was not found";
                store_.heal();
            }
        }
    }

    // A record alone, with the block behind it, as who reads a journal sees it.
    void expect_damaged_by_every_bit(size_t at, uint64_t number, size_t used, size_t size) {
        const auto found = std::span(store_.bytes()).subspan(at, size + block);
        std::vector<std::byte> bytes(found.begin(), found.end());
        cd::Superblock header = store_.loaded().header;
        header.journal = {at, bytes.size()};
        using Is = cd::FoundRecord::Kind;
        ASSERT_EQ(cd::find_record(header, number, bytes, 0).kind, Is::whole);
        for (size_t i = 0; i < used * 8; ++i) {
            const std::byte bit = std::byte{1} << i % 8;
            bytes[i / 8] ^= bit;
            ASSERT_EQ(cd::find_record(header, number, bytes, 0).kind, Is::damaged)
                << "bit " << i << " of record " << number;
            bytes[i / 8] ^= bit;
        }
    }

    // The parts of the file that say what the rest means.
    std::vector<cd::Extent> metadata() const {
        const cd::Superblock &header = store_.loaded().header;
        std::vector<cd::Extent> parts = {{0, cd::format::first_extent}};
        parts.push_back({header.snapshot.offset, header.snapshot_length});
        parts.push_back({header.journal.offset, store_.loaded().journal_used});
        return parts;
    }

    Specimen store_;
    std::mt19937 random_{1};
};

// The record is well formed, and its changes make no family.
TEST_P(Metadata, ACdWhoseParentHasEndedIsDamage) {
    const cd::Loaded &loaded = store_.loaded();
    cd::StoredCd child;
    child.number = 1000;
    child.depth = 1;
    child.sibling = 90;
    child.path = loaded.state.cds.at(cd::State::root).path;
    cd::StoredCd grandchild = child;
    grandchild.number = 1001;
    grandchild.parent = child.number;
    grandchild.depth = 2;
    cd::ChangeWriter changes;
    changes.cd(child);
    changes.cd(grandchild);
    changes.drop(child.number);
    const cd::ByteWriter record =
        cd::encode_record(loaded.header, loaded.records, changes.bytes().bytes());
    store_.put(loaded.header.journal.offset + loaded.journal_used, record.bytes().data(),
               record.size());
    cd::Loaded found;
    const cd::Status status = cd::load(store_.file(), found);
    const std::string told = status ? found.doubt : cd::message();
    EXPECT_NE(told.find("a CD has no parent"), std::string::npos) << told;
    store_.heal();
}

TEST_P(Metadata, EveryBitOfTheHeadersIsFound) {
    for (size_t offset = 0; offset < cd::format::first_extent; ++offset) {
        for (unsigned bit = 0; bit < 8; ++bit) {
            flip(offset, bit);
            cd::FoundHeader found;
            ASSERT_TRUE(cd::read_header(store_.file(), offset / block, found).is_ok());
            ASSERT_EQ(found.kind, cd::FoundHeader::Kind::damaged) << offset << " " << bit;
            store_.heal();
        }
    }
    const size_t used = 100 + store_.loaded().header.name.size();
    for (size_t header = 0; header < cd::format::headers; ++header) {
        flip_all(header * block, header * block + used, 8, true);
        const size_t checksum = header * block + cd::format::header_checksum;
        flip_all(checksum, checksum + 4, 8, true);
    }
}

// Both headers know everything until there is a second generation; then one of them does.
TEST_P(Metadata, AHeaderThatIsNotNeededCostsNothing) {
    const std::vector<std::byte> zeros(block);
    for (size_t slot = 0; slot < cd::format::headers; ++slot) {
        if (store_.loaded().older.generation != 0 && slot == store_.loaded().header.slot) {
            continue;
        }
        store_.put(slot * block, zeros.data(), block);
        cd::Loaded loaded;
        const cd::Status status = cd::load(store_.file(), loaded);
        if (!GetParam().checksummed) {
            EXPECT_EQ(status.code(), CD_ERROR_STORE_DAMAGED);
            EXPECT_NE(std::string(cd::message()).find(" is missing"), std::string::npos);
            store_.heal();
            continue;
        }
        ASSERT_TRUE(status.is_ok()) << cd::message();
        EXPECT_NE(loaded.doubt, "") << slot;
        EXPECT_EQ(text_of(loaded.state) == store_.newest(), true) << slot;
        store_.heal();
    }
}

TEST_P(Metadata, EveryBitOfTheSnapshotIsFound) {
    const cd::Superblock &header = store_.loaded().header;
    const size_t begin = header.snapshot.offset;
    const size_t end = begin + header.snapshot_length;
    for (size_t offset = begin; offset < end; ++offset) {
        for (unsigned bit = 0; bit < 8; ++bit) {
            flip(offset, bit);
            cd::State state;
            ASSERT_EQ(cd::load_again(store_.file(), header, 0, state).code(),
                      CD_ERROR_STORE_DAMAGED)
                << offset << " " << bit;
            store_.heal();
        }
    }
    flip_all(begin, end, header.snapshot_length < 1000 ? 8 : 1, true);
}

TEST_P(Metadata, EveryBitOfTheRecordsIsFound) {
    const cd::Loaded &loaded = store_.loaded();
    ASSERT_GT(loaded.records, 0U);
    size_t at = loaded.header.journal.offset;
    for (uint64_t record = 0; record < loaded.records; ++record) {
        cd::ByteReader reader(std::span(store_.bytes()).subspan(at + 24, 8));
        const size_t used = cd::format::record_header + reader.fixed64();
        const size_t size = cd::record_size(used - cd::format::record_header);
        if (GetParam().checksummed) { // else the metadata are the same
            expect_damaged_by_every_bit(at, record, used, size);
        }
        flip_all(at, at + used, 1, true);
        for (size_t padding = at + used; padding < at + size; padding += 61) {
            flip_all(padding, padding + 1, 1, false);
        }
        at += size;
    }
}

// What was never a record can be what a crash has left of one. It costs nothing, and nothing is
// written next to it.
TEST_P(Metadata, EveryBitOfTheUnusedJournalIsFound) {
    const size_t begin = store_.loaded().header.journal.offset + store_.loaded().journal_used;
    for (size_t at = begin; at < begin + 3 * block; at += 31) {
        flip(at, static_cast<unsigned>(random_() % 8));
        cd::Loaded loaded;
        ASSERT_TRUE(cd::load(store_.file(), loaded).is_ok()) << cd::message();
        ASSERT_TRUE(loaded.has_leftover) << at;
        ASSERT_EQ(loaded.doubt, "");
        ASSERT_EQ(text_of(loaded.state) == store_.newest(), true);
        store_.heal();
    }
}

// All checksums are right: only a library that is wrong writes such a store.
TEST_P(Metadata, TwoThingsInOnePlaceAreFound) {
    cd::Loaded loaded;
    ASSERT_TRUE(cd::load(store_.file(), loaded).is_ok());
    const cd::StoredEntries &entries = loaded.state.cds[cd::State::root].entries;
    const cd::StoredRun *first = entries.begin()->second.run;
    const cd::StoredRun *last = entries.rbegin()->second.run;
    ASSERT_NE(first, last);
    for (const uint64_t place : {loaded.header.journal.offset, last->offset}) {
        (*loaded.state.runs)[first->number].offset = place;
        cd::ChangeWriter snapshot;
        write_snapshot(loaded.state, snapshot);
        const auto bytes = snapshot.bytes().bytes();
        cd::Superblock header = loaded.header;
        ++header.generation;
        header.slot = loaded.header.other_slot();
        header.snapshot = {store_.size(), cd::record_size(bytes.size())};
        header.snapshot_length = bytes.size();
        header.snapshot_checksum = cd::crc32c(0, bytes.data(), bytes.size());
        const std::vector<std::byte> room(header.snapshot.length);
        ASSERT_TRUE(store_.file().write(store_.size(), room.data(), room.size()).is_ok());
        ASSERT_TRUE(store_.file().write(store_.size(), bytes.data(), bytes.size()).is_ok());
        ASSERT_TRUE(write_header(store_.file(), header).is_ok());
        cd::Loaded found;
        const cd::Status status = cd::load(store_.file(), found);
        EXPECT_EQ(status.is_ok(), GetParam().checksummed);
        const std::string told = status.is_ok() ? found.doubt : cd::message();
        EXPECT_NE(told.find("two things lie in one place"), std::string::npos) << told;
        EXPECT_TRUE(!status || text_of(found.state) == store_.newest());
    }
}

TEST_P(Metadata, BlocksThatBecameZerosAreFound) {
    for (const cd::Extent &extent : metadata()) {
        for (const size_t size : {size_t{512}, block}) {
            const std::vector<std::byte> zeros(size);
            for (size_t at = extent.offset; at < extent.end(); at += size) {
                store_.put(at, zeros.data(), size);
                const std::string what = std::to_string(size) + " zeros at " + std::to_string(at);
                load(what);
                store_.heal();
            }
        }
    }
}

TEST_P(Metadata, BlocksOfAnotherPlaceAreFound) {
    std::vector<size_t> places;
    for (const cd::Extent &extent : metadata()) {
        for (size_t at = extent.offset; at < extent.end(); at += block) {
            places.push_back(at);
        }
    }
    for (int i = 0; i < 600; ++i) {
        const size_t to = places[random_() % places.size()];
        const size_t from = random_() % (store_.size() / block) * block;
        store_.put(to, store_.bytes().data() + from, block);
        load("block " + std::to_string(from) + " at " + std::to_string(to));
        store_.heal();
    }
}

TEST_P(Metadata, GarbageIsFound) {
    for (int i = 0; i < 1000; ++i) {
        const std::vector<cd::Extent> parts = metadata();
        const cd::Extent &part = parts[random_() % parts.size()];
        const size_t at = part.offset + random_() % part.length;
        std::vector<std::byte> garbage(1 + random_() % std::min<size_t>(300, part.end() - at));
        std::ranges::generate(garbage, [&] { return static_cast<std::byte>(random_()); });
        store_.put(at, garbage.data(), garbage.size());
        load(std::to_string(garbage.size()) + " bytes at " + std::to_string(at));
        store_.heal();
    }
}

TEST_P(Metadata, AFileThatWasCutIsFound) {
    std::vector<size_t> lengths = {0, 1};
    const auto add_around = [&](size_t border) {
        for (const size_t length : {border - 1, border, border + 1}) {
            lengths.push_back(std::min(length, store_.size()));
        }
    };
    const cd::Superblock &header = store_.loaded().header;
    uint64_t last = 0; // of what the newest state needs
    for (const cd::Extent &extent : header.places()) {
        last = std::max(last, extent.end());
        add_around(extent.offset);
        add_around(extent.end());
    }
    const auto add_data = [&](const cd::StoredEntries &entries) {
        for (const auto &[place, entry] : entries) {
            if (entry.run != nullptr) {
                last = std::max(last, entry.run->offset + entry.run->length);
                add_around(entry.run->offset);
                add_around(entry.run->offset + entry.run->length);
            }
        }
    };
    for (const auto &[number, stored] : store_.loaded().state.cds) {
        add_data(stored.entries);
    }
    for (const cd::StoredVersion &version : store_.loaded().state.versions) {
        add_data(version.entries);
    }
    for (size_t length = 512; length < store_.size(); length += length < 8 * block ? 512 : block) {
        add_around(length);
    }
    for (const size_t length : lengths) {
        store_.cut(length);
        const Found found = load("cut to " + std::to_string(length));
        EXPECT_TRUE(length >= last || found != Found::right) << "cut to " << length;
        EXPECT_TRUE(length < last || found == Found::right) << "cut to " << length;
        store_.heal();
    }
}

INSTANTIATE_TEST_SUITE_P(Stores, Metadata,
                         testing::Values(Kind{few, true}, Kind{many, true}, Kind{few, false},
                                         Kind{many, false}, Kind{many, true, 2}),
                         [](const auto &which) {
                             return std::string(which.param.advances == few ? "AsNew" : "Moved") +
                                    (which.param.checksummed ? "" : "WithoutChecksums") +
                                    (which.param.keep > 1 ? "WithOlder" : "");
                         });

TEST(MetadataSpecimens, AreOfBothKinds) {
    EXPECT_EQ(Specimen(few, 1).loaded().older.generation, 0U);
    EXPECT_NE(Specimen(many, 1).loaded().older.generation, 0U);
}

// Freeing their places would free space that the file lacks or that others use.
TEST(MetadataSpecimens, OlderOnesThatAreNotWhereTheHeaderSaysAreADoubtAndNotKept) {
    const Specimen store(many, 1);
    for (const uint64_t wrong : {uint64_t{store.size()}, store.loaded().header.journal.offset}) {
        cd::Superblock older = store.loaded().older;
        older.journal.offset = wrong;
        ASSERT_TRUE(cd::write_header(store.file(), older)) << cd::message();
        cd::Loaded loaded;
        ASSERT_TRUE(cd::load(store.file(), loaded)) << cd::message();
        EXPECT_EQ(text_of(loaded.state), store.newest()) << wrong;
        EXPECT_NE(loaded.doubt, "") << wrong;
        EXPECT_EQ(loaded.older.generation, 0U) << wrong;
    }
}

} // namespace
} // namespace damage
