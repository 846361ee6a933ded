// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "config/fault_spec.h"
#include "domains/domain.h"

#include <string>
#include <vector>

namespace cd {

// The failures that the user of this process wants to see, and how often each could have hit so
// far. What it has counted, it has counted for the whole process. Guarded by the registry's mutex:
// call it in Registry::between_forks().
class FaultInjection {
public:
    static FaultInjection &instance();

    // Both may throw std::bad_alloc and change nothing then. The environment variable CD_INJECT is
    // looked at again only when it has another text.
    Status add(const char *injections);
    Status read_environment();

    void forget_all() { planned_.clear(); }

    // Counts one occurrence for the CD. Whether it is one that fails.
    bool hits(int rank, const Domain &domain);

private:
    struct Planned {
        Injection injection;
        int seen = 0;
    };

    Status append(const std::string &text, const char *origin);

    std::vector<Planned> planned_;
    std::string environment_; // as it was read last
};

} // namespace cd
