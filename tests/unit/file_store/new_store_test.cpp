// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// A create_cd that fails has changed nothing, and of several processes one makes a store.

#include "failing_calls.h"
#include "file_store/directory.h"
#include "store_directory.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <sstream>
#include <string>
#include <utility>

namespace cd {
namespace {

class NewStore : public StoreDirectory {
protected:
    void TearDown() override {
        ::unsetenv("CD_RESTART");
        StoreDirectory::TearDown();
    }

    static void start_afresh() { ::setenv("CD_RESTART", "no", 1); }
    static void go_on() { ::unsetenv("CD_RESTART"); }

    // Leaves a store whose only point in time has `value`, by a process that ends without a commit.
    void store_value(char value) const {
        ASSERT_EQ(in_process([&] { return keep_value(value); }), 0);
    }
    int keep_value(char value) const {
        memory = value;
        return create() != nullptr && add() && advance_cd_point_in_time(CURRENT_CD) == CD_SUCCESS
                   ? 0
                   : 1;
    }
    // Returns the value that a program finds, or 0 where it has to begin.
    char found() const {
        go_on();
        return static_cast<char>(in_process([&] {
            memory = 0;
            cd_handle root = create();
            if (root == nullptr || !add() || restore_cd(root) != CD_SUCCESS) {
                return 127;
            }
            return static_cast<int>(memory);
        }));
    }

    static bool add() {
        const cd_addrspec range{&memory, 1, CD_READ_WRITE, CD_GLOBAL};
        return add_to_cd_via_copy(CURRENT_CD, &range, 1, nullptr) == CD_SUCCESS;
    }

    // Returns the files of the directory, without an empty one that is not a store yet.
    std::map<std::string, std::string> contents() const {
        std::map<std::string, std::string> all;
        for (const std::string &name : files()) {
            std::ifstream file(directory_ + "/" + name, std::ios::binary);
            std::ostringstream text;
            text << file.rdbuf();
            if (!text.str().empty() || !name.ends_with(".new")) {
                all[name] = text.str();
            }
        }
        return all;
    }

    // Lets one call after the other fail until create_cd succeeds; before: what precedes each time.
    int expect_that_failures_change_nothing(const std::function<void()> &before) {
        for (int call = 0;; ++call) {
            std::filesystem::remove_all(directory_);
            std::filesystem::create_directory(directory_);
            std::filesystem::permissions(directory_, std::filesystem::perms::owner_all);
            before();
            const auto was = contents();
            FailingSystem system;
            system.failing = call;
            cd_handle root = create();
            system.failing = -1;
            if (root != nullptr) {
                const auto kept = was.find("0-root.cds.old");
                EXPECT_TRUE(kept == was.end() || contents().at(kept->first) == kept->second)
                    << "call " << call;
                commit_cd(root);
                if (!system.failed) {
                    return call;
                }
                continue;
            }
            EXPECT_TRUE(contents() == was) << "call " << call << ": " << cd_last_error_message();
        }
    }

    static char memory;
};

char NewStore::memory;

TEST_F(NewStore, ThatCannotBeMadeLeavesNothing) {
    EXPECT_GT(expect_that_failures_change_nothing([] {}), 10);
}

TEST_F(NewStore, ThatCannotBeMadeAfreshLeavesTheOldOneItsName) {
    EXPECT_GT(expect_that_failures_change_nothing([&] {
                  go_on();
                  store_value(1);
                  start_afresh();
              }),
              15);
}

// A process that waits until it is let go, since one that is forked inside of the library can do
// nothing there.
class OtherProcess {
public:
    explicit OtherProcess(const std::function<int()> &body) {
        EXPECT_EQ(::pipe(gate_), 0);
        process_ = ::fork();
        if (process_ == 0) {
            ::close(gate_[1]); // so that nobody waits if it is not let go
            char go = 0;
            ::_exit(::read(gate_[0], &go, 1) == 1 ? body() : 127);
        }
    }
    OtherProcess(const OtherProcess &) = delete;
    ~OtherProcess() {
        ::close(gate_[0]);
        ::close(gate_[1]);
    }

    // Lets the process go, and returns what its body returns.
    int run() {
        int status = 0;
        EXPECT_EQ(::write(gate_[1], "", 1), 1);
        EXPECT_EQ(::waitpid(process_, &status, 0), process_);
        return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    }

private:
    int gate_[2];
    pid_t process_;
};

// Something happens before each lock, or once where a new store is renamed or forced, which fails.
class Meanwhile : public ReplacedSystem {
public:
    int lock_open_file(int fd, pid_t &holder) override {
        if (before_lock) {
            before_lock();
        }
        return System::lock_open_file(fd, holder);
    }
    int rename_at(int directory, const char *from, const char *to) override {
        const bool fails = at_rename && std::string(from) == ".0-root.cds.new";
        return fails ? refuse(at_rename) : System::rename_at(directory, from, to);
    }
    int sync_all(int fd) override { return at_sync ? refuse(at_sync) : System::sync_all(fd); }

