// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "path_args.h"

#include "output.h"

#include "base/status.h"
#include "config/storage_info.h"
#include "file_store/directory.h"
#include "os/system.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <new>
#include <stdexcept>
#include <system_error>

namespace cdctl {
namespace {

namespace fs = std::filesystem;

std::string default_directory() {
    cd::StorageInfo storage;
    const char *text = cd::os::system().environment("CD_STORAGE_INFO");
    if (text != nullptr &&
        !cd::parse_storage_info(text, "the environment variable CD_STORAGE_INFO", storage)) {
        throw std::runtime_error(cd::message());
    }
    return storage.dir.empty() ? "cd-stores" : storage.dir;
}

// True for stores, also those that a fresh start has put aside. Names with a dot in front are
// unfinished.
bool is_store_name(const std::string &name) {
    return !name.starts_with('.') && (name.ends_with(".cds") || name.ends_with(".cds.old"));
}

// Sorts rank 10 behind rank 9.
bool before(const std::string &a, const std::string &b) {
    const auto digits = [](const std::string &name) {
        return std::min(name.find_first_not_of("0123456789"), name.size());
    };
    const size_t a_digits = digits(a);
    const size_t b_digits = digits(b);
    return a_digits != b_digits ? a_digits < b_digits : a < b;
}

} // namespace

StorePaths::StorePaths(const std::vector<std::string> &paths) {
    if (paths.empty()) {
        add(default_directory(), true);
    }
    for (const std::string &path : paths) {
        add(path, false);
    }
}

// Does not follow links, even with slashes and dots behind them.
void StorePaths::add(const std::string &path, bool is_directory) {
    const std::string bare = cd::without_slashes_and_dots(path);
    std::error_code error;
    const fs::file_type type = fs::symlink_status(bare, error).type();
    if (type == fs::file_type::symlink) {
        paths_.push_back({bare, true});
    } else if (is_directory || type == fs::file_type::directory) {
        add_directory(path);
    } else {
        paths_.push_back({path, true});
    }
}

void StorePaths::complain(const std::string &sentence) {
    std::fprintf(stderr, "cdctl: %s\n", printable(sentence).c_str());
    outcome_ = std::max(outcome_, Outcome::unreadable);
}

void StorePaths::add_directory(const std::string &path) {
    std::error_code error;
    std::vector<std::string> names;
    for (fs::directory_iterator at(path, error); !error && at != fs::directory_iterator();
         at.increment(error)) {
        std::string name = at->path().filename().string();
        if (is_store_name(name)) {
            names.push_back(std::move(name));
        }
    }
    if (error) {
        complain(path + ": cannot read the directory: " + error.message());
        return;
    }
    directories_.push_back(path);
    if (names.empty()) {
        std::fprintf(stderr, "cdctl: there are no stores in %s\n", printable(path).c_str());
    }
    std::ranges::sort(names, before);
    for (const std::string &name : names) {
        paths_.push_back({(fs::path(path) / name).string(), false});
    }
}

Outcome StorePaths::visit(const std::function<Outcome(StoreReader &)> &visit) const {
    Outcome outcome = outcome_;
    for (const StorePath &place : paths_) {
        StoreReader store(place.path, place.named);
        // Its program has ended meanwhile and removed it.
        if (store.is_gone() && !place.named) {
            continue;
        }
        try {
            outcome = std::max({outcome, store.outcome(), visit(store)});
        } catch (const std::bad_alloc &) {
            throw std::runtime_error(place.path + ": " + no_memory);
        }
    }
    return outcome;
}

} // namespace cdctl
