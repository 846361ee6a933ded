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

constexpr long second = 1000000000; // in nanoseconds

// In a number of double precision seconds of now have steps of 238 ns, which some programs round to
// microseconds. No file is written twice within one.
bool is_about(const timespec &one, const timespec &other) {
    constexpr uint64_t microsecond = 1000;
    const bool is_first = is_later(other, one);
    const timespec &first = is_first ? one : other;
    const timespec &last = is_first ? other : one;
    const bool is_next_second = first.tv_sec != last.tv_sec;
    if (is_next_second && last.tv_sec - 1 != first.tv_sec) {
        return false;
    }
    const uint64_t carry = is_next_second ? second : 0;
    return carry + static_cast<uint64_t>(last.tv_nsec) - static_cast<uint64_t>(first.tv_nsec) <
           microsecond;
}

// Whether a file that has it may have the one that was told: a copy may have kept only some of the
// decimal places of seconds.
bool is_cut_of(const timespec &time, const timespec &told) {
    for (long place = 1; place <= second; place *= 10) {
        if (time.tv_sec == told.tv_sec && time.tv_nsec == told.tv_nsec - told.tv_nsec % place) {
            return true;
        }
    }
    return false;
}

bool is_another(const timespec &time, const timespec &told) {
    return !is_about(time, told) && !is_cut_of(time, told);
}

bool is_newer(const timespec &time, const timespec &told) {
    return is_later(time, told) && !is_about(time, told);
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
    const SavedMessage keeper;
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
    if (!has_kept_times(found)) {
        return "";
    }
    std::string first;
    each_file(found, [&](size_t member, const StoredFile &stored, const std::string &path) {
        const uint64_t size = stored.attributes.size; // an empty file adds nothing
        const auto there = size == 0 ? std::nullopt : at(path);
        if (there && first.empty()) {
            const bool is_lost = !survey.members[member].data_lost.empty();
            const timespec &now = there->modified;
            const timespec &then = stored.attributes.modified;
            const bool may_be_newer =
                is_lost ? there->size >= size && is_newer(now, then) : is_another(now, then);
            first = may_be_newer ? path : "";
        }
    });
    return first;
}

bool Outlook::has_kept_times(const FoundSet &found) {
    int as_told = 0;
    int otherwise = 0;
    each_file(found, [&](size_t, const StoredFile &stored, const std::string &path) {
        const auto there = stored.attributes.size == 0 ? std::nullopt : at(path);
        if (there && there->size == stored.attributes.size) {
            as_told += is_as_told(*there, stored.attributes) ? 1 : 0;
            otherwise += is_another(there->modified, stored.attributes.modified) ? 1 : 0;
        }
    });
    return as_told > 0 && as_told >= otherwise;
}

std::string Outlook::newer_file(const FoundSet &found, const Survey &survey) {
    std::string first;
    each_file(found, [&](size_t member, const StoredFile &stored, const std::string &path) {
        const auto there = survey.members[member].data_lost.empty() ? std::nullopt : at(path);
        if (there && first.empty() && is_newer(there->modified, stored.attributes.modified)) {
            first = path;
        }
    });
    return first;
}

std::optional<timespec> Outlook::first_written(const FoundSet &found) {
    std::optional<timespec> first;
    if (!has_kept_times(found)) {
        return first;
    }
    for (const std::string &path : found.found) {
        const auto there = at(path);
        if (!there) {
            return std::nullopt;
        }
        first = first && is_later(there->modified, *first) ? first : there->modified;
    }
    return first;
}

bool Outlook::is_older(const std::string &path, const timespec &time) {
    const auto there = at(path);
    return there && is_newer(time, there->modified);
}

bool is_as_told(const os::FileAttributes &there, const os::FileAttributes &told) {
    return there.size == told.size && is_about(there.modified, told.modified);
}

} // namespace cd::redset
