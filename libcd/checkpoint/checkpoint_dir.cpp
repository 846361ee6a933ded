// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "checkpoint/checkpoint_dir.h"

#include "base/text.h"
#include "file_store/permissions.h"
#include "redset/atomic_files.h"
#include "redset/kvtree_file.h"
#include "redset/member_files.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <functional>

namespace cd::checkpoint {
namespace {

constexpr int reading = O_RDONLY | O_DIRECTORY | O_NOFOLLOW;

File opened_to_read(const std::string &path) {
    return {os::system().open_at(AT_FDCWD, path.c_str(), reading, 0), path};
}

Status read_record_file(const std::string &path, const CheckpointId &id, int rank, Record &record) {
    redset::KvTree tree;
    uint64_t size = 0;
    Status status = redset::read_own_image(path, tree, size);
    status = status ? read_record(tree, path.c_str(), record) : status;
    return !status || (record.id == id && record.rank == rank)
               ? status
               : fail(CD_ERROR_STORE_DAMAGED,
                      "%s: this is the record of another rank or checkpoint", path.c_str());
}

// Files that cannot be opened count as lost. A record that cannot be read still tells how far its
// rank has come.
void add_file(const std::string &path, const std::string &name, int rank, const CheckpointId &id,
              RankFiles &files) {
    File file;
    os::FileAttributes attributes;
    if (redset::open_own_to_read(path, file, attributes)) {
        files.sizes[name] = attributes.size;
    }
    const bool committed = name == committed_record_name(rank);
    if (!committed && name != stored_record_name(rank)) {
        return;
    }
    files.stored = true;
    files.committed = files.committed || committed;
    if (Record record; read_record_file(path, id, rank, record)) {
        files.record = std::move(record);
    }
}

Status read_checkpoint(const std::string &path, const CheckpointId &id,
                       std::map<int, RankFiles> &ranks) {
    std::vector<std::string> names;
    if (Status status = names_in(path, names); !status) {
        return status;
    }
    const SavedMessage keeper;
    for (const std::string &name : names) {
        if (const auto rank = rank_of_file(name)) {
            add_file(path_in(path, name), name, *rank, id, ranks[*rank]);
        } else if (const auto writer = redset::writer_of_draft(name)) {
            ranks[*writer]; // it has begun to store
        }
    }
    return Status::ok();
}

// Lists nothing where the directory cannot be read.
std::vector<std::string> readable_names_in(const std::string &path) {
    const SavedMessage keeper;
    std::vector<std::string> names;
    (void)names_in(path, names).is_ok();
    return names;
}

// Without the marker it is not known which checkpoints are valid. Users decide.
Status read_commit_marker_file(const std::string &path, CommitMarker &marker) {
    redset::KvTree tree;
    uint64_t size = 0;
    Status status = redset::read_own_image(path, tree, size);
    status = status ? read_commit_marker(tree, path.c_str(), marker) : status;
    if (status) {
        return status;
    }
    const std::string why = message();
    return fail(
        status.code(),
        "%s; the root was committed, and this file says which checkpoints are not valid any "
        "more: remove the file to start from them, or remove them all",
        why.c_str());
}

// Removes a file. Gives whether it is gone now.
bool remove_file(const File &directory, const std::string &name) {
    return os::system().unlink_at(directory.descriptor(), name.c_str()) == 0 || errno == ENOENT;
}

bool is_committed_record(const std::string &name) { return name.ends_with(".agreed"); }

// Writes a tree as a file of its own. A crash leaves the old file or the new one. writer: a rank
// that no other process has in that directory.
Status write_tree(const redset::KvTree &tree, const std::string &path, int writer, bool sync) {
    redset::Drafts drafts(writer, sync);
    size_t draft = 0;
    Status status = drafts.create(path, tree, draft);
    status = status ? drafts.finish(draft) : status;
    return status ? drafts.publish() : status;
}

} // namespace

Status names_in(const std::string &path, std::vector<std::string> &names) {
    const File directory = opened_to_read(path);
    if (!directory.is_open() || os::system().list(directory.descriptor(), names) != 0) {
        return directory.refused("list the directory");
    }
    return Status::ok();
}

Status read_content(const std::string &path, Content &content) {
    std::vector<std::string> names;
    if (Status status = names_in(path, names); !status) {
        return status;
    }
    Content found;
    for (const std::string &name : names) {
        if (number_of_commit_marker(name)) {
            CommitMarker &marker = found.commit_markers.emplace_back();
            if (Status status = read_commit_marker_file(path_in(path, name), marker); !status) {
                return status;
            }
        } else if (const auto id = id_of_directory(name)) {
            if (Status status = read_checkpoint(path_in(path, name), *id, found.checkpoints[*id]);
                !status) {
                return status;
            }
        }
    }
    content = std::move(found);
    return Status::ok();
}

std::optional<CheckpointId> find_newest_committed(const std::string &path) {
    std::optional<CheckpointId> newest;
    for (const std::string &name : readable_names_in(path)) {
        const auto id = id_of_directory(name);
        if (id && (!newest || *newest < *id) &&
            std::ranges::any_of(readable_names_in(path_in(path, name)), is_committed_record)) {
            newest = id;
        }
    }
    return newest;
}

// Makes a relative name absolute: the program may change its working directory later.
Status CheckpointDir::open(const std::string &directory, const std::string &root, bool sync,
                           CheckpointDir &folder, const char *key) {
    CheckpointDir opened;
    if (!directory.starts_with('/') && os::system().working_directory(opened.directory_) != 0) {
        return File(-1, directory).refused("find the working directory");
    }
    opened.directory_ += (opened.directory_.empty() ? "" : "/") + directory;
    opened.path_ = path_below(opened.directory_, root);
    opened.sync_ = sync;
    opened.key_ = key;
    Directory checked;
    Status status = Directory::open(opened.path_, checked, key);
    status = status && sync ? checked.force() : status;
    if (status && os::system().identify(checked.descriptor(), opened.identity_) != 0) {
        status = File(-1, opened.path_).refused("look at the directory");
    }
    if (status) {
        folder = std::move(opened);
    }
    return status;
}

std::string CheckpointDir::path_below(const std::string &directory, const std::string &root) {
    return directory + "/" + root + end_of_points;
}

Status CheckpointDir::make(const CheckpointId &id) const {
    Directory directory;
    const std::string path = path_of(id);
    if (Status status = Directory::open(path, directory, key_); !status) {
        return status;
    }
    return sync_ ? directory.force() : Status::ok();
}

void CheckpointDir::remove_if_empty(const CheckpointId &id) const {
    os::system().remove_directory_at(AT_FDCWD, path_of(id).c_str());
}

Status CheckpointDir::write_record(const Record &record, bool committed) const {
    const std::string name =
        committed ? committed_record_name(record.rank) : stored_record_name(record.rank);
    return write_tree(record_tree(record), path_in(path_of(record.id), name), record.rank, sync_);
}

Status CheckpointDir::mark_committed(const CheckpointId &id, int rank) const {
    const File directory = opened_to_read(path_of(id));
    const std::string from = stored_record_name(rank);
    const std::string to = committed_record_name(rank);
    if (!directory.is_open() ||
        os::system().rename_at(directory.descriptor(), from.c_str(), to.c_str()) != 0) {
        return directory.refused("record the checkpoint as committed");
    }
    return sync_ ? directory.sync_all() : Status::ok();
}

// Removes records first, so that the remaining files never look like a lost checkpoint. Other nodes
// may remove the same at the same time.
Status CheckpointDir::remove(const CheckpointId &id) const {
    const std::string path = path_of(id);
    const File directory = opened_to_read(path);
    if (!directory.is_open() && errno == ENOENT) {
        return Status::ok();
    }
    std::vector<std::string> names;
    if (!directory.is_open() || os::system().list(directory.descriptor(), names) != 0) {
        return directory.refused("list the directory");
    }
    const auto others = std::stable_partition(names.begin(), names.end(), is_committed_record);
    for (auto name = names.begin(); name != names.end(); ++name) {
        if (!remove_file(directory, *name) && name < others) {
            return directory.refused("remove a record in the directory");
        }
    }
    os::system().remove_directory_at(AT_FDCWD, path.c_str());
    return Status::ok();
}

void CheckpointDir::remove_files_of(const CheckpointId &id, int rank) const {
    const File directory = opened_to_read(path_of(id));
    for (const std::string &name : readable_names_in(path_of(id))) {
        if (rank_of_file(name) == rank) {
            remove_file(directory, name);
        }
    }
}

void CheckpointDir::remove_drafts() const {
    redset::remove_drafts(path_);
    for (const std::string &name : readable_names_in(path_)) {
        if (id_of_directory(name)) {
            redset::remove_drafts(path_in(path_, name));
        }
    }
}

Status CheckpointDir::remove_before(uint64_t number,
                                    const std::function<bool(const CheckpointId &)> &keeps) const {
    std::vector<std::string> names;
    Status outcome = names_in(path_, names);
    for (const std::string &name : names) {
        const auto id = id_of_directory(name);
        if (id && id->number < number && !keeps(*id)) {
            Status status = remove(*id);
            outcome = outcome ? status : outcome;
        }
    }
    return outcome;
}

Status CheckpointDir::write_commit_marker(const CommitMarker &marker, int writer) const {
    return write_tree(commit_marker_tree(marker), path_in(path_, commit_marker_name(marker.number)),
                      writer, sync_);
}

Status CheckpointDir::remove_commit_marker(uint64_t number) const {
    const File directory = opened_to_read(path_);
    if (!directory.is_open() || !remove_file(directory, commit_marker_name(number))) {
        return directory.refused("remove the commit marker");
    }
    return sync_ ? directory.sync_all() : Status::ok();
}

void CheckpointDir::remove_commit_markers() const {
    const File directory = opened_to_read(path_);
    for (const std::string &name : readable_names_in(path_)) {
        if (number_of_commit_marker(name)) {
            remove_file(directory, name);
        }
    }
    remove_if_empty();
}

void CheckpointDir::remove_if_empty() const {
    os::system().remove_directory_at(AT_FDCWD, path_.c_str());
}

} // namespace cd::checkpoint
