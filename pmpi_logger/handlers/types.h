// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "handlers/blocking.h"

#include <tuple>

namespace cd::logger {

// Makes a type. A re-execution gets the one that the log has, unless its parts lie elsewhere now,
// as those of a type of addresses may, or it is made of such a type: then it is made anew.
class MakesType : public MovesData {
public:
    template <Fn F, typename... A> static int call(const void *site, A... a) {
        const int mode = Logging::mode();
        if (passes_through(mode)) {
            return call_mpi<F>(a...);
        }
        using Roles = typename Row<F>::Roles;
        const Call call = decode_data<F>(site, a...);
        Layout layout;
        lay_out(Roles{}, layout, call.arguments.length, a...);
        MPI_Datatype *const made = std::get<Roles::index(Role::made)>(std::tuple<A...>(a...));
        if (mode == CD_LOG_REPLAYING) {
            const int result = replay(call, layout);
            if (result == run_live) {
                return MakesType::call<F>(site, a...);
            }
            if (result != make_anew) {
                return result;
            }
            const MPI_Datatype recorded = *made;
            const ReentryGuard inside;
            const int made_anew = call_mpi<F>(a...);
            if (made_anew == MPI_SUCCESS) {
                stands_for(*made, recorded);
            }
            return made_anew;
        }
        const ReentryGuard inside;
        const int result = call_mpi<F>(a...);
        record(call, result, layout);
        return result;
    }

    // In the log, made goes by the other name. The next re-execution makes its own.
    static void stands_for(MPI_Datatype made, MPI_Datatype recorded);

private:
    static constexpr int make_anew = run_live - 1;

    struct Layout {
        uint64_t displacements = 0; // a checksum
        bool of_moved_types = false;
    };

    template <Role R, typename T> static void add_to(Layout &layout, int length, T argument) {
        if constexpr (R == Role::displacements) {
            layout.displacements = checksum_of_array(argument, length);
        } else if constexpr (R == Role::type) {
            layout.of_moved_types = MovedTypes::number_of(argument) != 0;
        } else if constexpr (R == Role::types) {
            for (int i = 0; argument != nullptr && i < length; ++i) {
                layout.of_moved_types |= MovedTypes::number_of(argument[i]) != 0;
            }
        }
    }
    template <Role... R, typename... A>
    static void lay_out(RoleList<R...>, Layout &layout, int length, A... a) {
        (add_to<R>(layout, length, a), ...);
    }

    static void record(const Call &call, int result, const Layout &layout);
    static int replay(const Call &call, const Layout &layout);
};

} // namespace cd::logger
