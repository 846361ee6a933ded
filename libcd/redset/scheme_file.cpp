// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "redset/scheme_file.h"

#include "redset/open_file.h"

#include <algorithm>
#include <utility>

namespace cd::redset {

std::string FoundFolder::path() const { return below.empty() ? root : root + "/" + below; }

std::string_view FoundFolder::name() const {
    std::string_view path = below.empty() ? root : below;
    while (path.ends_with('/') || path.ends_with("/.")) {
        path.remove_suffix(1);
    }
    const std::string_view name = path.substr(path.rfind('/') + 1);
    return name == "." || name == ".." ? "" : name;
}

bool same_set(const Descriptor &a, const Descriptor &b) {
    return a.shape == b.shape && a.group == b.group && a.groups == b.groups &&
           a.job_ranks == b.job_ranks;
}

namespace {

bool fits(const SchemeName &name, const Descriptor &own) {
    return name.scheme == own.shape.scheme && name.members == own.shape.members &&
           name.group == own.group && name.groups == own.groups;
}

} // namespace

Status read_scheme_file(const SchemeName &name, const FoundFolder &folder, const std::string &path,
                        SchemeFile &scheme) {
    KvTree tree;
    uint64_t size = 0;
    if (Status status = read_own_image(path, tree, size); !status) {
        return status;
    }
    SchemeFile read{folder, path, "", name.member, {}, {}};
    if (Status status = read_header(tree, path.c_str(), read.header); !status) {
        return status;
    }
    const auto &members = read.header.members;
    const auto own = members.find(name.member);
    std::string_view prefix = name.prefix_and_rank;
    const bool of_one_set = std::all_of(members.begin(), members.end(), [&](const auto &entry) {
        return same_set(entry.second.descriptor, members.begin()->second.descriptor);
    });
    if (own == members.end() || !of_one_set || !fits(name, own->second.descriptor) ||
        !prefix.ends_with(std::to_string(own->second.descriptor.rank))) {
        return fail(CD_ERROR_STORE_DAMAGED, "%s: the name is not that of a member in the header",
                    path.c_str());
    }
    prefix.remove_suffix(std::to_string(own->second.descriptor.rank).size());
    read.prefix = prefix;
    read.ranks = read.header.ranks;
    for (const auto &[number, entry] : members) {
        read.ranks[number] = entry.descriptor.rank;
    }
    scheme = std::move(read);
    return Status::ok();
}

} // namespace cd::redset
