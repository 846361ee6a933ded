// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// Who may have a store, and with which permissions.

#include "restarting.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <array>
#include <csignal>
#include <functional>

namespace restarting {
namespace {

int kept = 0;

class Owner : public Restarting {
protected:
    // A process that has the store open until it is killed at the end of this object.
    class Holder {
    public:
        explicit Holder(const std::function<void()> &open) {
            std::array<int, 2> ends = {};
            EXPECT_EQ(::pipe(ends.data()), 0);
            process_ = ::fork();
            if (process_ == 0) {
                ::alarm(processes::deadline);
                open();
                if (::write(ends[1], "", 1) != 1) {
                    ::_exit(1);
                }
                for (;;) {
                    ::pause();
                }
            }
            ::close(ends[1]);
            char byte = 0;
            EXPECT_EQ(::read(ends[0], &byte, 1), 1);
            ::close(ends[0]);
        }
        Holder(const Holder &) = delete;
        Holder &operator=(const Holder &) = delete;
        ~Holder() {
            ::kill(process_, SIGKILL);
            ::waitpid(process_, nullptr, 0);
        }
        pid_t process() const { return process_; }

    private:
        pid_t process_ = -1;
    };

    static cd_handle create_in(const std::string &directory, const char *name) {
        const std::string storage = "store=file,dir=" + directory;
        return create_cd(nullptr, storage.c_str(), CD_COMM_LOGGING_DISABLED, name, nullptr);
    }

