// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// A create_cd that fails leaves nothing behind.

#include "failing_calls.h"
#include "file_store/directory.h"
#include "store_directory.h"

#include <cerrno>
#include <fstream>
#include <utility>

namespace cd {
namespace {

class FailingCreate : public StoreDirectory {
protected:
    static cd_handle create_in(const std::string &directory) {
        const std::string storage = "store=file,sync=full,dir=" + directory;
        return create_cd(nullptr, storage.c_str(), CD_COMM_LOGGING_DISABLED, "root", nullptr);
    }
    std::string unfinished() const { return directory_ + "/.0-root.cds.new"; }

    // Fails one call after the other until create_cd in directory succeeds all the same: how often
    // it has failed. look: after each failure.
    template <typename Look> static int fail_each(const std::string &directory, const Look &look) {
        int failures = 0;
        for (int call = 0;; ++call) {
            FailingSystem system;
            system.failing = call;
            cd_handle root = create_in(directory);
            system.failing = -1;
            if (root != nullptr) {
                EXPECT_EQ(commit_cd(root), CD_SUCCESS);
                if (!system.failed) {
                    return failures;
                }
            } else {
                ++failures;
                EXPECT_TRUE(system.failed);
                EXPECT_STRNE(cd_last_error_message(), "");
            }
            look(call);
        }
    }
};

TEST_F(FailingCreate, AtAnyCallLeavesNoFile) {
    const int failures =
        fail_each(directory_, [&](int call) { EXPECT_TRUE(files().empty()) << call; });
    EXPECT_GT(failures, 15);
}

TEST_F(FailingCreate, AtAnyCallLeavesNoDirectoryThatItHasMade) {
    const std::string above = directory_ + "/above";
    const int failures = fail_each(above + "/stores", [&](int call) {
        if (std::filesystem::exists(above + "/stores")) { // the call has succeeded
            std::filesystem::remove_all(above);
        }
        EXPECT_TRUE(files().empty()) << call;
    });
    EXPECT_GT(failures, 20);
}

TEST_F(FailingCreate, LeavesADirectoryThatWasThere) {
    std::filesystem::create_directory(directory_ + "/before");
    {
        FailingSystem system;
        system.failing = 12;
        ASSERT_EQ(create_in(directory_ + "/before"), nullptr);
    }
    EXPECT_EQ(files(), std::vector<std::string>{"before"});
    EXPECT_TRUE(std::filesystem::is_empty(directory_ + "/before"));
}

// As another rank does that has come to the same directory.
TEST_F(FailingCreate, LeavesADirectoryIntoWhichAnotherProcessHasPutSomething) {
    class OtherProcess : public ReplacedSystem {
    public:
        explicit OtherProcess(std::string path) : path_(std::move(path)) {}
        ssize_t write_at(int, const void *, size_t, off_t) override {
            std::ofstream(path_) << "something";
            errno = ENOSPC;
            return -1;
        }

    private:
        std::string path_;
    };
    {
        const OtherProcess system(directory_ + "/stores/1-root.cds");
        ASSERT_EQ(create_in(directory_ + "/stores/below"), nullptr);
    }
    EXPECT_TRUE(std::filesystem::exists(directory_ + "/stores/1-root.cds"));
    EXPECT_FALSE(std::filesystem::exists(directory_ + "/stores/below"));
}

TEST_F(FailingCreate, TellsOfTheFailureAndNotOfWhatWasDoneAboutIt) {
    class FullDisk : public ReplacedSystem {
    public:
        ssize_t write_at(int, const void *, size_t, off_t) override {
            errno = ENOSPC;
            return -1;
        }
    };
    const FullDisk system;
    EXPECT_EQ(create_in(directory_ + "/stores"), nullptr);
    EXPECT_EQ(cd_last_error(), CD_ERROR_STORE_FULL);
    EXPECT_NE(std::string(cd_last_error_message()).find(".0-root.cds.new"), std::string::npos)
        << cd_last_error_message();
    EXPECT_TRUE(files().empty());
}

TEST_F(FailingCreate, LeavesTheUnfinishedFileOfAnotherProcess) {
    Directory directory;
    File file;
    ASSERT_TRUE(Directory::open(directory_, directory));
    ASSERT_TRUE(directory.create_store("0-root.cds", file));
    EXPECT_EQ(create_in(directory_), nullptr);
    EXPECT_EQ(cd_last_error(), CD_ERROR_STORE_LOCKED);
    EXPECT_TRUE(std::filesystem::exists(unfinished()));
}

// Which it had open before that.
TEST_F(FailingCreate, IsNoHarmToAProcessThatWaitsForItsFile) {
    class RemovingSystem : public ReplacedSystem {
    public:
        explicit RemovingSystem(std::string path) : path_(std::move(path)) {}
        int lock_open_file(int fd, pid_t &holder) override {
            if (!removed_ && std::filesystem::remove(path_)) {
                removed_ = true;
            }
            return System::lock_open_file(fd, holder);
        }

    private:
        std::string path_;
        bool removed_ = false;
    };
    {
        const RemovingSystem system(unfinished());
        cd_handle root = create_in(directory_);
        EXPECT_NE(root, nullptr) << cd_last_error_message();
        EXPECT_EQ(files(), std::vector<std::string>{"0-root.cds"});
        commit_cd(root);
    }
}

} // namespace
} // namespace cd
