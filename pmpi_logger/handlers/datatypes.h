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
// addresses that have changed. Then it makes all that follow again, as they may have such parts.
class TypeCreate : public MovesData {
public:
    template <Fn F, typename... A> static int call(const void *site, A... a) {
        const int mode = Logging::mode();
        if (passes_through(mode)) {
            return call_mpi<F>(a...);
        }
        using Roles = typename Row<F>::Roles;
        const Call call = decode_data<F>(site, a...);
        const uint64_t where = displacements(Roles{}, call.arguments.length, a...);
        MPI_Datatype *const made = std::get<Roles::index(Role::made)>(std::tuple<A...>(a...));
        if (mode == CD_LOG_REPLAYING) {
            const int result = replay(call, where);
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
        record(call, result, where);
        return result;
    }

    // Maps the type made in this execution to the logged one.
    static void stands_for(MPI_Datatype made, MPI_Datatype recorded);

private:
    static constexpr int make_anew = run_live - 1;

    // Returns the checksum of the displacements.
    template <Role... R, typename... A>
    static uint64_t displacements(RoleList<R...>, int length, A... a) {
        uint64_t sum = 0;
        const auto add = [&]<Role One>(auto argument) {
            if constexpr (One == Role::displacements) {
                sum = checksum_of_array(argument, length);
            }
        };
        (add.template operator()<R>(a), ...);
        return sum;
    }

    static void record(const Call &call, int result, uint64_t where);
    static int replay(const Call &call, uint64_t where);
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
            const int result_now = call_mpi<F>(type, a...);
            give_recorded(type, parts, recorded);
            return result_now;
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
