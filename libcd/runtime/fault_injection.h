// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "config/fault_spec.h"
#include "domains/domain.h"

#include <string>
#include <vector>

namespace cd {

// The failures to inject in this process, and how often each could have hit so far. Guarded by the
// registry's mutex: call it in Registry::between_forks().
class FaultInjection {
public:
    static FaultInjection &instance();

    // Add failures; read_environment() those of CD_INJECT if its text has changed. May throw
    // std::bad_alloc; then nothing has changed.
    Status add(const char *injections);
    Status read_environment();

    void forget_all() { planned_.clear(); }

    // Counts one occurrence for the CD. True if it is to fail.
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
