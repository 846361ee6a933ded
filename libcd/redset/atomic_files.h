// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "base/status.h"
#include "file_store/file.h"
#include "os/system.h"

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cd::redset {

// Removes drafts in a folder whose writers have died. May throw std::bad_alloc.
void remove_drafts_of_the_dead(const std::string &folder);

// Returns the writer of a draft or mark with this name, nothing for other files.
std::optional<int> writer_of_draft(std::string_view file_name);

// Writes files beside the names that they get, so that a name always leads to a whole file: the old
// one, or none, until publish(). The destructor removes what is not published.
class Drafts {
public:
    // `writer`: whose drafts of a dead process are removed. `sync`: forces files to the disk.
    Drafts(int writer, bool sync);
    Drafts(const Drafts &) = delete;
    Drafts &operator=(const Drafts &) = delete;
    ~Drafts();

    // Creates an empty file that will become `path`, with its directories. `number` receives its
    // number. `keep_open`: the file stays open for reading and writing; otherwise reopen() it.
    Status create(const std::string &path, size_t &number, bool keep_open);
    Status reopen(size_t number, File &file) const;
    const File &file(size_t number) const { return drafts_[number].file; }

    // Sets the attributes of a stored file. It is no failure if the process may not set the owner.
    Status finish(size_t number, const std::optional<os::FileAttributes> &attributes);

    // Removes a draft.
    void give_up(size_t number);

    // Gives each draft its name. All must be finished.
    Status publish();

private:
    class Mark;
    struct Draft {
        std::string path;
        std::string temporary;
        File file;
        bool there = false;
    };
    // Returns the path of the mark in a folder, and makes it if needed.
    Status mark_in(const std::string &folder, std::string &path);

    int writer_;
    bool sync_;
    std::map<std::string, std::unique_ptr<Mark>> marks_; // by folder
    std::vector<Draft> drafts_;
};

} // namespace cd::redset
