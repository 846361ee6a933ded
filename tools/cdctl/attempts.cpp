// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "attempts.h"

#include "alone.h"
#include "checkpoint/folder.h"
#include "file_store/own_directory.h"
#include "redset/bounds.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <system_error>
#include <utility>

namespace cdctl {
namespace {

namespace fs = std::filesystem;
using cd::checkpoint::CheckpointId;
using cd::checkpoint::Findings;
using cd::checkpoint::RankFiles;
using cd::redset::FoundSet;

struct Located {
    std::string directory; // in which the root's points in time are
    Attempt attempt;
};

bool holds_points(const fs::path &directory) { return directory.extension() == cd::end_of_points; }

bool is_in(const fs::path &directory, const fs::path &path) {
    return std::ranges::mismatch(directory, path).in1 == directory.end();
}

std::optional<Located> located(const fs::path &file) {
    const fs::path directory = fs::weakly_canonical(file).parent_path();
    const fs::path points = directory.parent_path();
    const auto point = cd::checkpoint::point_of(directory.filename().string());
    return point && holds_points(points) ? std::optional(Located{points.parent_path().string(),
                                                                 {points.stem().string(), *point}})
                                         : std::nullopt;
}

// Also where what is in it cannot be read.
std::set<uint64_t> sessions_named_in(const fs::path &directory) {
    std::set<uint64_t> sessions;
    std::error_code error; // what cannot be listed has been complained about
    fs::directory_iterator entry(directory, error);
    for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
        if (const auto point = cd::checkpoint::point_of(entry->path().filename().string())) {
            sessions.insert(point->session);
        }
    }
    return sessions;
}

// What ranks have of a point in time, wherever it is.
std::vector<const RankFiles *> files_of(const Findings &findings, const CheckpointId &point) {
    std::vector<const RankFiles *> files;
    for (const cd::checkpoint::Content &content : findings.contents) {
        if (const auto found = content.points.find(point); found != content.points.end()) {
            for (const auto &[rank, theirs] : found->second) {
                files.push_back(&theirs);
            }
        }
    }
    return files;
}

// What is of another version, or what the system refuses to read, is no damage.
bool records_are_damaged(const Findings &findings, const CheckpointId &point,
                         const FoundSet &found) {
    return std::ranges::none_of(files_of(findings, point), [&](const RankFiles *files) {
        return (files->record && files->record->set.group == found.set.group) ||
               (files->unread && files->unread->code != CD_ERROR_STORE_DAMAGED);
    });
}

Attempts::Standing standing_of(const Findings &findings, const CheckpointId &point) {
    using Standing = Attempts::Standing;
    if (findings.has_forgotten(point)) {
        return Standing::forgotten;
    }
    const std::vector<CheckpointId> agreed = findings.agreed();
    if (std::ranges::find(agreed, point) != agreed.end()) {
        return Standing::counts;
    }
    const bool level_counts = std::ranges::any_of(agreed, [&](const CheckpointId &other) {
        return other.level == point.level && !findings.has_forgotten(other);
    });
    return level_counts ? Standing::unfinished : Standing::unrecorded;
}

// Sets of one attempt that scheme files tell of.
struct SetsFound {
    int groups = 0;
    std::set<int> numbers;
    std::set<int> ranks;
};

// What all of the job had is in no other set, where records tell that all had the root.
std::string why_it_is_lost(const std::vector<const RankFiles *> &files, const SetsFound &found) {
    std::string why = "no scheme file of it is left that can be read";
    const auto of_all = std::ranges::find_if(files, [](const RankFiles *each) {
        return each->record && each->record->participants == each->record->set.job_ranks;
    });
    if (of_all == files.end()) {
        return why;
    }
    std::vector<int> ranks;
    for (int rank = 0; rank < (*of_all)->record->participants; ++rank) {
        if (!found.ranks.contains(rank)) {
            ranks.push_back(rank);
        }
    }
    return why + "; that is so for " + cd::checkpoint::name_ranks(ranks);
}

void add_missing(const Findings &findings, SetsFound found, const Attempts::Missing &like,
                 std::vector<Attempts::Missing> &missing) {
    const auto files = files_of(findings, like.attempt.point);
    for (const RankFiles *each : files) {
        found.groups = std::max(found.groups, each->record ? each->record->set.groups : 0);
    }
    for (int group = 0; group < found.groups; ++group) {
        if (!found.numbers.contains(group)) {
            Attempts::Missing &one = missing.emplace_back(like);
            one.set.set.group = group;
            one.set.set.groups = found.groups;
            one.set.problem = why_it_is_lost(files, found);
        }
    }
}

// What records tell of a set of that number, if all tell the same.
std::optional<cd::redset::Set> recorded_set(const std::vector<const RankFiles *> &files,
                                            const cd::redset::Set &like) {
    std::optional<cd::redset::Set> recorded;
    for (const RankFiles *each : files) {
        if (!each->record || each->record->set.group != like.group) {
            continue;
        }
        const cd::redset::Set &told = each->record->set;
        if (told.groups != like.groups || recorded.value_or(told) != told) {
            return std::nullopt;
        }
        recorded = told;
    }
    return recorded;
}

// Whether both are of one set, as far as its members' ranks are known.
bool fits(const cd::redset::Set &found, const cd::redset::Set &recorded) {
    return found.shape == recorded.shape && found.group == recorded.group &&
           found.groups == recorded.groups && found.job_ranks == recorded.job_ranks &&
           std::ranges::equal(found.ranks, recorded.ranks,
                              [](int rank, int known) { return rank < 0 || rank == known; });
}

cd::Status write_records(const FoundSet &found, int participants) {
    for (size_t member = 0; member < found.places.size(); ++member) {
        const std::string scheme_file =
            found.places[member].scheme_file(found.set, static_cast<int>(member));
        const auto at = located(scheme_file);
        if (!at) {
            return cd::fail(CD_ERROR_ARGUMENT, "%s is in no directory of an attempt",
                            scheme_file.c_str());
        }
        cd::checkpoint::CheckpointDir folder;
        bool there = false;
        if (cd::Status status = cd::checkpoint::CheckpointDir::find(
                at->directory, at->attempt.root, true, folder, there, "directory");
            !status) {
            return status;
        }
        if (cd::Status status = folder.write_record(
                {at->attempt.point, found.set.ranks[member], participants, found.set}, true);
            !status) {
            return status;
        }
    }
    return cd::Status::ok();
}

} // namespace

