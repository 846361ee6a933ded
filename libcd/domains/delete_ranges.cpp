// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "domains/delete_ranges.h"

#include "domains/add_request.h"
#include "domains/compaction.h"

#include <algorithm>
#include <memory>
#include <vector>

namespace cd {
namespace {

// One call of delete_from_cd. prepare() marks the entries to delete, and publish() deletes them.
// Without publish() the destructor removes the marks.
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
        if (Status status = check_held(range); !status) {
            return status;
        }
        auto at = domain_.entries.make_borders(near_, range);
        for (; at != domain_.entries.end() && at->second->range.begin < range.end; ++at) {
            prefetch_behind(*at->second);
            leaving_.push_back(at->second);
            at->second->stage = Stage::leaving;
        }
        near_ = at;
        return Status::ok();
    }

    void publish() {
        auto near = domain_.entries.begin();
        for (const Entry *entry : leaving_) {
            prefetch_behind(*entry);
            near = domain_.entries.find_near(near, entry->range.begin);
            near = domain_.entries.erase(near);
        }
        leaving_.clear();
    }

private:
    Status check_held(Range range) {
        near_ = domain_.entries.find_near(near_, range.begin);
        uintptr_t done = range.begin;
        for (auto at = near_; done < range.end; ++at) {
            const bool at_entry =
                at != domain_.entries.end() && at->second->range.begin < range.end;
            const uintptr_t held_from = at_entry ? at->second->range.begin : range.end;
            if (done < held_from) {
                return missing({done, held_from});
            }
            const uintptr_t end = std::min(range.end, at->second->range.end);
            if (at->second->stage != Stage::held) {
                return missing({done, end});
            }
            done = end;
        }
        return Status::ok();
    }

    Status missing(Range absent) const {
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

Status delete_ranges(Domain &domain, const cd_addrspec *list, int count) {
    Removal removal(domain);
    const std::vector<Element> elements = ordered_elements(list, count);
    for (const Element &element : elements) {
        if (Status status = removal.prepare(element.range); !status) {
            return status;
        }
    }
    if (domain.store != nullptr && !elements.empty()) {
        const std::unique_ptr<Transaction> transaction = domain.store->begin();
        for (const Element &element : elements) {
            transaction->erase(domain.number, element.range);
        }
        if (Status status = transaction->commit(); !status) {
            return status;
        }
    }
    removal.publish();
    free_sparse_places(domain);
    return Status::ok();
}

} // namespace cd
