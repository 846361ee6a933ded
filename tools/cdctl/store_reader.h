// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "main.h"

#include "file_store/load.h"

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>

namespace cdctl {

// One store, opened for reading without a lock. While a process works on the store, it reads one of
// the states that the store went through.
class StoreReader {
public:
    // Errors become the condition(). `named`: the user has named the file, so it may be a copy.
    StoreReader(std::string path, bool named);

    enum class Condition {
        good,       // what is loaded is the newest state; its data have not been read
        older,      // what is loaded is whole, but newer states may be lost
        renamed,    // one of these, under a name under which no program starts from it
        damaged,    // no state is whole
        version,    // of a format that this program does not know
        unreadable, // not there, no ordinary file, or the system refuses to read it
    };
    Condition condition() const { return condition_; }
    Outcome outcome() const;
    bool has_state() const {
        return condition_ == Condition::good || condition_ == Condition::older ||
               condition_ == Condition::renamed;
    }

    // The error, with file and offset; for a copy what it is a copy of; "" without an error.
    const std::string &problem() const { return problem_; }

    // True if the file was not there when it was opened.
    bool is_gone() const { return gone_; }

    const std::string &path() const { return path_; }
    uint64_t size() const { return size_; }
    uid_t owner() const { return owner_; }
    mode_t mode() const { return mode_; }

    // The process that has the store open for writing; 0: one of another machine or container.
    std::optional<pid_t> user() const { return user_; }

    // Requires has_state().
    const cd::File &file() const { return file_; }
    const cd::Loaded &loaded() const { return loaded_; }

    // Reads the newest state. False without a change if none can be read.
    bool load_again();

private:
    void open();
    void load();
    void find_user();
    void check_name(bool named);
    void refuse(Condition condition, std::string problem);

    std::string path_;
    Condition condition_ = Condition::good;
    std::string problem_;
    bool gone_ = false;
    uint64_t size_ = 0;
    uid_t owner_ = 0;
    mode_t mode_ = 0;
    std::optional<pid_t> user_;
    cd::File file_;
    cd::Loaded loaded_;
};

const char *condition_text(StoreReader::Condition condition);

// Waits between two most_attempts to read what another process changes.
void wait_shortly();
constexpr int most_attempts = 20;

} // namespace cdctl
