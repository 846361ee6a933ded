// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "runtime/fault_injection.h"

#include "os/system.h"

#include <limits>
#include <utility>

namespace cd {
namespace {

bool matches(const Injection &injection, int rank, const Domain &domain) {
    return injection.rank.value_or(rank) == rank &&
           (!injection.root_name || *injection.root_name == domain.root_name) &&
           injection.depth.value_or(domain.depth) == domain.depth &&
           injection.sibling.value_or(domain.sibling) == domain.sibling;
}

} // namespace

FaultInjection &FaultInjection::instance() {
    // Never destroyed, as the registry of CDs.
    static auto *injection = new FaultInjection;
    return *injection;
}

Status FaultInjection::add(const char *injections) { return append(injections, "cd_inject"); }

Status FaultInjection::read_environment() {
    const char *variable = os::system().environment("CD_INJECT");
    std::string text = variable != nullptr ? variable : "";
    if (text == environment_) {
        return Status::ok();
    }
    if (Status status = append(text, "the environment variable CD_INJECT"); !status) {
        return status;
    }
    environment_ = std::move(text);
    return Status::ok();
}

Status FaultInjection::append(const std::string &text, const char *origin) {
    std::vector<Injection> injections;
    if (Status status = parse_injections(text, origin, injections); !status) {
        return status;
    }
    planned_.reserve(planned_.size() + injections.size());
    for (Injection &injection : injections) {
        planned_.push_back({std::move(injection)});
    }
    return Status::ok();
}

bool FaultInjection::hits(int rank, const Domain &domain) {
    bool hit = false;
    for (Planned &planned : planned_) {
        const Injection &injection = planned.injection;
        if (!matches(injection, rank, domain) || planned.seen == std::numeric_limits<int>::max()) {
            continue;
        }
        ++planned.seen;
        hit |= planned.seen >= injection.at && planned.seen - injection.at < injection.times;
    }
    return hit;
}

} // namespace cd
