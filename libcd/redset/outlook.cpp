// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "redset/outlook.h"

#include "redset/open_file.h"

#include <algorithm>

namespace cd::redset {
namespace {

bool is_later(const timespec &one, const timespec &other) {
    return one.tv_sec != other.tv_sec ? one.tv_sec > other.tv_sec : one.tv_nsec > other.tv_nsec;
}

// Whether a file that has it may have the one that was told: a copy may have kept only some of the
// decimal places of seconds.
bool is_cut_of(const timespec &time, const timespec &told) {
    constexpr long second = 1000000000;
    for (long place = 1; place <= second; place *= 10) {
        if (time.tv_sec == told.tv_sec && time.tv_nsec == told.tv_nsec - told.tv_nsec % place) {
            return true;
        }
    }
    return false;
}

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

std::string Outlook::file_of_another_time(const FoundSet &found, const Survey &survey) {
    std::string first;
    int as_told = 0;
    int otherwise = 0;
    each_file(found, [&](size_t member, const StoredFile &stored, const std::string &path) {
        const uint64_t size = stored.attributes.size; // an empty file adds nothing
        const auto there = size == 0 ? std::nullopt : at(path);
        if (!there) {
            return;
        }
        const bool is_lost = !survey.members[member].data_lost.empty();
        const timespec &now = there->modified;
        const timespec &then = stored.attributes.modified;
        const bool is_another = !is_cut_of(now, then);
        as_told += is_as_told(*there, stored.attributes) ? 1 : 0;
        otherwise += there->size == size && is_another ? 1 : 0;
        const bool may_be_newer = is_lost ? there->size >= size && is_later(now, then) : is_another;
        first = first.empty() && may_be_newer ? path : first;
    });
    return as_told > 0 && as_told >= otherwise ? first : "";
}

bool is_as_told(const os::FileAttributes &there, const os::FileAttributes &told) {
    return there.size == told.size && there.modified.tv_sec == told.modified.tv_sec &&
           there.modified.tv_nsec == told.modified.tv_nsec;
}

} // namespace cd::redset
