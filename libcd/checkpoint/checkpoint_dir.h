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

// Why a record cannot be read.
struct Unread {
    cd_error code = CD_ERROR_STORE_DAMAGED;
    std::string why;
};

// What one rank has of a point in time in one directory.
struct RankFiles {
    std::map<std::string, uint64_t> sizes; // by name
    std::optional<Record> record;          // if there is one that can be read
    bool stored = false;                   // whether there is a record at all
    bool agreed = false;                   // whether the record is of after the agreement
    std::optional<Unread> unread;          // if there is one of after it that cannot
};

// What there is in a directory of points in time.
struct Content {
    std::map<CheckpointId, std::map<int, RankFiles>> points; // by rank
    std::vector<CommitMarker> tombstones;
};

// Of a directory that is no symbolic link. May throw std::bad_alloc.
Status names_in(const std::string &path, std::vector<std::string> &names);
// The same, where what is not there is empty.
Status names_in_if_there(const std::string &path, std::vector<std::string> &names);

// Writes a tree as a file of its own, with its checksum. A crash leaves the old file or the new
// one. writer: a rank that no other process has in that directory. sync: force the file to the
// disk.
Status write_tree(const redset::KvTree &tree, const std::string &path, int writer, bool sync);

// Fails also where something follows the tree.
Status read_tree(const std::string &path, redset::KvTree &tree);

// What is not ours is left alone and not told of. May throw std::bad_alloc.
Status look_at_points(const std::string &path, Content &content);

// The newest checkpoint in a directory NAME.points that a rank has recorded as committed, by names
// alone; nothing where the directory cannot be read. May throw std::bad_alloc.
std::optional<CheckpointId> find_newest_committed(const std::string &path);

// The directory of one root's points in time: DIR/NAME.points. All ranks of a node share it.
class CheckpointDir {
public:
    // Makes it if it is not there. key: what named it, for messages; a constant.
    static Status open(const std::string &directory, const std::string &root, bool sync,
                       CheckpointDir &folder, const char *key = key_of_stores);
    static std::string path_below(const std::string &directory, const std::string &root);

    const std::string &directory() const { return directory_; } // without the root's
    const std::string &path() const { return path_; }
    std::string path_of(const CheckpointId &point) const {
        return path_ + "/" + directory_name(point);
    }
    // In which a link is not one of our files.
    redset::Place place_of(const CheckpointId &point) const {
        return {path_of(point), "", redset::Links::refused};
    }
    os::FileIdentity identity() const { return identity_; }

    Status look(Content &content) const { return look_at_points(path_, content); }

    Status make(const CheckpointId &point) const;
    void remove_if_empty(const CheckpointId &point) const; // what make() made
    // The rank's record, under the name it has before the agreement, or after it. It gets the sizes
    // of the files that are there.
    Status write_record(Record record, bool agreed) const;
    Status mark_agreed(const CheckpointId &point, int rank) const;

    // What cannot be removed stays; nobody depends on it any more.
    void remove_files_of(const CheckpointId &point, int rank) const;
    // In it, and in all attempts.
    void remove_drafts_of_the_dead() const;
    // Attempts with smaller numbers, but for those of levels that keep what they have. Fails where
    // a record that one of them counted stays, with all that is beside it.
    Status remove_before(uint64_t number,
                         const std::function<bool(const CheckpointId &)> &keeps) const;

    // writer: a rank that nobody else is in this directory.
    Status write_commit_marker(const CommitMarker &tombstone, int writer) const;
    Status remove_commit_marker(uint64_t number) const;
    void remove_what_is_left() const; // tombstones and the list of stores
    void remove_if_empty() const;

private:
    static Status name(const std::string &directory, const std::string &root, bool sync,
                       const char *key, CheckpointDir &folder);
    Status open_directory();
    Status remove(const CheckpointId &point) const;
    Status force(const std::string &path) const;

    std::string directory_;
    std::string path_;
    os::FileIdentity identity_;
    const char *key_ = key_of_stores;
    bool sync_ = true;
};

} // namespace cd::checkpoint
