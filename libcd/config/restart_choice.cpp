// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "config/restart_choice.h"

#include <charconv>
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
    uint64_t epoch = 0;
    const char *end = text + std::strlen(text);
    const auto [stopped, error] = std::from_chars(text, end, epoch);
    if (error != std::errc() || stopped != end) {
        return fail(CD_ERROR_ARGUMENT,
                    "the environment variable CD_RESTART is \"%.100s\"; allowed are yes, no, and "
                    "the number of an epoch",
                    text);
    }
    choice.epoch = epoch;
    return Status::ok();
}

} // namespace cd
