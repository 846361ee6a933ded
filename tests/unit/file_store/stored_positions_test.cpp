// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// File positions as changes of a record.
#include "file_store/change_encoder.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace cd {
namespace {

constexpr uint64_t root = State::root;

void begin_family(ChangeWriter &changes) {
    StoredCd cd;
    changes.name(0, {format::NameKind::path, ""});
    changes.cd(cd);
}

// "" or what is wrong.
std::string read(ChangeWriter &changes, State &state) {
    const char *wrong = apply_changes(changes.bytes().bytes(), state);
    return wrong == nullptr ? "" : wrong;
}

TEST(StoredPositions, AreReadAsTheyWereWritten) {
    const std::vector<FilePosition> files = {{3, 1, 10, 42, 1'700'000'000'000'000'000},
                                             {4, 2, 11, 0, 0}};
    ChangeWriter changes;
    begin_family(changes);
    changes.files(root, files);
    State state;
    ASSERT_EQ(read(changes, state), "");
    const std::vector<FilePosition> &found = state.cds.at(root).files;
    ASSERT_EQ(found.size(), files.size());
    for (size_t i = 0; i < files.size(); ++i) {
        EXPECT_EQ(found[i].descriptor, files[i].descriptor) << i;
        EXPECT_EQ(found[i].position, files[i].position) << i;
        EXPECT_EQ(sameness(found[i], files[i]), Sameness::all) << i;
        EXPECT_EQ(found[i].born, files[i].born) << i;
    }
}

TEST(StoredPositions, WithLabelsOfNoMeaningAreDamage) {
    ChangeWriter changes;
    begin_family(changes);
    changes.bytes().fixed8(static_cast<uint8_t>(format::Change::positions));
    for (const uint64_t number :
         {root, uint64_t{1}, uint64_t{3}, uint64_t{1}, uint64_t{10}, uint64_t{42}, uint64_t{100}}) {
        changes.bytes().number(number);
    }
    changes.bytes().fixed8(1);
    State state;
    EXPECT_EQ(read(changes, state), "a file position has labels that make no sense");
}

} // namespace
} // namespace cd
