// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "config/restart_choice.h"

#include "base/text.h"

#include <cstring>

namespace cd {

Status parse_restart_choice(const char *text, RestartChoice &choice) {
    choice = {};
    if (text == nullptr || *text == '\0' || std::strcmp(text, "yes") == 0) {
        return Status::ok();
    }
    if (std::strcmp(text, "no") == 0) {
        choice.afresh = true;
        return Status::ok();
    }
    choice.epoch = parse_number<uint64_t>(text, 0, UINT64_MAX);
    if (!choice.epoch) {
        return fail(CD_ERROR_ARGUMENT,
                    "the environment variable CD_RESTART is \"%.100s\"; allowed are yes, no, and "
                    "the number of an epoch",
                    text);
    }
    return Status::ok();
}

} // namespace cd
