// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "redset/header.h"

#include "base/text.h"

#include <sys/stat.h>

#include <algorithm>
#include <limits>
#include <utility>

namespace cd::redset {
namespace {

constexpr uint64_t largest_logical_file = uint64_t{1} << 53; // so that offsets cannot overflow

uint64_t number(int value) { return static_cast<uint64_t>(value); }

// ---- Writing

KvTree descriptor_of(const Set &set, int member) {
    KvTree tree;
    if (set.coding.scheme == Scheme::reed_solomon) {
        tree.add_number("CKSUM", number(set.coding.checks));
    }
    tree.add_number("ENABLED", 1);
    tree.add_number("GROUP", number(set.group));
    tree.add_number("GROUPS", number(set.groups));
    tree.add_number("RANK", number(member));
    tree.add_number("RANKS", number(set.coding.members));
    if (set.coding.scheme == Scheme::partner) {
        tree.add_number("REPLICAS", number(set.coding.checks));
    }
    tree.add_value("TYPE", scheme_name(set.coding.scheme));
    tree.add_number("WRANK", number(set.ranks[index(member)]));
    tree.add_number("WRANKS", number(set.job_ranks));
    return tree;
}

KvTree attributes_of(const os::FileAttributes &file) {
    KvTree tree;
    const auto add_time = [&](const std::string &name, const timespec &time) {
        tree.add_number(name + "_NSECS", static_cast<uint64_t>(time.tv_nsec));
        tree.add_number(name + "_SECS", static_cast<uint64_t>(time.tv_sec));
    };
    add_time("ATIME", file.accessed);
    add_time("CTIME", file.changed);
    tree.add_number("GID", file.group);
    tree.add_number("MODE", file.mode);
    add_time("MTIME", file.modified);
    tree.add_number("SIZE", file.size);
    tree.add_number("UID", file.owner);
    return tree;
}

void add_tree(KvTree &to, std::string_view key, KvTree tree) { to.add(key) = std::move(tree); }

// Returns how many left neighbours the header of a member describes.
int neighbours(const Coding &coding) { return std::min(coding.checks, coding.members - 1); }

// ---- Reading

Status damaged(const char *file, const char *what, std::string_view key) {
    return fail(CD_ERROR_STORE_DAMAGED, "%s: %s \"%.*s\" in the header", file, what, quoted(key),
                key.data());
}

std::optional<int> to_int(std::optional<uint64_t> value) {
    if (!value || *value > static_cast<uint64_t>(std::numeric_limits<int>::max())) {
        return std::nullopt;
    }
    return static_cast<int>(*value);
}

Status read_int(const KvTree &tree, const char *file, const char *key, int &value) {
    const auto found = to_int(tree.number(key));
    if (!found) {
        return damaged(file, "no usable number", key);
    }
    value = *found;
    return Status::ok();
}

os::FileAttributes read_attributes(const KvTree &tree, uint64_t size) {
    const auto get = [&](const std::string &key) { return tree.number(key).value_or(0); };
    const auto time = [&](const std::string &name) {
        return timespec{static_cast<time_t>(get(name + "_SECS")),
                        static_cast<long>(get(name + "_NSECS"))};
    };
    return {size,
            static_cast<mode_t>(tree.number("MODE").value_or(S_IFREG | 0600)),
            static_cast<uid_t>(get("UID")),
            static_cast<gid_t>(get("GID")),
            time("ATIME"),
            time("MTIME"),
            time("CTIME")};
}

Status read_files(const KvTree &tree, const char *file, StoredFiles &files) {
    const auto count = tree.number("FILES");
    const KvTree *list = tree.find("FILE");
    const size_t listed = list == nullptr ? 0 : list->elements().size();
    if (!count || *count != listed) {
        return damaged(file, "the number of files is not that of", "FILE");
    }
    StoredFiles read(listed);
    uint64_t total = 0;
    for (size_t i = 0; i < listed; ++i) {
        const auto &[number, below] = list->elements()[i];
        const auto place = to_number(number);
        if (!place || *place >= listed || !read[*place].name.empty() ||
            below.elements().size() != 1 || below.elements().front().key.empty()) {
            return damaged(file, "no usable file", number);
        }
        const auto &[name, attributes] = below.elements().front();
        const auto size = attributes.number("SIZE");
        if (!size || *size > largest_logical_file || (total += *size) > largest_logical_file) {
            return damaged(file, "no usable size of the file", name);
        }
        read[*place] = {name, read_attributes(attributes, *size)};
    }
    files = std::move(read);
    return Status::ok();
}

Status read_ranks(const KvTree &tree, const char *file, std::map<int, int> &ranks) {
    const KvTree *list = tree.find("RANK");
    if (list == nullptr) {
        return damaged(file, "no ranks in", "GROUP");
    }
    for (const auto &[member, below] : list->elements()) {
        const auto place = to_int(to_number(member));
        const auto &ranks_of_member = below.elements();
        const auto rank = ranks_of_member.size() == 1
                              ? to_int(to_number(ranks_of_member.front().key))
                              : std::nullopt;
        if (!place || !rank) {
            return damaged(file, "no usable rank of member", member);
        }
        ranks[*place] = *rank;
    }
    return Status::ok();
}

} // namespace

KvTree member_tree(const Set &set, int member, const StoredFiles &files) {
    KvTree tree;
    add_tree(tree, "DESC", descriptor_of(set, member));
    KvTree &list = tree.add("FILE");
    for (size_t i = 0; i < files.size(); ++i) {
        add_tree(list.add(std::to_string(i)), files[i].name, attributes_of(files[i].attributes));
    }
    tree.add_number("FILES", files.size());
    tree.sort();
    return tree;
}

KvTree descriptor_tree(const Set &set, int member) {
    KvTree tree;
    for (int distance = 0; distance <= neighbours(set.coding); ++distance) {
        const int left = set.coding.left(member, distance);
        add_tree(tree.add(std::to_string(set.ranks[index(left)])), "DESC",
                 descriptor_of(set, left));
    }
    tree.sort();
    return tree;
}

KvTree scheme_tree(const Layout &layout, const Set &set, int member,
                   std::span<const StoredFiles> all) {
    KvTree tree;
    KvTree &members = tree.add("DESC");
    for (int distance = 0; distance <= neighbours(set.coding); ++distance) {
        const int left = set.coding.left(member, distance);
        add_tree(members, std::to_string(left), member_tree(set, left, all[index(left)]));
    }
    tree.add_number("RANK", number(member));
    if (set.coding.has_chunks()) {
        tree.add_number("CHUNK", layout.chunk);
        KvTree &group = tree.add("GROUP");
        group.add_number("RANKS", number(set.coding.members));
        KvTree &ranks = group.add("RANK");
        for (int i = 0; i < set.coding.members; ++i) {
            ranks.add_number(std::to_string(i), number(set.ranks[index(i)]));
        }
    }
    tree.sort();
    return tree;
}

bool Descriptor::is_of(const Set &set) const {
    return coding == set.coding && group == set.group && groups == set.groups &&
           job_ranks == set.job_ranks && rank == set.ranks[index(member)];
}

Status read_descriptor(const KvTree &tree, const char *file, Descriptor &descriptor) {
    Descriptor read;
    const auto type = tree.value("TYPE");
    read.coding.scheme = type ? scheme_named(*type) : Scheme::none;
    if (read.coding.scheme == Scheme::none) {
        return damaged(file, "no known", "TYPE");
    }
    const struct {
        const char *key;
        int &value;
    } numbers[] = {{"GROUP", read.group}, {"GROUPS", read.groups},
                   {"RANK", read.member}, {"RANKS", read.coding.members},
                   {"WRANK", read.rank},  {"WRANKS", read.job_ranks}};
    for (const auto &[key, value] : numbers) {
        if (Status status = read_int(tree, file, key, value); !status) {
            return status;
        }
    }
    Status status = Status::ok();
    if (read.coding.scheme == Scheme::partner) {
        status = read_int(tree, file, "REPLICAS", read.coding.checks);
    } else if (read.coding.scheme == Scheme::reed_solomon) {
        status = read_int(tree, file, "CKSUM", read.coding.checks);
    } else {
        read.coding.checks = read.coding.scheme == Scheme::xor_set ? 1 : 0;
    }
    if (!status) {
        return status;
    }
    if (!check_coding(read.coding)) {
        const std::string why = message();
        return fail(CD_ERROR_STORE_DAMAGED, "%s: %s", file, why.c_str());
    }
    if (read.member >= read.coding.members || read.group >= read.groups ||
        read.rank >= read.job_ranks || read.coding.members > read.job_ranks) {
        return fail(CD_ERROR_STORE_DAMAGED,
                    "%s: member %d of %d in set %d of %d, rank %d of %d cannot be", file,
                    read.member, read.coding.members, read.group, read.groups, read.rank,
                    read.job_ranks);
    }
    descriptor = read;
    return Status::ok();
}

bool is_header_of(const Header &header, const Set &set, int member) {
    if (std::find(header.owners.begin(), header.owners.end(), member) == header.owners.end()) {
        return false;
    }
    for (int distance = 0; distance <= neighbours(set.coding); ++distance) {
        const auto entry = header.members.find(set.coding.left(member, distance));
        if (entry == header.members.end() || !entry->second.descriptor.is_of(set)) {
            return false;
        }
    }
    return true;
}

Status read_member(const KvTree &tree, const char *file, int member, MemberEntry &entry) {
    const KvTree *descriptor = tree.find("DESC");
    if (descriptor == nullptr) {
        return damaged(file, "no descriptor for member", std::to_string(member));
    }
    MemberEntry read;
    if (Status status = read_descriptor(*descriptor, file, read.descriptor); !status) {
        return status;
    }
    if (read.descriptor.member != member) {
        return damaged(file, "the descriptor of another one for member", std::to_string(member));
    }
    if (Status status = read_files(tree, file, read.files); !status) {
        return status;
    }
    read.tree = tree;
    read.tree.sort(); // so that those that tell the same are equal
    entry = std::move(read);
    return Status::ok();
}

Status read_header(const KvTree &tree, const char *file, Header &header) {
    Header read;
    const KvTree *owners = tree.find("RANK");
    if (owners == nullptr) {
        return damaged(file, "no", "RANK");
    }
    for (const auto &[key, below] : owners->elements()) {
        const auto member = to_int(to_number(key));
        if (!member) {
            return damaged(file, "no number of a member:", key);
        }
        read.owners.push_back(*member);
    }
    const KvTree *members = tree.find("DESC");
    if (members == nullptr) {
        return damaged(file, "no", "DESC");
    }
    for (const auto &[key, below] : members->elements()) {
        const auto member = to_int(to_number(key));
        if (!member) {
            return damaged(file, "no number of a member:", key);
        }
        if (Status status = read_member(below, file, *member, read.members[*member]); !status) {
            return status;
        }
    }
    if (tree.find("CHUNK") != nullptr) {
        read.chunk = tree.number("CHUNK");
        if (!read.chunk) {
            return damaged(file, "no usable number", "CHUNK");
        }
    }
    if (const KvTree *group = tree.find("GROUP"); group != nullptr) {
        if (Status status = read_ranks(*group, file, read.ranks); !status) {
            return status;
        }
    }
    header = std::move(read);
    return Status::ok();
}

} // namespace cd::redset
