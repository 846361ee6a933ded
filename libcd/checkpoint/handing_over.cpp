// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "checkpoint/handing_over.h"

#include <algorithm>
#include <optional>
#include <string>
#include <tuple>

namespace cd::checkpoint {
namespace {

// Calls use(content) for all that is known.
template <typename Use> void each_content(const Apart &apart, const Use &use) {
    for (const auto &[place, content] : apart.of_its_own) {
        use(content);
    }
    for (const Held &held : apart.held) {
        use(held.content);
    }
}

// What the ranks that have the root have in each of its stores.
std::map<size_t, Findings> own_findings(const Apart &apart) {
    std::map<size_t, Findings> stores;
    for (const auto &[place, content] : apart.of_its_own) {
        const auto &[store, position] = place;
        Findings &found = stores[store];
        found.speakers.push_back(static_cast<int>(found.ranks.size()));
        found.ranks.push_back(apart.ranks[static_cast<size_t>(position)]);
        found.contents.push_back(content);
    }
    return stores;
}

// What all know together.
class Knowledge {
public:
    explicit Knowledge(const Apart &apart) {
        each_content(apart, [&](const Content &content) { all_.contents.push_back(content); });
        for (const CheckpointId &point : all_.agreed()) {
            if (!all_.has_forgotten(point)) {
                counting_.insert(point);
            }
        }
        find_last_whole(own_findings(apart));
    }

    bool counts(const CheckpointId &point) const { return counting_.contains(point); }
    bool is_forgotten(const CheckpointId &point) const { return all_.has_forgotten(point); }

    // Those before it of its level went when it counted, or would have.
    bool is_replaced(const CheckpointId &point) const {
        const auto last = last_whole_.find(point.level);
        return last != last_whole_.end() && last->second > point.number;
    }

private:
    // Of which all ranks that have the root have all in one store.
    void find_last_whole(const std::map<size_t, Findings> &stores) {
        for (const CheckpointId &point : counting_) {
            const auto is_whole = [&](const auto &store) {
                return is_in_place(store.second, point);
            };
            uint64_t &last = last_whole_[point.level];
            if (point.number > last && std::ranges::any_of(stores, is_whole)) {
                last = point.number;
            }
        }
    }

    Findings all_;
    std::set<CheckpointId> counting_;
    std::map<int, uint64_t> last_whole_; // numbers, by level
};

// Where a rank's own files of a point in time are, if it has the root: none may be there yet.
struct Own {
    int position = 0;
    const RankFiles *files = nullptr;
};

std::optional<Own> own_of(const Apart &apart, size_t store, const CheckpointId &point, int rank) {
    const auto at = std::ranges::find(apart.ranks, rank);
    const auto position = static_cast<int>(at - apart.ranks.begin());
    const auto content = apart.of_its_own.find({store, position});
    if (content == apart.of_its_own.end()) {
        return std::nullopt;
    }
    const auto files = content->second.points.find(point);
    if (files == content->second.points.end() || !files->second.contains(rank)) {
        return Own{position, nullptr};
    }
    return Own{position, &files->second.at(rank)};
}

// What is there with another size is another file only if records tell which one is whole.
bool is_there(const Own &own, const RankFiles &held, const std::string &name, uint64_t size) {
    if (own.files == nullptr) {
        return false;
    }
    const auto there = own.files->sizes.find(name);
    if (there == own.files->sizes.end() || there->second == size) {
        return there != own.files->sizes.end();
    }
    const std::optional<Record> &record = own.files->record ? own.files->record : held.record;
    if (!record) {
        return true;
    }
    const auto at_first = record->sizes.find(name);
    return at_first == record->sizes.end() || at_first->second != size;
}

bool is_record(const std::string &name, int rank) {
    return name == stored_name(rank) || name == agreed_name(rank);
}

// A rank that counts a point in time has no record of before it.
bool is_of_before(const Own &own, const std::string &name, int rank) {
    return name == stored_name(rank) && own.files != nullptr && own.files->agreed;
}

} // namespace

std::vector<HandingOver> find_missing(const Apart &apart) {
    const Knowledge all_know(apart);
    std::set<std::pair<CheckpointId, std::string>> known;
    std::map<std::tuple<size_t, size_t, CheckpointId>, HandingOver> all;
    for (const Held &held : apart.held) {
        for (const auto &[point, ranks] : held.content.points) {
            if (!all_know.counts(point) || all_know.is_replaced(point)) {
                continue;
            }
            for (const auto &[rank, files] : ranks) {
                const auto own = own_of(apart, held.store, point, rank);
                for (const auto &[name, size] : files.sizes) {
                    if (!own || is_there(*own, files, name, size) ||
                        is_of_before(*own, name, rank) || !known.emplace(point, name).second) {
                        continue;
                    }
                    HandingOver &handing = all[{held.store, held.round, point}];
                    handing.store = held.store;
                    handing.round = held.round;
                    handing.point = point;
                    (is_record(name, rank) ? handing.records : handing.data)
                        .push_back({held.position, own->position, name, size});
                }
            }
        }
    }
    std::vector<HandingOver> in_order;
    in_order.reserve(all.size());
    for (auto &[key, handing] : all) {
        in_order.push_back(std::move(handing));
    }
    return in_order;
}

// Only what was seen is held to be there.
Dispensable find_dispensable(const Apart &apart, const Held &held) {
    const Knowledge all_know(apart);
    Dispensable dispensable;
    std::map<int, uint64_t> last; // number of what the root's own ranks have, by level
    for (const auto &[point, ranks] : held.content.points) {
        if (!all_know.counts(point)) {
            continue;
        }
        if (all_know.is_replaced(point)) {
            dispensable.points.insert(point);
            continue;
        }
        std::vector<std::string> there;
        bool all_are_there = true;
        for (const auto &[rank, files] : ranks) {
            const auto own = own_of(apart, held.store, point, rank);
            for (const auto &[name, size] : files.sizes) {
                const bool is_own =
                    own && (is_there(*own, files, name, size) || is_of_before(*own, name, rank));
                all_are_there = all_are_there && is_own;
                there.push_back(name);
            }
        }
        if (all_are_there) {
            dispensable.files[point] = std::move(there);
            last[point.level] = std::max(last[point.level], point.number);
        }
    }
    for (const auto &[point, ranks] : held.content.points) {
        const bool precedes = !all_know.counts(point) && point.number < last[point.level];
        if (precedes || all_know.is_forgotten(point)) {
            dispensable.points.insert(point);
        }
    }
    return dispensable;
}

std::vector<CommitMarker> find_unheard(const Apart &apart) {
    std::map<uint64_t, std::set<uint64_t>> heard; // sessions, by number
    for (const auto &[place, content] : apart.of_its_own) {
        for (const CommitMarker &tombstone : content.tombstones) {
            heard[tombstone.number].insert(tombstone.sessions.begin(), tombstone.sessions.end());
        }
    }
    std::map<uint64_t, CommitMarker> unheard;
    for (const Held &held : apart.held) {
        for (const auto &[number, sessions] : held.content.tombstones) {
            std::set<uint64_t> &known = heard[number];
            if (!std::ranges::includes(known, sessions)) {
                known.insert(sessions.begin(), sessions.end());
                unheard[number] = {number, known};
            }
        }
    }
    std::vector<CommitMarker> in_order;
    in_order.reserve(unheard.size());
    for (auto &[number, tombstone] : unheard) {
        in_order.push_back(std::move(tombstone));
    }
    return in_order;
}

} // namespace cd::checkpoint
