// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "checkpoint/checkpoint.h"
#include "checkpoint/dir_lock.h"
#include "describe.h"
#include "file_store/directory.h"
#include "file_store/file.h"
#include "file_store/permissions.h"
#include "json.h"
#include "main.h"
#include "path_args.h"
#include "redset/atomic_files.h"
#include "text.h"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

namespace cdctl {
namespace {

// A temporary file that a killed program has left. The next start with the same root removes it.
struct Leftover {
    std::string path;
    uint64_t bytes = 0;
};

namespace fs = std::filesystem;

using cd::os::system;

// Opens a file without waiting for devices or following links.
cd::File opened(const fs::path &path) {
    constexpr int flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY;
    return {system().open_at(AT_FDCWD, path.c_str(), flags, 0), path.string()};
}

// True if the writer of a file is dead: a living one has locked it.
bool is_left(const fs::path &mark) {
    const cd::File file = opened(mark);
    pid_t holder = 0;
    return file.is_open() ? !system().is_locked(file.descriptor(), holder) : errno == ENOENT;
}

// Visits the entries of a type. Skips directories that cannot be read.
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

// The names of drafts begin with that of their mark.
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
        std::fprintf(
            stderr,
            "cdctl: %s: %s left by a killed program. The next start with that root removes "
            "it; otherwise remove it when no program on any node uses the directory\n",
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

void add_row(const Inspection &store, Table &table) {
    const std::string condition = condition_text(store.condition()) + use_text(store);
    if (!store.has_state()) {
        table.add({printable(store.path()), "-", "-", "-", "-", "-", "-", "-",
                   size_text(store.size()), condition});
        return;
    }
    const cd::Loaded &loaded = store.loaded();
    const Totals totals = totals_of(loaded.state);
    table.add({printable(store.path()), std::to_string(loaded.header.rank),
               printable(loaded.header.name),
               std::to_string(loaded.state.cds.at(cd::State::root).epoch),
               std::to_string(loaded.state.versions.size()),
               std::to_string(loaded.state.cds.size()), std::to_string(totals.entries),
               size_text(totals.bytes), size_text(store.size()), condition});
}

void add_object(const Inspection &store, Json &json) {
    json.begin_object();
    describe_file(store, json);
    if (store.has_state()) {
        describe_summary(store, json);
    }
    json.end_object();
}

} // namespace

Outcome list(const Arguments &arguments) {
    using enum Table::Align;
    Table table({{"STORE", left},
                 {"RANK", right},
                 {"NAME", left},
                 {"EPOCH", right},
                 {"OLDER", right},
                 {"CDS", right},
                 {"ENTRIES", right},
                 {"BYTES", right},
                 {"FILE", right},
                 {"CONDITION", left}});
    Json json;
    json.begin_object().key("stores").begin_array();
    const Places places(arguments.paths);
    const Outcome outcome = places.visit([&](Inspection &store) {
        if (arguments.json) {
            add_object(store, json);
            return Outcome::good;
        }
        add_row(store, table);
        if (!store.problem().empty()) {
            std::fprintf(stderr, "cdctl: %s\n", printable(store.problem()).c_str());
        }
        return Outcome::good;
    });
    const std::vector<Leftover> leftovers = find_leftovers(places.directories());
    tell_of(leftovers);
    if (arguments.json) {
        json.end_array();
        describe(leftovers, json);
        json.end_object();
        std::puts(json.text().c_str());
    } else if (!table.empty()) {
        table.print();
    }
    return outcome;
}

} // namespace cdctl
