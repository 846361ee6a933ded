// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "redset/checksums.h"

#include "memory/crc32c.h"
#include "redset/kvtree_file.h"

#include <limits>
#include <optional>
#include <utility>

namespace cd::redset {
namespace {

constexpr uint64_t format = 1;

std::optional<uint32_t> crc_of(const KvTree &tree, std::string_view key) {
    const auto value = tree.number(key);
    return value && *value <= std::numeric_limits<uint32_t>::max()
               ? std::optional(static_cast<uint32_t>(*value))
               : std::nullopt;
}

bool read_member(const KvTree &tree, MemberChecksums &member) {
    const auto entry = crc_of(tree, "ENTRY");
    const auto payload = crc_of(tree, "PAYLOAD");
    const KvTree *files = tree.find("FILE");
    if (!entry || !payload || files == nullptr) {
        return false;
    }
    MemberChecksums read{*entry, *payload, std::vector<uint32_t>(files->elements().size())};
    std::vector<bool> seen(read.files.size());
    for (const auto &[key, value] : files->elements()) {
        const auto number = to_number(key);
        const auto crc = crc_of(*files, key);
        if (!number || *number >= seen.size() || seen[*number] || !crc) {
            return false;
        }
        seen[*number] = true;
        read.files[*number] = *crc;
    }
    member = std::move(read);
    return true;
}

} // namespace

uint32_t tree_checksum(KvTree tree) {
    tree.sort();
    std::vector<std::byte> image;
    if (!encode_image(tree, "a header", image)) {
        return 0; // too large to have been written: what it is compared with is of something else
    }
    return crc32c(0, image.data(), image.size());
}

KvTree checksums_tree(const Checksums &checksums) {
    KvTree tree;
    tree.add_number("FORMAT", format);
    KvTree &members = tree.add("MEMBER");
    for (size_t i = 0; i < checksums.size(); ++i) {
        KvTree &member = members.add(std::to_string(i));
        member.add_number("ENTRY", checksums[i].entry);
        KvTree &files = member.add("FILE");
        for (size_t file = 0; file < checksums[i].files.size(); ++file) {
            files.add_number(std::to_string(file), checksums[i].files[file]);
        }
        member.add_number("PAYLOAD", checksums[i].payload);
    }
    tree.sort();
    return tree;
}

Status read_checksums(const KvTree &tree, const char *file, const Set &set, Checksums &checksums) {
    if (tree.number("FORMAT") != format) {
        return fail(CD_ERROR_STORE_VERSION, "%s: checksums of an unknown format", file);
    }
    Checksums read(set.ranks.size());
    const KvTree *members = tree.find("MEMBER");
    for (size_t i = 0; i < read.size(); ++i) {
        const KvTree *member = members == nullptr ? nullptr : members->find(std::to_string(i));
        if (member == nullptr || !read_member(*member, read[i])) {
            return fail(CD_ERROR_STORE_DAMAGED, "%s: no usable checksums of member %zu of %zu",
                        file, i, read.size());
        }
    }
    checksums = std::move(read);
    return Status::ok();
}

} // namespace cd::redset
