// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "redset/rivals.h"

#include <algorithm>

namespace cd::redset {
namespace {

enum class Fit { not_at_all, in_size, in_time_too };

Fit fit_of(const os::FileAttributes &there, const os::FileAttributes &told) {
    return is_as_told(there, told)   ? Fit::in_time_too
           : there.size == told.size ? Fit::in_size
                                     : Fit::not_at_all;
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
}

bool Rivals::has_rivals(const FoundSet &found) const {
    const auto files = own(found).files_of(found);
    return std::ranges::any_of(times_, [&](const Knowledge &time) {
        return !unknown_beside(found, time).empty() ||
               std::ranges::any_of(files, [&](const ToldFile &file) {
                   const auto same = same_files(file, time);
                   return same.size() > (&time == &own(found) ? 1U : 0U);
               });
    });
}

std::string Rivals::why_undecided(const FoundSet &found) const {
    for (const Knowledge &time : times_) {
        const auto [fits_better, fits_worse, file, other] = compare(found, time);
        if (fits_better && !fits_worse) {
            continue;
        }
        if (!file.empty()) {
            return file + " is told of otherwise by " +
                   (other == &found ? "another rank of this set" : describe_set(*other)) + remedy;
        }
        if (const std::string unknown = unknown_beside(found, time); !unknown.empty()) {
            return unknown + remedy;
        }
    }
    return "";
}

std::string Rivals::why_older(const FoundSet &found) const {
    const auto newer =
        std::ranges::find_if(times_, [&](const Knowledge &time) { return is_older(found, time); });
    if (newer == times_.end()) {
        return "";
    }
    const auto [fits_better, fits_worse, file, other] = compare(found, *newer);
    return fits_worse ? file + " is told of otherwise by " + describe_set(*other) +
                            ", which files that are there fit rather"
                      : "scheme files of this set were written over by " +
                            describe_set(*written_over_by(found, *newer));
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
    std::vector<const Knowledge *> newer;
    for (const Knowledge &time : times_) {
        if (is_older(found, time)) {
            newer.push_back(&time);
        }
    }
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

bool Rivals::is_other_time(const FoundSet &found, const Knowledge &time) const {
    return &time != &own(found) && !time.is_apart_from(own(found));
}

std::vector<const ToldFile *> Rivals::same_files(const ToldFile &file,
                                                 const Knowledge &time) const {
    std::vector<const ToldFile *> files = time.at(file.path);
    const bool is_of_as_many = time.sets().front()->set.job_ranks == file.set->set.job_ranks;
    if (is_of_as_many && is_other_time(*file.set, time)) {
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
            if (is_as_told(file.attributes, same->attributes)) {
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
                }
            }
        }
    }
    return comparison;
}

std::string Rivals::unknown_beside(const FoundSet &found, const Knowledge &time) const {
    if (!is_other_time(found, time)) {
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
