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

// Says in a folder that the drafts whose names begin with its own are those of somebody who lives:
// a locked file, which is there before the first of them and until none is. Jobs and threads with
// the same folder, and the same writer in it, do not meet each other's drafts; what somebody who
// died left is removed by the next with that writer.
class DraftMark {
public:
    // folder: an open directory. May throw std::bad_alloc.
    static Status make(const File &folder, int writer, std::unique_ptr<DraftMark> &mark);

    DraftMark(const DraftMark &) = delete;
    DraftMark &operator=(const DraftMark &) = delete;
    ~DraftMark();

    std::string draft(size_t number) const { return path_ + "." + std::to_string(number); }

private:
    DraftMark(std::string name, std::string path, File file);

    std::string name_;
    std::string path_;
    File file_;
};

// Whoever wrote them, who may have had nothing more to write after it was interrupted. What
// somebody who lives has in the folder stays. May throw std::bad_alloc.
void remove_drafts_of_the_dead(const std::string &folder);

// Whose draft, or mark, a file of this name is.
std::optional<int> writer_of_draft(std::string_view file_name);

// Files that are written beside those whose names they get, so that a name always leads to a whole
// file: the old one, or none, until publish(). What is not published is gone with the Drafts.
class Drafts {
public:
    // writer: whose drafts of an earlier process may be removed. sync: whether a crash of the
    // machine counts.
    Drafts(int writer, bool sync) : writer_(writer), sync_(sync) {}
    Drafts(const Drafts &) = delete;
    Drafts &operator=(const Drafts &) = delete;
    ~Drafts();

    // An empty file that will be path; directories that path names are made. Gives its number. The
    // file stays open, to be read and written, while keep_open; else open it again.
    Status create(const std::string &path, size_t &number, bool keep_open);
    Status reopen(size_t number, File &file) const;
    const File &file(size_t number) const { return drafts_[number].file; }
    const std::string &path(size_t number) const { return drafts_[number].temporary; } // until then

    // As it was when it was stored. That it belongs to who runs this, instead of its owner, is no
    // failure: few may give files away.
    Status finish(size_t number, const std::optional<os::FileAttributes> &attributes);

    // It will not be published.
    void give_up(size_t number);

    // Each takes its name, after all were finished.
    Status publish();

private:
    struct Draft {
        std::string path;
        std::string temporary;
        File file;
        bool there = false;
    };
    // In whose name drafts are in a folder.
    Status mark_in(const std::string &folder, const DraftMark *&mark);

    int writer_;
    bool sync_;
    std::map<std::string, std::unique_ptr<DraftMark>> marks_; // by folder
    std::vector<Draft> drafts_;
};

} // namespace cd::redset
