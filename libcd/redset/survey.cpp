// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "redset/survey.h"

#include "base/attempt.h"
#include "base/kept_outcome.h"
#include "redset/header.h"
#include "redset/kvtree_image.h"
#include "redset/open_file.h"
#include "store/crc32c.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace cd::redset {
namespace {

// What a member still has, before its data are looked at.
struct Remains {
    std::optional<Header> header;
    std::optional<Checksums> checksums;
    std::string no_header; // why not
};

// ---- Telling each other

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

Status tell(const Set &set, int self, const Place &place, Bytes &told, uint64_t &payload_offset) {
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
    told.clear();
    tell_part(header, told);
    tell_part(std::as_bytes(std::span(no_header)), told);
    tell_part(checksums, told);
    return Status::ok();
}

Status hear(const Set &set, std::span<const std::byte> told, Remains &remains) {
    constexpr const char *source = "what a member has";
    std::span<const std::byte> header;
    std::span<const std::byte> no_header;
    std::span<const std::byte> checksums;
    for (auto *part : {&header, &no_header, &checksums}) {
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
    remains.no_header.assign(reinterpret_cast<const char *>(no_header.data()), no_header.size());
    return Status::ok();
}

// Checksums that members have, those that most of them have first.
std::vector<Checksums> candidates(const std::vector<Remains> &all) {
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

// ---- Which files there were

bool vouched_for(const MemberEntry &entry, int member, const Survey &survey) {
    return !survey.checksums ||
           (*survey.checksums)[index(member)].entry == tree_checksum(entry.tree);
}

std::vector<int> ranks_without_header(const Set &set, const std::vector<Remains> &all) {
    std::vector<int> ranks;
    for (size_t member = 0; member < all.size(); ++member) {
        if (!all[member].header) {
            ranks.push_back(set.ranks[member]);
        }
    }
    return ranks;
}

// What the headers tell of each member. Without checksums nobody can say which of two is right.
Status collect_files(const Set &set, const std::vector<Remains> &all, Survey &survey) {
    std::vector<const MemberEntry *> entries(set.ranks.size());
    for (const Remains &remains : all) {
        if (!remains.header) {
            continue;
        }
        for (const auto &[member, entry] : remains.header->members) {
            if (!entry.descriptor.is_of(set) || !vouched_for(entry, member, survey)) {
                continue;
            }
            const MemberEntry *&known = entries[index(member)];
            if (known != nullptr && tree_checksum(known->tree) != tree_checksum(entry.tree)) {
                return fail(CD_ERROR_STORE_DAMAGED,
                            "set %d: scheme files tell different things of member %d (rank %d), "
                            "and no checksums say which is right: files of different times are "
                            "mixed",
                            set.group + 1, member, set.ranks[index(member)]);
            }
            known = &entry;
        }
    }
    std::vector<int> unknown;
    std::vector<uint64_t> sizes;
    survey.files.clear();
    for (size_t member = 0; member < entries.size(); ++member) {
        if (entries[member] == nullptr) {
            unknown.push_back(set.ranks[member]);
            continue;
        }
        survey.files.push_back(entries[member]->files);
        sizes.push_back(logical_size(survey.files.back()));
    }
    if (!unknown.empty()) {
        const std::vector<int> lost = ranks_without_header(set, all);
        const std::string known =
            lost.empty() ? "" : "files of ranks " + list_ranks(lost) + " are lost, and ";
        return fail(CD_ERROR_REDUNDANCY_EXCEEDED,
                    "set %d of %d (%s, %d members): %snothing that is left tells which files "
                    "ranks %s had; nothing was changed",
                    set.group + 1, set.groups, scheme_name(set.shape.scheme), set.shape.members,
                    known.c_str(), list_ranks(unknown).c_str());
    }
    survey.layout.emplace(set.shape, std::move(sizes));
    return Status::ok();
}

std::string header_problem(const Set &set, int member, const Remains &remains,
                           const Survey &survey) {
    if (!remains.header) {
        return remains.no_header;
    }
    const Header &header = *remains.header;
    if (!vouched_for(header.members.at(member), member, survey)) {
        return "the header of the scheme file is of another time than the checksums";
    }
    bool fits = header.chunk.value_or(0) == survey.layout->chunk;
    for (const auto &[of, rank] : header.ranks) {
        fits = fits && of < set.shape.members && set.ranks[index(of)] == rank;
    }
    return fits ? "" : "the header of the scheme file does not fit the members' files";
}

// ---- Whether this member's own are as they were

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

// ---- What all of them found

Status tell_state(const MemberState &own, Bytes &told) {
    KvTree tree;
    tree.add_value("DATA", own.data_lost);
    tree.add_value("PAYLOAD", own.payload_lost);
    return encode_image(tree, "a member's state", told);
}

Status hear_states(const std::vector<Bytes> &everybodys, std::vector<MemberState> &all) {
    std::vector<MemberState> states;
    for (const Bytes &bytes : everybodys) {
        KvTree heard;
        uint64_t size = 0;
        if (Status status = decode_image(bytes, "a member's state", heard, size); !status) {
            return status;
        }
        states.push_back({std::string(heard.value("DATA").value_or("")),
                          std::string(heard.value("PAYLOAD").value_or(""))});
    }
    all = std::move(states);
    return Status::ok();
}

Status too_much_lost(const Set &set, const std::vector<MemberState> &members) {
    std::vector<int> ranks;
    std::string reasons;
    for (size_t member = 0; member < members.size(); ++member) {
        const auto &[data, payload] = members[member];
        if (!data.empty() || !payload.empty()) {
            ranks.push_back(set.ranks[member]);
            reasons +=
                "; rank " + std::to_string(ranks.back()) + ": " + (data.empty() ? payload : data);
        }
    }
    return fail(
        CD_ERROR_REDUNDANCY_EXCEEDED,
        "set %d of %d (%s, %d members, %d checksums or copies): files of ranks %s are lost, "
        "more than it can bring back; nothing was changed%s",
        set.group + 1, set.groups, scheme_name(set.shape.scheme), set.shape.members,
        set.shape.checks, list_ranks(ranks).c_str(), reasons.c_str());
}

Status find_rows(const Set &set, Survey &survey) {
    std::vector<Lost> lost;
    lost.reserve(static_cast<size_t>(set.shape.members));
    for (int member = 0; member < set.shape.members; ++member) {
        lost.push_back(survey.lost(member));
    }
    return rebuilding_rows(*survey.layout, lost, survey.rows) ? Status::ok()
                                                              : too_much_lost(set, survey.members);
}

Status survey_with(Exchange &exchange, const Set &set, const Place &place,
                   const std::vector<Remains> &all, Contents contents, Survey &survey,
                   const Looked &tell) {
    const int self = exchange.self();
    Status collected = attempt([&] {
        survey.members.resize(all.size());
        for (size_t member = 0; member < all.size(); ++member) {
            survey.members[member] = {"", all[member].no_header};
        }
        return collect_files(set, all, survey);
    });
    if (Status status = agree_on_memory(exchange, collected); !status) {
        return status;
    }
    Bytes told;
    Status looked = attempt([&] {
        return tell_state(own_state(set, survey, self, place, all[index(self)], contents, tell),
                          told);
    });
    std::vector<Bytes> everybodys;
    if (Status status = agree(exchange, looked, told, everybodys); !status) {
        return status;
    }
    return agree_on_memory(exchange, attempt([&] {
                               if (Status status = hear_states(everybodys, survey.members);
                                   !status) {
                                   return status;
                               }
                               return find_rows(set, survey);
                           }));
}

// What members have, and with which checksums to look at it, one after the other: a survey each.
Status understand(const Set &set, const std::vector<Bytes> &heard, uint64_t payload_offset,
                  std::vector<Remains> &all, std::vector<Survey> &choices) {
    all.resize(heard.size());
    for (size_t member = 0; member < heard.size(); ++member) {
        if (Status status = hear(set, heard[member], all[member]); !status) {
            return status;
        }
    }
    for (Checksums &checksums : candidates(all)) {
        choices.emplace_back().checksums = std::move(checksums);
    }
    if (choices.empty()) {
        choices.emplace_back();
    }
    for (Survey &choice : choices) {
        choice.payload_offset = payload_offset;
    }
    return Status::ok();
}

} // namespace

Lost Survey::lost(int member) const {
    const MemberState &state = members[index(member)];
    return {!state.data_lost.empty(), !state.payload_lost.empty()};
}

Status take_survey(Exchange &exchange, const Set &set, const Place &place, Contents contents,
                   Survey &survey, const Looked &looked) {
    Bytes told;
    uint64_t payload_offset = 0;
    Status own = attempt([&] { return tell(set, exchange.self(), place, told, payload_offset); });
    std::vector<Bytes> heard;
    if (Status status = agree(exchange, own, told, heard); !status) {
        return status;
    }
    std::vector<Remains> all;
    std::vector<Survey> choices;
    Status understood =
        attempt([&] { return understand(set, heard, payload_offset, all, choices); });
    if (Status status = agree_on_memory(exchange, understood); !status) {
        return status;
    }
    // Checksums of another time may be left over somewhere; those that most members have count,
    // unless too little fits them.
    const KeptOutcome first(
        survey_with(exchange, set, place, all, contents, choices.front(), looked));
    survey = std::move(choices.front());
    for (size_t i = 1; i < choices.size() && first.code() == CD_ERROR_REDUNDANCY_EXCEEDED; ++i) {
        Status status = survey_with(exchange, set, place, all, contents, choices[i], looked);
        if (status.code() != CD_ERROR_REDUNDANCY_EXCEEDED) {
            survey = std::move(choices[i]);
            return status;
        }
    }
    return first.again();
}

} // namespace cd::redset
