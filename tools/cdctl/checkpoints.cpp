// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "checkpoints.h"

#include "checkpoint/checkpoint_dir.h"
#include "file_store/permissions.h"
#include "os/system.h"

#include <algorithm>
#include <set>
#include <system_error>
#include <utility>

namespace cdctl {
namespace {

namespace fs = std::filesystem;
using cd::checkpoint::CheckpointDir;
using cd::checkpoint::CheckpointId;
using cd::checkpoint::DirLock;
using cd::checkpoint::Inventory;

bool holds_checkpoints(const fs::path &directory) {
    return directory.extension() == cd::end_of_points;
}

cd::Status write_records(const WholeSet &set, int participants) {
    for (size_t member = 0; member < set.places->size(); ++member) {
        const fs::path file =
            (*set.places)[member].scheme_file(set.found->set, static_cast<int>(member));
        const auto checkpoint = checkpoint_of(file);
        if (!checkpoint) {
            return cd::fail(CD_ERROR_ARGUMENT, "%s is not in the directory of a checkpoint",
                            file.c_str());
        }
        const fs::path directory = fs::weakly_canonical(file).parent_path().parent_path();
        CheckpointDir folder;
        cd::Status status = CheckpointDir::open(directory.parent_path(), checkpoint->root, true,
                                                folder, "directory");
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
    const auto id = cd::checkpoint::id_of_directory(directory.filename().string());
    return id && holds_checkpoints(directory.parent_path())
               ? std::optional(Checkpoint{directory.parent_path().stem().string(), *id})
               : std::nullopt;
}

Checkpoints::Checkpoints(const std::vector<std::string> &directories, bool dry_run) {
    std::set<fs::path> found;
    for (const std::string &directory : directories) {
        const fs::path whole = fs::weakly_canonical(directory);
        for (const fs::path &above : {whole, whole.parent_path()}) {
            if (holds_checkpoints(above)) {
                found.insert(above);
            }
        }
        std::error_code error; // already reported by the search for sets
        fs::recursive_directory_iterator entry(whole, error);
        for (; !error && entry != fs::recursive_directory_iterator(); entry.increment(error)) {
            std::error_code gone; // programs may be at work
            if (holds_checkpoints(entry->path()) &&
                entry->symlink_status(gone).type() == fs::file_type::directory) {
                found.insert(entry->path());
            }
        }
    }
    for (const fs::path &directory : found) {
        read_directory(directory, dry_run);
    }
}

// Reads the records of one directory and locks it. A read-only directory is not locked: a rebuild
// that has to write there fails.
void Checkpoints::read_directory(const fs::path &directory, bool dry_run) {
    Root &root = roots_[directory.stem().string()];
    cd::checkpoint::User user;
    (void)cd::os::system().random(&user.session, sizeof user.session);
    (void)cd::os::system().host_name(user.node); // only for people to read
    cd::Status lock = DirLock::check_unused(directory.string());
    if (lock && !dry_run) {
        lock = DirLock::take(directory.string(), user, locks_.emplace_back());
    }
    if (lock.code() == CD_ERROR_STORE_LOCKED) {
        root.problem = cd::SavedStatus(lock);
        return;
    }
    cd::checkpoint::Content content;
    if (cd::Status read = cd::checkpoint::read_content(directory.string(), content); !read) {
        root.problem = cd::SavedStatus(read);
        return;
    }
    root.inventory.contents.push_back(std::move(content));
}

const Checkpoints::Root *Checkpoints::root_of(const std::optional<Checkpoint> &checkpoint) const {
    const auto root = checkpoint ? roots_.find(checkpoint->root) : roots_.end();
    return root == roots_.end() ? nullptr : &root->second;
}

cd::Status Checkpoints::check_usable(const std::optional<Checkpoint> &checkpoint) const {
    const Root *root = root_of(checkpoint);
    return root == nullptr ? cd::Status::ok() : root->problem.again();
}

Checkpoints::Standing Checkpoints::of(const std::optional<Checkpoint> &checkpoint) const {
    const Root *root = root_of(checkpoint);
    if (root == nullptr) {
        return Standing::committed;
    }
    const Inventory &inventory = root->inventory;
    if (inventory.is_of_committed_root(checkpoint->id)) {
        return Standing::removed;
    }
    std::vector<CheckpointId> committed = inventory.committed();
    std::erase_if(committed,
                  [&](const CheckpointId &id) { return inventory.is_of_committed_root(id); });
    if (std::ranges::find(committed, checkpoint->id) != committed.end()) {
        return Standing::committed;
    }
    return committed.empty() ? Standing::unrecorded : Standing::unfinished;
}

bool Checkpoints::has_records_of(const std::optional<Checkpoint> &checkpoint, int group) const {
    const Root *root = root_of(checkpoint);
    const auto has_record = [&](const cd::checkpoint::Content &content) {
        const auto found = content.checkpoints.find(checkpoint->id);
        return found != content.checkpoints.end() &&
               std::ranges::any_of(found->second, [&](const auto &rank) {
                   return rank.second.record && rank.second.record->set.group == group;
               });
    };
    return root == nullptr || std::ranges::any_of(root->inventory.contents, has_record);
}

cd::Status commit_checkpoint(const std::vector<WholeSet> &sets) {
    int participants = 0;
    std::map<int, const WholeSet *> groups;
    for (const WholeSet &set : sets) {
        if (groups.emplace(set.found->set.group, &set).second) {
            participants += set.found->set.coding.members;
        }
    }
    const cd::redset::FoundSet &first = *sets.front().found;
    if (!std::cmp_equal(groups.size(), first.set.groups)) {
        return cd::fail(CD_ERROR_ARGUMENT,
                        "%s: only %zu of %d sets are whole; programs need all to start",
                        fs::path(first.scheme_files.front()).parent_path().c_str(), groups.size(),
                        first.set.groups);
    }
    for (const auto &[group, set] : groups) {
        if (cd::Status status = write_records(*set, participants); !status) {
            return status;
        }
    }
    return cd::Status::ok();
}

} // namespace cdctl
