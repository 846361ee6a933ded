// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "checkpoint/inventory.h"

#include "base/no_throw.h"
#include "base/text.h"
#include "config/restart_choice.h"
#include "redset/kvtree_file.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <iterator>
#include <map>
#include <set>
#include <span>
#include <utility>

namespace cd::checkpoint {
namespace {

using redset::Bytes;
using redset::index;
using redset::KvTree;

// Calls use(rank, files, reporter) for everything that was found of a checkpoint.
template <typename Use>
void each_found(const Inventory &inventory, const CheckpointId &id, const Use &use) {
    for (size_t reporter = 0; reporter < inventory.contents.size(); ++reporter) {
        const auto &checkpoints = inventory.contents[reporter].checkpoints;
        const auto found = checkpoints.find(id);
        if (found != checkpoints.end()) {
            for (const auto &[rank, files] : found->second) {
                use(rank, files, static_cast<int>(reporter));
            }
        }
    }
}

// The position of a rank in the job, or nothing.
std::optional<int> position_of(const Inventory &inventory, int rank) {
    const auto at = std::ranges::lower_bound(inventory.ranks, rank);
    return at != inventory.ranks.end() && *at == rank
               ? std::optional(static_cast<int>(at - inventory.ranks.begin()))
               : std::nullopt;
}

Status check_participants(const Inventory &inventory, const Record &record) {
    const auto &ranks = inventory.ranks;
    const bool all_here = std::ranges::all_of(
        record.set.ranks, [&](int rank) { return std::ranges::binary_search(ranks, rank); });
    if (all_here && index(record.participants) == ranks.size()) {
        return Status::ok();
    }
    return fail(CD_ERROR_RESTART_MISMATCH,
                "epoch %llu was stored by %s, among them %s; this job has a root of that name in "
                "%s; start it with the same ranks, or with CD_RESTART=no",
                static_cast<unsigned long long>(record.id.epoch),
                counted(index(record.participants), "rank").c_str(),
                list_ranks(record.set.ranks).c_str(), name_ranks(ranks).c_str());
}

} // namespace

uint64_t Inventory::last_number() const {
    uint64_t last = 0;
    for (const Content &content : contents) {
        for (const CommitMarker &marker : content.commit_markers) {
            last = std::max(last, marker.number);
        }
        for (const auto &[id, found] : content.checkpoints) {
            last = std::max(last, id.number);
        }
    }
    return last;
}

bool Inventory::is_of_committed_root(const CheckpointId &id) const {
    return std::ranges::any_of(contents, [&](const Content &content) {
        return std::ranges::any_of(content.commit_markers,
                                   [&](const CommitMarker &marker) { return marker.is_for(id); });
    });
}

std::vector<CheckpointId> Inventory::committed() const {
    std::set<CheckpointId> checkpoints;
    for (const Content &content : contents) {
        for (const auto &[id, found] : content.checkpoints) {
            if (std::ranges::any_of(found,
                                    [](const auto &each) { return each.second.committed; })) {
                checkpoints.insert(id);
            }
        }
    }
    return {checkpoints.begin(), checkpoints.end()};
}

bool Inventory::can_never_be_committed(const CheckpointId &id) const {
    bool unfinished = false;
    std::set<int> finished;
    int stored_by = 0;
    bool committed = false;
    each_found(*this, id, [&](int rank, const RankFiles &files, int) {
        committed = committed || files.committed;
        unfinished = unfinished || !files.stored;
        finished.insert(rank);
        stored_by = std::max(stored_by, files.record ? files.record->participants : 0);
    });
    const bool all_finished = std::ranges::includes(finished, ranks) &&
                              std::cmp_greater_equal(finished.size(), stored_by);
    return !committed &&
           (unfinished || all_finished || finished.empty() || id.level == flush_level);
}

std::vector<int> find_reporters(const std::vector<std::string> &identities) {
    std::vector<int> reporters;
    reporters.reserve(identities.size());
    for (const std::string &identity : identities) {
        reporters.push_back(
            static_cast<int>(std::ranges::find(identities, identity) - identities.begin()));
    }
    return reporters;
}

std::vector<int> find_common_reporters(const std::vector<int> &reporters,
                                       const std::vector<int> &first) {
    std::vector<int> common = reporters;
    for (int &reporter : common) {
        // A reporter may not have seen all others yet.
        while (first[index(reporter)] >= 0 && first[index(reporter)] < reporter) {
            reporter = first[index(reporter)];
        }
    }
    return common;
}

Status find_sets(const Inventory &inventory, const CheckpointId &id, Division &division) {
    Status status;
    std::map<int, redset::Set> sets; // by group
    each_found(inventory, id, [&](int, const RankFiles &files, int) {
        if (files.record && status) {
            status = check_participants(inventory, *files.record);
            sets.emplace(files.record->set.group, files.record->set);
        }
    });
    if (!status) {
        return status;
    }
    Division found;
    std::set<int> known;
    for (const auto &[group, set] : sets) {
        known.insert(set.ranks.begin(), set.ranks.end());
        found.sets.push_back(set);
    }
    std::vector<int> unknown;
    std::ranges::set_difference(inventory.ranks, known, std::back_inserter(unknown));
    if (!unknown.empty()) {
        return fail(CD_ERROR_REDUNDANCY_EXCEEDED,
                    "epoch %llu: no record of %s can be read: all files of their sets are lost, "
                    "damaged or of a newer version; nothing was changed",
                    static_cast<unsigned long long>(id.epoch), name_ranks(unknown).c_str());
    }
    division = std::move(found);
    return Status::ok();
}

std::vector<Transfer> find_transfers(const Inventory &inventory, const CheckpointId &id) {
    std::set<std::string> own;
    std::map<std::string, Transfer> copies; // by name
    each_found(inventory, id, [&](int rank, const RankFiles &files, int reporter) {
        const auto position = position_of(inventory, rank);
        if (!position) {
            return;
        }
        const bool is_own = reporter == inventory.reporters[index(*position)];
        for (const auto &[name, size] : files.sizes) {
            if (is_own) {
                own.insert(name);
            } else if (name != stored_record_name(rank) && name != committed_record_name(rank)) {
                copies.try_emplace(name, Transfer{reporter, *position, name, size});
            }
        }
    });
    std::vector<Transfer> transfers;
    for (const auto &[name, copy] : copies) {
        if (!own.contains(name)) {
            transfers.push_back(copy);
        }
    }
    return transfers;
}

// ---- Contents, as ranks send them to each other

namespace {

constexpr const char *inventory_source = "an inventory";

Status encode_content(const Content &content, Bytes &bytes) {
    KvTree tree;
    KvTree &commit_markers = tree.add("FORGOTTEN");
    for (const CommitMarker &marker : content.commit_markers) {
        commit_markers.add(std::to_string(marker.number)) = commit_marker_tree(marker);
    }
    KvTree &checkpoints = tree.add("POINT");
    for (const auto &[id, ranks] : content.checkpoints) {
        KvTree &files = checkpoints.add(directory_name(id));
        for (const auto &[rank, has] : ranks) {
            KvTree &own = files.add(std::to_string(rank));
            own.add_number("STORED", has.stored ? 1 : 0);
            own.add_number("AGREED", has.committed ? 1 : 0);
            KvTree &sizes = own.add("FILE");
            for (const auto &[name, size] : has.sizes) {
                sizes.add_number(name, size);
            }
            if (has.record) {
                own.add("RECORD") = record_tree(*has.record);
            }
        }
    }
    return redset::encode_image(tree, inventory_source, bytes);
}

Status decode_files(const KvTree &tree, RankFiles &files) {
    const KvTree *sizes = tree.find("FILE");
    for (size_t i = 0; sizes != nullptr && i < sizes->elements().size(); ++i) {
        const std::string &name = sizes->elements()[i].key;
        files.sizes[name] = sizes->number(name).value_or(0);
    }
    files.stored = tree.number("STORED") == 1U;
    files.committed = tree.number("AGREED") == 1U;
    const KvTree *record = tree.find("RECORD");
    return record == nullptr ? Status::ok()
                             : read_record(*record, inventory_source, files.record.emplace());
}

Status decode_content(const Bytes &bytes, Content &content) {
    KvTree tree;
    uint64_t size = 0;
    Status status = redset::decode_image(bytes, inventory_source, tree, size);
    const KvTree *commit_markers = tree.find("FORGOTTEN");
    for (size_t i = 0; commit_markers && status && i < commit_markers->elements().size(); ++i) {
        status = read_commit_marker(commit_markers->elements()[i].below, inventory_source,
                                    content.commit_markers.emplace_back());
    }
    const KvTree *checkpoints = tree.find("POINT");
    for (size_t i = 0; checkpoints && status && i < checkpoints->elements().size(); ++i) {
        const auto &[directory, ranks] = checkpoints->elements()[i];
        auto &files = content.checkpoints[id_of_directory(directory).value_or(CheckpointId())];
        for (size_t r = 0; status && r < ranks.elements().size(); ++r) {
            const auto &[rank, has] = ranks.elements()[r];
            status = decode_files(has, files[rank_of_file(rank + ".").value_or(0)]);
        }
    }
    return status;
}

} // namespace

Status gather_contents(Job &job, Status own, const Content &content,
                       std::vector<Content> &contents) {
    Bytes own_content;
    own = own ? catch_exceptions([&] { return encode_content(content, own_content); }) : own;
    std::vector<Bytes> all;
    if (Status status = agree(job, own, own_content, all); !status) {
        return status;
    }
    return agree_on_memory(job, catch_exceptions([&] {
                               contents.assign(all.size(), {});
                               Status status;
                               for (size_t i = 0; status && i < all.size(); ++i) {
                                   status = decode_content(all[i], contents[i]);
                               }
                               return status;
                           }));
}

// ---- Taking the inventory

namespace {

// Leaves one reporter for each directory that several nodes see: a reporter sees others in it by
// their locks.
Status merge_reporters(Job &job, uint64_t session, const OpenStore &store, Inventory &inventory) {
    int32_t first = -1; // the first that this reporter sees
    Status seen = catch_exceptions([&] {
        int rank = job.rank();
        Status status = store.reports ? DirLock::find_first_user(store.folder.path(), session, rank)
                                      : Status::ok();
        first = store.reports ? position_of(inventory, rank).value_or(-1) : first;
        return status;
    });
    std::vector<Bytes> all;
    if (Status status = agree(job, seen, std::as_bytes(std::span(&first, 1)), all); !status) {
        return status;
    }
    return agree_on_memory(
        job, catch_exceptions([&] {
            std::vector<int> firsts;
            for (const Bytes &theirs : all) {
                std::memcpy(&first, theirs.data(), std::min(sizeof first, theirs.size()));
                firsts.push_back(first);
            }
            inventory.reporters = find_common_reporters(inventory.reporters, firsts);
        }));
}

} // namespace

// Reporters lock first, so that reporters of other nodes see them in a shared directory.
Status take_inventories(Job &job, uint64_t session, std::vector<OpenStore> &stores,
                        std::vector<Inventory> &inventories) {
    Status locked = catch_exceptions([&] {
        const User user{session, job.rank(), job.node()};
        return each_reported(stores, [&](OpenStore &store, size_t) {
            return DirLock::take(store.folder.path(), user, store.lock);
        });
    });
    Status status = agree(job, locked);
    const int self = job.all().self();
    for (size_t i = 0; status && i < stores.size(); ++i) {
        status = merge_reporters(job, session, stores[i], inventories[i]);
        if (!status) {
            return status;
        }
        Content content;
        Status looked = catch_exceptions([&] {
            const bool reports = inventories[i].reporters[index(self)] == self;
            return reports ? stores[i].folder.read(content) : Status::ok();
        });
        status = gather_contents(job, looked, content, inventories[i].contents);
    }
    return status;
}

// ---- Choosing the checkpoint to start from

bool is_of_committed_root(const std::vector<Inventory> &inventories, const CheckpointId &id) {
    return std::ranges::any_of(inventories, [&](const Inventory &inventory) {
        return inventory.is_of_committed_root(id);
    });
}

std::vector<Start> all_committed(const std::vector<Inventory> &inventories) {
    std::vector<Start> starts;
    for (size_t store = 0; store < inventories.size(); ++store) {
        for (const CheckpointId &id : inventories[store].committed()) {
            starts.push_back({id, store});
        }
    }
    std::erase_if(starts,
                  [&](const Start &each) { return is_of_committed_root(inventories, each.id); });
    // A local checkpoint comes before its copy.
    std::ranges::sort(starts, std::greater<>(),
                      [](const Start &each) { return std::pair(each.id.number, -each.id.level); });
    return starts;
}

Status check_nothing_newer_elsewhere(const std::vector<Elsewhere> &elsewhere,
                                     const Request &request,
                                     const std::vector<Inventory> &inventories,
                                     const std::vector<Start> &starts) {
    if (!request.restart.empty() && request.restart != "yes") {
        return Status::ok();
    }
    for (const auto &[newest, rank, path] : elsewhere) {
        if (!is_of_committed_root(inventories, newest) &&
            (starts.empty() || starts.front().id.number < newest.number)) {
            return fail(CD_ERROR_RESTART_MISMATCH,
                        "root \"%s\": epoch %llu is only in %s on the node of rank %d. Copy that "
                        "directory to the nodes of this root, or start with CD_RESTART=no",
                        request.root.c_str(), static_cast<unsigned long long>(newest.epoch),
                        path.c_str(), rank);
        }
    }
    return Status::ok();
}

Status apply_restart_choice(Job &job, const Request &request, std::vector<Start> &starts) {
    RestartChoice choice;
    if (Status status = parse_restart_choice(request.restart.c_str(), choice); !status) {
        return status;
    }
    if (choice.afresh) {
        starts.clear();
    }
    if (!choice.epoch) {
        return Status::ok();
    }
    std::string there;
    for (const Start &each : starts) {
        there += (there.empty() ? "" : ", ") + std::to_string(each.id.epoch);
    }
    std::erase_if(starts, [&](const Start &each) { return each.id.epoch != *choice.epoch; });
    if (starts.empty() && !there.empty()) {
        return fail(CD_ERROR_ARGUMENT,
                    "CD_RESTART asks for epoch %llu, and what is protected is %s; choose one of "
                    "these, or CD_RESTART=no to start afresh",
                    static_cast<unsigned long long>(*choice.epoch), there.c_str());
    }
    if (starts.empty() && *choice.epoch > 0) {
        job.warn_once(("root \"" + request.root + "\": CD_RESTART asks for epoch " +
                       std::to_string(*choice.epoch) +
                       ", but nothing is protected; starting afresh")
                          .c_str());
    }
    return Status::ok();
}

} // namespace cd::checkpoint
