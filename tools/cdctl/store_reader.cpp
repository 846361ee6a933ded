// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "store_reader.h"

#include "file_store/open_store.h"
#include "os/system.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <new>
#include <string_view>
#include <thread>
#include <utility>

namespace cdctl {
namespace {

// True for RANK-NAME.cds, and with .old behind it.
bool is_name_of_a_store(std::string_view name) {
    const size_t digits = std::min(name.find_first_not_of("0123456789"), name.size());
    return digits > 0 && name.substr(digits).starts_with('-') &&
           (name.ends_with(".cds") || name.ends_with(".cds.old"));
}

} // namespace

void wait_shortly() { std::this_thread::sleep_for(std::chrono::milliseconds(10)); }

// The tables are in the order of the enumerations.
const char *condition_text(StoreReader::Condition condition) {
    constexpr const char *texts[] = {"good",    "older",   "renamed",
                                     "damaged", "version", "unreadable"};
    return texts[static_cast<size_t>(condition)];
}

Outcome StoreReader::outcome() const {
    constexpr Outcome outcomes[] = {Outcome::good,    Outcome::older,      Outcome::renamed,
                                    Outcome::damaged, Outcome::unreadable, Outcome::unreadable};
    return outcomes[static_cast<size_t>(condition_)];
}

StoreReader::StoreReader(std::string path, bool named) : path_(std::move(path)) {
    open();
    if (file_.is_open()) {
        try {
            load();
        } catch (const std::bad_alloc &) {
            refuse(Condition::unreadable, path_ + ": " + no_memory);
        }
    }
    if (file_.is_open() && has_state()) {
        check_name(named);
    }
}

void StoreReader::refuse(Condition condition, std::string problem) {
    condition_ = condition;
    problem_ = std::move(problem);
}

// Does not wait for FIFOs and devices.
void StoreReader::open() {
    cd::os::System &system = cd::os::system();
    constexpr int flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY;
    cd::File file(system.open_at(AT_FDCWD, path_.c_str(), flags, 0), path_);
    if (!file.is_open()) {
        gone_ = errno == ENOENT;
        refuse(Condition::unreadable,
               path_ + ": " +
                   (errno == ELOOP ? "it is a symbolic link, and these are not followed; name what "
                                     "it leads to"
                                   : std::string("cannot open it: ") + std::strerror(errno)));
        return;
    }
    cd::os::FileStatus status;
    if (system.status(file.descriptor(), status) != 0) {
        refuse(Condition::unreadable, path_ + ": cannot look at it: " + std::strerror(errno));
        return;
    }
    if (!S_ISREG(status.mode)) {
        refuse(Condition::unreadable, path_ + ": it is no ordinary file");
        return;
    }
    size_ = status.size;
    owner_ = status.owner;
    mode_ = status.mode & 07777U;
    file_ = std::move(file);
}

// Finds the process that uses the file, by its lock on the first or second byte. Takes no lock.
void StoreReader::find_user() {
    for (const off_t byte : {0, 1}) {
        struct flock lock = {};
        lock.l_type = F_RDLCK;
        lock.l_whence = SEEK_SET;
        lock.l_start = byte;
        lock.l_len = 1;
        if (::fcntl(file_.descriptor(), F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK) {
            user_ = std::max({user_.value_or(0), lock.l_pid, pid_t{0}});
        }
    }
}

// Reads again what seems damaged in a store in use: it may only be unfinished.
void StoreReader::load() {
    for (int attempt = 0;; ++attempt) {
        find_user();
        cd::Loaded loaded;
        const cd::Status status = cd::load(file_, loaded);
        find_user();
        const bool whole = status.is_ok() && loaded.doubt.empty();
        if (!whole && user_ && attempt < most_attempts) {
            wait_shortly();
            continue;
        }
        if (whole) {
            problem_.clear();
            loaded_ = std::move(loaded);
        } else if (status.is_ok()) {
            refuse(Condition::older, path_ + ": " + loaded.doubt);
            loaded_ = std::move(loaded);
        } else {
            refuse(status.code() == CD_ERROR_STORE_VERSION ? Condition::version
                   : status.code() == CD_ERROR_STORE_IO    ? Condition::unreadable
                                                           : Condition::damaged,
                   cd::message());
        }
        return;
    }
}

// Checks the file's name. The library refuses a store under another root's name, and opens none
// under other names, since people keep copies.
void StoreReader::check_name(bool named) {
    const cd::Superblock &header = loaded_.header;
    const std::string own = cd::store_name(header.rank, header.name);
    const std::string name = std::filesystem::path(path_).filename().string();
    if (name == own || name == own + ".old") {
        return;
    }
    const bool is_copy = named && !is_name_of_a_store(name);
    condition_ = is_copy ? condition_ : Condition::renamed;
    problem_ += (problem_.empty() ? "" : ". ") + path_ + ": the store is that of the root CD \"" +
                header.name + "\" of rank " + std::to_string(header.rank) +
                ", which programs open as " + own +
                (is_copy ? " only; no program starts from this copy"
                         : " only; it was copied or renamed. Rename it to that to start from it");
}

bool StoreReader::load_again() {
    cd::Loaded loaded;
    if (!cd::load(file_, loaded) || !loaded.doubt.empty()) {
        return false;
    }
    loaded_ = std::move(loaded);
    return true;
}

} // namespace cdctl
