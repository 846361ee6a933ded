// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "handlers/blocking.h"
#include "handlers/handler.h"
#include "replay/divergence.h"

#include <tuple>
#include <vector>

namespace cd::logger {

// Makes types. A re-execution gets the logged type, or makes it again if its parts are absolute
// addresses that have changed, or such types.
class TypeCreate : public MovesData {
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
                return TypeCreate::call<F>(site, a...);
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

    // Maps the type made in this execution to the logged one.
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

// MPI_Type_get_contents. The log has the handles of derived types, which the program frees; MPI
// answers the rest again.
class TypeContents {
public:
    using Of = Arrivals;

    template <Fn F, typename... A> static int call(const void *site, MPI_Datatype type, A... a) {
        const int mode = Logging::mode();
        MPI_Datatype *const parts = std::get<sizeof...(A) - 1>(std::tuple<A...>(a...));
        if (passes_through(mode)) {
            return call_mpi<F>(type, a...);
        }
        Call call(F, site);
        call.add_word(word_of(MovedTypes::recorded(type)));
        if (mode == CD_LOG_REPLAYING) {
            Parts recorded;
            const int result = replay(call, recorded);
            if (result != MPI_SUCCESS) {
                return result == run_live ? TypeContents::call<F>(site, type, a...) : result;
            }
            const ReentryGuard inside;
            const int told = call_mpi<F>(type, a...);
            give_recorded(type, parts, recorded);
            return told;
        }
        const ReentryGuard inside;
        const int result = call_mpi<F>(type, a...);
        record(call, type, result, parts);
        return result;
    }

private:
    using Parts = std::vector<MPI_Datatype>;

    static void record(const Call &call, MPI_Datatype type, int result, const MPI_Datatype *parts);
    static int replay(const Call &call, Parts &recorded);
    static void give_recorded(MPI_Datatype type, MPI_Datatype *parts, const Parts &recorded);
};

} // namespace cd::logger
