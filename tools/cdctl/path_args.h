// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "main.h"
#include "store_reader.h"

#include <functional>
#include <string>
#include <vector>

namespace cdctl {

// The stores that paths mean: of a directory all stores in it, by rank and name; without paths
// those of the default directory. Prints errors for other files. May throw.
class Places {
public:
    explicit Places(const std::vector<std::string> &paths);

    // Calls `visit` with each store. Returns the worst outcome.
    Outcome visit(const std::function<Outcome(Inspection &)> &visit) const;

    const std::vector<std::string> &directories() const { return directories_; }

private:
    struct Place {
        std::string path;
        bool named = false; // by the user, and not found in a directory
    };

    void add(const std::string &path, bool is_directory);
    void add_directory(const std::string &path);
    void complain(const std::string &sentence);

    std::vector<Place> places_;
    std::vector<std::string> directories_; // of stores, that could be read
    Outcome outcome_ = Outcome::good;
};

} // namespace cdctl
