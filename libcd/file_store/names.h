// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "file_store/directory.h"

#include <string>

namespace cd {

// What is undone unless a new store got its name. They keep references to what they are given.

// The name of a new file while it is unfinished, which goes again. Ends before the file is closed.
class NewName {
public:
    NewName(const Directory &directory, const std::string &name)
        : directory_(directory), name_(name) {}
    NewName(const NewName &) = delete;
    ~NewName();

    Status reserve(File &file);
    void is_published() { reserved_ = false; }

private:
    const Directory &directory_;
    const std::string &name_;
    bool reserved_ = false;
};

// The name of the store that has it until then, which gets it back. Ends before NewName.
class OldName {
public:
    OldName(const Directory &directory, const std::string &name, bool forced)
        : directory_(directory), name_(name), forced_(forced) {}
    OldName(const OldName &) = delete;
    ~OldName();

    Status keep_as(std::string second);
    void is_taken() { second_.clear(); }

private:
    const Directory &directory_;
    const std::string &name_;
    const bool forced_;
    std::string second_; // of the store
};

} // namespace cd
