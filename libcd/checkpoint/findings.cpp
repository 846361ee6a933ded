// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "checkpoint/findings.h"

#include "base/counted.h"
#include "checkpoint/unrecorded.h"
#include "redset/layout.h"

#include <algorithm>
#include <set>
#include <span>
#include <utility>

namespace cd::checkpoint {
namespace {

using redset::index;
using Sizes = std::map<std::string, uint64_t>; // by name

// Calls use(rank, files, speaker) for all that is found of a point in time.
template <typename Use>
void each_found(const Findings &findings, const CheckpointId &point, const Use &use) {
    for (size_t speaker = 0; speaker < findings.contents.size(); ++speaker) {
        const auto &points = findings.contents[speaker].points;
        const auto found = points.find(point);
        if (found != points.end()) {
            for (const auto &[rank, files] : found->second) {
                use(rank, files, static_cast<int>(speaker));
            }
        }
    }
}

// What files had when the point in time was made of them, as far as records are left.
Sizes sizes_at_first(const Findings &findings, const CheckpointId &point) {
    Sizes sizes;
    each_found(findings, point, [&](int, const RankFiles &files, int) {
        if (files.record) {
            sizes.insert(files.record->sizes.begin(), files.record->sizes.end());
        }
    });
    return sizes;
}

// Of each file of a rank all that there are: those near it, and those elsewhere that have the size
// that the file was given. By rank and name.
std::map<std::pair<int, std::string>, std::vector<Transfer>>
find_copies(const Findings &findings, const CheckpointId &point, const Sizes &agreed_sizes) {
    std::map<std::pair<int, std::string>, std::vector<Transfer>> copies;
    each_found(findings, point, [&](int rank, const RankFiles &files, int speaker) {
        const auto at = std::ranges::find(findings.ranks, rank);
        if (at == findings.ranks.end()) {
            return;
        }
        const auto position = static_cast<int>(at - findings.ranks.begin());
        const bool is_there = speaker == findings.speakers[index(position)];
        for (const auto &[name, size] : files.sizes) {
            const auto agreed = agreed_sizes.find(name);
            const bool is_whole = agreed == agreed_sizes.end() || agreed->second == size;
            if (name != stored_name(rank) && name != agreed_name(rank) && (is_there || is_whole)) {
                copies[{rank, name}].push_back(
                    {is_there ? position : speaker, position, name, size});
            }
        }
    });
    return copies;
}

// Where these files of a set are there and no others: the ranks that have lost some, if the set
// cannot do without.
std::vector<int> ranks_beyond_cover(const redset::Set &set, const std::set<std::string> &there) {
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
    return redset::rebuilding_rows(layout, lost, rows, redset::Makers::none) ? std::vector<int>()
                                                                             : ranks;
}

// The ranks of a set of which names and sizes tell that files are lost, if it cannot do without.
std::vector<int> lost_beyond_cover(const Findings &findings, const CheckpointId &point,
                                   const redset::Set &set) {
    const auto sizes = sizes_at_first(findings, point);
    std::set<std::string> whole;
    each_found(findings, point, [&](int, const RankFiles &files, int) {
        for (const auto &[name, size] : files.sizes) {
            const auto at_first = sizes.find(name);
            if (at_first == sizes.end() || at_first->second == size) {
                whole.insert(name);
            }
        }
    });
    return ranks_beyond_cover(set, whole);
}

// "; of set 1 ranks 0, 1 are lost": beside sets of which nothing is left.
std::string others_beyond_cover(const Findings &findings, const CheckpointId &point,
                                const std::vector<redset::Set> &sets) {
    std::string text;
    for (const redset::Set &set : sets) {
        const std::vector<int> ranks = lost_beyond_cover(findings, point, set);
        if (!ranks.empty()) {
            text += "; of set " + std::to_string(set.group + 1) + " files of " + name_ranks(ranks) +
                    " are lost, more than it can bring back";
        }
    }
    return text;
}

// As people count them.
std::vector<int> numbers_without(const std::map<int, redset::Set> &sets, int groups) {
    std::vector<int> numbers;
    for (int group = 0; group < groups; ++group) {
        if (!sets.contains(group)) {
            numbers.push_back(group + 1);
        }
    }
    return numbers;
}

// What keeps records of ranks from being read, of which no other record tells; another version
// before damage.
Status check_read(const Findings &findings, const CheckpointId &point, const std::set<int> &known,
                  const std::vector<int> &unknown) {
    const Unread *unread = nullptr;
    int reader = 0;
    each_found(findings, point, [&](int rank, const RankFiles &files, int speaker) {
        const bool counts = files.unread && !known.contains(rank);
        if (counts && (unread == nullptr || (files.unread->code == CD_ERROR_STORE_VERSION &&
                                             unread->code != CD_ERROR_STORE_VERSION))) {
            unread = &*files.unread;
            reader = findings.ranks[index(speaker)];
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

// "2 ranks (0, 2)", of whom not all need be known.
std::string so_many(size_t count, std::span<const int> known) {
    return counted(count, "rank") + " (" + (known.size() < count ? "among them " : "") +
           list_ranks(known) + ")";
}

Status check_participants(const Findings &findings, const Record &record) {
    const auto &ranks = findings.ranks;
    const bool all_here = std::ranges::all_of(
        record.set.ranks, [&](int rank) { return std::ranges::binary_search(ranks, rank); });
    if (all_here && index(record.participants) == ranks.size()) {
        return Status::ok();
    }
    std::set<int> told;
    each_found(findings, record.point, [&](int, const RankFiles &files, int) {
        if (files.record) {
            told.insert(files.record->set.ranks.begin(), files.record->set.ranks.end());
        }
    });
    const std::vector<int> stored_by(told.begin(), told.end());
    return fail(CD_ERROR_RESTART_MISMATCH,
                "epoch %llu was stored by %s, and in this job %s have a root of that name; start "
                "it with the same ranks, or with CD_RESTART=no",
                static_cast<unsigned long long>(record.point.epoch),
                so_many(index(record.participants), stored_by).c_str(),
                so_many(ranks.size(), ranks).c_str());
}

// Those before it of its level go when one counts.
bool follows_one_that_counts(const Findings &findings, const CheckpointId &point) {
    return std::ranges::any_of(findings.agreed(), [&](const CheckpointId &other) {
        return other.level == point.level && other.number < point.number;
    });
}

// Programs that are killed at their first attempt, one after the other, would fill the disk.
bool precedes_one_that_may_be_brought_back(const Findings &findings, const CheckpointId &point) {
    return std::ranges::any_of(findings.contents, [&](const Content &content) {
        return std::ranges::any_of(content.points, [&](const auto &found) {
            const CheckpointId &other = found.first;
            return other.level == point.level && other.number > point.number &&
                   may_be_brought_back(findings, other);
        });
    });
}

} // namespace

uint64_t Findings::last_number() const {
    uint64_t last = 0;
    for (const Content &content : contents) {
        for (const CommitMarker &tombstone : content.tombstones) {
            last = std::max(last, tombstone.number);
        }
        for (const auto &[point, found] : content.points) {
            last = std::max(last, point.number);
        }
    }
    return last;
}

bool Findings::has_forgotten(const CheckpointId &point) const {
    return std::ranges::any_of(contents, [&](const Content &content) {
        return std::ranges::any_of(content.tombstones, [&](const CommitMarker &tombstone) {
            return tombstone.is_for(point);
        });
    });
}

bool Findings::nothing() const {
    return std::ranges::all_of(contents, [](const Content &content) {
        return content.points.empty() && content.tombstones.empty();
    });
}

std::vector<CheckpointId> Findings::agreed() const {
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

bool Findings::can_never_count(const CheckpointId &point) const {
    bool unfinished = false;
    std::set<int> finished;
    int stored_by = 0;
    bool counted = false;
    each_found(*this, point, [&](int rank, const RankFiles &files, int) {
        counted = counted || files.agreed || files.unread;
        unfinished = unfinished || !files.stored;
        finished.insert(rank);
        stored_by = std::max(stored_by, files.record ? files.record->participants : 0);
    });
    const bool all_finished = std::ranges::includes(finished, ranks) &&
                              std::cmp_greater_equal(finished.size(), stored_by);
    const bool is_empty = !unfinished && finished.empty();
    const bool has_no_record = unfinished || all_finished || is_empty || point.level == flush_level;
    return !counted && has_no_record &&
           (follows_one_that_counts(*this, point) || !may_be_brought_back(*this, point) ||
            precedes_one_that_may_be_brought_back(*this, point));
}

std::vector<int> find_speakers(const std::vector<std::string> &identities) {
    std::vector<int> speakers;
    speakers.reserve(identities.size());
    for (const std::string &identity : identities) {
        speakers.push_back(
            static_cast<int>(std::ranges::find(identities, identity) - identities.begin()));
    }
    return speakers;
}

std::vector<int> find_common_speakers(const std::vector<int> &speakers,
                                      const std::vector<int> &first) {
    std::vector<int> common = speakers;
    for (int &speaker : common) {
        // Not all may have seen all, yet.
        while (first[index(speaker)] >= 0 && first[index(speaker)] < speaker) {
            speaker = first[index(speaker)];
        }
    }
    return common;
}

Status find_sets(const Findings &findings, const CheckpointId &point, Division &division) {
    Status status;
    std::map<int, redset::Set> sets; // those that records tell of first
    int groups = 0;
    each_found(findings, point, [&](int, const RankFiles &files, int) {
        if (!files.record || !status) {
            return;
        }
        status = check_participants(findings, *files.record);
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
    std::ranges::set_difference(findings.ranks, known, std::back_inserter(unknown));
    if (!unknown.empty()) {
        if (Status read = check_read(findings, point, known, unknown); !read) {
            return read;
        }
        const std::vector<int> numbers = numbers_without(sets, groups);
        const bool one = numbers.size() == 1;
        return fail(CD_ERROR_REDUNDANCY_EXCEEDED,
                    "epoch %llu: %zu of %s lost with all that %s had, set%s %s, which "
                    "had %s%s; nothing was changed",
                    epoch, numbers.size(),
                    (counted(groups, "set") + (one ? " is" : " are")).c_str(), one ? "it" : "they",
                    one ? "" : "s", list_ranks(numbers).c_str(), name_ranks(unknown).c_str(),
                    others_beyond_cover(findings, point, found.sets).c_str());
    }
    division = std::move(found);
    return Status::ok();
}

std::vector<Transfer> find_transfers(const Findings &findings, const CheckpointId &point) {
    const auto agreed_sizes = sizes_at_first(findings, point);
    // Redundancy near that has another size may be what others rebuilt, and good, while the copy
    // may be damaged: that is found later.
    const auto merit = [&](const Transfer &copy) {
        const auto agreed = agreed_sizes.find(copy.name);
        const bool is_near = copy.from == copy.to;
        const bool has_size = agreed != agreed_sizes.end() && agreed->second == copy.size;
        const bool is_image = copy.name == image_name(findings.ranks[index(copy.to)]);
        return std::pair(has_size || (is_near && !is_image), is_near);
    };
    std::vector<Transfer> transfers;
    for (const auto &[file, all] : find_copies(findings, point, agreed_sizes)) {
        if (const Transfer &best = *std::ranges::max_element(all, {}, merit);
            best.from != best.to) {
            transfers.push_back(best);
        }
    }
    return transfers;
}

std::vector<Transfer> find_copies_elsewhere(const Findings &findings, const CheckpointId &point) {
    std::vector<Transfer> elsewhere;
    for (const auto &[file, all] : find_copies(findings, point, sizes_at_first(findings, point))) {
        std::ranges::copy_if(all, std::back_inserter(elsewhere),
                             [](const Transfer &copy) { return copy.from != copy.to; });
    }
    return elsewhere;
}

bool is_in_place(const Findings &findings, const CheckpointId &point) {
    std::set<int> ranks;
    each_found(findings, point, [&](int rank, const RankFiles &files, int speaker) {
        const auto at = std::ranges::find(findings.ranks, rank);
        const auto position = static_cast<size_t>(at - findings.ranks.begin());
        const bool has_all = files.record && !files.record->sizes.empty() &&
                             std::ranges::all_of(files.record->sizes, [&](const auto &each) {
                                 const auto now = files.sizes.find(each.first);
                                 return now != files.sizes.end() && now->second == each.second;
                             });
        if (has_all && at != findings.ranks.end() && findings.speakers[position] == speaker) {
            ranks.insert(rank);
        }
    });
    return ranks.size() == findings.ranks.size();
}

Status check_cover(const Findings &findings, const CheckpointId &point, const redset::Set &set,
                   const std::vector<Transfer> &transfers) {
    const auto sizes = sizes_at_first(findings, point);
    std::set<std::string> there;
    for (const Transfer &transfer : transfers) {
        there.insert(transfer.name);
    }
    each_found(findings, point, [&](int rank, const RankFiles &files, int speaker) {
        const auto at = std::ranges::find(findings.ranks, rank);
        if (at == findings.ranks.end() ||
            findings.speakers[index(static_cast<int>(at - findings.ranks.begin()))] != speaker) {
            return;
        }
        for (const auto &[name, size] : files.sizes) {
            const auto at_first = sizes.find(name);
            // Redundancy that others rebuilt may have another size, and be good.
            if (name != image_name(rank) || at_first == sizes.end() || at_first->second == size) {
                there.insert(name);
            }
        }
    });
    const std::vector<int> ranks = ranks_beyond_cover(set, there);
    if (ranks.empty()) {
        return Status::ok();
    }
    return fail(CD_ERROR_REDUNDANCY_EXCEEDED,
                "epoch %llu: set %d of %d (%s): files of %s are lost, more than it can bring back; "
                "nothing was changed",
                static_cast<unsigned long long>(point.epoch), set.group + 1, set.groups,
                redset::describe_shape(set.shape).c_str(), name_ranks(ranks).c_str());
}

} // namespace cd::checkpoint
