// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "mpi/role.h"
#include "mpi_has.inc"

#include <array>
#include <cstddef>
#include <cstdint>
#include <mpi.h>
#include <span>
#if __has_include(<mpi-ext.h>)
#include <mpi-ext.h> // Open MPI's
#endif

namespace cd::logger {

// The functions of functions.def that this MPI has, in the order of the table.
enum class Fn : uint16_t {
#define CD_FUNCTION(name, ...) name,
#include "functions.inc"
#undef CD_FUNCTION
    count
};

const char *name_of(Fn fn);

// Returns a role for each argument; none if the function is not intercepted.
std::span<const Role> roles_of(Fn fn);

template <Role... Roles> struct RoleList {
    static constexpr size_t size = sizeof...(Roles);
    static constexpr std::array<Role, sizeof...(Roles)> all = {Roles...};

    static constexpr int count(Role role) { return (0 + ... + (Roles == role ? 1 : 0)); }
    static constexpr bool has(Role role) { return count(role) > 0; }
    static constexpr bool all_are(bool (*wanted)(Role)) { return (true && ... && wanted(Roles)); }
    static constexpr size_t index(Role role) {
        size_t at = 0;
        while (all[at] != role) {
            ++at;
        }
        return at;
    }
};

} // namespace cd::logger
