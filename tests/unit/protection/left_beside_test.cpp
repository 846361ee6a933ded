// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// What starts of other roots left in a directory that were killed.

#include "other_job.h"
#include "protected.h"

#include <cerrno>
#include <fstream>

namespace cd::protection {
namespace {

class LeftBeside : public Protected {
protected:
    std::filesystem::path ocean(const std::string &node) const {
        return cluster.directory(node) / "ocean.points";
    }
    std::filesystem::path attempt(const std::string &node) const {
        return ocean(node) / directory_name({7, 7, 0, 77});
    }
    void leave_in(const std::string &node) const {
        std::filesystem::create_directories(attempt(node));
        for (const char *name :
             {".cd-draft.1-00000000000000cd", ".cd-draft.1-00000000000000cd.0"}) {
            std::ofstream{attempt(node) / name};
        }
        std::ofstream{ocean(node) / "in-use-0000000000000002-5"};
    }
    static std::vector<std::string> names(const std::filesystem::path &directory) {
        std::vector<std::string> all;
        EXPECT_TRUE(names_in(directory.string(), all)) << message();
        return all;
    }
};

TEST_F(LeftBeside, GoesWithTheNextStartOfAnyRoot) {
    leave_in("n0");
    leave_in("n3");
    std::ofstream(attempt("n3") / agreed_name(1)) << "of somebody";
    cluster.run({1});
    EXPECT_FALSE(std::filesystem::exists(ocean("n0")));
    EXPECT_EQ(names(ocean("n3")), std::vector{directory_name({7, 7, 0, 77})});
    EXPECT_EQ(names(attempt("n3")), std::vector{agreed_name(1)});
    EXPECT_EQ(cluster.run({}).start(), 1U);
}

TEST_F(LeftBeside, OfWhoLivesStays) {
    std::filesystem::create_directories(attempt("n0"));
    std::filesystem::create_directories(attempt("n1"));
    OtherJob other(ocean("n0"));
    std::unique_ptr<UseLock> own;
    ASSERT_TRUE(UseLock::take(ocean("n1").string(), {3, 6, "here"}, own)) << message();
    cluster.run({1});
    EXPECT_EQ(names(ocean("n0")).size(), 2U);
    EXPECT_EQ(names(ocean("n1")).size(), 2U);
    EXPECT_EXIT(
        std::_Exit(UseLock::check_unused(ocean("n1").string()).code() == CD_ERROR_STORE_LOCKED ? 0
                                                                                               : 1),
        testing::ExitedWithCode(0), "");
}

TEST_F(LeftBeside, StaysWhereNobodyCanTellWhoLives) {
    class : public DyingSystem {
    public:
        int lock(int, pid_t &) override {
            errno = ENOLCK;
            return -1;
        }
    } without_locks;
    leave_in("n0");
    cluster.run({1});
    EXPECT_EQ(names(ocean("n0")).size(), 2U);
    EXPECT_EQ(names(attempt("n0")).size(), 2U);
}

// A directory in which there has been nothing may be about to be used.
TEST_F(LeftBeside, NothingIsTouchedWhereNothingIsLeft) {
    std::filesystem::create_directories(ocean("n0"));
    std::filesystem::create_directory_symlink(ocean("n0"), cluster.directory("n0") / "air.points");
    std::filesystem::create_directories(cluster.directory("n0") / ".points");
    cluster.run({1});
    EXPECT_TRUE(std::filesystem::exists(ocean("n0")));
    EXPECT_TRUE(std::filesystem::exists(cluster.directory("n0") / ".points"));
}

} // namespace
} // namespace cd::protection
