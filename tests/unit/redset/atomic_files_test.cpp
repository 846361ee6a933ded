// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors

// Files that are written beside those whose places they take: who else writes there, and what a
// crash of the machine leaves.
#include "redset/atomic_files.h"

#include "content.h"
#include "in_memory.h"

#include "../replaced_system.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
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
        return drafts.create(path, number, true).is_ok() &&
               drafts.file(number).write(0, text.data(), text.size()).is_ok();
    }
    static bool publish(Drafts &drafts, size_t number) {
        return drafts.finish(number, std::nullopt).is_ok() && drafts.publish().is_ok();
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

// Another job with a rank of the same number.
TEST_F(DraftsTest, OfAnotherProcessThatLivesStay) {
    std::array<int, 2> drafted = {};
    std::array<int, 2> go_on = {};
    ASSERT_EQ(::pipe(drafted.data()), 0);
    ASSERT_EQ(::pipe(go_on.data()), 0);
    const pid_t other = ::fork();
    if (other == 0) {
        bool right = false;
        {
            Drafts drafts(3, false);
            size_t number = 0;
            char byte = 0;
            right = write(drafts, path("theirs"), "theirs", number) &&
                    ::write(drafted[1], "x", 1) == 1 && ::read(go_on[0], &byte, 1) == 1 &&
                    publish(drafts, number);
        }
        ::_exit(right ? 0 : 1);
    }
    char byte = 0;
    ASSERT_EQ(::read(drafted[0], &byte, 1), 1);
    {
        Drafts drafts(3, false);
        size_t number = 0;
        ASSERT_TRUE(write(drafts, path("ours"), "ours", number)) << message();
        ASSERT_TRUE(publish(drafts, number)) << message();
    }
    ASSERT_EQ(::write(go_on[1], "x", 1), 1);
    int status = 0;
    ASSERT_EQ(::waitpid(other, &status, 0), other);
    EXPECT_EQ(status, 0);
    EXPECT_EQ(content("ours"), "ours");
    EXPECT_EQ(content("theirs"), "theirs");
    EXPECT_EQ(names(), (std::set<std::string>{"ours", "theirs"}));
}

TEST_F(DraftsTest, OfAProcessThatDiedAreRemovedByTheNext) {
    const pid_t other = ::fork();
    if (other == 0) {
        Drafts drafts(3, false);
        size_t number = 0;
        ::_exit(write(drafts, path("a"), "a", number) && write(drafts, path("b"), "b", number) ? 0
                                                                                               : 1);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(other, &status, 0), other);
    ASSERT_EQ(status, 0);
    EXPECT_EQ(names().size(), 3U); // with the mark
    std::ofstream(path("c")) << "not a draft";
    {
        Drafts others(4, false);
        size_t number = 0;
        ASSERT_TRUE(others.create(path("d"), number, true));
    }
    EXPECT_EQ(names().size(), 4U);
    Drafts drafts(3, false);
    size_t number = 0;
    ASSERT_TRUE(write(drafts, path("a"), "new", number)) << message();
    ASSERT_TRUE(publish(drafts, number)) << message();
    EXPECT_EQ(content("a"), "new");
    EXPECT_EQ(names().size(), 3U); // a, c and our mark
}

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
    ASSERT_TRUE(drafts.finish(first, std::nullopt));
    ASSERT_TRUE(drafts.finish(second, std::nullopt));
    system.refuses_names = true;
    EXPECT_EQ(drafts.publish().code(), CD_ERROR_STORE_IO);
    EXPECT_EQ(std::string(message()).find("changed nothing"), std::string::npos) << message();
    EXPECT_NE(std::string(message()).find("of 2 files 0 are new already"), std::string::npos)
        << message();
}

// Another process has the file locked for a moment, to see whether its maker lives.
class LookedAtOnce : public ReplacedSystem {
public:
    int lock(int fd, pid_t &holder) override {
        if (locks++ == 0) {
            errno = EAGAIN;
            return -1;
        }
        return System::lock(fd, holder);
    }
    int locks = 0;
};

TEST_F(DraftsTest, AMarkThatOthersHaveLockedIsNotKept) {
    LookedAtOnce system;
    Drafts drafts(3, false);
    size_t number = 0;
    ASSERT_TRUE(write(drafts, path("user"), "new", number)) << message();
    EXPECT_EQ(system.locks, 2);
    EXPECT_EQ(names().size(), 2U); // the draft and a mark that is locked
}

} // namespace
} // namespace cd::redset
