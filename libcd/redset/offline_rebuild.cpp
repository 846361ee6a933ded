// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "redset/offline_rebuild.h"

#include "base/text.h"
#include "file_store/file.h"
#include "redset/thread_exchange.h"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <map>
#include <mutex>
#include <utility>

namespace cd::redset {
namespace {

namespace fs = std::filesystem;

// ---- Bounds

bool is_there(const fs::path &path) {
    const int fd = os::system().open_at(AT_FDCWD, path.c_str(), O_PATH | O_NOFOLLOW, 0);
    return File(fd, path).is_open();
}

// Finds where a directory is, or will be once it is made. Fails behind a link that leads to
// nothing, which may lead somewhere by then.
Status real_directory(const fs::path &directory, fs::path &real) {
    fs::path above = directory;
    fs::path made;
    std::string there;
    while (os::system().real_path(above.empty() ? "." : above.c_str(), there) != 0) {
        const int error = errno;
        if (error != ENOENT || !above.has_relative_path() || above.filename() == ".." ||
            is_there(above)) {
            return fail(CD_ERROR_STORE_IO, "%s: cannot tell where this leads: \"%s\"",
                        directory.c_str(), std::strerror(error));
        }
        made = made.empty() ? above.filename() : above.filename() / made;
        above = above.parent_path();
    }
    real = (fs::path(there) / made).lexically_normal();
    real = real.has_filename() ? real : real.parent_path(); // without a slash at the end
    return Status::ok();
}

Status find_bound(const fs::path &real, const Bounds &bounds, bool &found) {
    found = false;
    for (const std::string &bound : bounds) {
        fs::path real_bound;
        if (Status status = real_directory(bound, real_bound); !status) {
            return status;
        }
        found = found || std::ranges::mismatch(real_bound, real).in1 == real_bound.end();
    }
    return Status::ok();
}

Status check_path(const std::string &path, const Set &set, int member, const Bounds &bounds) {
    const int rank = set.ranks[index(member)];
    const fs::path name = fs::path(path).filename();
    if (name.empty() || name == "." || name == "..") {
        return fail(CD_ERROR_ARGUMENT, "set %d: \"%.*s\" of rank %d is no file's name",
                    set.group + 1, cd::quoted(path), path.c_str(), rank);
    }
    fs::path real;
    bool is_in = false;
    if (Status status = real_directory(fs::path(path).parent_path(), real); !status) {
        return status;
    }
    if (Status status = find_bound(real, bounds, is_in); !status || is_in) {
        return status;
    }
    return fail(CD_ERROR_ARGUMENT,
                "set %d: the file \"%.*s\" of rank %d would be brought back to %.*s, which is not "
                "below a given directory; give that directory too",
                set.group + 1, cd::quoted(path), path.c_str(), rank, cd::quoted(real.native()),
                real.c_str());
}

// ---- Surveys by all members

std::vector<Place> places_at(const std::vector<Copies> &copies, const std::vector<size_t> &chosen) {
    std::vector<Place> places;
    for (size_t member = 0; member < chosen.size(); ++member) {
        places.push_back(copies[member][chosen[member]]);
    }
    return places;
}

Status survey_each(const Set &set, const std::vector<Place> &places, const Progress &progress,
                   std::vector<Survey> &surveys) {
    surveys.assign(places.size(), {});
    std::mutex mutex; // members are threads
    uint64_t done = 0;
    const auto add = [&](uint64_t bytes, uint64_t all) {
        const std::lock_guard lock(mutex);
        done = std::min(done + bytes, all);
        if (progress) {
            progress(done, all);
        }
    };
    return run_members(set.shape.members, [&](Exchange &exchange) {
        const size_t self = index(exchange.self());
        return take_survey(exchange, set, places[self], Contents::compared, surveys[self], add);
    });
}

// A payload can be made of all files again, and tables without any.
int merit(const MemberState &state) {
    const bool has_tables = state.descriptor_lost.empty() && state.checksums_lost.empty();
    return (state.data_lost.empty() ? 4 : 0) + (state.payload_lost.empty() ? 2 : 0) +
           (has_tables ? 1 : 0);
}

// Takes the first whole copy of each member, else the best one, and surveys what was taken.
Status choose_copies(const FoundSet &found, const Progress &progress, OfflineResult &result,
                     std::vector<Survey> &surveys) {
    constexpr int whole = 7;
    const size_t members = found.copies.size();
    std::vector<size_t> chosen(members);
    std::vector<size_t> trying(members);
    std::vector<size_t> next(members, 1);
    std::vector<int> best(members, -1);
    std::map<std::pair<size_t, size_t>, MemberState> states; // by member and copy
    Status status = Status::ok();
    for (bool again = true; again;) {
        result.places = places_at(found.copies, trying);
        status = survey_each(found.set, result.places, progress, surveys);
        const Survey &survey = surveys.front();
        const std::vector<size_t> looked_at = trying;
        for (size_t member = 0; survey.layout && member < survey.members.size(); ++member) {
            const MemberState &state = survey.members[member];
            states[{member, looked_at[member]}] = state;
            if (merit(state) > best[member]) {
                best[member] = merit(state);
                chosen[member] = looked_at[member];
            }
        }
        trying = chosen;
        for (size_t member = 0; member < members; ++member) {
            if (best[member] < whole && next[member] < found.copies[member].size()) {
                trying[member] = next[member]++;
            }
        }
        again = trying != looked_at;
    }
    for (const auto &[copy, state] : states) {
        const auto &[member, number] = copy;
        if (number != chosen[member] && state != MemberState()) {
            result.damaged_copies.push_back(
                {static_cast<int>(member), found.copies[member][number].folder, state});
        }
    }
    return status;
}

} // namespace

Status check_bounds(const Set &set, int member, const Place &place, const Survey &survey,
                    const Bounds &bounds) {
    if (bounds.empty() || !survey.lost(member).data) {
        return Status::ok();
    }
    for (const StoredFile &file : survey.files[index(member)]) {
        if (Status status = check_path(place.path(file.name), set, member, bounds); !status) {
            return status;
        }
    }
    return Status::ok();
}

bool is_in_bounds(const std::string &directory, const Bounds &bounds) {
    const SavedMessage message;
    fs::path real;
    bool is_in = false;
    return bounds.empty() ||
           (real_directory(directory, real) && find_bound(real, bounds, is_in) && is_in);
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
    Options checked = options;
    checked.check = [&](int member, const Survey &survey) {
        return check_bounds(found.set, member, result.places[index(member)], survey, bounds);
    };
    const bool has_copies =
        std::ranges::any_of(found.copies, [](const Copies &copies) { return copies.size() > 1; });
    const size_t members = found.copies.size();
    std::vector<Survey> surveys(members);
    result.places = places_at(found.copies, std::vector<size_t>(members));
    Status status = Status::ok();
    if (dry_run || has_copies) {
        status = choose_copies(found, options.progress, result, surveys);
    }
    for (size_t member = 0; dry_run && status && member < members; ++member) {
        status = checked.check(static_cast<int>(member), surveys[member]);
    }
    if (status && !dry_run) {
        status = run_members(found.set.shape.members, [&](Exchange &exchange) {
            const size_t self = index(exchange.self());
            const Place &place = result.places[self];
            return has_copies ? rebuild_surveyed(exchange, found.set, place, checked, surveys[self])
                              : rebuild(exchange, found.set, place, checked, surveys[self]);
        });
    }
    result.survey = std::move(surveys.front());
    return status;
}

} // namespace cd::redset
