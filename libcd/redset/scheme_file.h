// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "redset/header.h"
#include "redset/scheme_name.h"

#include <map>
#include <string>
#include <string_view>

namespace cd::redset {

// A directory that was found below one that was given.
struct FoundFolder {
    std::string root;  // that was given
    std::string below; // the path from there, "" for itself

    std::string path() const;
    // What it is called, "" where that cannot be told from its path.
    std::string_view name() const;
    bool operator==(const FoundFolder &) const = default;
};

// A scheme file that was found, and what it tells.
struct SchemeFile {
    FoundFolder folder;
    std::string path;
    std::string prefix; // of the file's name
    int member = 0;
    Header header;
    std::map<int, int> ranks; // of the members that it tells of

    const MemberEntry &own() const { return header.members.at(member); }
};

// Whether both are descriptors of one set, as far as these tell.
bool same_set(const Descriptor &a, const Descriptor &b);

// name: that of path.
Status read_scheme_file(const SchemeName &name, const FoundFolder &folder, const std::string &path,
                        SchemeFile &scheme);

} // namespace cd::redset
