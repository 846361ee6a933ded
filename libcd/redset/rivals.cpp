// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "redset/rivals.h"

#include "redset/open_file.h"
#include "redset/real_directory.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <utility>

namespace cd::redset {
namespace {

namespace fs = std::filesystem;

// One path for each file, whatever links lead to its directory.
class Paths {
public:
    std::string real(const std::string &path) {
        const fs::path given(path);
        const auto [known, is_new] = directories_.try_emplace(given.parent_path());
        if (is_new && !real_directory(given.parent_path(), known->second)) {
            known->second = fs::absolute(given.parent_path()).lexically_normal();
        }
        return (known->second / given.filename()).string();
    }

private:
    std::map<fs::path, fs::path> directories_;
};

bool is_as_told(const os::FileAttributes &a, const os::FileAttributes &b) {
    return a.size == b.size && a.modified.tv_sec == b.modified.tv_sec &&
           a.modified.tv_nsec == b.modified.tv_nsec;
}

enum class Fit { not_at_all, in_size, in_time_too };

Fit fit_of(const os::FileAttributes &there, const os::FileAttributes &told) {
    return is_as_told(there, told)   ? Fit::in_time_too
           : there.size == told.size ? Fit::in_size
                                     : Fit::not_at_all;
}

std::string name_of(const FoundSet &found) {
    return "set " + std::to_string(found.set.group + 1) + " of " +
           std::to_string(found.set.groups) + " (" + describe_shape(found.set.shape) + ") of " +
           found.found.front();
}

} // namespace

Rivals::Rivals(const std::vector<const FoundSet *> &sets) {
    Paths paths;
    std::map<std::string, std::vector<size_t>> who_tells;
    std::set<std::pair<size_t, size_t>> pairs;
    for (size_t i = 0; i < sets.size(); ++i) {
        claimants_.push_back({sets[i], {}, {}});
        auto &files = claimants_.back().files;
        for (size_t member = 0; member < sets[i]->copies.size(); ++member) {
            for (const Place &place : sets[i]->copies[member]) {
                for (const StoredFile &stored : sets[i]->told[member]) {
                    files.try_emplace(paths.real(place.path(stored.name)),
                                      Told{member, stored.attributes});
                }
            }
        }
        for (const auto &[path, told] : files) {
            std::vector<size_t> &known = who_tells[path];
            for (const size_t other : known) {
                pairs.emplace(other, i);
            }
            known.push_back(i);
        }
    }
    for (const auto &[one, other] : pairs) {
        const auto files = told_otherwise(claimants_[one], claimants_[other]);
        for (const std::string &path : files) {
            const auto [known, is_new] = present_.try_emplace(path);
            File file;
            os::FileAttributes attributes;
            if (is_new && open_to_read(path, file, attributes)) {
                known->second = attributes;
            }
        }
        if (!files.empty()) {
            claimants_[one].rivals.push_back(other);
            claimants_[other].rivals.push_back(one);
        }
    }
}

std::string file_not_as_told(const FoundSet &found) {
    for (size_t member = 0; member < found.copies.size(); ++member) {
        for (const Place &place : found.copies[member]) {
            for (const StoredFile &stored : found.told[member]) {
                File file;
                os::FileAttributes there;
                if (open_to_read(place.path(stored.name), file, there) &&
                    !is_as_told(there, stored.attributes)) {
                    return place.path(stored.name);
                }
            }
        }
    }
    return "";
}

bool Rivals::has_rivals(const FoundSet &found) const {
    const Claimant *own = claimant_of(found);
    return own != nullptr && !own->rivals.empty();
}

Rivals::Judgement Rivals::judge(const FoundSet &found,
                                const std::vector<MemberState> &members) const {
    const Claimant &own = *claimant_of(found);
    Judgement judgement;
    const bool is_whole = std::ranges::all_of(
        members, [](const MemberState &member) { return member.data_lost.empty(); });
    if (is_whole && !members.empty()) {
        return judgement;
    }
    for (const size_t rival : own.rivals) {
        const Claimant &other = claimants_[rival];
        const std::vector<std::string> differing = told_otherwise(own, other);
        const bool is_older = fits_worse(own, other, differing);
        const bool is_newer = fits_worse(other, own, differing);
        if (is_newer && !is_older) {
            continue;
        }
        const bool has_all = std::ranges::all_of(
            own.files, [&](const auto &each) { return other.files.contains(each.first); });
        const std::string what =
            differing.front() + " is told of otherwise by " + name_of(*other.found);
        if (is_older && !is_newer && has_all) {
            return {Claim::superseded, what + ", which files that are there fit, and which has all "
                                              "files of this one; this one is left alone"};
        }
        judgement = {Claim::undecided,
                     what + ", so that nothing of this set was brought back. Move the scheme files "
                            "of the set that does not count to where none of the directories that "
                            "are given is above them"};
    }
    return judgement;
}

const Rivals::Claimant *Rivals::claimant_of(const FoundSet &found) const {
    const auto at = std::ranges::find(claimants_, &found, &Claimant::found);
    return at == claimants_.end() ? nullptr : &*at;
}

std::vector<std::string> Rivals::told_otherwise(const Claimant &a, const Claimant &b) {
    std::vector<std::string> files;
    for (const auto &[path, told] : a.files) {
        const auto other = b.files.find(path);
        if (other != b.files.end() && !is_as_told(told.attributes, other->second.attributes)) {
            files.push_back(path);
        }
    }
    return files;
}

// Whether a file that is there is rather as b tells.
bool Rivals::fits_worse(const Claimant &a, const Claimant &b,
                        const std::vector<std::string> &files) const {
    return std::ranges::any_of(files, [&](const std::string &path) {
        const auto &there = present_.at(path);
        return there && fit_of(*there, a.files.at(path).attributes) <
                            fit_of(*there, b.files.at(path).attributes);
    });
}

} // namespace cd::redset
