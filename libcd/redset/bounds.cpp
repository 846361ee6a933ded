// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "redset/bounds.h"

#include "base/quoted.h"
#include "redset/real_directory.h"

#include <algorithm>
#include <filesystem>

namespace cd::redset {
namespace {

namespace fs = std::filesystem;

bool is_in(const fs::path &directory, const fs::path &bound) {
    return std::ranges::mismatch(bound, directory).in1 == bound.end();
}

class BoundsCheck {
public:
    Status add(const std::string &bound) {
        fs::path real;
        Status status = real_directory(bound, real);
        bounds_.push_back(std::move(real));
        return status;
    }

    bool contains(const fs::path &real) const {
        return std::ranges::any_of(bounds_,
                                   [&](const fs::path &bound) { return is_in(real, bound); });
    }

    Status check(const std::string &path, const Set &set, int member) const {
        const fs::path name = fs::path(path).filename();
        if (name.empty() || name == "." || name == "..") {
            return fail(CD_ERROR_ARGUMENT,
                        "set %d: \"%.*s\" of rank %d is no file's name. Nothing was changed",
                        set.group + 1, cd::quoted(path), path.c_str(),
                        set.ranks[static_cast<size_t>(member)]);
        }
        fs::path real;
        if (Status status = real_directory(fs::path(path).parent_path(), real); !status) {
            return status;
        }
        if (contains(real)) {
            return Status::ok();
        }
        return fail(
            CD_ERROR_ARGUMENT,
            "set %d: the file \"%.*s\" of rank %d would be brought back to %.*s, which is not "
            "below a directory that was given; give that directory, too, if it may be "
            "written there. Nothing was changed",
            set.group + 1, cd::quoted(path), path.c_str(), set.ranks[static_cast<size_t>(member)],
            cd::quoted(real.native()), real.c_str());
    }

private:
    std::vector<fs::path> bounds_;
};

Status check_for(const Bounds &bounds, BoundsCheck &check) {
    for (const std::string &bound : bounds) {
        if (Status status = check.add(bound); !status) {
            return status;
        }
    }
    return Status::ok();
}

} // namespace

Status check_bounds(const Set &set, int member, const Place &place, const Survey &survey,
                    const Bounds &bounds) {
    if (bounds.empty() || !survey.lost(member).data) {
        return Status::ok();
    }
    BoundsCheck check;
    if (Status status = check_for(bounds, check); !status) {
        return status;
    }
    for (const StoredFile &file : survey.files[static_cast<size_t>(member)]) {
        if (Status status = check.check(place.path(file.name), set, member); !status) {
            return status;
        }
    }
    return Status::ok();
}

bool is_in_bounds(const std::string &directory, const Bounds &bounds) {
    const SavedMessage keeper;
    BoundsCheck check;
    fs::path real;
    return bounds.empty() ||
           (check_for(bounds, check) && real_directory(directory, real) && check.contains(real));
}

} // namespace cd::redset