Attempts::Attempts(const std::vector<std::string> &directories) : given_(directories) {
    for (const std::string &directory : directories) {
        const fs::path whole = fs::weakly_canonical(directory);
        for (const fs::path &above : {whole, whole.parent_path()}) {
            if (holds_points(above)) {
                look(above, whole);
            }
        }
        std::error_code error; // what cannot be listed has been complained about
        fs::recursive_directory_iterator entry(whole, error);
        for (; !error && entry != fs::recursive_directory_iterator(); entry.increment(error)) {
            std::error_code gone; // programs may be at work
            if (holds_points(entry->path()) &&
                entry->symlink_status(gone).type() == fs::file_type::directory) {
                look(entry->path(), whole);
            }
        }
    }
    roots_ = put_together(std::move(roots_));
}

void Attempts::look(const fs::path &directory, const fs::path &given) {
    Root &root = roots_.emplace_back();
    root.name = directory.stem().string();
    root.lies_in = {directory};
    root.sessions = sessions_named_in(directory);
    cd::checkpoint::Content content;
    if (cd::Status status = cd::checkpoint::look_at_points(directory.string(), content); status) {
        for (const auto &[point, files] : content.points) {
            const fs::path path = directory / cd::checkpoint::directory_name(point);
            if (is_in(given, path)) {
                root.directories[point] = path;
            }
        }
        for (const cd::checkpoint::CommitMarker &tombstone : content.tombstones) {
            root.sessions.insert(tombstone.sessions.begin(), tombstone.sessions.end());
        }
        root.findings.contents.push_back(std::move(content));
    } else {
        root.problem = {status.code(), cd::message()};
        root.is_everybodys = root.sessions.empty();
    }
}

const Root *Attempts::root_of(const std::optional<Attempt> &attempt) const {
    const auto root = std::ranges::find_if(roots_, [&](const Root &each) {
        return attempt && each.name == attempt->root &&
               each.sessions.contains(attempt->point.session);
    });
    return root == roots_.end() ? nullptr : &*root;
}

bool Attempts::are_of_one_run(const Attempt &a, const Attempt &b) const {
    return a.root == b.root && root_of(a) == root_of(b);
}

cd::Status Attempts::check_known(const FoundSet &found) const {
    const Root *root = root_of(attempt_of(found));
    if (root == nullptr || !root->problem) {
        return cd::Status::ok();
    }
    return cd::fail(root->problem->code, "%s", root->problem->why.c_str());
}

void Attempts::name_ranks(FoundSet &found) const {
    constexpr int most = 256; // a damaged number of members must not take anything
    const auto attempt = attempt_of(found);
    const Root *root = root_of(attempt);
    if (root == nullptr || !found.is_incomplete() || found.set.shape.members > most) {
        return;
    }
    for (const RankFiles *each : files_of(root->findings, attempt->point)) {
        if (!each->record || !fits(found.set, each->record->set)) {
            continue;
        }
        const std::vector<int> &ranks = each->record->set.ranks;
        for (size_t member = 0; member < ranks.size(); ++member) {
            if (found.set.ranks[member] < 0) {
                auto images = images_of(ranks[member], *root, attempt->point);
                found.copies[member] = images.empty() ? found.copies[member] : std::move(images);
            }
        }
        found.set.ranks = ranks;
        found.problem.clear();
        return;
    }
}

