// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "mpi/function.h"

namespace cd::logger {

const char *name_of(Fn fn) {
    static constexpr const char *names[] = {
#define CD_FUNCTION(name, ...) #name,
#include "functions.inc"
#undef CD_FUNCTION
    };
    return fn < Fn::count ? names[static_cast<size_t>(fn)] : "an unknown function";
}

std::span<const Role> roles_of(Fn fn) {
    using enum Role;
    static constexpr std::span<const Role> roles[] = {
#define CD_FUNCTION(name, handler, arrives, ...) RoleList<__VA_ARGS__>::all,
#include "functions.inc"
#undef CD_FUNCTION
    };
    return fn < Fn::count ? roles[static_cast<size_t>(fn)] : std::span<const Role>();
}

} // namespace cd::logger
