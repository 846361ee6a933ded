// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "checkpoint/findings.h"
#include "redset/offline.h"
#include "runs.h"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace cdctl {

// One attempt, whichever directories it is in.
struct Attempt {
    std::string root;
    cd::checkpoint::CheckpointId point;
    auto operator<=>(const Attempt &) const = default;
};

// The attempt that a set is of, if it is of one.
std::optional<Attempt> attempt_of(const cd::redset::FoundSet &found);

// Attempts to protect points in time: which have counted, as far as the directories of points in
// time tell that are these, lie below them, or have them in them.
class Attempts {
public:
    explicit Attempts(const std::vector<std::string> &directories);

    enum class Standing {
        counts,     // or it is no attempt
        damaged,    // it has counted, and all that is left of the set's records is damaged
        unfinished, // no record says that all ranks had it, and another of its level counts
        unrecorded, // the same, and none counts: records may have been lost
        forgotten,  // its root was committed
    };
    Standing of(const cd::redset::FoundSet &found) const;

    // A set of an attempt that counts, or is unrecorded, of which no scheme file was found.
    struct Missing {
        Attempt attempt;
        std::string directory; // one that the attempt is in
        Standing standing = Standing::counts;
        cd::redset::FoundSet set; // its number, and why it is lost
    };
    std::vector<Missing> missing(const std::vector<cd::redset::FoundSet> &found) const;

    // Those of which all images are there, so that they may have lost no data. They have the path
    // of one of the scheme files that they had.
    std::vector<cd::redset::FoundSet>
    with_images_only(const std::vector<cd::redset::FoundSet> &found) const;

    // Where no scheme file tells of a member its record may, so that its rank can be named.
    void name_ranks(cd::redset::FoundSet &found) const;

    // What keeps from knowing which attempts of that root count.
    cd::Status check_known(const cd::redset::FoundSet &found) const;

    // Whether programs start from anything of its root.
    bool root_counts(const std::optional<Attempt> &attempt) const;

    bool are_of_one_run(const Attempt &a, const Attempt &b) const;
    // What is judged apart though it has one name: sentences.
    std::vector<std::string> different_runs() const { return cdctl::different_runs(roots_); }

private:
    void look(const std::filesystem::path &directory, const std::filesystem::path &given);
    const Root *root_of(const std::optional<Attempt> &attempt) const;
    cd::redset::Copies images_of(int rank, const Root &root,
                                 const cd::checkpoint::CheckpointId &point) const;

    std::vector<std::string> given_; // directories
    std::vector<Root> roots_;
};

// Of one attempt, with all of its sets, of each of which the first is taken: writes down for each
// rank that all had it. CD_ERROR_ARGUMENT where sets are missing.
cd::Status agree_on(const std::vector<const cd::redset::FoundSet *> &sets);

} // namespace cdctl
