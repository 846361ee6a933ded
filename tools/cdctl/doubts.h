// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "redset/descriptors.h"
#include "redset/real_paths.h"
#include "redset/rivals.h"
#include "redset/survey.h"

#include <string>
#include <vector>

namespace cdctl {

// Why what a set that is no attempt's would bring back may not be what there was. Sets that are to
// bring back theirs are taken into account from then on.
class Doubts {
public:
    // sets: all that are no attempt's, of what search has found. by_size: times of files tell
    // nothing. All of them outlive it. May throw, as all of it.
    Doubts(const std::vector<const cd::redset::FoundSet *> &sets, const cd::redset::Search &search,
           bool by_size);

    // Whether anything else tells of its files, or may.
    bool any_other_tells(const cd::redset::FoundSet &found) const;

    // A sentence, with what to do; "" where there is no doubt. survey: of the set.
    std::string why_left(const cd::redset::FoundSet &found, const cd::redset::Survey &survey);

    cd::redset::Outlook &outlook() { return outlook_; }
    const cd::redset::Rivals &rivals() const { return rivals_; }
    const cd::redset::Descriptors &descriptors() const { return descriptors_; }

private:
    std::string by_scheme_files(const cd::redset::FoundSet &found,
                                const cd::redset::Survey &survey);
    std::string by_descriptors(const cd::redset::FoundSet &found);
    std::string by_descriptors_of_newer_files(const cd::redset::FoundSet &found,
                                              const cd::redset::Survey &survey);
    std::string by_unusable(const cd::redset::FoundSet &found);
    std::string by_sources(const cd::redset::FoundSet &found, const cd::redset::Survey &survey);
    bool may_tell_of_files_of(const std::string &scheme_file, const cd::redset::FoundSet &found);
    std::string file_not_as_told(const cd::redset::FoundSet &found);

    const std::vector<std::string> &unusable_; // scheme files of none of these sets
    const bool by_size_;
    cd::redset::RealPaths paths_;
    cd::redset::Outlook outlook_;
    cd::redset::Rivals rivals_;
    cd::redset::Descriptors descriptors_;
};

} // namespace cdctl
