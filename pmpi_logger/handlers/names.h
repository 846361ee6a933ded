// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "handlers/changes.h"
#include "objects/type_ends.h"

#include <array>
#include <string>

namespace cd::logger {

// Whose name F sets.
template <Fn F> struct NameOf;
template <> struct NameOf<Fn::MPI_Comm_set_name> {
    static constexpr Fn get_name = Fn::MPI_Comm_get_name;
};
template <> struct NameOf<Fn::MPI_Type_set_name> {
    static constexpr Fn get_name = Fn::MPI_Type_get_name;
};
template <> struct NameOf<Fn::MPI_Win_set_name> {
    static constexpr Fn get_name = Fn::MPI_Win_get_name;
};

// Programs name some things once only, or otherwise each time.
class SetsName : public Changes {
public:
    template <Fn F, typename Object>
    static int call(const void *site, Object object, const char *name) {
        const int mode = Logging::mode();
        if (passes_through(mode) || name == nullptr) {
            return call_mpi<F>(object, name);
        }
        const Call call = decode<F>(site, object, name);
        const bool is_freed = MortalComms::is_freed(call.arguments.comm);
        return change_freely(
            call, mode, [&] { return is_freed ? MPI_SUCCESS : call_mpi<F>(object, name); },
            [&](Undo &undo) {
                return is_freed ? nothing_to_undo(undo) : puts_name_back<F>(object, undo);
            });
    }

private:
    template <Fn F, typename Object> static int puts_name_back(Object object, Undo &undo) {
        const Part part = {word_of(object), its_name};
        if (is_undone(part)) {
            return MPI_SUCCESS;
        }
        std::array<char, MPI_MAX_OBJECT_NAME> name{};
        int length = 0;
        const int result = real<NameOf<F>::get_name>(object, name.data(), &length);
        if (result == MPI_SUCCESS) {
            const std::string before = name.data();
            if constexpr (F == Fn::MPI_Type_set_name) {
                notice_end(object);
            }
            undo = {part, [=] { real<F>(object, before.c_str()); }, {}};
        }
        return result;
    }
};

} // namespace cd::logger
