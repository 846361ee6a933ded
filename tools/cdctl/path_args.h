// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "main.h"
#include "store_reader.h"

#include <functional>
#include <string>
#include <vector>

namespace cdctl {

// The stores that the paths of a command line name. A directory stands for all stores in it, sorted
// by rank and name; no path for the default directory. Prints errors for other files. May throw.
class StorePaths {
public:
    explicit StorePaths(const std::vector<std::string> &paths);

    // Calls `visit` with each store. Returns the worst outcome.
    Outcome visit(const std::function<Outcome(StoreReader &)> &visit) const;

    const std::vector<std::string> &directories() const { return directories_; }

private:
    struct StorePath {
        std::string path;
        bool named = false; // by the user, and not found in a directory
    };

    void add(const std::string &path, bool is_directory);
    void add_directory(const std::string &path);
    void complain(const std::string &sentence);

    std::vector<StorePath> paths_;
    std::vector<std::string> directories_; // of stores, that could be read
    Outcome outcome_ = Outcome::good;
};

} // namespace cdctl
