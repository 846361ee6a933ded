// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "restart/bind.h"

#include "domains/add.h"
#include "restart/by_name.h"
#include "restart/by_order.h"
#include "restart/memory_names.h"
#include "restart/placing.h"

#include <algorithm>

namespace cd {
namespace {

// Finds what is to be bound for the call, in the order of the list, as the entries were written
// down when they were added first.
class Binding {
public:
    Binding(Arrivals &arrivals, Gaps &gaps)
        : objects_(arrivals.domain().ledger->named_objects()), gaps_(gaps), by_name_(arrivals),
          by_order_(arrivals, gaps) {}

    Status bind_all(const AddRequest &request) {
        for (int i = 0; i < request.count; ++i) {
            const Range range = range_of(request.list[i]);
            for (Range gap = gaps_.first_in(range); !gap.empty();
                 gap = gaps_.first_in({gap.end, range.end})) {
                for (Range rest = gap; !rest.empty();) {
                    Range part = rest;
                    if (Status status = bind_first(part); !status) {
                        return status;
                    }
                    rest.begin = part.end;
                }
            }
        }
        return Status::ok();
    }

private:
    // gap: bytes of the call that the CD's own calls have not added. Becomes the first of these,
    // that belong together.
    Status bind_first(Range &gap) {
        StoredName name;
        StoredKey key;
        return MemoryNames::instance().describe(gap, name, key, objects_)
                   ? by_name_.bind(name, key, gap)
                   : by_order_.bind(gap);
    }

    const Objects objects_;
    Gaps &gaps_;
    ByName by_name_;
    ByOrder by_order_;
};

} // namespace

Status add_and_bind(Domain &domain, const AddRequest &request, size_t &copied,
                    const Regenerate &regenerate) {
    Gaps gaps(domain);
    Arrivals arrivals(domain, request);
    if (Status status = Binding(arrivals, gaps).bind_all(request); !status) {
        return status;
    }
    std::vector<cd_addrspec> to_regenerate;
    if (Status status = arrivals.pay_what_is_owed(to_regenerate); !status) {
        return status;
    }
    if (arrivals.has_kept_values()) {
        tell_of_values(domain, true);
    }
    if (arrivals.has_lost_values()) {
        tell_of_values(domain, false);
    }
    if (Status status = to_regenerate.empty() ? Status::ok() : regenerate(to_regenerate); !status) {
        return status;
    }
    arrivals.publish(gaps.take_counted());
    Status status = add(domain, request, copied);
    if (status.is_ok()) {
        arrivals.keep();
    }
    return status;
}

} // namespace cd
