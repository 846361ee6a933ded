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

// The trees in redset's files, as upstream writes them. Numbers and names are checked; errors name
// the file.

// Describes a member, its set and its files, as in a scheme file.
KvTree member_tree(const Set &set, int member, const StoredFiles &files);

// Makes the descriptor file: a member, and those to its left whose files it helps to rebuild.
KvTree descriptor_tree(const Set &set, int member);

// Makes the header of a scheme file. `all`: the files of every member.
KvTree scheme_tree(const Layout &layout, const Set &set, int member,
                   std::span<const StoredFiles> all);

// One member's descriptor. The set's ranks are in the descriptors of all members, or in the header.
struct Descriptor {
    Coding coding;
    int group = 0;
    int groups = 0;
    int member = 0;
    int rank = 0;
    int job_ranks = 0;

    bool is_of(const Set &set) const;
};
Status read_descriptor(const KvTree &tree, const char *file, Descriptor &descriptor);

// A member as the header of a scheme file describes it.
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

// True if this can be the header of a member of the set: it describes that member and those to its
// left. A header that upstream repaired may name another member as well, and describe more.
bool is_header_of(const Header &header, const Set &set, int member);

Status read_member(const KvTree &tree, const char *file, int member, MemberEntry &entry);
Status read_header(const KvTree &tree, const char *file, Header &header);

} // namespace cd::redset
