// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "complaints.h"
#include "hazard.h"
#include "told_thread.h"

#include <cstdlib>
#include <functional>
#include <optional>

// A re-execution of the parent in which this thread does something else than before, and goes on
// live, while another one is in a domain of its own inside the parent: what that one does there
// before, and after it, is what its first execution has done. If there is something to do in
// between, it has another domain for what comes after.
template <typename Before, typename Differ, typename After>
void goes_on_live_beside(Domain &parent, const Before &before, const Differ &differ,
                         const After &after, const std::function<void()> &between = {}) {
    setenv("CD_ON_DIVERGENCE", "live", 1);
    ToldThread thread;
    for (const bool again : {false, true}) {
        std::optional<Domain> child;
        thread([&] {
            child.emplace(parent.handle());
            before();
            if (between) {
                child.reset();
                between();
            }
        });
        if (again) {
            const Complaints complaints;
            differ();
        } else {
            MPI_Barrier(MPI_COMM_SELF);
        }
        thread([&] {
            if (between) {
                child.emplace(parent.handle());
            }
            after();
            child.reset();
        });
        if (!again) {
            parent.restore();
        }
    }
}
