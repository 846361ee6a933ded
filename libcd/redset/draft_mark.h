// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "base/status.h"
#include "file_store/file.h"

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

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

} // namespace cd::redset
