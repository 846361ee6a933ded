// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "base/status.h"
#include "file_store/file.h"
#include "os/system.h"
#include "redset/kvtree.h"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cd::redset {

// Removes all drafts in a folder, where no process may be writing. Ignores failures.
void remove_drafts(const std::string &folder);

// Returns the writer of a draft with this name, nothing for other files.
std::optional<int> writer_of_draft(std::string_view file_name);

// Writes files beside the names that they get, so that a name always leads to a whole file: the old
// one, or none, until publish(). The destructor removes what is not published.
class Drafts {
public:
    // `writer`: a rank, for the names of drafts. `sync`: forces files to the disk.
    Drafts(int writer, bool sync) : writer_(writer), sync_(sync) {}
    Drafts(const Drafts &) = delete;
    Drafts &operator=(const Drafts &) = delete;
    ~Drafts();

    // Creates an empty file that will become `path`, with its directories. `number` receives its
    // number. `keep_open`: the file stays open for reading and writing; otherwise reopen() it.
    Status create(const std::string &path, size_t &number, bool keep_open = true);
    // Creates a file that begins with the image of a tree, and keeps it open.
    Status create(const std::string &path, const KvTree &tree, size_t &number);
    Status reopen(size_t number, File &file) const;
    const File &file(size_t number) const { return drafts_[number].file; }

    // Sets the attributes of a stored file. It is no failure if the process may not set the owner.
    Status finish(size_t number, const std::optional<os::FileAttributes> &attributes = {});

    // Removes a draft.
    void give_up(size_t number);

    // Gives each draft its name. All must be finished.
    Status publish();

private:
    struct Draft {
        std::string path;
        std::string temporary;
        File file;
        bool there = false;
    };

    int writer_;
    bool sync_;
    std::string prefix_; // of the drafts' names; no other Drafts have it
    std::vector<Draft> drafts_;
};

} // namespace cd::redset
