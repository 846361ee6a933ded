// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// What the changes of a store say of memory that children add.
#include "file_store/change_encoder.h"

#include <gtest/gtest.h>

#include <string>

namespace cd::first_values {
namespace {

constexpr uint64_t root = State::root;
constexpr uint64_t child = 1;
constexpr uint64_t grandchild = 2;
constexpr uint64_t part = format::checked_part;
constexpr Range memory = {0x10000, 0x10000 + 2 * part + 100};

// A root with a child and a grandchild, each of the name of its number; and what they hold.
class Family {
public:
    Family() {
        const char *const paths[] = {"", "0", "0.0"};
        for (const uint64_t number : {root, child, grandchild}) {
            StoredCd cd;
            cd.number = number;
            cd.parent = number == root ? root : number - 1;
            cd.depth = static_cast<int>(number);
            cd.path = number;
            changes_.name(number, {format::NameKind::path, paths[number]});
            changes_.cd(cd);
        }
        changes_.space(1);
    }

    // The data are so many bytes into what the checksums are of.
    Family &hold(uint64_t cd, Range range, const Checksums &checksums, uint64_t offset = 0,
                 uint64_t added_by = child) {
        ChangeWriter::Data data = changes_.run(0, range.length() + offset, checksums);
        data.offset = offset;
        changes_.hold(cd, range, {CD_READ_WRITE, CD_GLOBAL, Restoration::copy}, {added_by, 0, 0, 1},
                      data);
        return *this;
    }
    ChangeWriter &changes() { return changes_; }

