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

// True if no living program has locked the file.
bool is_unlocked(const fs::path &path) {
    constexpr int flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY; // no device is waited for
    const cd::File file(system().open_at(AT_FDCWD, path.c_str(), flags, 0), path.string());
    pid_t holder = 0;
    return file.is_open() && !system().is_locked(file.descriptor(), holder);
}

enum class Level { stores, checkpoints, checkpoint };

bool is_directory_below(const fs::path &directory, Level level) {
    return level == Level::stores
               ? directory.extension() == cd::end_of_points
               : level == Level::checkpoints &&
                     cd::checkpoint::point_of(directory.filename().string()).has_value();
}

// True for a temporary file that no program uses: a job locks its directory of checkpoints.
bool is_left(const fs::path &path, Level level) {
    const std::string name = path.filename().string();
    if (level == Level::stores
            ? cd::Directory::is_for_moments(name)
            : level == Level::checkpoints && cd::checkpoint::DirLock::is_name(name)) {
        return is_unlocked(path);
    }
    const fs::path folder = path.parent_path();
    return level != Level::stores && cd::redset::writer_of_draft(name) &&
           cd::checkpoint::DirLock::check_unused(
               (level == Level::checkpoint ? folder.parent_path() : folder).string());
}

// Skips directories that cannot be read.
void add_leftovers(const fs::path &directory, Level level, std::vector<Leftover> &found) {
    std::error_code error;
    for (fs::directory_iterator at(directory, error); !error && at != fs::directory_iterator();
         at.increment(error)) {
        std::error_code gone;
        const fs::file_type type = at->symlink_status(gone).type();
        if (type == fs::file_type::directory && is_directory_below(at->path(), level)) {
            add_leftovers(at->path(),
                          level == Level::stores ? Level::checkpoints : Level::checkpoint, found);
        } else if (type == fs::file_type::regular) {
            if (is_left(at->path(), level)) {
                const auto bytes = at->file_size(gone);
                found.push_back({at->path().string(), gone ? 0 : bytes});
            }
        }
    }
}

std::vector<Leftover> find_leftovers(const std::vector<std::string> &directories) {
    std::vector<Leftover> found;
    for (const std::string &directory : directories) {
        add_leftovers(directory, Level::stores, found);
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
