// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "base/status.h"
#include "file_store/file.h"
#include "os/system.h"
#include "redset/draft_mark.h"

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace cd::redset {

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
