// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors

// What upstream leaves behind, and what gets mixed up: without our checksums.
#include "redset/kvtree_file.h"
#include "redset/offline_rebuild.h"
#include "redset/thread_exchange.h"
#include "scratch_set.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>

namespace cd::redset {
namespace {

namespace fs = std::filesystem;

// A set as upstream has it.
std::unique_ptr<ScratchSet> upstreams_set(const Coding &coding) {
    std::vector<std::vector<uint64_t>> sizes;
    for (int member = 0; member < coding.members; ++member) {
        sizes.push_back({static_cast<uint64_t>(1000 + 100 * member)});
    }
    auto scratch = std::make_unique<ScratchSet>(single_set(coding), sizes);
    EXPECT_TRUE(scratch->apply()) << message();
    for (int member = 0; member < coding.members; ++member) {
        fs::remove(scratch->place().checksums(scratch->set(), member));
    }
    return scratch;
}

// Changes the header of a member's scheme file, and leaves its payload.
void edit_header(const ScratchSet &scratch, int member,
                 const std::function<KvTree(const KvTree &)> &edit) {
    const std::string path = scratch.place().scheme_file(scratch.set(), member);
    const auto bytes = bytes_of(path);
    KvTree tree;
    uint64_t size = 0;
    ASSERT_TRUE(decode_image(bytes, path.c_str(), tree, size)) << message();
    std::vector<std::byte> edited;
    ASSERT_TRUE(encode_image(edit(tree), path.c_str(), edited)) << message();
    edited.insert(edited.end(), bytes.begin() + static_cast<std::ptrdiff_t>(size), bytes.end());
    write_file(path, edited);
}

KvTree header_of(const ScratchSet &scratch, int member) {
    const std::string path = scratch.place().scheme_file(scratch.set(), member);
    KvTree tree;
    uint64_t size = 0;
    EXPECT_TRUE(decode_image(bytes_of(path), path.c_str(), tree, size)) << message();
    return tree;
}

// The same tree with one top-level subtree made anew.
KvTree with(const KvTree &tree, std::string_view key, const std::function<void(KvTree &)> &change) {
    KvTree changed;
    for (const auto &[name, below] : tree.elements()) {
        KvTree &copy = changed.add(name) = below;
        if (name == key) {
            change(copy);
        }
    }
    return changed;
}

KvTree reversed(const KvTree &tree) {
    KvTree other;
    for (size_t i = tree.elements().size(); i-- > 0;) {
        other.add(tree.elements()[i].key) = reversed(tree.elements()[i].below);
    }
    return other;
}

void lose_and_rebuild(ScratchSet &scratch, int member, const FolderState &before) {
    scratch.erase(member);
    ASSERT_TRUE(scratch.rebuild()) << message();
    EXPECT_TRUE(contents(scratch.state()) == contents(before));
}

// After upstream's repair the header of an xor set's member also tells of its right neighbour.
TEST(Upstream, AnEntryMoreIsNoHarm) {
    const auto scratch = upstreams_set({Scheme::xor_set, 4, 1});
    const KvTree right = header_of(*scratch, 2);
    edit_header(*scratch, 1, [&](const KvTree &tree) {
        return with(tree, "DESC",
                    [&](KvTree &entries) { entries.add("2") = *right.find("DESC")->find("2"); });
    });
    const FolderState before = scratch->state();
    for (const int member : {0, 2, 3}) {
        lose_and_rebuild(*scratch, member, before);
    }
}

// After upstream's repair a partner's header names two owners.
TEST(Upstream, AnOwnerMoreIsNoHarm) {
    const auto scratch = upstreams_set({Scheme::partner, 4, 1});
    edit_header(*scratch, 3, [](const KvTree &tree) {
        return with(tree, "RANK", [](KvTree &owners) {
            owners.add("0");
            owners.sort();
        });
    });
    const FolderState before = scratch->state();
    for (const int member : {0, 1, 2}) {
        lose_and_rebuild(*scratch, member, before);
    }
}

TEST(Upstream, UnknownKeysAndAnotherOrderAreNoHarm) {
    const auto scratch = upstreams_set({Scheme::reed_solomon, 4, 2});
    edit_header(*scratch, 1, [](const KvTree &tree) {
        KvTree other = reversed(tree);
        other.add_value("SOMETHING", "else");
        return other;
    });
    const FolderState before = scratch->state();
    lose_and_rebuild(*scratch, 2, before);
}

TEST(Upstream, AFileInAnotherOrderIsOfTheSameSet) {
    for (const Scheme scheme : {Scheme::partner, Scheme::xor_set, Scheme::reed_solomon}) {
        const auto scratch = upstreams_set({scheme, 4, 1});
        edit_header(*scratch, 1, reversed);
        Search search;
        ASSERT_TRUE(find_sets(
            std::vector{scratch->folder().string()}, [](std::string_view) { return false; },
            search))
            << message();
        EXPECT_EQ(search.sets.size(), 1u);
    }
}

// Nothing says which of two is right, and a rebuild from both would be neither.
TEST(Upstream, FilesOfDifferentTimesAreRefused) {
    const auto scratch = upstreams_set({Scheme::xor_set, 4, 1});
    const auto old = bytes_of(scratch->place().scheme_file(scratch->set(), 1));
    write_file(scratch->place().path(scratch->names(1)[0]), std::vector<std::byte>(1100));
    ASSERT_TRUE(scratch->apply()) << message();
    for (int member = 0; member < 4; ++member) {
        fs::remove(scratch->place().checksums(scratch->set(), member));
    }
    write_file(scratch->place().scheme_file(scratch->set(), 1), old);
    scratch->erase(3);
    const FolderState left = scratch->state();
    EXPECT_EQ(scratch->rebuild().code(), CD_ERROR_STORE_DAMAGED) << message();
    EXPECT_TRUE(scratch->state() == left);
}

TEST(Upstream, ASchemeFileOfAnotherMemberIsNotTakenForItsOwn) {
    const auto scratch = upstreams_set({Scheme::xor_set, 4, 1});
    const FolderState before = scratch->state();
    fs::copy_file(scratch->place().scheme_file(scratch->set(), 2),
                  scratch->place().scheme_file(scratch->set(), 1),
                  fs::copy_options::overwrite_existing);
    ASSERT_TRUE(scratch->rebuild()) << message();
    EXPECT_TRUE(contents(scratch->state()) == contents(before));
}

TEST(Upstream, FilesOfOtherSizesAreLost) {
    for (const size_t size : {999, 1001}) {
        const auto scratch = upstreams_set({Scheme::xor_set, 3, 1});
        const FolderState before = scratch->state();
        write_file(scratch->place().path(scratch->names(0)[0]), std::vector<std::byte>(size));
        ASSERT_TRUE(scratch->rebuild()) << message();
        EXPECT_TRUE(contents(scratch->state()) == contents(before));
    }
}

// Its header tells how long it has to be, so that this is found without checksums.
TEST(Upstream, ACutPayloadIsLostAndIsMadeAgain) {
    for (const Coding &coding : {Coding{Scheme::xor_set, 4, 1}, Coding{Scheme::reed_solomon, 4, 2},
                                 Coding{Scheme::partner, 4, 1}}) {
        for (const uint64_t left_out : {1, 100}) {
            const auto scratch = upstreams_set(coding);
            const std::string path = scratch->place().scheme_file(scratch->set(), 1);
            const FolderState before = scratch->state();
            fs::resize_file(path, fs::file_size(path) - left_out);
            ASSERT_TRUE(scratch->rebuild()) << message();
            EXPECT_NE(scratch->survey().members[1].payload_lost, "");
            EXPECT_TRUE(contents(scratch->state()) == contents(before));
        }
    }
}

TEST(Upstream, ACutPayloadAndAsManyLossesAsItIsNeededForAreTooMuch) {
    for (const Coding &coding : {Coding{Scheme::xor_set, 4, 1}, Coding{Scheme::partner, 4, 1}}) {
        const auto scratch = upstreams_set(coding);
        const std::string path = scratch->place().scheme_file(scratch->set(), 1);
        fs::resize_file(path, fs::file_size(path) - 1);
        scratch->erase(0); // whose copy is the payload of its right neighbour
        const FolderState left = scratch->state();
        EXPECT_EQ(scratch->rebuild().code(), CD_ERROR_REDUNDANCY_EXCEEDED) << message();
        EXPECT_TRUE(scratch->state() == left);
    }
}

// What else is in the directory, other sets' files included, is nobody's business.
TEST(Rebuild, OtherSetsInTheSameDirectoryAreLeftAlone) {
    Set first = single_set({Scheme::xor_set, 3, 1});
    first.groups = 2;
    first.job_ranks = 6;
    Set second = first;
    second.group = 1;
    second.ranks = {3, 4, 5};
    ScratchSet one(first, {{1000}, {1000}, {1000}});
    const ScratchSet two(second, {{2000}, {10}, {}});
    fs::copy(two.folder() / "in", one.folder() / "in");
    const Place same = one.place();
    const auto second_names = [&](int member) { return two.names(member); };
    ASSERT_TRUE(one.apply()) << message();
    ASSERT_TRUE(run_members(3, [&](Exchange &exchange) {
        return apply(exchange, second, same, second_names(exchange.self()), {.sync = false});
    })) << message();
    write_file(one.folder() / "red/reddesc.txt", std::vector<std::byte>(10));
    const FolderState before = one.state();
    one.erase(2);
    ASSERT_TRUE(one.rebuild()) << message();
    EXPECT_TRUE(contents(one.state()) == contents(before));
}

} // namespace
} // namespace cd::redset
