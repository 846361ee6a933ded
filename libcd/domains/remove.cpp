// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "domains/remove.h"

#include "domains/element_order.h"

#include <algorithm>
#include <iterator>
#include <vector>

namespace cd {
namespace {

// prepare() marks what is to leave, publish() deletes it; without publish() the marks are taken
// off.
class Removal {
public:
    explicit Removal(Domain &domain) : domain_(domain), near_(domain.entries.begin()) {}
    Removal(const Removal &) = delete;
    Removal &operator=(const Removal &) = delete;

    ~Removal() {
        for (Entry *entry : leaving_) {
            entry->stage = Stage::held;
        }
    }

    Status prepare(Range range) {
        RangeIndex &entries = domain_.entries;
        auto at = entries.make_borders(near_, range);
        uintptr_t done = range.begin;
        for (; done < range.end; done = std::prev(at)->second->range.end) {
            const bool held = at != entries.end() && at->second->range.begin == done &&
                              at->second->stage == Stage::held;
            if (!held) {
                return missing(at, {done, range.end});
            }
            leaving_.push_back(at->second);
            at->second->stage = Stage::leaving;
            ++at;
        }
        near_ = at;
        return Status::ok();
    }

    void publish() {
        auto near = domain_.entries.begin();
        for (const Entry *entry : leaving_) {
            near = domain_.entries.find_near(near, entry->range.begin);
            near = domain_.entries.erase(near);
        }
        leaving_.clear();
    }

private:
    // The bytes from range.begin on that the CD does not hold, up to the next entry.
    Status missing(RangeIndex::Position next, Range range) const {
        const bool next_starts_inside = next != domain_.entries.end() &&
                                        next->second->range.begin > range.begin &&
                                        next->second->range.begin < range.end;
        const Range absent = {range.begin,
                              next_starts_inside ? next->second->range.begin : range.end};
        return fail(CD_ERROR_NOT_IN_CD,
                    "CD %s does not hold the %zu bytes at %p; delete only what was added to this "
                    "CD, and once",
                    domain_.name(), absent.length(), absent.address());
    }

    Domain &domain_;
    std::vector<Entry *> leaving_;
    RangeIndex::Position near_;
};

} // namespace

Status remove(Domain &domain, const cd_addrspec *list, int count) {
    Removal removal(domain);
    for (const Element &element : ordered_elements(list, count)) {
        if (Status status = removal.prepare(element.range); !status) {
            return status;
        }
    }
    removal.publish();
    return Status::ok();
}

} // namespace cd
