// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "describe.h"
#include "file_store/directory.h"
#include "file_store/file.h"
#include "main.h"
#include "output.h"
#include "path_args.h"

#include <fcntl.h>

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <set>
#include <string>
#include <system_error>

namespace cdctl {
namespace {

namespace fs = std::filesystem;

using cd::os::system;

// True if no living program has locked the file.
bool is_unlocked(const fs::path &path) {
    constexpr int flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY; // no device is waited for
    const cd::File file(system().open_at(AT_FDCWD, path.c_str(), flags, 0), path.string());
    pid_t holder = 0;
    return file.is_open() && !system().is_locked(file.descriptor(), holder);
}

// Names the temporary files of stores in a directory that killed programs have left. Skips a
// directory that cannot be read.
void report_leftovers(const std::string &directory, Json &leftovers) {
    std::set<fs::path> paths;
    std::error_code error;
    for (fs::directory_iterator at(directory, error); !error && at != fs::directory_iterator();
         at.increment(error)) {
        std::error_code gone;
        if (at->symlink_status(gone).type() == fs::file_type::regular &&
            cd::Directory::is_for_moments(at->path().filename().string()) &&
            is_unlocked(at->path())) {
            paths.insert(at->path());
        }
    }
    for (const fs::path &path : paths) {
        const auto bytes = fs::file_size(path, error);
        std::fprintf(stderr,
                     "cdctl: %s: %s left by a killed program. The next start with that root "
                     "removes it\n",
                     printable(path).c_str(), size_text(error ? 0 : bytes).c_str());
        leftovers.push_back({{"path", path.string()}, {"file_bytes", error ? 0 : bytes}});
    }
}

void add_row(const StoreReader &store, Table &table) {
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
    Json stores = Json::array();
    const StorePaths paths(arguments.paths);
    const Outcome outcome = paths.visit([&](StoreReader &store) {
        if (arguments.json) {
            stores.push_back(describe(store));
            return Outcome::good;
        }
        add_row(store, table);
        if (!store.problem().empty()) {
            std::fprintf(stderr, "cdctl: %s\n", printable(store.problem()).c_str());
        }
        return Outcome::good;
    });
    Json leftovers = Json::array();
    for (const std::string &directory : paths.directories()) {
        report_leftovers(directory, leftovers);
    }
    if (arguments.json) {
        print_json({{"stores", stores}, {"leftovers", leftovers}});
    } else if (!table.empty()) {
        table.print();
    }
    return outcome;
}

} // namespace cdctl
