// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "domains/domain.h"

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace cd {

// The bytes that descendants hold unbound go to a CD that holds nothing there, when they end; not
// file positions, by which what is executed again would be moved. Prepare with leave() for each of
// them, older ones first; publish() cannot fail. Both CDs are locked.
class Inheriting {
public:
    // What a commit gives is the heir's. Of those that a restore ends it only keeps, until somebody
    // adds these bytes again, what that restore would have written to memory.
    enum class Kind { commit, restore };

    Inheriting(Domain &heir, Kind kind);

    // CONSTRAINED bytes stay behind. May throw std::bad_alloc.
    void leave(const Domain &leaving);

    void write_down(Transaction &transaction) const;
    void publish() noexcept;

private:
    struct Left {
        CdNumber from;
        Unbound found;
    };
    void take_what_is_missing(const Domain &leaving, Unbound found);

    Domain &heir_;
    const Kind kind_;
    std::map<std::pair<uint64_t, uint64_t>, uint64_t> held_; // space and begin, to end
    std::vector<Left> left_;
    size_t lost_ = 0; // pieces that nobody gets
};

} // namespace cd
