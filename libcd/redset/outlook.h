// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "redset/offline.h"
#include "redset/real_paths.h"

#include <ctime>
#include <functional>
#include <map>
#include <optional>
#include <string>

namespace cd::redset {

// Files of sets as they are there, or will be once some of these sets have brought theirs back. May
// throw, as all of it.
class Outlook {
public:
    // Nothing where no file can be read. Links are followed.
    std::optional<os::FileAttributes> at(const std::string &path);

    // From now on what is lost of a set is as it tells. survey: of the set.
    void expect(const FoundSet &found, const Survey &survey);

    // Whether a set, of which too much is lost, will have enough left; survey is what it will have
    // then. Contents, of which checksums tell, are not known before.
    bool will_suffice(const FoundSet &found, Survey &survey);

    // A file of such ranks that is not as the set tells: it may be newer, or have been. "" where
    // there is none.
    std::string file_not_as_told(const FoundSet &found,
                                 const std::function<bool(int rank)> &of_whom);

    // Of a set without checksums a file that may have been written to since: one from which others
    // would be brought back, with the size that the set tells and another time, or one that would
    // be written over, and is newer and no shorter. "" where there is none, or times may have been
    // lost by copying: fewer files have exactly the one that is told, as if these alone had been
    // brought back, than another one. survey: of the set.
    std::string file_of_another_time(const FoundSet &found, const Survey &survey);

    // A file that would be written over, and has a later time than the set tells. "" where there is
    // none. survey: of the set.
    std::string newer_file(const FoundSet &found, const Survey &survey);

    // When the first of a set's scheme files was written that are left. Nothing where times may
    // have been lost by copying.
    std::optional<timespec> first_written(const FoundSet &found);

    // Whether a file is there, and from before.
    bool is_older(const std::string &path, const timespec &time);

private:
    bool has_kept_times(const FoundSet &found);

    RealPaths paths_;
    std::map<std::string, os::FileAttributes> expected_; // by real path
};

// In size and time, but for what is lost where programs take times for floating-point numbers.
bool is_as_told(const os::FileAttributes &there, const os::FileAttributes &told);

} // namespace cd::redset
