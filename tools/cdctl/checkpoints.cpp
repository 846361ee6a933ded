// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "checkpoints.h"

#include "checkpoint/checkpoint_dir.h"
#include "file_store/permissions.h"
#include "os/system.h"

#include <algorithm>
#include <system_error>
#include <utility>

namespace cdctl {
namespace {

namespace fs = std::filesystem;
using cd::checkpoint::CheckpointId;
using cd::checkpoint::Inventory;
using cd::checkpoint::RankFiles;
using cd::redset::FoundSet;

bool holds_checkpoints(const fs::path &directory) {
    return directory.extension() == cd::end_of_points;
}

// Returns what each rank has of a checkpoint, in all directories.
std::vector<const RankFiles *> files_of(const Inventory &findings, const CheckpointId &id) {
    std::vector<const RankFiles *> files;
    for (const cd::checkpoint::Content &content : findings.contents) {
        if (const auto found = content.points.find(id); found != content.points.end()) {
            for (const auto &[rank, theirs] : found->second) {
                files.push_back(&theirs);
            }
        }
    }
    return files;
}

// A record of another version, or one that the system refuses to read, is not damaged.
bool records_are_damaged(const Inventory &findings, const CheckpointId &id, int group) {
    return std::ranges::none_of(files_of(findings, id), [&](const RankFiles *files) {
        return (files->record && files->record->set.group == group) ||
               (files->unread && files->unread->code != CD_ERROR_STORE_DAMAGED);
    });
}

std::string this_node() {
    std::string name;
    (void)cd::os::system().host_name(name); // only for people to read
    return name;
}

cd::Status write_records(const WholeSet &set, int participants) {
    for (size_t member = 0; member < set.places.size(); ++member) {
        const fs::path file =
            set.places[member].scheme_file(set.found->set, static_cast<int>(member));
        const auto checkpoint = checkpoint_of(file);
        if (!checkpoint) {
            return cd::fail(CD_ERROR_ARGUMENT, "%s is not in the directory of a checkpoint",
                            file.c_str());
        }
        const fs::path directory = fs::weakly_canonical(file).parent_path().parent_path();
        cd::checkpoint::CheckpointDir folder;
        cd::Status status = cd::checkpoint::CheckpointDir::open(
            directory.parent_path(), checkpoint->root, true, folder, "directory");
        if (status) {
            status = folder.write_record(
                {checkpoint->id, set.found->set.ranks[member], participants, set.found->set}, true);
        }
        if (!status) {
            return status;
        }
    }
    return cd::Status::ok();
}

} // namespace

std::optional<Checkpoint> checkpoint_of(const fs::path &file) {
    const fs::path directory = fs::weakly_canonical(file).parent_path();
    const auto id = cd::checkpoint::point_of(directory.filename().string());
    return id && holds_checkpoints(directory.parent_path())
               ? std::optional(Checkpoint{directory.parent_path().stem().string(), *id})
               : std::nullopt;
}

Checkpoints::Checkpoints(const std::vector<std::string> &directories) {
    std::set<fs::path> found;
    for (const std::string &directory : directories) {
        const fs::path whole = fs::weakly_canonical(directory);
        for (const fs::path &above : {whole, whole.parent_path()}) {
            if (holds_checkpoints(above)) {
                found.insert(above);
            }
        }
        std::error_code error; // whoever searched for sets has complained about it
        fs::recursive_directory_iterator entry(whole, error);
        for (; !error && entry != fs::recursive_directory_iterator(); entry.increment(error)) {
            std::error_code gone; // programs may be at work
            if (holds_checkpoints(entry->path()) &&
                entry->symlink_status(gone).type() == fs::file_type::directory) {
                found.insert(entry->path());
            }
        }
    }
    std::ranges::for_each(found, [this](const fs::path &directory) { look_into(directory); });
    for (auto &[name, root] : roots_) {
        check_sessions(name, root);
    }
}

void Checkpoints::look_into(const fs::path &directory) {
    Root &root = roots_[directory.stem().string()];
    cd::checkpoint::Content content;
    if (cd::Status status = cd::checkpoint::read_content(directory.string(), content); !status) {
        root.problem = {status.code(), cd::message()};
        return;
    }
    Directory &here = root.directories.emplace_back();
    here.path = directory.string();
    for (const auto &[id, files] : content.points) {
        here.sessions.insert(id.session);
    }
    for (const cd::checkpoint::CommitMarker &marker : content.commit_markers) {
        here.sessions.insert(marker.sessions.begin(), marker.sessions.end());
    }
    root.findings.contents.push_back(std::move(content));
}

// A run is a job with its restarts. Its directories have sessions in common, some of them only
// through others.
void Checkpoints::check_sessions(const std::string &name, Root &root) {
    std::vector<Directory> others = root.directories;
    std::erase_if(others, [](const Directory &each) { return each.sessions.empty(); });
    if (others.empty() || root.problem) {
        return;
    }
    const std::string first = others.front().path;
    std::set<uint64_t> sessions = others.front().sessions;
    const auto is_of_the_run = [&](const Directory &each) {
        const bool is = std::ranges::any_of(
            each.sessions, [&](uint64_t session) { return sessions.contains(session); });
        if (is) {
            sessions.insert(each.sessions.begin(), each.sessions.end());
        }
        return is;
    };
    while (std::erase_if(others, is_of_the_run) > 0) {
    }
    if (!others.empty()) {
        root.problem = {CD_ERROR_ARGUMENT, "root " + name + ": " + first + " and " +
                                               others.front().path +
                                               " are of different runs; give the directories of "
                                               "one run"};
    }
}

const Checkpoints::Root *Checkpoints::root_of(const std::optional<Checkpoint> &checkpoint) const {
    const auto root = checkpoint ? roots_.find(checkpoint->root) : roots_.end();
    return root == roots_.end() ? nullptr : &root->second;
}

cd::Status Checkpoints::check_readable(const std::optional<Checkpoint> &checkpoint) const {
    const Root *root = root_of(checkpoint);
    return root == nullptr || !root->problem
               ? cd::Status::ok()
               : cd::fail(root->problem->code, "%s", root->problem->why.c_str());
}

Checkpoints::Standing Checkpoints::of(const std::optional<Checkpoint> &checkpoint,
                                      int group) const {
    const Root *root = root_of(checkpoint);
    if (root == nullptr) {
        return Standing::committed;
    }
    const Inventory &findings = root->findings;
    const CheckpointId &id = checkpoint->id;
    if (findings.is_forgotten(id)) {
        return Standing::removed;
    }
    const std::vector<CheckpointId> committed = findings.committed();
    if (std::ranges::find(committed, id) != committed.end()) {
        return records_are_damaged(findings, id, group) ? Standing::damaged : Standing::committed;
    }
    const bool another = std::ranges::any_of(committed, [&](const CheckpointId &other) {
        return other.level == id.level && !findings.is_forgotten(other);
    });
    return another ? Standing::unfinished : Standing::unrecorded;
}

bool Checkpoints::has_committed(const std::optional<Checkpoint> &checkpoint) const {
    const Root *root = root_of(checkpoint);
    if (root == nullptr) {
        return false;
    }
    const Inventory &findings = root->findings;
    return std::ranges::any_of(findings.committed(), [&](const CheckpointId &id) {
        return !findings.is_forgotten(id) &&
               std::ranges::any_of(files_of(findings, id), &RankFiles::agreed);
    });
}

cd::Status CheckpointLock::take(const FoundSet &found, bool dry_run) {
    std::set<fs::path> files(found.scheme_files.begin(), found.scheme_files.end());
    for (size_t member = 0; member < found.copies.size(); ++member) {
        for (const cd::redset::Place &place : found.copies[member]) {
            files.insert(place.scheme_file(found.set, static_cast<int>(member)));
        }
    }
    std::set<std::string> directories;
    for (const fs::path &file : files) {
        const fs::path folder = fs::weakly_canonical(file.parent_path());
        if (cd::checkpoint::point_of(folder.filename().string())) {
            directories.insert(folder.parent_path().string());
        }
    }
    cd::checkpoint::User user{0, 0, this_node()};
    (void)cd::os::system().random(&user.session, sizeof user.session);
    for (const std::string &directory : directories) {
        cd::Status status = cd::checkpoint::DirLock::check_unused(directory);
        if (status && !dry_run) {
            status = cd::checkpoint::DirLock::take(directory, user, locks_.emplace_back());
        }
        // Where nothing may be written, the rebuild itself fails if it has to write.
        if (status.code() == CD_ERROR_STORE_LOCKED) {
            return status;
        }
    }
    return cd::Status::ok();
}

cd::Status commit_checkpoint(const std::vector<WholeSet> &sets) {
    int participants = 0;
    std::map<int, const WholeSet *> groups;
    for (const WholeSet &set : sets) {
        if (groups.emplace(set.found->set.group, &set).second) {
            participants += set.found->set.shape.members;
        }
    }
    const FoundSet &first = *sets.front().found;
    if (!std::cmp_equal(groups.size(), first.set.groups)) {
        return cd::fail(CD_ERROR_ARGUMENT,
                        "%s: %zu of %d sets can be had whole; programs start from all of them",
                        fs::path(first.scheme_files.front()).parent_path().c_str(), groups.size(),
                        first.set.groups);
    }
    for (const auto &[group, set] : groups) {
        CheckpointLock lock;
        cd::Status status = lock.take(*set->found, false);
        status = status ? write_records(*set, participants) : status;
        if (!status) {
            return status;
        }
    }
    return cd::Status::ok();
}

} // namespace cdctl
