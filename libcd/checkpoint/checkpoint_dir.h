// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "checkpoint/checkpoint.h"
#include "file_store/directory.h"

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace cd::checkpoint {

// The files of one rank of a checkpoint in one directory.
struct RankFiles {
    std::map<std::string, uint64_t> sizes; // by name
    std::optional<Record> record;          // one that can be read
    bool stored = false;                   // there is a record, readable or not
    bool committed = false;                // there is a record of the committed checkpoint
};

// The content of a directory NAME.points.
struct Content {
    std::map<CheckpointId, std::map<int, RankFiles>> checkpoints; // by rank
    std::vector<CommitMarker> commit_markers;
};

// Lists a directory that is no symbolic link. May throw std::bad_alloc.
Status names_in(const std::string &path, std::vector<std::string> &names);

// Reads what is in a directory NAME.points. Ignores files that are not ours. May throw
// std::bad_alloc.
Status read_content(const std::string &path, Content &content);

// The newest checkpoint in a directory NAME.points that a rank has recorded as committed, by names
// alone; nothing where the directory cannot be read. May throw std::bad_alloc.
std::optional<CheckpointId> find_newest_committed(const std::string &path);

// The directory of one root's checkpoints: DIR/NAME.points. All ranks of a node share it.
class CheckpointDir {
public:
    // Makes it if it is not there. key: what named it, for messages; must stay valid.
    static Status open(const std::string &directory, const std::string &root, bool sync,
                       CheckpointDir &folder, const char *key = key_of_stores);
    static std::string path_below(const std::string &directory, const std::string &root);

    const std::string &directory() const { return directory_; } // without the root's
    const std::string &path() const { return path_; }
    std::string path_of(const CheckpointId &id) const { return path_ + "/" + directory_name(id); }
    // For redset, with links refused.
    redset::Place place_of(const CheckpointId &id) const {
        return {path_of(id), "", redset::Links::refused};
    }
    os::FileIdentity identity() const { return identity_; }

    Status read(Content &content) const { return read_content(path_, content); }

    Status make(const CheckpointId &id) const;
    void remove_if_empty(const CheckpointId &id) const;
    // Writes a rank's record. committed: as of a committed checkpoint.
    Status write_record(const Record &record, bool committed) const;
    Status mark_committed(const CheckpointId &id, int rank) const;

    // Files that cannot be removed stay; no restart needs them.
    void remove_files_of(const CheckpointId &id, int rank) const;
    // In this directory and those of its checkpoints. No process may be writing there.
    void remove_drafts() const;
    // Removes checkpoints with smaller numbers that `keeps` does not name. Fails where the record
    // of a committed one cannot be removed; its files stay then.
    Status remove_before(uint64_t number,
                         const std::function<bool(const CheckpointId &)> &keeps) const;

    // writer: a rank that no other process has in this directory.
    Status write_commit_marker(const CommitMarker &marker, int writer) const;
    Status remove_commit_marker(uint64_t number) const;
    void remove_commit_markers() const; // and the directory, if it is empty then
    void remove_if_empty() const;

private:
    Status remove(const CheckpointId &id) const;

    std::string directory_;
    std::string path_;
    os::FileIdentity identity_;
    const char *key_ = key_of_stores;
    bool sync_ = true;
};

} // namespace cd::checkpoint
