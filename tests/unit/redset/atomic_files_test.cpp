// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors

// Files that are written beside those whose places they take, and what a crash of the machine
// leaves.
#include "redset/atomic_files.h"

#include "content.h"
#include "in_memory.h"

#include "../replaced_system.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <string>

namespace cd::redset {
namespace {

namespace fs = std::filesystem;

class DraftsTest : public testing::Test {
protected:
    void SetUp() override {
        std::string name = (scratch::in_memory() / "cd-drafts-XXXXXX").string();
        ASSERT_NE(::mkdtemp(name.data()), nullptr);
        folder = name;
    }
    void TearDown() override { fs::remove_all(folder); }

    std::string path(const std::string &name) const { return folder / name; }

    static bool write(Drafts &drafts, const std::string &path, const std::string &text,
                      size_t &number) {
        return drafts.create(path, number).is_ok() &&
               drafts.file(number).write(0, text.data(), text.size()).is_ok();
    }
    static bool publish(Drafts &drafts, size_t number) {
        return drafts.finish(number).is_ok() && drafts.publish().is_ok();
    }

    std::string content(const std::string &name) const { return scratch::content(path(name)); }

    std::set<std::string> names() const {
        std::set<std::string> names;
        for (const auto &entry : fs::directory_iterator(folder)) {
            names.insert(entry.path().filename());
        }
        return names;
    }

    fs::path folder;
};

TEST_F(DraftsTest, OfOneProcessDoNotMeet) {
    Drafts one(3, false);
    size_t of_one = 0;
    ASSERT_TRUE(write(one, path("one"), "one", of_one));
    {
        Drafts two(3, false);
        size_t of_two = 0;
        ASSERT_TRUE(write(two, path("two"), "two", of_two));
        ASSERT_TRUE(publish(two, of_two)) << message();
    }
    ASSERT_TRUE(publish(one, of_one)) << message();
    EXPECT_EQ(content("one"), "one");
    EXPECT_EQ(content("two"), "two");
}

TEST_F(DraftsTest, ThatAreNotPublishedAreGoneAndLeaveNothing) {
    {
        Drafts drafts(3, false);
        size_t number = 0;
        ASSERT_TRUE(write(drafts, path("a"), "a", number));
    }
    EXPECT_TRUE(names().empty());
}

// Knows which directories were made, and in which others their names were forced to the disk since.
class WatchingSystem : public ReplacedSystem {
public:
    int make_directory_at(int directory, const char *name, mode_t mode) override {
        const int result = System::make_directory_at(directory, name, mode);
        if (result == 0) {
            unforced.insert(fs::path(name).parent_path());
            ++made;
        }
        return result;
    }
    int rename_at(int directory, const char *from, const char *to) override {
        renamed_before_directories_were_forced |= !unforced.empty();
        unforced.insert(fs::path(to).parent_path());
        return refuses_names ? (errno = EIO, -1) : System::rename_at(directory, from, to);
    }
    int sync_all(int fd) override {
        const auto at = fs::read_symlink("/proc/self/fd/" + std::to_string(fd));
        unforced.erase(at);
        forced.insert(at);
        return 0;
    }

    std::set<fs::path> unforced;
    std::set<fs::path> forced;
    int made = 0;
    bool refuses_names = false;
    bool renamed_before_directories_were_forced = false;
};

TEST_F(DraftsTest, DirectoriesThatAreMadeAreThereAfterACrash) {
    WatchingSystem system;
    Drafts drafts(3, true);
    size_t number = 0;
    ASSERT_TRUE(write(drafts, path("new/newer/newest/a"), "a", number)) << message();
    ASSERT_TRUE(publish(drafts, number)) << message();
    EXPECT_EQ(system.made, 3);
    EXPECT_FALSE(system.renamed_before_directories_were_forced);
    EXPECT_TRUE(system.unforced.empty()) << *system.unforced.begin();
    // That of a directory that was there may not have been forced by whoever made it.
    Drafts more(3, true);
    system.forced.clear();
    ASSERT_TRUE(write(more, path("new/b"), "b", number)) << message();
    ASSERT_TRUE(publish(more, number)) << message();
    EXPECT_TRUE(system.forced.contains(folder));
}

TEST_F(DraftsTest, ANameThatCannotBeGivenSaysWhatHasChanged) {
    WatchingSystem system;
    Drafts drafts(3, false);
    size_t first = 0;
    size_t second = 0;
    ASSERT_TRUE(write(drafts, path("a"), "a", first));
    ASSERT_TRUE(write(drafts, path("b"), "b", second));
    ASSERT_TRUE(drafts.finish(first));
    ASSERT_TRUE(drafts.finish(second));
    system.refuses_names = true;
    EXPECT_EQ(drafts.publish().code(), CD_ERROR_STORE_IO);
    EXPECT_EQ(std::string(message()).find("changed nothing"), std::string::npos) << message();
    EXPECT_NE(std::string(message()).find("of 2 files 0 are new already"), std::string::npos)
        << message();
}

} // namespace
} // namespace cd::redset
