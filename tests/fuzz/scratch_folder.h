// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "in_memory.h"

#include <stdlib.h>

#include <filesystem>
#include <string>

namespace fuzz {

// A directory that is gone when the process ends.
class ScratchFolder {
public:
    ScratchFolder() {
        std::string pattern = (scratch::in_memory() / "cd-fuzz-XXXXXX").string();
        path_ = ::mkdtemp(pattern.data());
    }
    ScratchFolder(const ScratchFolder &) = delete;
    ~ScratchFolder() { std::filesystem::remove_all(path_); }

    std::string path() const { return path_.string(); }

private:
    std::filesystem::path path_;
};

} // namespace fuzz
