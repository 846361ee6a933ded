// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "describe.h"
#include "main.h"
#include "output.h"
#include "path_args.h"

#include "file_store/open_store.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <iterator>
#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace cdctl {
namespace {

using Epochs = std::set<uint64_t>;

// The stores that were read.
struct Found {
    std::optional<Epochs> common;   // the epochs that all stores have; nothing without any store
    std::set<std::string> names;    // of their files
    std::set<std::string> aside;    // paths of stores put aside by a start with CD_RESTART=no
    std::set<std::string> renamed;  // the proper names of renamed stores
    Outcome others = Outcome::good; // the worst of all but the renamed ones
    bool any_is_gone = false;
    bool any_is_unread = false;
};

Epochs epochs_of(const cd::State &state) {
    Epochs epochs = {state.cds.at(cd::State::root).epoch};
    for (const cd::StoredVersion &version : state.versions) {
        epochs.insert(version.epoch);
    }
    return epochs;
}

void keep_common(const Epochs &others, std::optional<Epochs> &common) {
    Epochs both;
    std::ranges::set_intersection(common.value_or(others), others, std::inserter(both, both.end()));
    common = both;
}

constexpr std::string_view put_aside = ".old";

std::string store_in_place_of(const std::string &path) {
    return path.substr(0, path.size() - put_aside.size());
}

std::string file_name(const std::string &path) {
    return std::filesystem::path(path).filename().string();
}

Outcome add(const StoreReader &store, Found &found) {
    if (!store.problem().empty()) {
        std::fprintf(stderr, "cdctl: %s\n", printable(store.problem()).c_str());
    }
    if (store.path().ends_with(put_aside)) {
        found.others = std::max(found.others, store.outcome());
        if (!std::filesystem::exists(store_in_place_of(store.path()))) {
            found.aside.insert(store.path());
        }
    } else if (store.is_gone()) {
        found.any_is_gone = true;
    } else if (store.condition() == StoreReader::Condition::renamed) {
        const cd::Superblock &header = store.loaded().header;
        found.renamed.insert(cd::store_name(header.rank, header.name));
    } else {
        found.others = std::max(found.others, store.outcome());
        found.names.insert(file_name(store.path()));
        if (store.outcome() == Outcome::unreadable) {
            found.any_is_unread = true;
            return Outcome::unreadable;
        }
        keep_common(store.has_state() ? epochs_of(store.loaded().state) : Epochs(), found.common);
    }
    return Outcome::good;
}

// Reports stores put aside without another one in their place: their ranks begin afresh, at epoch
// 0. A rank that has moved may have a store in another directory.
void begin_afresh(Found &found) {
    for (const std::string &path : found.aside) {
        const std::string instead = store_in_place_of(path);
        if (!found.names.contains(file_name(instead))) {
            std::fprintf(stderr,
                         "cdctl: %s was put aside by a start with CD_RESTART=no, and nothing is in "
                         "its place. A program begins afresh and removes it; rename it to %s to "
                         "restart\n",
                         printable(path).c_str(), printable(instead).c_str());
            if (found.common) {
                keep_common({0}, found.common);
            }
        }
    }
}

// `outcome`: the worst of all stores.
Outcome judge(Outcome outcome, Found &found) {
    begin_afresh(found);
    // Beside the store of the same name a renamed one is a copy.
    const bool are_copies = std::ranges::includes(found.names, found.renamed);
    if (are_copies && outcome == Outcome::renamed) {
        outcome = found.others;
    }
    // Beside stores of other ranks a missing one is an error.
    if (!are_copies || (found.common && found.any_is_gone)) {
        found.common = Epochs();
    }
    if (found.common && found.common->empty()) {
        std::fputs("cdctl: these stores have no common epoch\n", stderr);
        return Outcome::damaged;
    }
    if (found.any_is_unread) {
        std::fputs("cdctl: not all of these stores can be read, so their common epoch is unknown\n",
                   stderr);
        found.common = Epochs();
    }
    return outcome;
}

// CD_RESTART refuses an epoch that a store does not have, so that ranks never start from different
// ones.
void print(const std::optional<Epochs> &common, bool as_json) {
    const bool any = common && !common->empty();
    if (as_json) {
        print_json({{"epoch", any ? Json(*common->rbegin()) : Json()}});
    } else {
        std::puts(any ? std::to_string(*common->rbegin()).c_str() : common ? "none" : "yes");
    }
}

} // namespace

Outcome epoch(const Arguments &arguments) {
    Found found;
    const Outcome worst =
        StorePaths(arguments.paths).visit([&](StoreReader &store) { return add(store, found); });
    const Outcome outcome = judge(worst, found);
    print(found.common, arguments.json);
    return outcome;
}

} // namespace cdctl
