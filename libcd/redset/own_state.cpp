// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "redset/own_state.h"

#include "memory/crc32c.h"
#include "redset/kvtree_image.h"
#include "redset/open_file.h"

#include <algorithm>

namespace cd::redset {
namespace {

std::string header_problem(const Set &set, int member, const Remains &remains,
                           const Survey &survey) {
    std::string problem = why_it_tells_nothing(survey, member, remains);
    if (!problem.empty()) {
        return problem;
    }
    const Header &header = *remains.header;
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

// How far this member is, with all that it has to look at.
class Tally {
public:
    Tally(const Survey &survey, const Looked &looked) : looked_(looked) {
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
                     const Tally &tally) {
    std::vector<std::byte> buffer(
        static_cast<size_t>(std::min<uint64_t>(to - from, uint64_t{256} << 10)));
    uint32_t crc = 0;
    for (uint64_t at = from; at < to; at += buffer.size()) {
        const auto part = static_cast<size_t>(std::min<uint64_t>(to - at, buffer.size()));
        if (Status status = file.read(at, buffer.data(), part); !status) {
            return status;
        }
        crc = crc32c(crc, buffer.data(), part);
        tally.add(part);
    }
    return crc == expected
               ? Status::ok()
               : fail(CD_ERROR_STORE_DAMAGED,
                      "%s: the checksum from offset %llu on is 0x%08x instead of 0x%08x",
                      file.path(), static_cast<unsigned long long>(from), crc, expected);
}

Status check_data(const Survey &survey, int self, const Place &place, Contents contents,
                  const Tally &tally) {
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
            if (Status status = check_content(file, 0, size, i < sums.size() ? sums[i] : 0, tally);
                !status) {
                return status;
            }
        }
    }
    return Status::ok();
}

Status check_payload(const Set &set, const Survey &survey, int self, const Place &place,
                     Contents contents, const Tally &tally) {
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
                               (*survey.checksums)[index(self)].payload, tally)
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

Status is_of_others(const std::string &path) {
    return fail(CD_ERROR_STORE_DAMAGED, "%s: it is not what belongs to the files of this set",
                path.c_str());
}

// Upstream's may have more in it, and in another order.
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
    return is_descriptor_of(tree, set, self) ? Status::ok() : is_of_others(path);
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
    return read == expected ? Status::ok() : is_of_others(path);
}

} // namespace

std::string why_it_tells_nothing(const Survey &survey, int member, const Remains &remains) {
    if (!remains.header) {
        return remains.no_header;
    }
    return survey.vouches_for(remains.header->members.at(member), member)
               ? ""
               : "the header of the scheme file is of another time than the checksums";
}

MemberState own_state(const Set &set, const Survey &survey, int self, const Place &place,
                      const Remains &remains, Contents contents, const Looked &looked) {
    MemberState state;
    const Tally tally(survey, looked);
    state.payload_lost = header_problem(set, self, remains, survey);
    if (state.payload_lost.empty() && !check_payload(set, survey, self, place, contents, tally)) {
        state.payload_lost = message();
    }
    const bool nobody_knows =
        !state.payload_lost.empty() && !survey.checksums && !survey.files[index(self)].empty();
    if (!check_data(survey, self, place, contents, tally)) {
        state.data_lost = message();
    } else if (nobody_knows) {
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
