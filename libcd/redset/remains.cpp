// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "redset/remains.h"

#include "redset/kvtree_image.h"
#include "redset/open_file.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace cd::redset {
namespace {

// The header as a tree, if the rest of the set can use it.
Status read_own_header(const Set &set, int self, const Place &place, KvTree &tree,
                       uint64_t &payload_offset) {
    const std::string path = place.scheme_file(set, self);
    if (Status status = read_own_image(path, tree, payload_offset); !status) {
        return status;
    }
    Header header;
    if (Status status = read_header(tree, path.c_str(), header); !status) {
        return status;
    }
    if (!is_header_of(header, set, self)) {
        return fail(CD_ERROR_STORE_DAMAGED, "%s: the header is not that of member %d of this set",
                    path.c_str(), self);
    }
    return Status::ok();
}

// Empty where nobody knows its name, or it is not there.
Status describe_only_file(const Set &set, int self, const Place &place, Bytes &entry) {
    File file;
    StoredFile stored{place.only_file, {}};
    return !stored.name.empty() && open_stored(place, stored.name, file, stored.attributes)
               ? encode_image(member_tree(set, self, {stored}), "a member", entry)
               : Status::ok();
}

// What is told, one part behind the other: a header and checksums each may be as large as an image
// may be.
void tell_part(std::span<const std::byte> part, Bytes &told) {
    const uint64_t length = part.size();
    const auto bytes = std::as_bytes(std::span(&length, 1));
    told.insert(told.end(), bytes.begin(), bytes.end());
    told.insert(told.end(), part.begin(), part.end());
}

Status hear_part(std::span<const std::byte> &told, std::span<const std::byte> &part) {
    uint64_t length = 0;
    if (told.size() >= sizeof length) {
        std::memcpy(&length, told.data(), sizeof length);
        told = told.subspan(sizeof length);
        if (length <= told.size()) {
            part = told.first(length);
            told = told.subspan(length);
            return Status::ok();
        }
    }
    return fail(CD_ERROR_STORE_DAMAGED, "what a member told of its files is cut short");
}

} // namespace

Status tell_remains(const Set &set, int self, const Place &place, Bytes &told,
                    uint64_t &payload_offset) {
    Bytes header;
    std::string no_header;
    KvTree tree;
    if (!read_own_header(set, self, place, tree, payload_offset)) {
        no_header = message();
    } else if (Status status = encode_image(tree, "a header", header); !status) {
        return status;
    }
    Bytes checksums;
    uint64_t size = 0;
    if (read_own_image(place.checksums(set, self), tree, size)) {
        if (Status status = encode_image(tree, "checksums", checksums); !status) {
            return status;
        }
    }
    Bytes only_file;
    if (Status status = describe_only_file(set, self, place, only_file); !status) {
        return status;
    }
    told.clear();
    tell_part(header, told);
    tell_part(std::as_bytes(std::span(no_header)), told);
    tell_part(checksums, told);
    tell_part(only_file, told);
    return Status::ok();
}

Status hear_remains(const Set &set, int member, std::span<const std::byte> told, Remains &remains) {
    constexpr const char *source = "what a member has";
    std::span<const std::byte> header;
    std::span<const std::byte> no_header;
    std::span<const std::byte> checksums;
    std::span<const std::byte> only_file;
    for (auto *part : {&header, &no_header, &checksums, &only_file}) {
        if (Status status = hear_part(told, *part); !status) {
            return status;
        }
    }
    KvTree tree;
    uint64_t size = 0;
    if (!header.empty()) {
        if (Status status = decode_image(header, source, tree, size); !status) {
            return status;
        }
        remains.header.emplace();
        if (Status status = read_header(tree, source, *remains.header); !status) {
            return status;
        }
    }
    if (!checksums.empty()) {
        if (Status status = decode_image(checksums, source, tree, size); !status) {
            return status;
        }
        Checksums read;
        if (read_checksums(tree, source, set, read)) {
            remains.checksums = std::move(read);
        }
    }
    if (!only_file.empty()) {
        if (Status status = decode_image(only_file, source, tree, size); !status) {
            return status;
        }
        // One that cannot have been a member's, as it is too large, is none.
        if (!read_member(tree, source, member, remains.only_file.emplace())) {
            remains.only_file.reset();
        }
    }
    remains.no_header.assign(reinterpret_cast<const char *>(no_header.data()), no_header.size());
    return Status::ok();
}

std::vector<Checksums> checksums_in(const std::vector<Remains> &all) {
    std::vector<std::pair<int, Checksums>> counted;
    for (const Remains &remains : all) {
        if (remains.checksums) {
            const auto same = std::find_if(counted.begin(), counted.end(), [&](const auto &each) {
                return each.second == *remains.checksums;
            });
            if (same != counted.end()) {
                ++same->first;
            } else {
                counted.emplace_back(1, *remains.checksums);
            }
        }
    }
    std::stable_sort(counted.begin(), counted.end(),
                     [](const auto &a, const auto &b) { return a.first > b.first; });
    std::vector<Checksums> sorted;
    sorted.reserve(counted.size());
    for (auto &[count, checksums] : counted) {
        sorted.push_back(std::move(checksums));
    }
    return sorted;
}

} // namespace cd::redset
