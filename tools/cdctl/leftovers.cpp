// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "leftovers.h"

#include "text.h"

#include "checkpoint/checkpoint.h"
#include "checkpoint/dir_lock.h"
#include "file_store/directory.h"
#include "file_store/file.h"
#include "file_store/own_directory.h"
#include "redset/draft_mark.h"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>

namespace cdctl {
namespace {

namespace fs = std::filesystem;

using cd::os::system;

// Nobody waits for a device, and no link is followed.
cd::File opened(const fs::path &path) {
    constexpr int flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY;
    return {system().open_at(AT_FDCWD, path.c_str(), flags, 0), path.string()};
}

// Whose writer is dead: it would have the file locked.
bool is_left(const fs::path &mark) {
    const cd::File file = opened(mark);
    pid_t holder = 0;
    return file.is_open() ? !system().is_locked(file.descriptor(), holder) : errno == ENOENT;
}

// What cannot be read has nothing to tell.
template <typename Visit>
void each_of(const fs::path &directory, fs::file_type type, const Visit &visit) {
    std::error_code error;
    for (fs::directory_iterator at(directory, error); !error && at != fs::directory_iterator();
         at.increment(error)) {
        std::error_code gone;
        if (at->symlink_status(gone).type() == type) {
            visit(at->path());
        }
    }
}

void add_files(const fs::path &directory, bool (*is_one)(const fs::path &path),
               std::vector<Leftover> &found) {
    each_of(directory, fs::file_type::regular, [&](const fs::path &path) {
        std::error_code gone;
        if (is_one(path)) {
            const auto bytes = fs::file_size(path, gone);
            found.push_back({path.string(), gone ? 0 : bytes});
        }
    });
}

// The mark is what the drafts' names begin with.
bool is_left_draft(const fs::path &path) {
    const std::string name = path.filename().string();
    if (!cd::redset::writer_of_draft(name)) {
        return false;
    }
    const std::string mark = name.substr(0, name.find('.', name.find('-', name.find('-') + 1)));
    return is_left(path.parent_path() / mark);
}

bool is_left_by_a_store(const fs::path &path) {
    return cd::Directory::is_for_moments(path.filename().string()) && is_left(path);
}

bool is_left_by_points(const fs::path &path) {
    const bool is_mark = cd::checkpoint::DirLock::is_name(path.filename().string());
    return is_mark ? is_left(path) : is_left_draft(path);
}

void add_points(const fs::path &points, std::vector<Leftover> &found) {
    add_files(points, is_left_by_points, found);
    each_of(points, fs::file_type::directory, [&](const fs::path &attempt) {
        if (cd::checkpoint::point_of(attempt.filename().string())) {
            add_files(attempt, is_left_draft, found);
        }
    });
}

} // namespace

std::vector<Leftover> find_leftovers(const std::vector<std::string> &directories) {
    std::vector<Leftover> found;
    for (const std::string &directory : directories) {
        add_files(directory, is_left_by_a_store, found);
        each_of(directory, fs::file_type::directory, [&](const fs::path &points) {
            if (points.extension() == cd::end_of_points) {
                add_points(points, found);
            }
        });
    }
    std::ranges::sort(found, {}, &Leftover::path);
    return found;
}

void tell_of(const std::vector<Leftover> &leftovers) {
    for (const Leftover &each : leftovers) {
        std::fprintf(stderr,
                     "cdctl: %s: %s that a program has left which was killed. The next start with "
                     "that root removes it; if none comes, and no program uses the directory, on "
                     "any node, remove it by hand\n",
                     printable(each.path).c_str(), size_text(each.bytes).c_str());
    }
}

void describe(const std::vector<Leftover> &leftovers, Json &json) {
    json.key("leftovers").begin_array();
    for (const Leftover &each : leftovers) {
        json.begin_object().member("path", each.path).member("file_bytes", each.bytes).end_object();
    }
    json.end_array();
}

} // namespace cdctl
