// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "call/function.h"

namespace cd::logger {

const char *name_of(Fn fn) {
    static constexpr const char *names[] = {
#define CD_FUNCTION(name, ...) #name,
#include "functions.inc"
#undef CD_FUNCTION
    };
    return fn < Fn::count ? names[static_cast<size_t>(fn)] : "an unknown function";
}

} // namespace cd::logger
