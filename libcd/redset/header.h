// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "redset/kvtree.h"
#include "redset/layout.h"
#include "redset/set.h"

#include <map>
#include <optional>
#include <span>

namespace cd::redset {

// The trees in redset's files, as upstream writes them, and as much of them as it takes to read
// what it writes. Members' numbers and names are checked; what a tree lacks is said as the file's.

// A member, its set and its files, as a scheme file tells of it.
KvTree member_tree(const Set &set, int member, const StoredFiles &files);

// The descriptor file: a member, and those to its left whose files it helps to bring back.
KvTree descriptor_tree(const Set &set, int member);

// The header of a scheme file. all: the files of every member.
KvTree scheme_tree(const Layout &layout, const Set &set, int member,
                   std::span<const StoredFiles> all);

// What one descriptor says. A set's ranks are known from several, or from the header.
struct Descriptor {
    Shape shape;
    int group = 0;
    int groups = 0;
    int member = 0;
    int rank = 0;
    int job_ranks = 0;

    bool is_of(const Set &set) const;
};
Status read_descriptor(const KvTree &tree, const char *file, Descriptor &descriptor);

// A member as a scheme file's header tells of it.
struct MemberEntry {
    Descriptor descriptor;
    StoredFiles files;
    KvTree tree; // that it was read from
};

struct Header {
    std::vector<int> owners;            // one, but for what upstream repairs
    std::map<int, MemberEntry> members; // by number: the owner, those to its left, perhaps others
    std::optional<uint64_t> chunk;
    std::map<int, int> ranks; // of each member, where the scheme records them
};

// Whether this can be the header of a member of the set: it names it and tells of it and of those
// to its left. What upstream repairs may name another member as well, and tell of more.
bool is_header_of(const Header &header, const Set &set, int member);

Status read_member(const KvTree &tree, const char *file, int member, MemberEntry &entry);
Status read_header(const KvTree &tree, const char *file, Header &header);

} // namespace cd::redset
