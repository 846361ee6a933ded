// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "checkpoint/inventory.h"

#include "base/no_throw.h"
#include "base/text.h"
#include "config/restart_choice.h"
#include "redset/kvtree_file.h"
#include "redset/layout.h"

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
using Sizes = std::map<std::string, uint64_t>; // by name

// Calls use(rank, files, reporter) for everything that was found of a checkpoint.
template <typename Use>
void each_found(const Inventory &inventory, const CheckpointId &point, const Use &use) {
    for (size_t reporter = 0; reporter < inventory.contents.size(); ++reporter) {
        const auto &points = inventory.contents[reporter].points;
        const auto found = points.find(point);
        if (found != points.end()) {
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

// The sizes of files when the checkpoint was stored, as far as records are left.
Sizes recorded_sizes(const Inventory &inventory, const CheckpointId &point) {
    Sizes sizes;
    each_found(inventory, point, [&](int, const RankFiles &files, int) {
        if (files.record) {
            sizes.insert(files.record->sizes.begin(), files.record->sizes.end());
        }
    });
    return sizes;
}

// "3, 5" for the sets without a record, counted from 1.
std::vector<int> numbers_without(const std::map<int, redset::Set> &sets, int groups) {
    std::vector<int> numbers;
    for (int group = 0; group < groups; ++group) {
        if (!sets.contains(group)) {
            numbers.push_back(group + 1);
        }
    }
    return numbers;
}

// Fails with the reason why records of `unknown` cannot be read, if any is there. A record of
// another version comes before a damaged one.
Status check_read(const Inventory &inventory, const CheckpointId &point, const std::set<int> &known,
                  const std::vector<int> &unknown) {
    const Unread *unread = nullptr;
    int reader = 0;
    each_found(inventory, point, [&](int rank, const RankFiles &files, int reporter) {
        const bool counts = files.unread && !known.contains(rank);
        if (counts && (unread == nullptr || (files.unread->code == CD_ERROR_STORE_VERSION &&
                                             unread->code != CD_ERROR_STORE_VERSION))) {
            unread = &*files.unread;
            reader = inventory.ranks[index(reporter)];
        }
    });
    return unread == nullptr
               ? Status::ok()
               : fail(unread->code,
                      "epoch %llu: no record of %s can be read; rank %d finds: %s; nothing "
                      "was changed, and CD_RESTART=no starts afresh",
                      static_cast<unsigned long long>(point.epoch), name_ranks(unknown).c_str(),
                      reader, unread->why.c_str());
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
                static_cast<unsigned long long>(record.point.epoch),
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
        for (const auto &[point, found] : content.points) {
            last = std::max(last, point.number);
        }
    }
    return last;
}

bool Inventory::is_forgotten(const CheckpointId &point) const {
    return std::ranges::any_of(contents, [&](const Content &content) {
        return std::ranges::any_of(content.commit_markers, [&](const CommitMarker &marker) {
            return marker.is_for(point);
        });
    });
}

std::vector<CheckpointId> Inventory::committed() const {
    std::set<CheckpointId> points;
    for (const Content &content : contents) {
        for (const auto &[point, found] : content.points) {
            if (std::ranges::any_of(found, [](const auto &each) {
                    return each.second.agreed || each.second.unread;
                })) {
                points.insert(point);
            }
        }
    }
    return {points.begin(), points.end()};
}

bool Inventory::can_never_be_committed(const CheckpointId &point) const {
    bool unfinished = false;
    std::set<int> finished;
    int stored_by = 0;
    bool committed = false;
    each_found(*this, point, [&](int rank, const RankFiles &files, int) {
        committed = committed || files.agreed || files.unread;
        unfinished = unfinished || !files.stored;
        finished.insert(rank);
        stored_by = std::max(stored_by, files.record ? files.record->participants : 0);
    });
    const bool all_finished = std::ranges::includes(finished, ranks) &&
                              std::cmp_greater_equal(finished.size(), stored_by);
    return !committed &&
           (unfinished || all_finished || finished.empty() || point.level == flush_level);
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

Status find_sets(const Inventory &inventory, const CheckpointId &point, Division &division) {
    Status status;
    std::map<int, redset::Set> sets; // by group
    int groups = 0;
    each_found(inventory, point, [&](int, const RankFiles &files, int) {
        if (!files.record || !status) {
            return;
        }
        status = check_participants(inventory, *files.record);
        const redset::Set &set = files.record->set;
        sets.emplace(set.group, set);
        groups = std::max(groups, set.groups);
    });
    if (!status) {
        return status;
    }
    Division found;
    std::set<int> known;
    size_t members = 0;
    for (auto &[group, set] : sets) {
        known.insert(set.ranks.begin(), set.ranks.end());
        members += set.ranks.size();
        found.sets.push_back(set);
    }
    const auto epoch = static_cast<unsigned long long>(point.epoch);
    if (members > known.size()) {
        return fail(CD_ERROR_REDUNDANCY_EXCEEDED,
                    "epoch %llu: records of ranks contradict each other: they have a rank in two "
                    "sets; nothing was changed",
                    epoch);
    }
    std::vector<int> unknown;
    std::ranges::set_difference(inventory.ranks, known, std::back_inserter(unknown));
    if (!unknown.empty()) {
        if (Status read = check_read(inventory, point, known, unknown); !read) {
            return read;
        }
        const std::vector<int> numbers = numbers_without(sets, groups);
        const bool one = numbers.size() == 1;
        return fail(CD_ERROR_REDUNDANCY_EXCEEDED,
                    "epoch %llu: %zu of %s lost with all that %s had, set%s %s, which "
                    "had %s; nothing was changed",
                    epoch, numbers.size(),
                    (counted(groups, "set") + (one ? " is" : " are")).c_str(), one ? "it" : "they",
                    one ? "" : "s", list_ranks(numbers).c_str(), name_ranks(unknown).c_str());
    }
    division = std::move(found);
    return Status::ok();
}

std::vector<Transfer> find_transfers(const Inventory &inventory, const CheckpointId &point) {
    const Sizes recorded = recorded_sizes(inventory, point);
    std::set<std::string> own;
    std::map<std::string, Transfer> copies; // by name
    each_found(inventory, point, [&](int rank, const RankFiles &files, int reporter) {
        const auto position = position_of(inventory, rank);
        if (!position) {
            return;
        }
        const bool is_own = reporter == inventory.reporters[index(*position)];
        for (const auto &[name, size] : files.sizes) {
            const auto expected = recorded.find(name);
            const bool is_record = name == stored_name(rank) || name == agreed_name(rank);
            if (is_own) {
                own.insert(name);
            } else if (!is_record && (expected == recorded.end() || expected->second == size)) {
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

Status check_cover(const Inventory &inventory, const CheckpointId &point, const redset::Set &set,
                   const std::vector<Transfer> &transfers) {
    const Sizes recorded = recorded_sizes(inventory, point);
    std::set<std::string> there;
    for (const Transfer &transfer : transfers) {
        there.insert(transfer.name);
    }
    each_found(inventory, point, [&](int rank, const RankFiles &files, int reporter) {
        const auto position = position_of(inventory, rank);
        if (!position || inventory.reporters[index(*position)] != reporter) {
            return;
        }
        for (const auto &[name, size] : files.sizes) {
            const auto expected = recorded.find(name);
            // Redundancy of another size may have been rebuilt by others, and is good then.
            if (name != image_name(rank) || expected == recorded.end() ||
                expected->second == size) {
                there.insert(name);
            }
        }
    });
    const redset::Place here;
    std::vector<redset::Lost> lost;
    std::vector<int> ranks;
    for (int member = 0; member < set.shape.members; ++member) {
        const int rank = set.ranks[index(member)];
        lost.push_back(
            {!there.contains(image_name(rank)), !there.contains(here.scheme_file(set, member))});
        if (lost.back().any()) {
            ranks.push_back(rank);
        }
    }
    const redset::Layout layout(set.shape, std::vector<uint64_t>(lost.size(), 1));
    std::vector<redset::Row> rows;
    if (redset::rebuilding_rows(layout, lost, rows, redset::Makers::none)) {
        return Status::ok();
    }
    return fail(CD_ERROR_REDUNDANCY_EXCEEDED,
                "epoch %llu: set %d of %d (%s): files of %s are lost, more than it can bring back; "
                "nothing was changed",
                static_cast<unsigned long long>(point.epoch), set.group + 1, set.groups,
                redset::describe_shape(set.shape).c_str(), name_ranks(ranks).c_str());
}

// ---- Contents, as ranks send them to each other

namespace {

constexpr const char *inventory_source = "an inventory";

KvTree content_tree(const Content &content) {
    KvTree tree;
    KvTree &commit_markers = tree.add("FORGOTTEN");
    for (size_t i = 0; i < content.commit_markers.size(); ++i) {
        commit_markers.add(std::to_string(i)) = commit_marker_tree(content.commit_markers[i]);
    }
    KvTree &points = tree.add("POINT");
    for (const auto &[point, ranks] : content.points) {
        KvTree &files = points.add(directory_name(point));
        for (const auto &[rank, has] : ranks) {
            KvTree &own = files.add(std::to_string(rank));
            own.add_number("HAS_RECORD", has.stored ? 1 : 0);
            KvTree &sizes = own.add("FILE");
            for (const auto &[name, size] : has.sizes) {
                sizes.add_number(name, size);
            }
            if (has.record) {
                own.add(has.agreed ? "AGREED" : "STORED") = record_tree(*has.record);
            }
            if (has.unread) {
                KvTree &unread = own.add("UNREAD");
                unread.add_number("CODE", static_cast<uint64_t>(has.unread->code));
                unread.add_value("WHY", has.unread->why);
            }
        }
    }
    return tree;
}

Unread take_unread(const KvTree &tree) {
    Unread unread;
    unread.why = tree.value("WHY").value_or("");
    for (const cd_error code : {CD_ERROR_STORE_VERSION, CD_ERROR_STORE_IO}) {
        unread.code = tree.number("CODE") == static_cast<uint64_t>(code) ? code : unread.code;
    }
    return unread;
}

Status take_files(const KvTree &tree, int rank, RankFiles &files) {
    const KvTree *sizes = tree.find("FILE");
    for (size_t i = 0; sizes != nullptr && i < sizes->elements().size(); ++i) {
        const std::string &name = sizes->elements()[i].key;
        const auto size = sizes->number(name);
        if (!size || rank_of(name) != rank) {
            return fail(CD_ERROR_STORE_DAMAGED, "%s: \"%.40s\" is no file of rank %d",
                        inventory_source, name.c_str(), rank);
        }
        files.sizes[name] = *size;
    }
    const KvTree *agreed = tree.find("AGREED");
    const KvTree *record = agreed != nullptr ? agreed : tree.find("STORED");
    files.agreed = agreed != nullptr;
    files.stored = tree.number("HAS_RECORD").value_or(1) != 0;
    if (const KvTree *unread = tree.find("UNREAD")) {
        files.unread = take_unread(*unread);
    }
    return record == nullptr ? Status::ok()
                             : read_record(*record, inventory_source, files.record.emplace());
}

Status take_content(const Bytes &bytes, Content &content) {
    KvTree tree;
    uint64_t size = 0;
    if (Status status = redset::decode_image(bytes, inventory_source, tree, size); !status) {
        return status;
    }
    const KvTree *commit_markers = tree.find("FORGOTTEN");
    for (size_t i = 0; commit_markers != nullptr && i < commit_markers->elements().size(); ++i) {
        if (Status status =
                read_commit_marker(commit_markers->elements()[i].below, inventory_source,
                                   content.commit_markers.emplace_back());
            !status) {
            return status;
        }
    }
    const KvTree *points = tree.find("POINT");
    for (size_t i = 0; points != nullptr && i < points->elements().size(); ++i) {
        const auto &[directory, ranks] = points->elements()[i];
        const auto point = point_of(directory);
        if (point) {
            content.points[*point]; // also where there is nothing in it
        }
        for (size_t r = 0; point && r < ranks.elements().size(); ++r) {
            const auto &[key, files] = ranks.elements()[r];
            const auto rank = rank_of(key + ".");
            if (!rank) {
                return fail(CD_ERROR_STORE_DAMAGED, "%s: \"%.20s\" is no rank", inventory_source,
                            key.c_str());
            }
            if (Status status = take_files(files, *rank, content.points[*point][*rank]); !status) {
                return status;
            }
        }
    }
    return Status::ok();
}

Status take_contents(const std::vector<Bytes> &all, std::vector<Content> &contents) {
    std::vector<Content> gathered(all.size());
    for (size_t position = 0; position < all.size(); ++position) {
        if (Status status = take_content(all[position], gathered[position]); !status) {
            return status;
        }
    }
    contents = std::move(gathered);
    return Status::ok();
}

} // namespace

Status share(Job &job, Status own, const Content &content, std::vector<Content> &contents) {
    Bytes own_content;
    if (own) {
        own = catch_exceptions([&] {
            return redset::encode_image(content_tree(content), inventory_source, own_content);
        });
    }
    std::vector<Bytes> all;
    if (Status status = agree(job, own, own_content, all); !status) {
        return status;
    }
    return agree_on_memory(job, catch_exceptions([&] { return take_contents(all, contents); }));
}

// ---- Taking the inventory

namespace {

// The reporters of other nodes that a reporter sees in its directory, by their locks.
struct Sight {
    int32_t first = -1; // the lowest position; -1: this rank is no reporter
    int32_t count = 0;
};

Status find_sights(Job &job, uint64_t session, std::vector<OpenStore> &stores,
                   std::vector<Sight> &sights) {
    sights.assign(stores.size(), {});
    return each_reported(stores, [&](OpenStore &store, size_t which) {
        std::vector<int> users;
        Status status = DirLock::find_users(store.folder.path(), session, users);
        Sight &sight = sights[which];
        sight.first = job.all().self();
        for (const int user : users) {
            const auto at = std::ranges::lower_bound(job.ranks(), user);
            if (at != job.ranks().end() && *at == user) {
                const auto position = static_cast<int32_t>(at - job.ranks().begin());
                sight.first = std::min(sight.first, position);
                ++sight.count;
            }
        }
        return status;
    });
}

std::vector<Sight> sights_of_all(const std::vector<Bytes> &gathered, size_t store) {
    std::vector<Sight> sights;
    for (const Bytes &theirs : gathered) {
        Sight &sight = sights.emplace_back();
        if ((store + 1) * sizeof sight <= theirs.size()) {
            std::memcpy(&sight, theirs.data() + store * sizeof sight, sizeof sight);
        }
    }
    return sights;
}

// A network file system may show new files late. The rank that looked last sees all.
bool anyone_sees_all(const std::vector<int> &reporters, const std::vector<Sight> &sights) {
    const size_t all = std::set<int>(reporters.begin(), reporters.end()).size();
    return std::ranges::any_of(
        sights, [&](const Sight &sight) { return std::cmp_equal(sight.count, all); });
}

void warn_that_copies_are_apart(Job &job, const CheckpointDir &folder,
                                const std::vector<int> &reporters) {
    const auto other = std::ranges::find_if(
        reporters, [&](int reporter) { return reporter != reporters.front(); });
    if (other == reporters.end() || !job.warns_users()) {
        return;
    }
    const std::string rank = std::to_string(job.ranks()[static_cast<size_t>(*other)]);
    const std::string line =
        folder.path() + ", where flush= copies to, is not one directory for all nodes: ranks " +
        std::to_string(job.ranks().front()) + " and " + rank +
        " do not see each other's files in it; copies that only one node has "
        "are lost with it";
    os::system().warn(line.c_str());
}

// Leaves one reporter for each directory that several nodes see.
Status merge_reporters(Job &job, uint64_t session, std::optional<size_t> flush_store,
                       std::vector<OpenStore> &stores, std::vector<Inventory> &inventories) {
    std::vector<Sight> own;
    std::vector<Bytes> all;
    Status seen = catch_exceptions([&] { return find_sights(job, session, stores, own); });
    if (Status status = agree(job, seen, std::as_bytes(std::span(own)), all); !status) {
        return status;
    }
    return agree_on_memory(
        job, catch_exceptions([&] {
            for (size_t i = 0; i < stores.size(); ++i) {
                const std::vector<Sight> sights = sights_of_all(all, i);
                std::vector<int> first;
                std::ranges::transform(sights, std::back_inserter(first), &Sight::first);
                const bool is_one = anyone_sees_all(inventories[i].reporters, sights);
                inventories[i].reporters = find_common_reporters(inventories[i].reporters, first);
                if (i == flush_store && !is_one) {
                    warn_that_copies_are_apart(job, stores[i].folder, inventories[i].reporters);
                }
            }
        }));
}

} // namespace

// Reporters lock first, so that reporters of other nodes see them in a shared directory.
Status take_inventories(Job &job, uint64_t session, std::optional<size_t> flush_store,
                        std::vector<OpenStore> &stores, std::vector<Inventory> &inventories) {
    Status locked = catch_exceptions([&] {
        const User user{session, job.rank(), job.node()};
        return each_reported(stores, [&](OpenStore &store, size_t) {
            return DirLock::take(store.folder.path(), user, store.lock);
        });
    });
    if (Status status = agree(job, locked); !status) {
        return status;
    }
    if (Status status = merge_reporters(job, session, flush_store, stores, inventories); !status) {
        return status;
    }
    const int self = job.all().self();
    for (size_t i = 0; i < stores.size(); ++i) {
        Content content;
        Status looked = catch_exceptions([&] {
            const bool reports = stores[i].reports && inventories[i].reporters[index(self)] == self;
            return reports ? stores[i].folder.read(content) : Status::ok();
        });
        if (Status status = share(job, looked, content, inventories[i].contents); !status) {
            return status;
        }
    }
    return Status::ok();
}

// ---- Choosing the checkpoint to start from

bool is_forgotten(const std::vector<Inventory> &inventories, const CheckpointId &point) {
    return std::ranges::any_of(
        inventories, [&](const Inventory &inventory) { return inventory.is_forgotten(point); });
}

std::vector<Start> all_committed(const std::vector<Inventory> &inventories) {
    std::vector<Start> points;
    for (size_t store = 0; store < inventories.size(); ++store) {
        for (const CheckpointId &point : inventories[store].committed()) {
            points.push_back({point, store});
        }
    }
    std::erase_if(points, [&](const Start &each) { return is_forgotten(inventories, each.point); });
    // A local checkpoint comes before its copy.
    std::ranges::sort(points, std::greater<>(), [](const Start &each) {
        return std::pair(each.point.number, -each.point.level);
    });
    return points;
}

Status check_nothing_newer_elsewhere(const std::vector<Elsewhere> &elsewhere,
                                     const Request &request,
                                     const std::vector<Inventory> &inventories,
                                     const std::vector<Start> &points) {
    if (!request.restart.empty() && request.restart != "yes") {
        return Status::ok();
    }
    for (const auto &[newest, rank, path] : elsewhere) {
        if (!is_forgotten(inventories, newest) &&
            (points.empty() || points.front().point.number < newest.number)) {
            return fail(CD_ERROR_RESTART_MISMATCH,
                        "root \"%s\": epoch %llu is only in %s on the node of rank %d. Copy that "
                        "directory to the nodes of this root, or start with CD_RESTART=no",
                        request.root.c_str(), static_cast<unsigned long long>(newest.epoch),
                        path.c_str(), rank);
        }
    }
    return Status::ok();
}

namespace {

std::string list_epochs(const std::vector<Start> &points) {
    std::string text;
    for (const Start &each : points) {
        text += (text.empty() ? "" : ", ") + std::to_string(each.point.epoch);
    }
    return text;
}

} // namespace

Status choose(Job &job, const Request &request, std::vector<Start> &points, Remarks &remarks) {
    RestartChoice choice;
    if (Status status = parse_restart_choice(request.restart.c_str(), choice); !status) {
        return status;
    }
    if (choice.afresh) {
        points.clear();
    }
    if (!choice.epoch) {
        return Status::ok();
    }
    const std::string there = list_epochs(points);
    std::erase_if(points, [&](const Start &each) { return each.point.epoch != *choice.epoch; });
    if (points.empty() && !there.empty()) {
        return fail(CD_ERROR_ARGUMENT,
                    "CD_RESTART asks for epoch %llu, and what is protected is %s; choose one of "
                    "these, or CD_RESTART=no to start afresh",
                    static_cast<unsigned long long>(*choice.epoch), there.c_str());
    }
    if (points.empty() && *choice.epoch > 0 && job.warns_users()) {
        remarks.push_back("root \"" + request.root + "\": CD_RESTART asks for epoch " +
                          std::to_string(*choice.epoch) +
                          ", but nothing is protected; starting afresh");
    }
    return Status::ok();
}

} // namespace cd::checkpoint
