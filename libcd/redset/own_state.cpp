// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "redset/own_state.h"

#include "redset/open_file.h"
#include "store/crc32c.h"

#include <algorithm>

namespace cd::redset {
namespace {

std::string header_problem(const Set &set, int member, const Remains &remains,
                           const Survey &survey) {
    if (!remains.header) {
        return remains.no_header;
    }
    const Header &header = *remains.header;
    if (!survey.vouches_for(header.members.at(member), member)) {
        return "the header of the scheme file is of another time than the checksums";
    }
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

} // namespace

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
    return state;
}

} // namespace cd::redset
