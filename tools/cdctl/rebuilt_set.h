// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "attempts.h"
#include "command.h"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>

namespace cdctl {

enum class Verdict { whole, rebuilt, rebuildable, unfinished, superseded, failed, lost };

const char *name_of(Verdict verdict);

// What programs start from in the place of a set's point in time, so that what is lost of this does
// not decide.
enum class Instead { nothing, older, newer };

// What has become of a set, or would.
struct Result {
    Verdict verdict = Verdict::whole;
    std::string problem; // why not, "" when it went well
    Attempts::Standing standing = Attempts::Standing::counts;
    std::optional<uint64_t> start; // the epoch that programs start from, if one can be had
    Instead instead = Instead::nothing;
    cd::redset::Survey survey;

    bool is_whole() const { return verdict == Verdict::whole || verdict == Verdict::rebuilt; }
    // No record says that it counted, and it may have.
    bool is_unrecorded() const { return standing == Attempts::Standing::unrecorded; }
};

// Settles which copies of found count. progress: as that of Options. May throw.
Result rebuild_set(cd::redset::FoundSet &found, const Attempts &known, const Arguments &arguments,
                   std::function<void(uint64_t done, uint64_t all)> progress);

// Of a set of which there is nothing to rebuild.
Result missing_set(const Attempts::Missing &missing, const Arguments &arguments);

// Attempts that programs start from, or would. Of one run it is the newest that can be had, of
// whatever level, as for the library.
class Starts {
public:
    explicit Starts(const Attempts &known) : known_(known) {}

    void note(const cd::redset::FoundSet &found, const Result &result, const Arguments &arguments);

    // Tells a set's result of the start of its run, as far as sets have been noted, and whether it
    // decides anything then.
    void judge(const std::optional<Attempt> &attempt, Result &result) const;

private:
    struct Sets {
        int wanted = 0;
        std::set<int> there;
        bool any_failed = false;
    };
    const Attempt *start_of(const Attempt &run) const;
    // Nobody knows then whether a program gets as far as this one.
    bool any_failed_before(const Attempt &start) const;

    const Attempts &known_;
    std::map<Attempt, Sets> attempts_;
};

// root_counts: whether programs start from anything of its root.
Outcome outcome_of(const Result &result, bool root_counts);

} // namespace cdctl
