// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "config/advance_limits.h"

#include "base/text.h"
#include "os/system.h"

#include <limits>

namespace cd {
namespace {

// Reads a number greater than 0 and less than `below`, unless that is 0. Leaves `into` alone if the
// variable is not set.
Status read_number(const char *variable, double below, const char *allowed, double &into) {
    const char *text = os::system().environment(variable);
    if (text == nullptr || *text == '\0') {
        return Status::ok();
    }
    const auto value = parse_number(text, 0.0, std::numeric_limits<double>::max());
    if (!value || *value == 0 || (below > 0 && *value >= below)) {
        return fail(CD_ERROR_ARGUMENT, "the environment variable %s is \"%.100s\"; allowed is %s",
                    variable, text, allowed);
    }
    into = *value;
    return Status::ok();
}

} // namespace

Status read_advance_limits(AdvanceLimits &limits) {
    AdvanceLimits read;
    double percent = 0;
    if (Status status = read_number("CD_MTBF", 0, "a number of seconds greater than 0",
                                    read.mean_time_between_failures_s);
        !status) {
        return status;
    }
    if (Status status = read_number(
            "CD_OVERHEAD", 100, "a number of percent greater than 0 and less than 100", percent);
        !status) {
        return status;
    }
    read.largest_share = percent / 100;
    limits = read;
    return Status::ok();
}

} // namespace cd
