// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "redset/survivors.h"

#include "memory/crc32c.h"
#include "redset/kvtree_file.h"
#include "redset/member_files.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace cd::redset {
namespace {

// ---- What members send each other

// Reads and checks the header of this member's scheme file.
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

// Describes the only file as it is now. Empty if its name is unknown, or it is lost.
Status describe_only_file(const Set &set, int self, const Place &place, Bytes &entry) {
    File file;
    StoredFile stored{place.only_file, {}};
    return !stored.name.empty() && open_stored(place, stored.name, file, stored.attributes)
               ? encode_image(member_tree(set, self, {stored}), "a member", entry)
               : Status::ok();
}

// Appends a part with its length. Header and checksums may each be as large as an image can be.
void append_part(std::span<const std::byte> part, Bytes &sent) {
    const uint64_t length = part.size();
    const auto bytes = std::as_bytes(std::span(&length, 1));
    sent.insert(sent.end(), bytes.begin(), bytes.end());
    sent.insert(sent.end(), part.begin(), part.end());
}

Status take_part(std::span<const std::byte> &sent, std::span<const std::byte> &part) {
    uint64_t length = 0;
    if (sent.size() >= sizeof length) {
        std::memcpy(&length, sent.data(), sizeof length);
        sent = sent.subspan(sizeof length);
        if (length <= sent.size()) {
            part = sent.first(length);
            sent = sent.subspan(length);
            return Status::ok();
        }
    }
    return fail(CD_ERROR_STORE_DAMAGED, "the list of files that a member sent is cut short");
}

// ---- What is lost of a member

std::string header_problem(const Set &set, int member, const Survivors &survivors,
                           const Survey &survey) {
    std::string problem = why_header_is_lost(survey, member, survivors);
    if (!problem.empty()) {
        return problem;
    }
    const Header &header = *survivors.header;
    bool fits = header.chunk.value_or(0) == survey.layout->chunk;
    for (const auto &[of, rank] : header.ranks) {
        fits = fits && of < set.shape.members && set.ranks[index(of)] == rank;
    }
    return fits ? "" : "the header of the scheme file does not fit the members' files";
}

Status check_size(const File &file, const os::FileAttributes &attributes, uint64_t expected) {
    return attributes.size == expected
               ? Status::ok()
               : fail(CD_ERROR_STORE_DAMAGED, "%s: the file has %llu bytes instead of %llu",
                      file.path(), static_cast<unsigned long long>(attributes.size),
                      static_cast<unsigned long long>(expected));
}

// Reports how much this member has read.
class ReadCount {
public:
    ReadCount(const Survey &survey, const Looked &looked) : looked_(looked) {
        for (size_t member = 0; looked && member < survey.files.size(); ++member) {
            all_ += survey.layout->logical_sizes[member] +
                    survey.layout->payload_size(static_cast<int>(member));
        }
    }
    void add(uint64_t bytes) const {
        if (looked_ && all_ > 0) {
            looked_(bytes, all_);
        }
    }

private:
    const Looked &looked_;
    uint64_t all_ = 0;
};

Status check_content(const File &file, uint64_t from, uint64_t to, uint32_t expected,
                     const ReadCount &read_count) {
    std::vector<std::byte> buffer(
        static_cast<size_t>(std::min<uint64_t>(to - from, uint64_t{256} << 10)));
    uint32_t crc = 0;
    for (uint64_t at = from; at < to; at += buffer.size()) {
        const auto part = static_cast<size_t>(std::min<uint64_t>(to - at, buffer.size()));
        if (Status status = file.read(at, buffer.data(), part); !status) {
            return status;
        }
        crc = crc32c(crc, buffer.data(), part);
        read_count.add(part);
    }
    return crc == expected
               ? Status::ok()
               : fail(CD_ERROR_STORE_DAMAGED,
                      "%s: the checksum from offset %llu on is 0x%08x instead of 0x%08x",
                      file.path(), static_cast<unsigned long long>(from), crc, expected);
}

Status check_data(const Survey &survey, int self, const Place &place, Contents contents,
                  const ReadCount &read_count) {
    const StoredFiles &files = survey.files[index(self)];
    for (size_t i = 0; i < files.size(); ++i) {
        File file;
        os::FileAttributes attributes;
        const uint64_t size = files[i].attributes.size;
        if (Status status = open_stored(place, files[i].name, file, attributes); !status) {
            return status;
        }
        if (Status status = check_size(file, attributes, size); !status) {
            return status;
        }
        if (survey.checksums && contents == Contents::compared) {
            const auto &sums = (*survey.checksums)[index(self)].files;
            if (Status status =
                    check_content(file, 0, size, i < sums.size() ? sums[i] : 0, read_count);
                !status) {
                return status;
            }
        }
    }
    return Status::ok();
}

Status check_payload(const Set &set, const Survey &survey, int self, const Place &place,
                     Contents contents, const ReadCount &read_count) {
    const uint64_t end = survey.payload_offset + survey.layout->payload_size(self);
    File file;
    os::FileAttributes attributes;
    if (Status status = open_own_to_read(place.scheme_file(set, self), file, attributes); !status) {
        return status;
    }
    if (Status status = check_size(file, attributes, end); !status) {
        return status;
    }
    return survey.checksums && contents == Contents::compared
               ? check_content(file, survey.payload_offset, end,
                               (*survey.checksums)[index(self)].payload, read_count)
               : Status::ok();
}

Status check_whole_image(const std::string &path, KvTree &tree) {
    File file;
    os::FileAttributes attributes;
    uint64_t size = 0;
    if (Status status = open_own_to_read(path, file, attributes); !status) {
        return status;
    }
    Status status = read_image(file, tree, size);
    return status ? check_size(file, attributes, size) : status;
}

Status fail_other_set(const std::string &path) {
    return fail(CD_ERROR_STORE_DAMAGED, "%s: it belongs to another set", path.c_str());
}

// Ignores the order, and elements that only upstream writes.
bool is_descriptor_of(const KvTree &tree, const Set &set, int member) {
    const KvTree expected = descriptor_tree(set, member);
    return std::ranges::all_of(expected.elements(), [&](const auto &element) {
        const KvTree *of_rank = tree.find(element.key);
        const KvTree *found = of_rank == nullptr ? nullptr : of_rank->find("DESC");
        Descriptor read;
        return found != nullptr && read_descriptor(*found, "a descriptor", read) &&
               read.is_of(set) && std::to_string(read.rank) == element.key;
    });
}

Status check_descriptor(const Set &set, int self, const Place &place) {
    const std::string path = place.descriptor(set, self);
    KvTree tree;
    if (Status status = check_whole_image(path, tree); !status) {
        return status;
    }
    return is_descriptor_of(tree, set, self) ? Status::ok() : fail_other_set(path);
}

Status check_checksums(const Set &set, const Checksums &expected, const std::string &path) {
    KvTree tree;
    Checksums read;
    if (Status status = check_whole_image(path, tree); !status) {
        return status;
    }
    if (Status status = read_checksums(tree, path.c_str(), set, read); !status) {
        return status;
    }
    return read == expected ? Status::ok() : fail_other_set(path);
}

} // namespace

