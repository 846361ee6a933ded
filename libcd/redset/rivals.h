// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "redset/offline.h"

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace cd::redset {

// Sets of different times may tell of the same files, as where a program gave these to redset once
// more with another scheme: to bring back those of one destroys those of the other.
class Rivals {
public:
    // They outlive it. Looks at the files of those that tell otherwise of some. May throw.
    explicit Rivals(const std::vector<const FoundSet *> &sets);

    // Others that tell otherwise of some file of a set.
    bool has_rivals(const FoundSet &found) const;

    enum class Claim {
        counts,     // nothing is to be brought back, or what is there is rather as this one tells
        superseded, // it is rather as another set tells, which has all of the files
        undecided   // neither
    };
    struct Judgement {
        Claim claim = Claim::counts;
        std::string why = {}; // a sentence with the file and the other set
    };
    // What comes from files that are not as the set tells is nobody's, also where it is a file of
    // which all tell the same. members: what is lost of them; none: nobody knows. May throw.
    Judgement judge(const FoundSet &found, const std::vector<MemberState> &members) const;

private:
    struct Told {
        size_t member;
        os::FileAttributes attributes;
    };
    struct Claimant {
        const FoundSet *found;
        std::map<std::string, Told> files; // by path
        std::vector<size_t> rivals;
    };

    const Claimant *claimant_of(const FoundSet &found) const;
    static std::vector<std::string> told_otherwise(const Claimant &a, const Claimant &b);
    bool fits_worse(const Claimant &a, const Claimant &b,
                    const std::vector<std::string> &files) const;

    std::vector<Claimant> claimants_;
    std::map<std::string, std::optional<os::FileAttributes>> present_; // of which sets differ
};

// A file that is there and is not as the set tells, in size or time; "" where there is none. May
// throw.
std::string file_not_as_told(const FoundSet &found);

} // namespace cd::redset
