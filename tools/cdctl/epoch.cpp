// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "json.h"
#include "main.h"
#include "path_args.h"
#include "text.h"

#include "file_store/open_store.h"

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

Epochs epochs_to_start_from(const Inspection &store) {
    Epochs epochs;
    if (store.has_state()) {
        const cd::State &state = store.loaded().state;
        epochs.insert(state.cds.at(cd::State::root).epoch);
        for (const cd::StoredVersion &version : state.versions) {
            epochs.insert(version.epoch);
        }
    }
    return epochs;
}

std::string own_name_of(const Inspection &store) {
    const cd::Superblock &header = store.loaded().header;
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

// Says what becomes of a store that was put aside. `instead`: the store that counts, "" without
// one.
void print_aside(const std::string &path, const std::string &instead) {
    if (instead.empty()) {
        std::fprintf(stderr,
                     "cdctl: %s was put aside by a start with CD_RESTART=no, and nothing is in its "
                     "place. A program begins afresh and removes it; rename it to %s to restart\n",
                     printable(path).c_str(), printable(store_in_place_of(path)).c_str());
    } else {
        std::fprintf(stderr,
                     "cdctl: %s was put aside by a start with CD_RESTART=no; %s, of the same rank "
                     "and name, counts instead\n",
                     printable(path).c_str(), printable(instead).c_str());
    }
}

std::string file_name(const std::string &path) {
    return std::filesystem::path(path).filename().string();
}

// Finds the newest epoch that all stores have, and what prevents one.
class Gathered {
public:
    // Judges one store.
    Outcome add(const Inspection &store) {
        if (!store.problem().empty()) {
            std::fprintf(stderr, "cdctl: %s\n", printable(store.problem()).c_str());
        }
        if (store.path().ends_with(put_aside)) {
            others_ = std::max(others_, store.outcome());
            if (!std::filesystem::exists(store_in_place_of(store.path()))) {
                aside_.insert(store.path());
            }
        } else if (store.is_gone()) {
            any_is_gone_ = true;
        } else if (store.condition() == Inspection::Condition::renamed) {
            renamed_.insert(own_name_of(store));
        } else {
            return add_in_place(store);
        }
        return Outcome::good;
    }

    // Call once all stores have been added. `outcome`: the worst of them.
    Outcome judge(Outcome outcome) {
        begin_afresh();
        // Beside the store of the same name it is a copy.
        const bool are_copies = std::ranges::all_of(
            renamed_, [&](const std::string &own) { return stores_.contains(own); });
        if (!are_copies) {
            keep_common({}, common_);
        } else if (outcome == Outcome::renamed) {
            outcome = others_;
        }
        // Beside stores of other ranks a missing one is an error.
        if (common_ && any_is_gone_) {
            keep_common({}, common_);
        }
        if (common_ && common_->empty()) {
            std::fputs("cdctl: there is no epoch that all of these stores have\n", stderr);
            return Outcome::damaged;
        }
        if (any_is_unread_) {
            std::fputs(
                "cdctl: not all of these stores can be read, so their common epoch is unknown\n",
                stderr);
            keep_common({}, common_);
        }
        return outcome;
    }

    // Nothing without any store.
    const std::optional<Epochs> &common() const { return common_; }

private:
    Outcome add_in_place(const Inspection &store) {
        others_ = std::max(others_, store.outcome());
        stores_.emplace(file_name(store.path()), store.path());
        if (store.outcome() == Outcome::unreadable) {
            any_is_unread_ = true;
            return Outcome::unreadable;
        }
        keep_common(epochs_to_start_from(store), common_);
        return Outcome::good;
    }

    // Ranks whose stores were put aside by a fresh start. One that moved to another node has left
    // such a store there.
    void begin_afresh() {
        for (const std::string &path : aside_) {
            const auto instead = stores_.find(file_name(store_in_place_of(path)));
            print_aside(path, instead == stores_.end() ? "" : instead->second);
            if (instead == stores_.end() && common_) {
                keep_common({0}, common_);
            }
        }
    }

    std::optional<Epochs> common_;
    std::set<std::string> aside_;               // by CD_RESTART=no: no program starts from them
    std::map<std::string, std::string> stores_; // by the name of the file
    std::set<std::string> renamed_;             // their own names
    Outcome others_ = Outcome::good;            // of all but these
    bool any_is_gone_ = false;
    bool any_is_unread_ = false;
};

void print(const std::optional<Epochs> &common, bool as_json) {
    std::optional<uint64_t> newest;
    if (common && !common->empty()) {
        newest = *common->rbegin();
    }
    if (as_json) {
        Json json;
        json.begin_object().key("epoch");
        newest ? json.value(*newest) : json.null();
        std::puts(json.end_object().text().c_str());
    } else {
        // CD_RESTART refuses an epoch that a store does not have, so that ranks never start from
        // different ones.
        std::puts(newest ? std::to_string(*newest).c_str() : common ? "none" : "yes");
    }
}

} // namespace

Outcome epoch(const Arguments &arguments) {
    Gathered stores;
    const Outcome outcome =
        Places(arguments.paths).visit([&](Inspection &store) { return stores.add(store); });
    const Outcome judged = stores.judge(outcome);
    print(stores.common(), arguments.json);
    return judged;
}

} // namespace cdctl
