// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "redset/strays.h"

#include "redset/checksums.h"
#include "redset/open_file.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

namespace cd::redset {
namespace {

using Sets = std::vector<const Members *>;

// Sets that can all be of one time.
class Division {
public:
    bool take(const Members &set) {
        const Descriptor &own = set.front()->own().descriptor;
        const auto kind = std::pair(own.groups, own.job_ranks);
        std::set<int> ranks;
        for (const SchemeFile *file : set) {
            for (const auto &[member, rank] : file->ranks) {
                ranks.insert(rank);
            }
        }
        if (kind_.value_or(kind) != kind || groups_.contains(own.group) ||
            std::ranges::any_of(ranks, [&](int rank) { return ranks_.contains(rank); })) {
            return false;
        }
        kind_ = kind;
        groups_.insert(own.group);
        ranks_.merge(ranks);
        return true;
    }

private:
    std::optional<std::pair<int, int>> kind_; // how many sets and ranks there are
    std::set<int> groups_;
    std::set<int> ranks_;
};

// Those that do not fit to the ones before them.
Sets those_that_do_not_fit(const Sets &sets) {
    Division division;
    Sets others;
    std::ranges::copy_if(sets, std::back_inserter(others),
                         [&](const Members *set) { return !division.take(*set); });
    return others;
}

bool is_vouched_for(const SchemeFile &file) {
    const auto &[shape, group, groups, member, rank, job_ranks] = file.own().descriptor;
    Set set{shape, group, groups, job_ranks, std::vector<int>(index(shape.members))};
    set.ranks[index(member)] = rank;
    const std::string path = Place{file.folder.path(), file.prefix}.checksums(set, member);
    KvTree tree;
    uint64_t size = 0;
    Checksums checksums;
    return read_own_image(path, tree, size) && read_checksums(tree, path.c_str(), set, checksums) &&
           checksums[index(member)].entry == tree_checksum(file.own().tree);
}

// Who of them counts most comes first.
Sets by_weight(const Sets &sets) {
    std::vector<std::tuple<std::ptrdiff_t, size_t, const Members *>> weighed;
    for (const Members *set : sets) {
        const auto vouched_for = std::ranges::count_if(
            *set, [](const SchemeFile *file) { return is_vouched_for(*file); });
        weighed.emplace_back(vouched_for, set->size(), set);
    }
    std::ranges::stable_sort(weighed, std::greater<>(), [](const auto &each) {
        return std::pair(std::get<0>(each), std::get<1>(each));
    });
    Sets sorted;
    for (const auto &[vouched_for, size, set] : weighed) {
        sorted.push_back(set);
    }
    return sorted;
}

// What directories are called that all of a set's are in, "" where these name no time.
std::string_view time_of(const Members &set, const NamesATime &names_a_time) {
    const std::string_view name = set.front()->folder.name();
    return names_a_time(name) ? name : "";
}

UnusableFile unusable(const SchemeFile &file) {
    const Descriptor &own = file.own().descriptor;
    std::string reason = file.path + ": tells of set " + std::to_string(own.group + 1) + " of " +
                         std::to_string(own.groups) + " in a job of " +
                         std::to_string(own.job_ranks) +
                         " ranks, which what else is in directories of this name contradicts; it "
                         "counts as lost, and can be removed";
    return {file.folder, file.path.substr(file.path.rfind('/') + 1), std::move(reason)};
}

} // namespace

std::vector<UnusableFile> take_strays(std::vector<Members> &sets, const NamesATime &names_a_time) {
    std::map<std::string_view, Sets> times;
    for (const Members &set : sets) {
        times[time_of(set, names_a_time)].push_back(&set);
    }
    times.erase("");
    std::set<const Members *> strays;
    for (const auto &[time, of_it] : times) {
        if (!those_that_do_not_fit(of_it).empty()) {
            const Sets others = those_that_do_not_fit(by_weight(of_it));
            strays.insert(others.begin(), others.end());
        }
    }
    std::vector<UnusableFile> files;
    for (const Members *set : strays) {
        std::ranges::transform(*set, std::back_inserter(files),
                               [](const SchemeFile *file) { return unusable(*file); });
    }
    std::vector<Members> left;
    for (Members &set : sets) {
        if (!strays.contains(&set)) {
            left.push_back(std::move(set));
        }
    }
    sets = std::move(left);
    return files;
}

} // namespace cd::redset
