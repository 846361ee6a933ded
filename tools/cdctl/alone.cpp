// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "alone.h"

#include "checkpoint/checkpoint.h"
#include "os/system.h"

#include <filesystem>
#include <set>
#include <string>

namespace cdctl {
namespace {

namespace fs = std::filesystem;

// Those that hold the directories of points in time where the set's files are or belong.
std::set<std::string> directories_of(const cd::redset::FoundSet &found) {
    std::set<fs::path> folders;
    for (const std::string &path : found.found) {
        folders.insert(fs::path(path).parent_path());
    }
    for (size_t member = 0; member < found.copies.size(); ++member) {
        for (const cd::redset::Place &place : found.copies[member]) {
            const std::string path = place.scheme_file(found.set, static_cast<int>(member));
            folders.insert(fs::path(path).parent_path());
        }
    }
    std::set<std::string> directories;
    for (const fs::path &folder : folders) {
        const fs::path whole = fs::weakly_canonical(folder);
        if (cd::checkpoint::point_of(whole.filename().string())) {
            directories.insert(whole.parent_path().string());
        }
    }
    return directories;
}

std::string this_node() {
    std::string name;
    (void)cd::os::system().host_name(name); // only people read it
    return name;
}

} // namespace

cd::Status Alone::with(const cd::redset::FoundSet &found, bool look_only) {
    cd::checkpoint::User user{0, 0, this_node()};
    (void)cd::os::system().random(&user.session, sizeof user.session);
    for (const std::string &directory : directories_of(found)) {
        cd::Status status = cd::checkpoint::DirLock::check_unused(directory);
        if (status && !look_only) {
            status = cd::checkpoint::DirLock::take(directory, user, locks_.emplace_back());
        }
        // Where nobody may write, rebuilding says so if it has to.
        if (status.code() == CD_ERROR_STORE_LOCKED) {
            return status;
        }
    }
    return cd::Status::ok();
}

} // namespace cdctl