// Where a rank has an image, of which no scheme file tells.
cd::redset::Copies Attempts::images_of(int rank, const Root &root,
                                       const CheckpointId &point) const {
    cd::redset::Copies images;
    const std::string name = cd::checkpoint::image_name(rank);
    for (const fs::path &directory : root.lies_in) {
        const fs::path attempt = directory / cd::checkpoint::directory_name(point);
        std::error_code error;
        if (fs::symlink_status(attempt / name, error).type() == fs::file_type::regular &&
            cd::redset::is_in_bounds(attempt.string(), given_)) {
            images.push_back({attempt.string(), "", cd::redset::Links::refused, {}, name, {}});
        }
    }
    return images;
}

std::vector<FoundSet> Attempts::with_images_only(const std::vector<FoundSet> &found) const {
    std::vector<FoundSet> sets;
    for (const Missing &each : missing(found)) {
        const CheckpointId &point = each.attempt.point;
        const Root &root = *root_of(each.attempt);
        const auto files = files_of(root.findings, point);
        const auto recorded = recorded_set(files, each.set.set);
        if (!recorded) {
            continue;
        }
        FoundSet set;
        set.set = *recorded;
        set.none_is_left = true;
        for (const int rank : set.set.ranks) {
            set.copies.push_back(images_of(rank, root, point));
        }
        const auto is_none = [](const cd::redset::Copies &images) { return images.empty(); };
        if (std::ranges::none_of(set.copies, is_none)) {
            for (const cd::redset::Copies &copies : set.copies) {
                set.places.push_back(copies.front());
            }
            set.told.resize(set.copies.size());
            set.found = {set.places.front().scheme_file(set.set, 0)};
            sets.push_back(std::move(set));
        }
    }
    return sets;
}

Attempts::Standing Attempts::of(const FoundSet &found) const {
    const auto attempt = attempt_of(found);
    const Root *root = root_of(attempt);
    if (root == nullptr) {
        return Standing::counts;
    }
    const Findings &findings = root->findings;
    const Standing standing = standing_of(findings, attempt->point);
    return standing == Standing::counts && records_are_damaged(findings, attempt->point, found)
               ? Standing::damaged
               : standing;
}

std::vector<Attempts::Missing> Attempts::missing(const std::vector<FoundSet> &found) const {
    std::map<Attempt, SetsFound> sets;
    for (const FoundSet &each : found) {
        if (const auto attempt = attempt_of(each)) {
            SetsFound &of_it = sets[*attempt];
            of_it.groups = each.set.groups;
            of_it.numbers.insert(each.set.group);
            of_it.ranks.insert(each.set.ranks.begin(), each.set.ranks.end());
        }
    }
    std::vector<Missing> missing;
    for (const Root &root : roots_) {
        if (root.problem) {
            continue; // its sets that are found tell of it
        }
        for (const auto &[point, directory] : root.directories) {
            const Attempt attempt{root.name, point};
            const Standing standing = standing_of(root.findings, point);
            if (standing == Standing::counts ||
                (standing == Standing::unrecorded && sets.contains(attempt))) {
                add_missing(root.findings, sets[attempt], {attempt, directory, standing, {}},
                            missing);
            }
        }
    }
    return missing;
}

bool Attempts::root_counts(const std::optional<Attempt> &attempt) const {
    const Root *root = root_of(attempt);
    if (root == nullptr) {
        return false;
    }
    const Findings &findings = root->findings;
    return std::ranges::any_of(findings.agreed(), [&](const CheckpointId &point) {
        return !findings.has_forgotten(point) &&
               std::ranges::any_of(files_of(findings, point), &RankFiles::agreed);
    });
}

std::optional<Attempt> attempt_of(const FoundSet &found) {
    const auto at = located(found.found.front());
    return at ? std::optional(at->attempt) : std::nullopt;
}

cd::Status agree_on(const std::vector<const FoundSet *> &sets) {
    int participants = 0;
    std::map<int, const FoundSet *> groups;
    for (const FoundSet *found : sets) {
        if (groups.emplace(found->set.group, found).second) {
            participants += found->set.shape.members;
        }
    }
    const int wanted = sets.front()->set.groups;
    if (!std::cmp_equal(groups.size(), wanted)) {
        return cd::fail(CD_ERROR_ARGUMENT,
                        "%s: %zu of %d sets can be had whole; programs start from all of them",
                        fs::path(sets.front()->found.front()).parent_path().c_str(), groups.size(),
                        wanted);
    }
    for (const auto &[group, found] : groups) {
        Alone alone;
        cd::Status status = alone.with(*found, false);
        status = status ? write_records(*found, participants) : status;
        if (!status) {
            return status;
        }
    }
    return cd::Status::ok();
}

} // namespace cdctl
