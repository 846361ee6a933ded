// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "redset/rivals.h"

#include <algorithm>
#include <compare>
#include <iterator>
#include <utility>

namespace cd::redset {
namespace {

enum class Fit { not_at_all, in_size, in_time_too };

Fit fit_of(const os::FileAttributes &there, const os::FileAttributes &told) {
    return is_as_told(there, told)   ? Fit::in_time_too
           : there.size == told.size ? Fit::in_size
                                     : Fit::not_at_all;
}

// Empty ones have nothing to be brought back, so that their times do not matter.
bool is_told_the_same(const os::FileAttributes &one, const os::FileAttributes &other) {
    return is_as_told(one, other) || (one.size == 0 && other.size == 0);
}

} // namespace

Rivals::Rivals(const std::vector<const FoundSet *> &sets, Outlook &outlook) : outlook_(outlook) {
    RealPaths paths;
    for (const OneTime &time : divide_by_time(sets)) {
        for (const FoundSet *each : time) {
            whose_[each] = times_.size();
            for (const std::string &path : each->found) {
                scheme_files_[paths.of(path)] = each;
            }
            for (int member = 0; member < each->set.shape.members; ++member) {
                const std::string path = each->places[index(member)].scheme_file(each->set, member);
                own_scheme_files_[each].push_back(paths.of(path));
            }
        }
        times_.emplace_back(time, paths, outlook);
    }
    relate_times();
}

// By what times have, so that many of them take no longer to compare.
void Rivals::relate_times() {
    struct Having {
        std::vector<size_t> times;
        std::vector<size_t> likely;
        auto operator<=>(const Having &) const = default;
    };
    std::map<std::string, Having> files;
    std::map<std::string, Having> directories;
    for (size_t i = 0; i < times_.size(); ++i) {
        for (const std::string &path : times_[i].paths()) {
            files[path].times.push_back(i);
        }
        for (const std::string &path : times_[i].directories()) {
            directories[path].times.push_back(i);
        }
        for (const std::string &path : times_[i].likely_directories()) {
            directories[path].likely.push_back(i);
        }
    }
    std::set<Having> all;
    for (auto *each : {&files, &directories}) {
        for (auto &[path, having] : *each) {
            all.insert(std::move(having));
        }
    }
    related_.resize(times_.size());
    for (size_t i = 0; i < times_.size(); ++i) {
        related_[i].insert(i);
    }
    for (const Having &having : all) {
        for (const size_t time : having.times) {
            related_[time].insert(having.times.begin(), having.times.end());
            related_[time].insert(having.likely.begin(), having.likely.end());
        }
        for (const size_t time : having.likely) {
            related_[time].insert(having.times.begin(), having.times.end());
        }
    }
}

std::vector<const Knowledge *> Rivals::times_of(const FoundSet &found) const {
    std::vector<const Knowledge *> times;
    std::ranges::transform(related_[whose_.at(&found)], std::back_inserter(times),
                           [&](size_t time) { return &times_[time]; });
    return times;
}

bool Rivals::has_rivals(const FoundSet &found) const {
    const auto files = own(found).files_of(found);
    return std::ranges::any_of(times_of(found), [&](const Knowledge *time) {
        return !unknown_beside(found, *time).empty() ||
               std::ranges::any_of(files, [&](const ToldFile &file) {
                   const auto same = same_files(file, *time);
                   return same.size() > (time == &own(found) ? 1U : 0U);
               });
    });
}

std::string Rivals::why_undecided(const FoundSet &found) const {
    for (const Knowledge *time : times_of(found)) {
        const Comparison comparison = compare(found, *time);
        if (comparison.fits_better && !comparison.fits_worse) {
            continue;
        }
        if (const FoundSet *other = comparison.other) {
            return comparison.file + " is told of otherwise by " +
                   (other == &found ? "another rank of this set" : describe_set(*other)) + remedy;
        }
        if (const std::string unknown = unknown_beside(found, *time); !unknown.empty()) {
            return unknown + remedy;
        }
    }
    return "";
}

std::string Rivals::why_older(const FoundSet &found) const {
    const auto times = times_of(found);
    const auto newer =
        std::ranges::find_if(times, [&](const Knowledge *time) { return is_older(found, *time); });
    if (newer == times.end()) {
        return "";
    }
    const Comparison comparison = compare(found, **newer);
    return comparison.fits_worse
               ? comparison.file + " is told of otherwise by " + describe_set(*comparison.other) +
                     ", which files that are there fit rather"
               : "scheme files of this set were written over by " +
                     describe_set(*written_over_by(found, **newer));
}

const FoundSet *Rivals::in_place_of(const FoundSet &found, int member) const {
    const auto there = scheme_files_.find(own_scheme_files_.at(&found)[index(member)]);
    return there == scheme_files_.end() || there->second == &found ? nullptr : there->second;
}

const FoundSet *Rivals::written_over_by(const FoundSet &found, const Knowledge &time) const {
    for (int member = 0; member < found.set.shape.members; ++member) {
        const FoundSet *other = in_place_of(found, member);
        if (other != nullptr && &own(*other) == &time) {
            return other;
        }
    }
    return nullptr;
}

bool Rivals::has_successors(const FoundSet &found, const std::set<const FoundSet *> &whole) const {
    std::vector<const Knowledge *> newer = times_of(found);
    std::erase_if(newer, [&](const Knowledge *time) { return !is_older_in_place(found, *time); });
    const auto is_had = [&](const ToldFile &file) {
        return std::ranges::any_of(newer, [&](const Knowledge *time) {
            return std::ranges::any_of(same_files(file, *time), [&](const ToldFile *same) {
                return whole.contains(same->set);
            });
        });
    };
    return !newer.empty() && std::ranges::all_of(own(found).files_of(found), is_had) &&
           std::ranges::all_of(found.told, [](const auto &files) { return files.has_value(); });
}

// What has its name was written last.
bool Rivals::is_older(const FoundSet &found, const Knowledge &time) const {
    const Comparison comparison = compare(found, time);
    return !comparison.fits_better &&
           (comparison.fits_worse || written_over_by(found, time) != nullptr);
}

// What is known by name alone may be another job's.
bool Rivals::is_older_in_place(const FoundSet &found, const Knowledge &time) const {
    return is_older(found, time) &&
           (compare(found, time).fits_worse_in_place || written_over_by(found, time) != nullptr);
}

std::vector<const ToldFile *> Rivals::same_files(const ToldFile &file,
                                                 const Knowledge &time) const {
    std::vector<const ToldFile *> files = time.at(file.path);
    const bool is_of_as_many = time.sets().front()->set.job_ranks == file.set->set.job_ranks;
    if (is_of_as_many && &time != &own(*file.set)) {
        const ToldFile *named = time.named(file.rank, file.name);
        if (named != nullptr && named->path != file.path) {
            files.push_back(named);
        }
    }
    return files;
}

Rivals::Comparison Rivals::compare(const FoundSet &found, const Knowledge &time) const {
    Comparison comparison;
    for (const ToldFile &file : own(found).files_of(found)) {
        for (const ToldFile *same : same_files(file, time)) {
            if (is_told_the_same(file.attributes, same->attributes)) {
                continue;
            }
            if (comparison.file.empty()) {
                comparison.file = file.path;
                comparison.other = same->set;
            }
            for (const std::string &path : std::set{file.path, same->path}) {
                if (const auto there = outlook_.at(path)) {
                    const Fit fit = fit_of(*there, file.attributes);
                    const Fit other = fit_of(*there, same->attributes);
                    comparison.fits_better = comparison.fits_better || fit > other;
                    comparison.fits_worse = comparison.fits_worse || fit < other;
                    comparison.fits_worse_in_place =
                        comparison.fits_worse_in_place || (fit < other && file.path == same->path);
                }
            }
        }
    }
    return comparison;
}

std::string Rivals::unknown_beside(const FoundSet &found, const Knowledge &time) const {
    if (&time == &own(found)) {
        return "";
    }
    std::string unknown; // of the rank that was asked for last
    const std::string file = outlook_.file_not_as_told(found, [&](int rank) {
        unknown = time.what_is_unknown(rank, found.set.job_ranks);
        return !unknown.empty();
    });
    return file.empty()
               ? ""
               : file + " is not there as this set tells, and nothing that is left tells " +
                     unknown;
}

} // namespace cd::redset
