// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "hazard.h"
#include "told_thread.h"

#include <algorithm>
#include <optional>
#include <string>

// A domain inside another one, in a thread of its own.
class Sibling {
public:
    Sibling(cd_handle parent, const char *name) : parent_(parent), name_(name) {}

    void begin() {
        thread_([this] { domain_.emplace(parent_); });
    }
    void restore() {
        thread_([this] { domain_->restore(); });
    }
    void end() {
        thread_([this] { domain_.reset(); });
    }
    void make() {
        make([](MPI_Comm *made) { MPI_Comm_dup(MPI_COMM_SELF, made); });
    }
    template <typename Make> void make(const Make &one) {
        thread_([this, &one] {
            for (MPI_Comm &each : comms) {
                one(&each);
                MPI_Comm_set_name(each, name_);
            }
        });
    }
    void free() {
        thread_([this] {
            for (MPI_Comm &each : comms) {
                CHECK(MPI_Comm_free(&each) == MPI_SUCCESS);
            }
        });
    }
    // What the program and MPI know of them.
    void look() {
        thread_([this] {
            for (const MPI_Comm each : comms) {
                char name[MPI_MAX_OBJECT_NAME] = {};
                int length = 0;
                CHECK(MPI_Comm_get_name(each, name, &length) == MPI_SUCCESS);
                CHECK(std::string(name) == name_);
            }
        });
    }

    template <typename Work> void run(const Work &work) { thread_(work); }

    // It has them from another one.
    void take(Sibling &other) {
        comms = other.comms;
        name_ = other.name_;
    }
    void rename(const char *name) {
        name_ = name;
        thread_([this] {
            for (const MPI_Comm each : comms) {
                CHECK(MPI_Comm_set_name(each, name_) == MPI_SUCCESS);
            }
        });
    }

    std::vector<MPI_Comm> comms = std::vector<MPI_Comm>(8);

private:
    cd_handle parent_;
    const char *name_;
    std::optional<Domain> domain_;
    ToldThread thread_; // the last: it uses the others
};

// Two of them.
struct Siblings {
    Domain parent;
    Sibling first{parent.handle(), "first"};
    Sibling second{parent.handle(), "second"};

    // In this order, which a re-execution knows them by.
    void begin() {
        first.begin();
        second.begin();
    }
    void end() {
        first.end();
        second.end();
    }
    // The log of the parent itself is empty.
    void go_back() {
        end();
        CHECK(restore_cd(parent.handle()) == SUCCESS);
        begin();
    }
    // MPICH has numbers for handles, and gives the one that was freed last.
    void check_that_they_share_a_handle() const {
#ifdef MPICH
        CHECK(std::ranges::count(second.comms, first.comms.back()) == 1);
#endif
    }
};
