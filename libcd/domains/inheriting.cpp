// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "domains/inheriting.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <string>

namespace cd {

Inheriting::Inheriting(Domain &heir, Kind kind) : heir_(heir), kind_(kind) {
    for (const Unbound &found : heir.unbound) {
        held_[{found.space, found.old.begin}] = found.old.end;
    }
}

void Inheriting::leave(const Domain &leaving) {
    for (const Unbound &found : leaving.unbound) {
        ++lost_;
        if (found.scope == CD_GLOBAL) {
            Unbound given = found.copy();
            if (kind_ == Kind::restore && !given.left) {
                given.left = true;
                given.left_by = std::make_shared<const std::string>(leaving.path);
                given.left_in = interval_of(leaving);
            }
            take_what_is_missing(leaving, std::move(given));
        }
    }
    heir_.unbound.reserve(heir_.unbound.size() + left_.size());
}

void Inheriting::take_what_is_missing(const Domain &leaving, Unbound found) {
    const uint64_t end = found.old.end;
    for (uint64_t done = found.old.begin; done < end;) {
        auto at = held_.upper_bound({found.space, done});
        if (at != held_.begin() && std::prev(at)->first.first == found.space &&
            std::prev(at)->second > done) {
            done = std::min(end, std::prev(at)->second);
            if (done < end) {
                found = found.split(done);
            }
            continue;
        }
        const bool cut =
            at != held_.end() && at->first.first == found.space && at->first.second < end;
        const uint64_t missing_end = cut ? at->first.second : end;
        Unbound rest;
        if (cut) {
            rest = found.split(missing_end);
        }
        held_[{found.space, done}] = missing_end;
        left_.push_back({leaving.number, std::move(found)});
        found = std::move(rest);
        done = missing_end;
    }
}

void Inheriting::write_down(Transaction &transaction) const {
    for (const Left &left : left_) {
        transaction.give_unbound(left.from, heir_.number, left.found);
    }
}

void Inheriting::publish() noexcept {
    if (heir_.ledger != nullptr) {
        heir_.ledger->unbound += left_.size();
        heir_.ledger->unbound -= lost_;
    }
    for (Left &left : left_) {
        left.found.recent = true;
        heir_.unbound.push_back(std::move(left.found));
    }
}

} // namespace cd