    std::function<void()> before_lock, at_rename, at_sync;

private:
    static int refuse(std::function<void()> &happens) {
        std::exchange(happens, nullptr)();
        errno = EIO;
        return -1;
    }
};

TEST_F(NewStore, IsMadeByOneProcessWhileAnotherReplacesTheOldOne) {
    store_value(7);
    OtherProcess other([&] { return create() != nullptr ? 0 : cd_last_error(); });
    start_afresh();
    {
        Meanwhile system;
        int found = -1;
        system.at_rename = [&] { found = other.run(); };
        EXPECT_EQ(create(), nullptr);
        EXPECT_EQ(cd_last_error(), CD_ERROR_STORE_IO);
        EXPECT_EQ(found, CD_ERROR_STORE_LOCKED);
    }
    EXPECT_EQ(files(), std::vector<std::string>{"0-root.cds"});
    EXPECT_EQ(found(), 7);
}

// As a process leaves it that is killed before the new one has the name, or while it takes back
// that a store is removed.
TEST_F(NewStore, ReplacesOneThatHasASecondName) {
    for (const char *second : {"/0-root.cds.old", "/.0-root.cds.gone", "/.0-root.cds.new"}) {
        go_on();
        std::filesystem::remove(store());
        store_value(7);
        std::filesystem::create_hard_link(store(), directory_ + second);
        start_afresh();
        EXPECT_EQ(in_process([&] { return create() != nullptr ? 0 : 1; }), 0) << second;
        EXPECT_EQ(files().size(), 2U) << second; // and what is kept aside
        EXPECT_EQ(found(), 0) << second;
        std::filesystem::rename(directory_ + "/0-root.cds.old", store());
        EXPECT_EQ(found(), 7) << second;
    }
}

TEST_F(NewStore, IsNotMadeWhileAnotherProcessRemovesItsOwn) {
    OtherProcess other([&] { return create() != nullptr ? 0 : cd_last_error(); });
    Meanwhile system;
    ASSERT_NE(create(), nullptr);
    int found = -1;
    system.at_sync = [&] { found = other.run(); }; // at the removal of the name
    EXPECT_NE(commit_cd(CURRENT_CD), CD_SUCCESS);
    EXPECT_EQ(found, CD_ERROR_STORE_LOCKED);
    EXPECT_EQ(files(), std::vector<std::string>{"0-root.cds"});
    EXPECT_EQ(commit_cd(CURRENT_CD), CD_SUCCESS);
}

TEST_F(NewStore, ThatAnotherProcessHasMadeMeanwhileIsItsOwn) {
    OtherProcess other([&] { return keep_value(5); });
    {
        Meanwhile system;
        int result = -1;
        system.before_lock = [&] { result = result < 0 ? other.run() : result; };
        EXPECT_EQ(create(), nullptr);
        EXPECT_EQ(cd_last_error(), CD_ERROR_STORE_LOCKED);
        EXPECT_NE(std::string(cd_last_error_message()).find("repeat the call"), std::string::npos)
            << cd_last_error_message();
        EXPECT_EQ(result, 0);
    }
    EXPECT_EQ(files(), std::vector<std::string>{"0-root.cds"});
    EXPECT_EQ(found(), 5);
}

TEST_F(NewStore, IsMadeOnceMoreWhenAnotherProcessRemovedItsUnfinishedFileBeforeItWasLocked) {
    const std::string unfinished = directory_ + "/.0-root.cds.new";
    const std::string elsewhere = directory_ + "/elsewhere";
    for (std::function<void()> take_back :
         {std::function<void()>([&] { std::filesystem::remove(unfinished); }),
          std::function<void()>([&] { std::filesystem::rename(unfinished, elsewhere); })}) {
        Meanwhile system;
        system.before_lock = [&] { std::exchange(take_back, [] {})(); };
        EXPECT_NE(create(), nullptr) << cd_last_error_message();
        std::filesystem::remove(elsewhere);
        EXPECT_EQ(files(), std::vector<std::string>{"0-root.cds"});
        EXPECT_EQ(commit_cd(CURRENT_CD), CD_SUCCESS);
    }
}

TEST_F(NewStore, IsRefusedWhereTheNameNeverLeadsToWhatWasOpenedByIt) {
    store_value(7);
    {
        Meanwhile system;
        system.before_lock = [&] {
            std::filesystem::copy_file(store(), store() + "-copy");
            std::filesystem::rename(store() + "-copy", store());
        };
        EXPECT_EQ(create(), nullptr);
        EXPECT_EQ(cd_last_error(), CD_ERROR_STORE_IO);
        EXPECT_NE(std::string(cd_last_error_message()).find("loses its name each time"),
                  std::string::npos)
            << cd_last_error_message();
    }
    EXPECT_EQ(found(), 7);
}

TEST_F(NewStore, OfAnotherProcessThatIsNotFinishedStays) {
    store_value(3);
    Directory directory;
    ASSERT_TRUE(Directory::open(directory_, directory)) << message();
    File unfinished;
    ASSERT_TRUE(directory.create_store("0-root.cds", unfinished)) << message();
    EXPECT_EQ(found(), 3);
    EXPECT_TRUE(std::filesystem::exists(directory_ + "/.0-root.cds.new"));
    unfinished = File();
    EXPECT_EQ(found(), 3);
    EXPECT_FALSE(std::filesystem::exists(directory_ + "/.0-root.cds.new"));
}

// The error asks for another file system, and nothing is left behind.
TEST_F(NewStore, OnAFileSystemWithoutLocksOrSecondNamesAsksForAnotherDirectory) {
    class Lacking : public ReplacedSystem {
    public:
        int lock_open_file(int fd, pid_t &holder) override {
            errno = ENOLCK;
            return has_locks ? System::lock_open_file(fd, holder) : -1;
        }
        int link_at(int /*directory*/, const char * /*from*/, const char * /*to*/) override {
            errno = EPERM;
            return -1;
        }
        bool has_locks = false;
    };
    for (const bool has_locks : {false, true}) {
        Lacking system;
        system.has_locks = has_locks;
        EXPECT_EQ(create(), nullptr);
        const std::string said = cd_last_error_message();
        EXPECT_NE(said.find("give another dir="), std::string::npos) << said;
        EXPECT_EQ(said.find("repeat"), std::string::npos) << said;
        EXPECT_TRUE(files().empty()) << files().front();
    }
}

} // namespace
} // namespace cd