    // Of the first entry that a CD has, also when it was in a snapshot.
    std::string labels(uint64_t cd = root) {
        State state;
        const char *wrong = apply_changes(changes_.bytes().bytes(), state);
        ChangeWriter snapshot;
        write_snapshot(state, snapshot);
        State again;
        if (wrong != nullptr || apply_snapshot(snapshot.bytes().bytes(), again) != nullptr) {
            return wrong != nullptr ? wrong : "the snapshot cannot be read";
        }
        const StoredEntry &entry = again.cds.at(cd).entries.begin()->second;
        return std::string(entry.compared ? "compared" : "not compared") +
               (entry.filled_anew ? ", filled anew" : "");
    }

private:
    ChangeWriter changes_;
};

TEST(FirstValues, AreComparedWhenTheChildAddsThem) {
    Family same;
    EXPECT_EQ(same.hold(root, memory, {1, 2, 3}).labels(), "not compared");
    EXPECT_EQ(same.hold(child, memory, {1, 2, 3}).labels(), "compared");
    Family other;
    other.hold(root, memory, {1, 2, 3}).hold(child, memory, {4, 5, 6});
    EXPECT_EQ(other.labels(), "compared, filled anew");
    Family partly; // as where what is carried gets other borders outside of children
    partly.hold(root, memory, {1, 2, 3}).hold(child, memory, {4, 2, 6});
    EXPECT_EQ(partly.labels(), "compared");
}

TEST(FirstValues, AreThoseOfTheFirstInAnInterval) {
    Family family;
    family.hold(root, memory, {1, 2, 3}).hold(grandchild, memory, {4, 5, 6});
    family.hold(child, memory, {1, 2, 3});
    EXPECT_EQ(family.labels(), "compared, filled anew");
    family.changes().drop(grandchild);
    family.changes().erase(child, memory);
    family.changes().demote(root);
    EXPECT_EQ(family.labels(), "not compared, filled anew");
    family.hold(child, memory, {1, 2, 3});
    EXPECT_EQ(family.labels(), "compared");
}

TEST(FirstValues, AreForgottenWhereWhatIsAddedNextDoesNotTell) {
    Family family;
    family.hold(root, memory, {1, 2, 3}).hold(child, memory, {4, 5, 6});
    family.changes().erase(child, memory);
    family.changes().demote(root);
    family.changes().hold(child, memory, {CD_READ_WRITE, CD_GLOBAL, Restoration::parent},
                          {child, 1, 0, memory.length()}, {});
    EXPECT_EQ(family.labels(), "compared");
}

TEST(FirstValues, AreNotToldByChecksumsOfMore) {
    const Range middle = {memory.begin + part, memory.end - 50};
    for (const uint32_t whole : {2U, 9U}) {
        for (const uint32_t cut : {3U, 9U}) {
            Family family;
            family.hold(root, middle, {2, 3}).hold(child, memory, {1, whole, cut});
            EXPECT_EQ(family.labels(), whole == 9 ? "compared, filled anew" : "compared")
                << whole << " " << cut;
        }
    }
}

TEST(FirstValues, AreNotToldByChecksumsOfOtherParts) {
    Family family;
    family.hold(root, memory, {1, 2, 3}, 8).hold(child, memory, {4, 5, 6});
    EXPECT_EQ(family.labels(), "compared");
}

TEST(FirstValues, AreNotToldWithoutChecksumsOrAll) {
    Family family;
    family.hold(root, memory, {}).hold(child, memory, {4, 5, 6});
    EXPECT_EQ(family.labels(), "compared");
    Family of_some;
    of_some.hold(root, memory, {1, 2, 3});
    of_some.hold(child, {memory.begin, memory.begin + part}, {4});
    EXPECT_EQ(of_some.labels(), "compared");
}

TEST(FirstValues, AreComparedWithTheNearestCdThatHasTheBytes) {
    Family family;
    family.hold(child, memory, {1, 2, 3});
    family.changes().give(child, root, memory, true);
    family.changes().demote(root);
    family.hold(grandchild, memory, {4, 5, 6}, 0, grandchild);
    EXPECT_EQ(family.labels(), "not compared");
    EXPECT_EQ(family.labels(child), "not compared"); // which has added it itself
    Family without_child;
    without_child.hold(root, memory, {1, 2, 3}).hold(grandchild, memory, {4, 5, 6});
    EXPECT_EQ(without_child.labels(), "compared, filled anew");
}

TEST(FirstValues, AreNotComparedWithWhatCameSinceThePointInTime) {
    Family family;
    family.hold(grandchild, memory, {1, 2, 3});
    family.changes().give(grandchild, root, memory, false);
    family.hold(child, memory, {4, 5, 6});
    EXPECT_EQ(family.labels(), "not compared");
}

TEST(FirstValues, AreNotComparedWithWhatTheCdHasAddedInItsOrder) {
    Family family;
    family.hold(root, memory, {1, 2, 3}, 0, root).hold(child, memory, {4, 5, 6});
    EXPECT_EQ(family.labels(), "not compared");
}

TEST(FirstValues, AreNotComparedOfWhatHasAName) {
    constexpr uint64_t region = 3;
    Family family;
    family.changes().name(region, {format::NameKind::region, "field"});
    family.hold(root, memory, {1, 2, 3}, 0, region).hold(child, memory, {4, 5, 6}, 0, region);
    EXPECT_EQ(family.labels(), "not compared");
}

TEST(FirstValues, StandInTheLabelsOfAnEntry) {
    constexpr uint8_t read_write = 1;
    constexpr uint8_t compared = 3 << 2;
    constexpr uint8_t filled_anew = 1 << 7;
    Family family;
    family.changes().run(0, memory.length(), {});
    ByteWriter &bytes = family.changes().bytes();
    bytes.fixed8(static_cast<uint8_t>(format::Change::hold));
    for (const uint64_t number : {root, uint64_t{memory.begin}, uint64_t{memory.length()}}) {
        bytes.number(number);
    }
    bytes.fixed8(read_write | compared | filled_anew);
    for (const uint64_t number : {child, uint64_t{0}, uint64_t{0}, uint64_t{memory.length()}}) {
        bytes.number(number);
    }
    bytes.number(0); // run
    bytes.number(0); // offset in it
    EXPECT_EQ(family.labels(), "compared, filled anew");
}

TEST(FirstValues, AreOfWhatIsCopiedOnly) {
    Family family;
    family.changes().hold(
        root, memory,
        {CD_READ_WRITE, CD_GLOBAL, Restoration::parent, false, false, {}, false, true},
        {child, 0, 0, 1}, {});
    EXPECT_EQ(family.labels(), "an entry has labels that make no sense");
}

} // namespace
} // namespace cd::first_values
