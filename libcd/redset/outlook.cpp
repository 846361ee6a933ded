// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "redset/outlook.h"

#include "redset/open_file.h"

#include <algorithm>

namespace cd::redset {
namespace {

// Calls visit(member, stored, path) for all that the set tells of, of the copies that count.
template <typename Visit> void each_file(const FoundSet &found, const Visit &visit) {
    for (size_t member = 0; member < found.places.size(); ++member) {
        for (const StoredFile &stored : found.told[member].value_or(StoredFiles())) {
            visit(member, stored, found.places[member].path(stored.name));
        }
    }
}

} // namespace

std::optional<os::FileAttributes> Outlook::at(const std::string &path) {
    if (const auto coming = expected_.find(paths_.of(path)); coming != expected_.end()) {
        return coming->second;
    }
    const MessageKeeper keeper;
    File file;
    os::FileAttributes there;
    return open_to_read(path, file, there) ? std::optional(there) : std::nullopt;
}

void Outlook::expect(const FoundSet &found, const Survey &survey) {
    each_file(found, [&](size_t member, const StoredFile &stored, const std::string &path) {
        if (!survey.members[member].data_lost.empty()) {
            expected_[paths_.of(path)] = stored.attributes;
        }
    });
}

bool Outlook::will_suffice(const FoundSet &found, Survey &survey) {
    if (!survey.layout || survey.checksums || survey.members.size() != found.places.size()) {
        return false;
    }
    std::vector<bool> will_be_there(survey.members.size(), true);
    std::vector<bool> is_expected(survey.members.size(), false);
    each_file(found, [&](size_t member, const StoredFile &stored, const std::string &path) {
        const auto there = at(path);
        const bool fits = there && there->size == stored.attributes.size;
        will_be_there[member] = will_be_there[member] && fits;
        is_expected[member] = is_expected[member] || expected_.contains(paths_.of(path));
    });
    std::vector<Lost> lost;
    for (size_t member = 0; member < survey.members.size(); ++member) {
        MemberState &state = survey.members[member];
        if (state.payload_lost.empty() && will_be_there[member] && is_expected[member]) {
            state.data_lost.clear();
        }
        lost.push_back(state.lost());
    }
    std::vector<Row> rows;
    return rebuilding_rows(*survey.layout, lost, rows, Makers::none);
}

std::string Outlook::file_not_as_told(const FoundSet &found,
                                      const std::function<bool(int rank)> &of_whom) {
    std::string first;
    each_file(found, [&](size_t member, const StoredFile &stored, const std::string &path) {
        if (first.empty() && of_whom(found.set.ranks[member])) {
            const auto there = at(path);
            first = there && is_as_told(*there, stored.attributes) ? "" : path;
        }
    });
    return first;
}

// A copy may have kept less than the nanoseconds of a time. An empty file adds nothing.
std::string Outlook::file_of_another_time(const FoundSet &found, const Survey &survey) {
    std::string first;
    int as_told = 0;
    int otherwise = 0;
    each_file(found, [&](size_t member, const StoredFile &stored, const std::string &path) {
        const uint64_t size = stored.attributes.size;
        const auto there = size == 0 ? std::nullopt : at(path);
        if (!there) {
            return;
        }
        const bool is_lost = !survey.members[member].data_lost.empty();
        const time_t now = there->modified.tv_sec;
        const time_t then = stored.attributes.modified.tv_sec;
        as_told += is_as_told(*there, stored.attributes) ? 1 : 0;
        otherwise += there->size == size && now != then ? 1 : 0;
        const bool may_be_newer = is_lost ? there->size >= size && now > then : now != then;
        first = first.empty() && may_be_newer ? path : first;
    });
    return as_told > 0 && as_told >= otherwise ? first : "";
}

bool is_as_told(const os::FileAttributes &there, const os::FileAttributes &told) {
    return there.size == told.size && there.modified.tv_sec == told.modified.tv_sec &&
           there.modified.tv_nsec == told.modified.tv_nsec;
}

} // namespace cd::redset
