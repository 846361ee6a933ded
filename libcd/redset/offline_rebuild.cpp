// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "redset/offline_rebuild.h"

#include "base/text.h"
#include "redset/thread_exchange.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

namespace cd::redset {
namespace {

namespace fs = std::filesystem;

// Where a directory is, or will be once it is made. "" if links lead nowhere.
fs::path real_directory(const fs::path &directory) {
    std::error_code error;
    fs::path real = fs::weakly_canonical(directory.empty() ? "." : directory, error);
    return error ? fs::path() : real;
}

// Checks where the lost files of a member would be written.
Status check_bounds(const Set &set, int member, const Place &place, const Survey &survey,
                    const Bounds &bounds) {
    if (!survey.lost(member).data) {
        return Status::ok();
    }
    for (const StoredFile &file : survey.files[index(member)]) {
        const std::string path = place.path(file.name);
        const std::string directory = fs::path(path).parent_path();
        if (!is_in_bounds(directory, bounds)) {
            const fs::path real = real_directory(directory);
            return fail(
                CD_ERROR_ARGUMENT,
                "set %d: the file \"%.*s\" of rank %d would be rebuilt in %.*s, which is not "
                "below a given directory; give that directory too",
                set.group + 1, cd::quoted(path), path.c_str(), set.ranks[index(member)],
                cd::quoted(real.native()), real.c_str());
        }
    }
    return Status::ok();
}

// A payload can be made of all files again, and tables without any.
int merit(const MemberState &state) {
    const bool has_tables = state.descriptor_lost.empty() && state.checksums_lost.empty();
    return (state.data_lost.empty() ? 4 : 0) + (state.payload_lost.empty() ? 2 : 0) +
           (has_tables ? 1 : 0);
}

// Takes the first whole copy of each member, else the best one, and surveys what was taken.
Status survey_copies(const FoundSet &found, OfflineResult &result) {
    constexpr int whole = 7;
    const Set &set = found.set;
    Survey &survey = result.survey;
    std::vector<Survivors> all;
    for (int member = 0; member < set.coding.members; ++member) {
        const Copies &copies = found.copies[index(member)];
        result.places.push_back(copies.front());
        for (const Place &place : copies) {
            all.push_back(find_survivors(set, member, place));
        }
    }
    if (Status status = find_files(set, all, survey); !status) {
        return status;
    }
    size_t first = 0; // of a member, in all
    for (int member = 0; member < set.coding.members; ++member) {
        const Copies &copies = found.copies[index(member)];
        int best = -1;
        for (size_t i = 0; i < copies.size() && best < whole; ++i) {
            MemberState state =
                find_losses(set, survey, all[first + i], copies[i], Contents::compared);
            if (merit(state) > best) {
                best = merit(state);
                result.places[index(member)] = copies[i];
                survey.members[index(member)] = std::move(state);
                survey.payload_offsets[index(member)] = all[first + i].payload_offset;
            }
        }
        first += copies.size();
    }
    return plan_rows(set, Makers::all, survey);
}

} // namespace

bool is_in_bounds(const std::string &directory, const Bounds &bounds) {
    const fs::path real = real_directory(directory);
    return bounds.empty() || std::ranges::any_of(bounds, [&](const std::string &bound) {
               const fs::path above = real_directory(bound);
               return !above.empty() && std::ranges::mismatch(above, real).in1 == above.end();
           });
}

Status rebuild_offline(const FoundSet &found, const Options &options, const Bounds &bounds,
                       bool dry_run, OfflineResult &result) {
    if (!found.conflict.empty()) {
        return fail(CD_ERROR_ARGUMENT, "%s", found.conflict.c_str());
    }
    if (!found.problem.empty()) {
        return fail(CD_ERROR_REDUNDANCY_EXCEEDED, "set %d of %d: %s; nothing was changed",
                    found.set.group + 1, found.set.groups, found.problem.c_str());
    }
    const int members = found.set.coding.members;
    Status status = survey_copies(found, result);
    for (int member = 0; status && member < members; ++member) {
        status =
            check_bounds(found.set, member, result.places[index(member)], result.survey, bounds);
    }
    return !status || dry_run ? status : run_members(members, [&](Exchange &exchange) {
        const Place &place = result.places[index(exchange.self())];
        Rebuild rebuild(exchange, found.set, place, options, result.survey);
        Status prepared = rebuild.prepare_surveyed();
        return prepared ? rebuild.publish() : prepared;
    });
}

} // namespace cd::redset