Status send_survivors(const Set &set, int self, const Place &place, Bytes &sent,
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
    sent.clear();
    append_part(header, sent);
    append_part(std::as_bytes(std::span(no_header)), sent);
    append_part(checksums, sent);
    append_part(only_file, sent);
    return Status::ok();
}

Status receive_survivors(const Set &set, int member, std::span<const std::byte> sent,
                         Survivors &survivors) {
    constexpr const char *source = "what a member has";
    std::span<const std::byte> header;
    std::span<const std::byte> no_header;
    std::span<const std::byte> checksums;
    std::span<const std::byte> only_file;
    for (auto *part : {&header, &no_header, &checksums, &only_file}) {
        if (Status status = take_part(sent, *part); !status) {
            return status;
        }
    }
    KvTree tree;
    uint64_t size = 0;
    if (!header.empty()) {
        if (Status status = decode_image(header, source, tree, size); !status) {
            return status;
        }
        survivors.header.emplace();
        if (Status status = read_header(tree, source, *survivors.header); !status) {
            return status;
        }
    }
    if (!checksums.empty()) {
        if (Status status = decode_image(checksums, source, tree, size); !status) {
            return status;
        }
        Checksums read;
        if (read_checksums(tree, source, set, read)) {
            survivors.checksums = std::move(read);
        }
    }
    if (!only_file.empty()) {
        if (Status status = decode_image(only_file, source, tree, size); !status) {
            return status;
        }
        // Ignores a file that is too large to have been stored.
        if (!read_member(tree, source, member, survivors.only_file.emplace())) {
            survivors.only_file.reset();
        }
    }
    survivors.no_header.assign(reinterpret_cast<const char *>(no_header.data()), no_header.size());
    return Status::ok();
}

std::vector<Checksums> checksums_in(const std::vector<Survivors> &all) {
    std::vector<std::pair<int, Checksums>> counted;
    for (const Survivors &survivors : all) {
        if (survivors.checksums) {
            const auto same = std::find_if(counted.begin(), counted.end(), [&](const auto &each) {
                return each.second == *survivors.checksums;
            });
            if (same != counted.end()) {
                ++same->first;
            } else {
                counted.emplace_back(1, *survivors.checksums);
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
std::string why_header_is_lost(const Survey &survey, int member, const Survivors &survivors) {
    if (!survivors.header) {
        return survivors.no_header;
    }
    return survey.vouches_for(survivors.header->members.at(member), member)
               ? ""
               : "the header of the scheme file is of another time than the checksums";
}

MemberState own_state(const Set &set, const Survey &survey, int self, const Place &place,
                      const Survivors &survivors, Contents contents, const Looked &looked) {
    MemberState state;
    const ReadCount read_count(survey, looked);
    state.payload_lost = header_problem(set, self, survivors, survey);
    if (state.payload_lost.empty() &&
        !check_payload(set, survey, self, place, contents, read_count)) {
        state.payload_lost = message();
    }
    const bool is_unknown =
        !state.payload_lost.empty() && !survey.checksums && !survey.files[index(self)].empty();
    if (!check_data(survey, self, place, contents, read_count)) {
        state.data_lost = message();
    } else if (is_unknown) {
        state.data_lost = "without scheme file and checksums nothing tells whether these are the "
                          "right files: " +
                          state.payload_lost;
    }
    if (!check_descriptor(set, self, place)) {
        state.descriptor_lost = message();
    }
    if (survey.checksums && !check_checksums(set, *survey.checksums, place.checksums(set, self))) {
        state.checksums_lost = message();
    }
    return state;
}

} // namespace cd::redset