    static unsigned mode_of(const std::string &path) {
        struct stat status = {};
        return ::stat(path.c_str(), &status) == 0 ? status.st_mode & 0777U : 0;
    }
};

TEST_F(Owner, IsOneProcessAndTheOthersAreToldWhich) {
    const Holder holder([&] { add(create(), &kept, sizeof kept); });
    run([&]() -> std::string {
        if (create() != nullptr || cd_last_error() != CD_ERROR_STORE_LOCKED) {
            return "opened, or refused with " + refusal();
        }
        return std::string(cd_last_error_message())
                           .find("process " + std::to_string(holder.process()) + " ") !=
                       std::string::npos
                   ? ""
                   : refusal();
    });
}

// As a program does that makes a copy of its store.
TEST_F(Owner, StaysTheProcessThatOpensTheFileOnceMoreAndClosesIt) {
    const Holder holder([&] {
        add(create(), &kept, sizeof kept);
        ::close(::open(store().c_str(), O_RDWR));
    });
    run([&]() -> std::string {
        return create() == nullptr && cd_last_error() == CD_ERROR_STORE_LOCKED ? "" : "opened";
    });
}

// On disks, and in memory, where the file is mapped.
TEST_F(Owner, ThatWasKilledDoesNotBlockAlsoIfAProcessThatItForkedLives) {
    for (const char *where : {"", "/dev/shm"}) {
        const std::string directory = where + path("forked").substr(*where == '\0' ? 0 : 4);
        std::array<int, 2> end = {};
        ASSERT_EQ(::pipe2(end.data(), O_CLOEXEC), 0);
        {
            const Holder holder([&] {
                add(create_in(directory, "root"), &kept, sizeof kept);
                char byte = 0;
                std::array<int, 2> begun = {};
                if (::pipe(begun.data()) != 0 || ::fork() == 0) {
                    ::close(end[1]);
                    const bool told = ::write(begun[1], "", 1) == 1;
                    ::_exit(told && ::read(end[0], &byte, 1) == 0 ? 0 : 1); // at the test's end
                }
                EXPECT_EQ(::read(begun[0], &byte, 1), 1); // it has left the store to its parent
            });
        }
        run([&]() -> std::string {
            return info_of(create_in(directory, "root")).restarted == 1 ? "" : refusal();
        });
        ::close(end[0]);
        ::close(end[1]);
        std::filesystem::remove_all(directory);
    }
}

TEST_F(Owner, IsNotTheProcessThatWasForked) {
    run([&]() -> std::string {
        cd_handle root = create();
        kept = 1;
        if (!add(root, &kept, sizeof kept)) {
            return refusal();
        }
        const std::string forked = processes::in_process([&]() -> std::string {
            kept = 2;
            if (advance_cd_point_in_time(root) == CD_SUCCESS ||
                cd_last_error() != CD_ERROR_STORE_FORKED) {
                return "changed, or refused with " + refusal();
            }
            return restore_cd(root) == CD_SUCCESS && kept == 1 ? "" : refusal();
        });
        kept = 3;
        return !forked.empty()                                ? forked
               : advance_cd_point_in_time(root) == CD_SUCCESS ? ""
                                                              : refusal();
    });
}

// The second advance writes over the data that the forked process has.
TEST_F(Owner, WritesOverDataOfAForkedProcessWhichIsTold) {
    for (const char *keys : {"", ",checksum=none"}) {
        std::filesystem::remove_all(path("stores"));
        run([&]() -> std::string {
            const cd_handle root = create_in(path("stores") + keys, "root");
            kept = 1;
            if (!add(root, &kept, sizeof kept)) {
                return refusal();
            }
            const pid_t forked = ::fork();
            if (forked == 0) {
                ::alarm(processes::deadline);
                ::raise(SIGSTOP);
                const bool restored = restore_cd(root) == CD_SUCCESS;
                ::_exit(!restored && cd_last_error() == CD_ERROR_STORE_FORKED ? 0 : 1);
            }
            int status = 0;
            ::waitpid(forked, &status, WUNTRACED);
            bool advanced = true;
            for (kept = 2; kept < 4; ++kept) {
                advanced = advanced && add(root, &kept, sizeof kept) &&
                           advance_cd_point_in_time(root) == CD_SUCCESS;
            }
            ::kill(forked, SIGCONT);
            ::waitpid(forked, &status, 0);
            return !advanced ? refusal() : status == 0 ? "" : "the forked process was told nothing";
        });
    }
}

// Made by fork(), or by a call that runs no handlers.
TEST_F(Owner, StaysTheParentOfAProcessThatEndsItsCopyAndGoesOnWithAnotherStore) {
    for (pid_t (*const fork)() : {&::fork, &::_Fork}) {
        std::filesystem::remove_all(path("stores"));
        run([&]() -> std::string {
            const std::string stores = path("stores");
            const cd_handle root = create_in(stores, "root");
            const cd_handle child = child_of(root);
            kept = 1;
            if (!add(child, &kept, sizeof kept)) {
                return refusal();
            }
            const std::string forked = processes::in_process(
                [&]() -> std::string {
                    if (commit_cd(child) == CD_SUCCESS ||
                        cd_last_error() != CD_ERROR_STORE_FORKED ||
                        refusal().find("commit the root here") == std::string::npos) {
                        return "given to the root, or refused with " + refusal();
                    }
                    if (commit_cd(root) != CD_SUCCESS) {
                        return refusal();
                    }
                    if (cd_name(child) != nullptr || cd_name(CD_CURRENT_CD) != nullptr) {
                        return "CDs of the copy live on";
                    }
                    if (create_in(stores, "root") != nullptr ||
                        cd_last_error() != CD_ERROR_STORE_LOCKED) {
                        return "taken from the parent, or refused with " + refusal();
                    }
                    const cd_handle own = create_in(stores, "own");
                    return add(own, &kept, sizeof kept) &&
                                   advance_cd_point_in_time(own) == CD_SUCCESS
                               ? ""
                               : refusal();
                },
                fork);
            return !forked.empty() ? forked
                   : commit_cd(child) == CD_SUCCESS && advance_cd_point_in_time(root) == CD_SUCCESS
                       ? ""
                       : refusal();
        });
        run([&]() -> std::string {
            return info_of(create_in(path("stores"), "root")).epoch == 1 ? "" : refusal();
        });
    }
}

// As after daemon().
TEST_F(Owner, BecomesTheProcessThatWasForkedOnceItsParentHasEnded) {
    std::array<int, 2> answer = {};
    ASSERT_EQ(::pipe2(answer.data(), O_CLOEXEC), 0);
    run([&]() -> std::string {
        const cd_handle root = create();
        kept = 1;
        if (!add(root, &kept, sizeof kept) || advance_cd_point_in_time(root) != CD_SUCCESS) {
            return refusal();
        }
        if (::fork() != 0) {
            ::_exit(0);
        }
        ::alarm(processes::deadline);
        kept = 2;
        cd_handle again = nullptr;
        if (commit_cd(root) == CD_SUCCESS) {
            while ((again = create()) == nullptr && cd_last_error() == CD_ERROR_STORE_LOCKED) {
                ::sched_yield(); // until the parent has ended
            }
        }
        const bool restored = info_of(again).epoch == 1 && add(again, &kept, sizeof kept) &&
                              restore_cd(again) == CD_SUCCESS && kept == 1;
        const bool advanced = restored && advance_cd_point_in_time(again) == CD_SUCCESS;
        const std::string outcome = advanced ? "advanced" : refusal();
        ::_exit(::write(answer[1], outcome.data(), outcome.size()) > 0 ? 0 : 1);
    });
    ::close(answer[1]);
    std::array<char, 1024> outcome = {};
    EXPECT_GT(::read(answer[0], outcome.data(), outcome.size() - 1), 0);
    EXPECT_STREQ(outcome.data(), "advanced");
    ::close(answer[0]);
}

TEST_F(Owner, AloneMayReadWhatItStores) {
    run([&]() -> std::string {
        ::umask(0);
        return create_in(path("new/deep"), "root") != nullptr ? "" : refusal();
    });
    EXPECT_EQ(mode_of(path("new")), 0700U);
    EXPECT_EQ(mode_of(path("new/deep")), 0700U);
    EXPECT_EQ(mode_of(path("new/deep/0-root.cds")), 0600U);
}

TEST_F(Owner, CannotNameAFileElsewhere) {
    for (const char *name : {"../outside", "a/b", "..", ".hidden", ""}) {
        run([&]() -> std::string {
            return create_in(path("inside"), name) == nullptr ? "" : "taken";
        });
    }
    EXPECT_FALSE(std::filesystem::exists(path("0-outside.cds")));
}

} // namespace
} // namespace restarting
