// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "redset/rebuild.h"

#include "damages.h"
#include "scratch_set.h"

#include "redset/thread_exchange.h"

#include <gtest/gtest.h>

#include <string>

namespace cd::redset {
namespace {

namespace fs = std::filesystem;

void copy_upstreams_files(const VectorCase &vector, const ScratchSet &scratch) {
    fs::remove_all(scratch.folder() / "red");
    fs::create_directory(scratch.folder() / "red");
    for (const int rank : scratch.set().ranks) {
        for (const fs::path &path : files_below(vector.folder / "red")) {
            if (path.filename().string().starts_with(std::to_string(rank) + ".")) {
                fs::copy(path, scratch.folder() / "red");
            }
        }
    }
}

enum class Writer { us, upstream };

// Loses every choice of members, of every case.
void lose_every_choice(Writer writer) {
    const AttributesOfVectors system;
    int brought_back = 0;
    int refused = 0;
    for (const VectorCase &vector : vector_cases()) {
        for (const VectorCase::Set &members : vector.sets) {
            for (unsigned lost = 0; lost < 1U << members.ranks.size(); ++lost) {
                SCOPED_TRACE(vector.folder.filename().string() + " loses " + std::to_string(lost));
                const auto scratch = scratch_set(vector, members);
                if (writer == Writer::us) {
                    ASSERT_TRUE(scratch->apply()) << message();
                } else {
                    copy_upstreams_files(vector, *scratch);
                }
                const FolderState before = scratch->state();
                for (size_t member = 0; member < members.ranks.size(); ++member) {
                    if ((lost >> member & 1) != 0) {
                        scratch->erase(static_cast<int>(member));
                    }
                }
                const FolderState left = scratch->state();
                const Status status = scratch->rebuild();
                if (covered(members.coding, lost)) {
                    ASSERT_TRUE(status) << message();
                    ASSERT_TRUE(contents(scratch->state()) == contents(before));
                    ++brought_back;
                } else {
                    ASSERT_FALSE(status);
                    ASSERT_EQ(status.code(), CD_ERROR_REDUNDANCY_EXCEEDED) << message();
                    ASSERT_TRUE(scratch->state() == left) << message();
                    ++refused;
                }
            }
        }
    }
    EXPECT_GT(brought_back, 100);
    EXPECT_GT(refused, 50);
}

TEST(Rebuild, EveryCoveredLossComesBackByteForByteAndEveryOtherChangesNothing) {
    lose_every_choice(Writer::us);
}

TEST(Rebuild, WhatUpstreamWroteComesBackAsWell) { lose_every_choice(Writer::upstream); }

// Members' own files are whatever their names lead to, unlike those that libcd wrote.
TEST(Rebuild, WhatALinkLeadsToIsAMembersFileAndTheLinkStays) {
    ScratchSet scratch(single_set({Scheme::xor_set, 3, 1}), {{3000}, {4000}, {5000}});
    const fs::path link = scratch.place().path(scratch.names(0).front());
    fs::rename(link, scratch.folder() / "elsewhere");
    fs::create_symlink(scratch.folder() / "elsewhere", link);
    ASSERT_TRUE(scratch.apply()) << message();
    scratch.erase(1);
    ASSERT_TRUE(scratch.rebuild()) << message();
    EXPECT_EQ(scratch.survey().members.front(), MemberState());
    EXPECT_TRUE(fs::is_symlink(link));
}

// As much is gone as may be, so that what is left is read once, and one more file has a byte that
// is wrong.
TEST(Rebuild, AWrongByteBesidesIsOneLossMore) {
    for (const Coding &coding :
         {Coding{Scheme::xor_set, 4, 1}, Coding{Scheme::reed_solomon, 5, 2}}) {
        for (const Target target : {Target::data, Target::scheme}) {
            SCOPED_TRACE(name_of(target));
            ScratchSet scratch(single_set(coding),
                               std::vector<std::vector<uint64_t>>(
                                   static_cast<size_t>(coding.members), {3000, 4000}));
            ASSERT_TRUE(scratch.apply()) << message();
            for (int member = 0; member < coding.checks; ++member) {
                scratch.erase(member);
            }
            const int wrong = coding.checks;
            damage_file(target == Target::data ? scratch.place().path(scratch.names(wrong).front())
                                               : scratch.place().scheme_file(scratch.set(), wrong),
                        Damage::change);
            const FolderState left = scratch.state();
            EXPECT_EQ(scratch.rebuild().code(), CD_ERROR_REDUNDANCY_EXCEEDED) << message();
            EXPECT_NE(std::string(message()).find("the checksum from offset"), std::string::npos)
                << message();
            EXPECT_TRUE(scratch.state() == left);
        }
    }
}

// Who has other sets besides wants to know what becomes of these first.
TEST(Rebuild, UntilItIsPublishedNoFileIsAnother) {
    for (const bool publishes : {false, true}) {
        for (const bool wrong_byte : {false, true}) { // else what is left is read once
            ScratchSet scratch(single_set({Scheme::reed_solomon, 5, 2}),
                               std::vector<std::vector<uint64_t>>(5, {3000, 4000}));
            ASSERT_TRUE(scratch.apply()) << message();
            const FolderState before = scratch.state();
            scratch.erase(1);
            if (wrong_byte) {
                damage_file(scratch.place().path(scratch.names(3).front()), Damage::change);
            } else {
                scratch.erase(3);
            }
            const FolderState left = scratch.state();
            const auto without_drafts = [&] {
                FolderState state = scratch.state();
                std::erase_if(state, [](const auto &each) {
                    return each.first.find(".cd-draft") != std::string::npos;
                });
                return state;
            };
            const auto steps = [&](Exchange &exchange) {
                const Options options{.sync = false};
                Survey survey;
                Rebuild rebuild(exchange, scratch.set(), scratch.place(), options, survey);
                Status status = rebuild.look();
                status = status ? rebuild.prepare() : status;
                if (status && exchange.self() == 0) {
                    EXPECT_TRUE(without_drafts() == left);
                    EXPECT_GT(scratch.state().size(), left.size());
                }
                status = agree(exchange, status); // so that it is still the same meanwhile
                return status && publishes ? rebuild.publish() : status;
            };
            ASSERT_TRUE(run_members(5, steps)) << message();
            EXPECT_TRUE(contents(scratch.state()) == contents(publishes ? before : left));
        }
    }
}

} // namespace
} // namespace cd::redset
