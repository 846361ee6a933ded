// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "redset/survey.h"

#include "base/no_throw.h"
#include "base/text.h"
#include "memory/crc32c.h"
#include "redset/kvtree_file.h"
#include "redset/member_files.h"

#include <algorithm>
#include <utility>

namespace cd::redset {
namespace {

constexpr char from_member[] = "what a member has";

// ---- What members still have

// Reads what survives of a member, for the other members.
KvTree survivors_tree(const Set &set, int member, const Place &place) {
    KvTree all;
    KvTree read;
    uint64_t size = 0;
    const std::string scheme_file = place.scheme_file(set, member);
    all.add_value("PATH", scheme_file);
    if (read_own_image(scheme_file, read, size)) {
        all.add("HEADER") = std::move(read);
        all.add_number("PAYLOAD", size);
    } else {
        all.add_value("NO_HEADER", message());
    }
    if (read_own_image(place.checksums(set, member), read, size)) {
        all.add("CHECKSUMS") = std::move(read);
    }
    return all;
}

// Ignores what cannot be used.
Survivors read_survivors(const KvTree &tree, const Set &set, int member) {
    Survivors read;
    read.member = member;
    const std::string path(tree.value("PATH").value_or(from_member));
    read.no_header = tree.value("NO_HEADER").value_or(path + ": there is no header");
    read.payload_offset = tree.number("PAYLOAD").value_or(0);
    Header header;
    if (const KvTree *found = tree.find("HEADER"); found != nullptr) {
        if (!read_header(*found, path.c_str(), header)) {
            read.no_header = message();
        } else if (!is_header_of(header, set, member)) {
            read.no_header = path + ": the header is not that of member " + std::to_string(member) +
                             " of this set";
        } else {
            read.header = std::move(header);
        }
    }
    Checksums checksums;
    const KvTree *found = tree.find("CHECKSUMS");
    if (found != nullptr && read_checksums(*found, from_member, set, checksums)) {
        read.checksums = std::move(checksums);
    }
    return read;
}

// Returns why the header of a member cannot be used, "" if it can.
std::string why_header_is_lost(const Survey &survey, const Survivors &survivors) {
    if (!survivors.header) {
        return survivors.no_header;
    }
    return survey.vouches_for(survivors.header->members.at(survivors.member), survivors.member)
               ? ""
               : "the header of the scheme file is of another time than the checksums";
}

// ---- Which files there were

// Chooses checksums that fit the header beside them, else any: old ones may be left over.
void choose_checksums(const std::vector<Survivors> &all, Survey &survey) {
    for (const Survivors &each : all) {
        if (each.checksums) {
            survey.checksums = each.checksums;
            if (each.header &&
                survey.vouches_for(each.header->members.at(each.member), each.member)) {
                return;
            }
        }
    }
}

// Finds a member's entry in all headers. Fails if headers differ without checksums.
Status find_entry(const Set &set, int member, const std::vector<Survivors> &all,
                  const Survey &survey, const MemberEntry *&known) {
    for (const Survivors &survivors : all) {
        const auto entry = survivors.header ? survivors.header->members.find(member)
                                            : std::map<int, MemberEntry>::const_iterator();
        if (!survivors.header || entry == survivors.header->members.end() ||
            !entry->second.descriptor.is_of(set) || !survey.vouches_for(entry->second, member)) {
            continue;
        }
        if (known != nullptr && !(known->tree == entry->second.tree)) {
            return fail(CD_ERROR_STORE_DAMAGED,
                        "set %d: scheme files contradict each other about member %d (rank %d), and "
                        "there are no checksums: files of different times are mixed",
                        set.group + 1, member, set.ranks[index(member)]);
        }
        known = &entry->second;
    }
    return Status::ok();
}

Status fail_unknown(const Set &set, const std::vector<Survivors> &all,
                    const std::vector<int> &unknown) {
    std::vector<int> lost;
    for (int member = 0; member < set.coding.members; ++member) {
        if (std::ranges::none_of(
                all, [&](const Survivors &each) { return each.member == member && each.header; })) {
            lost.push_back(set.ranks[index(member)]);
        }
    }
    const std::string known =
        lost.empty() ? "" : "files of " + name_ranks(lost) + " are lost, and ";
    return fail(CD_ERROR_REDUNDANCY_EXCEEDED,
                "set %d of %d (%s, %s): %sno remaining file records which files %s had; nothing "
                "was changed",
                set.group + 1, set.groups, scheme_name(set.coding.scheme),
                counted(set.coding.members, "member").c_str(), known.c_str(),
                name_ranks(unknown).c_str());
}

// ---- What is lost of a member

std::string header_problem(const Set &set, const Survivors &survivors, const Survey &survey) {
    std::string problem = why_header_is_lost(survey, survivors);
    if (!problem.empty()) {
        return problem;
    }
    const Header &header = *survivors.header;
    bool fits = header.chunk.value_or(0) == survey.layout->chunk;
    for (const auto &[of, rank] : header.ranks) {
        fits = fits && of < set.coding.members && set.ranks[index(of)] == rank;
    }
    return fits ? "" : "the header of the scheme file does not fit the members' files";
}

// Checks how long a file is, and what it has from an offset on, if that has a checksum.
Status check_file(const File &file, const os::FileAttributes &attributes, uint64_t size,
                  uint64_t from, std::optional<uint32_t> expected) {
    if (attributes.size != size) {
        return fail(CD_ERROR_STORE_DAMAGED, "%s: the file has %llu bytes instead of %llu",
                    file.path(), static_cast<unsigned long long>(attributes.size),
                    static_cast<unsigned long long>(size));
    }
    if (!expected) {
        return Status::ok();
    }
    Bytes buffer(static_cast<size_t>(std::min<uint64_t>(size - from, uint64_t{256} << 10)));
    uint32_t crc = 0;
    for (uint64_t at = from; at < size; at += buffer.size()) {
        const auto part = static_cast<size_t>(std::min<uint64_t>(size - at, buffer.size()));
        if (Status status = file.read(at, buffer.data(), part); !status) {
            return status;
        }
        crc = crc32c(crc, buffer.data(), part);
    }
    return crc == *expected
               ? Status::ok()
               : fail(CD_ERROR_STORE_DAMAGED,
                      "%s: the checksum from offset %llu on is 0x%08x instead of 0x%08x",
                      file.path(), static_cast<unsigned long long>(from), crc, *expected);
}

Status check_data(const Survey &survey, int self, const Place &place, Contents contents) {
    const StoredFiles &files = survey.files[index(self)];
    for (size_t i = 0; i < files.size(); ++i) {
        std::optional<uint32_t> expected;
        if (survey.checksums && contents == Contents::compared) {
            const auto &sums = (*survey.checksums)[index(self)].files;
            expected = i < sums.size() ? sums[i] : 0;
        }
        File file;
        os::FileAttributes found;
        Status status = open_stored(place, files[i].name, file, found);
        status = status ? check_file(file, found, files[i].attributes.size, 0, expected) : status;
        if (!status) {
            return status;
        }
    }
    return Status::ok();
}

Status check_payload(const Set &set, const Survey &survey, const Survivors &survivors,
                     const Place &place, Contents contents) {
    const int self = survivors.member;
    const uint64_t begin = survivors.payload_offset;
    std::optional<uint32_t> expected;
    if (survey.checksums && contents == Contents::compared) {
        expected = (*survey.checksums)[index(self)].payload;
    }
    File file;
    os::FileAttributes found;
    Status status = open_own_to_read(place.scheme_file(set, self), file, found);
    return status
               ? check_file(file, found, begin + survey.layout->payload_size(self), begin, expected)
               : status;
}

Status read_whole_image(const std::string &path, KvTree &tree) {
    File file;
    os::FileAttributes found;
    uint64_t size = 0;
    Status status = open_own_to_read(path, file, found);
    status = status ? read_image(file, tree, size) : status;
    return status ? check_file(file, found, size, 0, std::nullopt) : status;
}

Status fail_other_set(const std::string &path) {
    return fail(CD_ERROR_STORE_DAMAGED, "%s: it belongs to another set", path.c_str());
}

// Ignores the order, and elements that only upstream writes.
Status check_descriptor(const Set &set, int self, const Place &place) {
    const std::string path = place.descriptor(set, self);
    KvTree tree;
    if (Status status = read_whole_image(path, tree); !status) {
        return status;
    }
    const KvTree expected = descriptor_tree(set, self);
    const bool is_right = std::ranges::all_of(expected.elements(), [&](const auto &element) {
        const KvTree *of_rank = tree.find(element.key);
        const KvTree *found = of_rank == nullptr ? nullptr : of_rank->find("DESC");
        Descriptor read;
        return found != nullptr && read_descriptor(*found, path.c_str(), read) && read.is_of(set) &&
               std::to_string(read.rank) == element.key;
    });
    return is_right ? Status::ok() : fail_other_set(path);
}

Status check_checksums(const Set &set, const Checksums &expected, const std::string &path) {
    KvTree tree;
    Checksums read;
    Status status = read_whole_image(path, tree);
    status = status ? read_checksums(tree, path.c_str(), set, read) : status;
    return status && read != expected ? fail_other_set(path) : status;
}

// ---- What all of them found

KvTree state_tree(const MemberState &own) {
    KvTree tree;
    tree.add_value("DATA", own.data_lost);
    tree.add_value("PAYLOAD", own.payload_lost);
    tree.add_value("DESCRIPTOR", own.descriptor_lost);
    tree.add_value("CHECKSUMS", own.checksums_lost);
    return tree;
}

MemberState read_state(const KvTree &tree) {
    const auto lost = [&](const char *key) { return std::string(tree.value(key).value_or("")); };
    return {lost("DATA"), lost("PAYLOAD"), lost("DESCRIPTOR"), lost("CHECKSUMS")};
}

Status too_much_lost(const Set &set, const std::vector<MemberState> &members) {
    std::vector<int> ranks;
    std::string reasons;
    for (size_t member = 0; member < members.size(); ++member) {
        const MemberState &state = members[member];
        if (state.lost().any()) {
            ranks.push_back(set.ranks[member]);
            reasons += "; rank " + std::to_string(ranks.back()) + ": " +
                       (state.data_lost.empty() ? state.payload_lost : state.data_lost);
        }
    }
    return fail(CD_ERROR_REDUNDANCY_EXCEEDED,
                "set %d of %d (%s): files of %s are lost, more than it can rebuild; nothing was "
                "changed%s",
                set.group + 1, set.groups, describe_coding(set.coding).c_str(),
                name_ranks(ranks).c_str(), reasons.c_str());
}

// Sends a tree to all members, and passes theirs to take(member, tree). Fails for all members or
// for none.
template <typename Make, typename Take>
Status exchange_trees(Exchange &exchange, const Make &make, const Take &take) {
    Bytes sent;
    std::vector<Bytes> received;
    Status made = catch_exceptions([&] { return encode_image(make(), from_member, sent); });
    if (Status status = agree(exchange, made, sent, received); !status) {
        return status;
    }
    return agree_on_memory(exchange, catch_exceptions([&] {
                               for (size_t member = 0; member < received.size(); ++member) {
                                   KvTree tree;
                                   uint64_t size = 0;
                                   if (Status status =
                                           decode_image(received[member], from_member, tree, size);
                                       !status) {
                                       return status;
                                   }
                                   take(static_cast<int>(member), tree);
                               }
                               return Status::ok();
                           }));
}

} // namespace

bool Survey::vouches_for(const MemberEntry &entry, int member) const {
    return !checksums || (*checksums)[index(member)].entry == tree_checksum(entry.tree);
}

Survivors find_survivors(const Set &set, int member, const Place &place) {
    return read_survivors(survivors_tree(set, member, place), set, member);
}

Status find_files(const Set &set, const std::vector<Survivors> &all, Survey &survey) {
    survey = {};
    choose_checksums(all, survey);
    survey.members.resize(set.ranks.size());
    survey.payload_offsets.resize(set.ranks.size());
    for (const Survivors &survivors : all) {
        const size_t member = index(survivors.member);
        survey.members[member].payload_lost = why_header_is_lost(survey, survivors);
        survey.payload_offsets[member] = survivors.payload_offset;
    }
    std::vector<int> unknown;
    std::vector<uint64_t> sizes;
    for (int member = 0; member < set.coding.members; ++member) {
        const MemberEntry *entry = nullptr;
        if (Status status = find_entry(set, member, all, survey, entry); !status) {
            return status;
        }
        if (entry == nullptr) {
            unknown.push_back(set.ranks[index(member)]);
            continue;
        }
        survey.files.push_back(entry->files);
        sizes.push_back(logical_size(entry->files));
    }
    if (!unknown.empty()) {
        return fail_unknown(set, all, unknown);
    }
    survey.layout.emplace(set.coding, std::move(sizes));
    return Status::ok();
}

MemberState find_losses(const Set &set, const Survey &survey, const Survivors &survivors,
                        const Place &place, Contents contents) {
    MemberState state;
    const int self = survivors.member;
    state.payload_lost = header_problem(set, survivors, survey);
    if (state.payload_lost.empty() && !check_payload(set, survey, survivors, place, contents)) {
        state.payload_lost = message();
    }
    if (!check_data(survey, self, place, contents)) {
        state.data_lost = message();
    } else if (!state.payload_lost.empty() && !survey.checksums &&
               !survey.files[index(self)].empty()) {
        state.data_lost = "without scheme file and checksums these files cannot be verified: " +
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

Status plan_rows(const Set &set, Makers makers, Survey &survey) {
    std::vector<Lost> lost;
    std::ranges::transform(survey.members, std::back_inserter(lost), &MemberState::lost);
    return rebuilding_rows(*survey.layout, lost, survey.rows, makers)
               ? Status::ok()
               : too_much_lost(set, survey.members);
}

Status take_survey(Exchange &exchange, const Set &set, const Place &place, Contents contents,
                   Survey &survey) {
    const int self = exchange.self();
    std::vector<Survivors> all;
    if (Status status = exchange_trees(
            exchange, [&] { return survivors_tree(set, self, place); },
            [&](int member, const KvTree &tree) {
                all.push_back(read_survivors(tree, set, member));
            });
        !status) {
        return status;
    }
    Status found = catch_exceptions([&] { return find_files(set, all, survey); });
    if (Status status = agree_on_memory(exchange, found); !status) {
        return status;
    }
    const auto look = [&] {
        return state_tree(find_losses(set, survey, all[index(self)], place, contents));
    };
    if (Status status = exchange_trees(exchange, look,
                                       [&](int member, const KvTree &tree) {
                                           survey.members[index(member)] = read_state(tree);
                                       });
        !status) {
        return status;
    }
    Status planned = catch_exceptions([&] { return plan_rows(set, only(self), survey); });
    return agree_on_memory(exchange, planned);
}

} // namespace cd::redset
