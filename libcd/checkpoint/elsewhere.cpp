// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "checkpoint/elsewhere.h"

#include "base/no_throw.h"
#include "base/path.h"
#include "checkpoint/folder.h"
#include "checkpoint/leftovers.h"
#include "checkpoint/opening.h"
#include "checkpoint/store_list.h"
#include "config/restart_choice.h"
#include "redset/kvtree_file.h"

#include <fcntl.h>

#include <algorithm>
#include <utility>

namespace cd::checkpoint {
namespace {

using redset::KvTree;

constexpr char told_file[] = "what a rank sees of roots";

// By names alone: many ranks may look at once, at what all ranks of another root have written.
Status look_whether_counts(const std::string &attempt, const std::set<int> &ranks, bool &counts) {
    std::vector<std::string> names;
    Status status = names_in_if_there(attempt, names);
    counts = std::ranges::any_of(names, [&](const std::string &name) {
        const auto rank = rank_of(name);
        return rank && name == agreed_name(*rank) && ranks.contains(*rank);
    });
    return status;
}

Status find_latest(const std::string &path, const std::set<int> &ranks,
                   std::optional<CheckpointId> &latest) {
    std::vector<std::string> names;
    if (Status status = names_in_if_there(path, names); !status) {
        return status;
    }
    for (const std::string &name : names) {
        const auto point = point_of(name);
        bool counts = false;
        if (!point || (latest && *point < *latest)) {
            continue;
        }
        if (Status status = look_whether_counts(path_in(path, name), ranks, counts); !status) {
            return status;
        }
        latest = counts ? point : latest;
    }
    return Status::ok();
}

// Where other programs have left something, as far as they are written down here.
std::set<std::string> listed_in(const std::string &directory, const std::string &root) {
    const SavedMessage keeper;
    CheckpointDir folder;
    bool there = false;
    StoreList list;
    const bool read = CheckpointDir::find(directory, root, false, folder, there).is_ok() && there &&
                      read_store_list(folder, list);
    return read ? std::set<std::string>(list.directories.begin(), list.directories.end())
                : std::set<std::string>();
}

// The file system's, which another node may use for another one.
std::string identity_of(const std::string &path, const std::string &node) {
    const File file(os::system().open_at(AT_FDCWD, path.c_str(), O_PATH, 0), path);
    os::FileIdentity identity;
    if (!file.is_open() || os::system().identify(file.descriptor(), identity) != 0) {
        return node + ":" + path;
    }
    return node + ":" + std::to_string(identity.device) + ":" + std::to_string(identity.inode);
}

void add(const Elsewhere &each, KvTree &tree) {
    tree.add_value("ROOT", each.root);
    tree.add_number("RANK", static_cast<uint64_t>(each.rank));
    tree.add_value("DIRECTORY", each.directory);
    tree.add_value("POINT", directory_name(each.latest));
    tree.add_value("IDENTITY", each.identity);
    tree.add_value("PROBLEM", each.problem);
}

template <typename Texts> void add_texts(const char *key, const Texts &texts, KvTree &tree) {
    KvTree &list = tree.add(key);
    size_t number = 0;
    for (const std::string &text : texts) {
        list.add_value(std::to_string(number++), text);
    }
}

std::vector<std::string> texts_in(const KvTree &tree, const char *key) {
    std::vector<std::string> texts;
    const KvTree *list = tree.find(key);
    for (size_t i = 0; list != nullptr && i < list->elements().size(); ++i) {
        texts.emplace_back(list->value(std::to_string(i)).value_or(""));
    }
    return texts;
}

Status decode(const redset::Bytes &told, KvTree &tree) {
    uint64_t size = 0;
    return redset::decode_image(told, told_file, tree, size);
}

} // namespace

Asked asked_in(const Request &request) {
    const SavedMessage keeper;
    Asked asked{request.stores, request.flush_store, {}, {}, false};
    for (const LevelRequest &level : request.levels) {
        asked.stores[level.index] = level.store;
    }
    RestartChoice choice;
    asked.afresh = parse_restart_choice(request.restart.c_str(), choice) && choice.afresh;
    if (!request.stores.empty()) {
        asked.listed = listed_in(request.stores.front(), request.root);
    }
    return asked;
}

std::string Elsewhere::path() const { return CheckpointDir::path_below(directory, root); }

std::vector<Elsewhere> see_points(const RanksOfRoots &roots, const std::vector<Asked> &asked,
                                  int rank, const std::string &node) {
    const std::vector<std::string> &asked_here = asked[static_cast<size_t>(rank)].directories;
    const std::set<std::string> own(asked_here.begin(), asked_here.end());
    std::set<std::string> all;
    for (const Asked &theirs : asked) {
        all.insert(theirs.directories.begin(), theirs.directories.end());
    }
    std::vector<Elsewhere> seen;
    for (const auto &[root, ranks] : roots) {
        std::set<std::string> directories = own;
        if (!ranks.contains(rank)) {
            directories = all;
            for (const std::string &directory : all) {
                directories.merge(listed_in(directory, root));
            }
        }
        for (const int listing : ranks) {
            const std::set<std::string> &listed = asked[static_cast<size_t>(listing)].listed;
            directories.insert(listed.begin(), listed.end());
        }
        for (const std::string &directory : directories) {
            const std::string path = CheckpointDir::path_below(directory, root);
            std::optional<CheckpointId> latest;
            const SavedMessage keeper;
            const Status found = find_latest(path, ranks, latest);
            if (latest || !found) {
                seen.push_back({root, rank, directory, latest.value_or(CheckpointId()),
                                identity_of(path, node), found ? "" : message()});
            }
        }
    }
    return seen;
}

std::vector<Elsewhere> find_elsewhere(const RanksOfRoots &roots, const std::vector<Asked> &asked,
                                      const std::vector<Elsewhere> &seen) {
    const auto is_own = [&](const Elsewhere &each) {
        const auto ranks = roots.find(each.root);
        return ranks != roots.end() && ranks->second.contains(each.rank);
    };
    std::set<std::pair<std::string, std::string>> known; // roots and identities
    for (const Elsewhere &each : seen) {
        if (is_own(each)) {
            known.emplace(each.root, each.identity);
        }
    }
    const auto asks_for = [&](const Elsewhere &each) {
        const auto &directories = asked[static_cast<size_t>(each.rank)].directories;
        return std::ranges::find(directories, each.directory) != directories.end();
    };
    std::vector<Elsewhere> elsewhere;
    for (const bool by_who_asks : {true, false}) {
        for (const Elsewhere &each : seen) {
            if (asks_for(each) == by_who_asks && known.emplace(each.root, each.identity).second) {
                elsewhere.push_back(each);
            }
        }
    }
    return elsewhere;
}

Status encode(const Asked &asked, redset::Bytes &told) {
    KvTree tree;
    add_texts("DIRECTORY", asked.directories, tree);
    add_texts("LISTED", asked.listed, tree);
    KvTree &stores = tree.add("STORE");
    for (const auto &[level, store] : asked.stores) {
        stores.add(std::to_string(level)).add_number("STORE", store);
    }
    if (asked.flush_store) {
        tree.add_number("FLUSH", *asked.flush_store);
    }
    tree.add_number("AFRESH", asked.afresh ? 1 : 0);
    return redset::encode_image(tree, told_file, told);
}

Status decode(const redset::Bytes &told, Asked &asked) {
    KvTree tree;
    if (Status status = decode(told, tree); !status) {
        return status;
    }
    asked.directories = texts_in(tree, "DIRECTORY");
    const auto listed = texts_in(tree, "LISTED");
    asked.listed = {listed.begin(), listed.end()};
    if (const KvTree *stores = tree.find("STORE"); stores != nullptr) {
        for (const auto &[level, store] : stores->elements()) {
            asked.stores[static_cast<int>(redset::to_number(level).value_or(0))] =
                store.number("STORE").value_or(0);
        }
    }
    if (const auto flush = tree.number("FLUSH")) {
        asked.flush_store = *flush;
    }
    asked.afresh = tree.number("AFRESH") == 1U;
    return Status::ok();
}

Status encode(const std::vector<Elsewhere> &seen, redset::Bytes &told) {
    KvTree tree;
    for (const Elsewhere &each : seen) {
        add(each, tree.add(std::to_string(tree.elements().size())));
    }
    return redset::encode_image(tree, told_file, told);
}

Status decode(const redset::Bytes &told, std::vector<Elsewhere> &seen) {
    KvTree tree;
    if (Status status = decode(told, tree); !status) {
        return status;
    }
    for (const auto &[number, each] : tree.elements()) {
        if (const auto point = point_of(each.value("POINT").value_or(""))) {
            seen.push_back({std::string(each.value("ROOT").value_or("")),
                            static_cast<int>(each.number("RANK").value_or(0)),
                            std::string(each.value("DIRECTORY").value_or("")), *point,
                            std::string(each.value("IDENTITY").value_or("")),
                            std::string(each.value("PROBLEM").value_or(""))});
        }
    }
    return Status::ok();
}

Status check_that_nothing_later_is(const std::vector<Elsewhere> &elsewhere,
                                   const std::string &restart,
                                   const std::vector<Findings> &findings,
                                   const std::vector<Start> &points) {
    RestartChoice choice;
    if (Status status = parse_restart_choice(restart.c_str(), choice);
        !status || choice.afresh || elsewhere.empty()) {
        return status;
    }
    const auto is_asked_for = [&](const CheckpointId &point) {
        return !choice.epoch || *choice.epoch == point.epoch;
    };
    const auto own = std::ranges::find_if(points, is_asked_for, &Start::point);
    if (choice.epoch && own != points.end()) {
        return Status::ok();
    }
    const auto unread = std::ranges::find_if(
        elsewhere, [](const Elsewhere &each) { return !each.problem.empty(); });
    if (unread != elsewhere.end()) {
        return fail(CD_ERROR_RESTART_MISMATCH,
                    "root \"%s\": rank %d, which does not have it, cannot tell whether later "
                    "points in time of it are on its node: %s. Repeat the call, or remove %s if it "
                    "is another's; without it the program starts with CD_RESTART=no, or with an "
                    "epoch that its own ranks find",
                    unread->root.c_str(), unread->rank, unread->problem.c_str(),
                    unread->path().c_str());
    }
    const Elsewhere *latest = nullptr;
    for (const Elsewhere &each : elsewhere) {
        const bool is_later = own == points.end() || own->point.number < each.latest.number;
        if (is_later && is_asked_for(each.latest) && !is_forgotten(findings, each.latest) &&
            (latest == nullptr || latest->latest < each.latest)) {
            latest = &each;
        }
    }
    if (latest == nullptr) {
        return Status::ok();
    }
    const std::string here =
        own == points.end() ? "nothing" : "epoch " + std::to_string(own->point.epoch);
    return fail(
        CD_ERROR_RESTART_MISMATCH,
        "epoch %s of root \"%s\" is in %s of rank %d, which does not have this root, and "
        "its own ranks find %s: it could not come from there, as another job uses it, it "
        "cannot be read, it is a copy of flush= that these do not see, or it is in a "
        "directory of an earlier configuration that not all of these can have. End that "
        "job, make that directory on their nodes, or start its ranks on the nodes that have "
        "its points in time; without it the program starts with CD_RESTART=no, or with an epoch "
        "that its own ranks find",
        std::to_string(latest->latest.epoch).c_str(), latest->root.c_str(), latest->path().c_str(),
        latest->rank, here.c_str());
}

Status with_those_elsewhere(Status status, const std::vector<Elsewhere> &elsewhere) {
    const auto seen =
        std::ranges::find_if(elsewhere, [](const Elsewhere &each) { return each.problem.empty(); });
    if (status.code() != CD_ERROR_REDUNDANCY_EXCEEDED || seen == elsewhere.end()) {
        return status;
    }
    const Elsewhere &first = *seen;
    const std::string why = message();
    return fail(status.code(),
                "%s; rank %d, which does not have this root, sees points in time of it in %s: "
                "start its ranks on the nodes that have them, or copy these directories to the "
                "nodes where they are",
                why.c_str(), first.rank, first.path().c_str());
}

} // namespace cd::checkpoint
