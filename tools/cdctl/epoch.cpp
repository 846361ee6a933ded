// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "command.h"
#include "json.h"
#include "places.h"
#include "text.h"

#include "file_store/opening.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace cdctl {
namespace {

using Epochs = std::set<uint64_t>;

Epochs epochs_of(const cd::State &state) {
    Epochs epochs = {state.cds.at(cd::State::root).epoch};
    for (const cd::StoredVersion &version : state.versions) {
        epochs.insert(version.epoch);
    }
    return epochs;
}

Epochs epochs_to_start_from(const Inspection &store) {
    return store.has_state() ? epochs_of(store.loaded().state) : Epochs();
}

std::string own_name_of(const Inspection &store) {
    const cd::Header &header = store.loaded().header;
    return cd::store_name(header.rank, header.name);
}

void keep_common(const Epochs &others, std::optional<Epochs> &common) {
    if (!common) {
        common = others;
        return;
    }
    Epochs both;
    std::ranges::set_intersection(*common, others, std::inserter(both, both.end()));
    common = both;
}

constexpr std::string_view put_aside = ".old";

std::string store_in_place_of(const std::string &path) {
    return path.substr(0, path.size() - put_aside.size());
}

// Whoever began afresh ended before he had a store, and whoever comes next begins afresh as well.
void tell_what_begins_afresh(const std::string &path) {
    const std::string store = store_in_place_of(path);
    std::fprintf(stderr,
                 "cdctl: %s was put aside by a start with CD_RESTART=no, and there is no store in "
                 "its place: a program begins afresh, and removes it with its first advance. "
                 "Rename it to %s to go on from it\n",
                 printable(path).c_str(), printable(store).c_str());
}

// A rank that runs elsewhere since leaves it.
void tell_what_counts_instead(const std::string &path, const std::string &store) {
    std::fprintf(stderr,
                 "cdctl: %s was put aside by a start with CD_RESTART=no; %s, of the same rank and "
                 "name, counts instead\n",
                 printable(path).c_str(), printable(store).c_str());
}

std::string file_name(const std::string &path) {
    return std::filesystem::path(path).filename().string();
}

} // namespace

Outcome epoch(const Arguments &arguments) {
    std::optional<Epochs> common;
    std::set<std::string> aside;               // by CD_RESTART=no: no program starts from them
    std::map<std::string, std::string> stores; // by the name of the file
    std::set<std::string> renamed;             // their own names
    Outcome others = Outcome::good;
    bool any_is_gone = false;
    bool any_is_unread = false;
    Outcome outcome = Places(arguments.paths).visit([&](Inspection &store) {
        if (!store.problem().empty()) {
            std::fprintf(stderr, "cdctl: %s\n", printable(store.problem()).c_str());
        }
        if (store.path().ends_with(put_aside)) {
            others = std::max(others, store.outcome());
            if (!std::filesystem::exists(store_in_place_of(store.path()))) {
                aside.insert(store.path());
            }
            return Outcome::good;
        }
        if (store.is_gone()) {
            any_is_gone = true;
            return Outcome::good;
        }
        if (store.condition() == Inspection::Condition::renamed) {
            renamed.insert(own_name_of(store));
            return Outcome::good;
        }
        others = std::max(others, store.outcome());
        stores.emplace(file_name(store.path()), store.path());
        if (store.outcome() == Outcome::unreadable) {
            any_is_unread = true;
            return Outcome::unreadable;
        }
        keep_common(epochs_to_start_from(store), common);
        return Outcome::good;
    });
    for (const std::string &path : aside) {
        const auto instead = stores.find(file_name(store_in_place_of(path)));
        if (instead != stores.end()) {
            tell_what_counts_instead(path, instead->second);
            continue;
        }
        tell_what_begins_afresh(path);
        if (common) {
            keep_common({0}, common);
        }
    }
    // Beside the store itself it is a copy of it.
    const bool are_copies =
        std::ranges::all_of(renamed, [&](const std::string &own) { return stores.contains(own); });
    if (!are_copies) {
        keep_common({}, common);
    } else if (outcome == Outcome::renamed) {
        outcome = others;
    }
    // Before its first start a program has no store; but beside those of others it is one that is
    // not found.
    if (common && any_is_gone) {
        keep_common({}, common);
    }
    if (common && common->empty()) {
        std::fputs("cdctl: there is no epoch that all of these stores have\n", stderr);
        outcome = Outcome::damaged;
    } else if (any_is_unread) {
        std::fputs(
            "cdctl: not all of these stores can be read, so nobody knows which epoch all have\n",
            stderr);
        keep_common({}, common);
    }
    std::optional<uint64_t> newest;
    if (common && !common->empty()) {
        newest = *common->rbegin();
    }
    if (arguments.json) {
        Json json;
        json.begin_object().key("epoch");
        newest ? json.value(*newest) : json.null();
        std::puts(json.end_object().text().c_str());
    } else {
        // CD_RESTART refuses none: nobody starts from different epochs because this went unnoticed.
        std::puts(newest ? std::to_string(*newest).c_str() : common ? "none" : "yes");
    }
    return outcome;
}

} // namespace cdctl
