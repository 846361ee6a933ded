// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "handlers/handler.h"
#include "objects/inner_frees.h"
#include "replay/complaint.h"

#include <tuple>
#include <vector>

namespace cd::logger {

// MPI_Type_get_contents: what a type is made of. Handles of derived types are the program's to
// free, and may be others each time, so the log has them; all else MPI tells again.
class TellsContents {
public:
    using Of = Arrivals;

    template <Fn F, typename... A> static int call(const void *site, MPI_Datatype type, A... a) {
        const int mode = Logging::mode();
        MPI_Datatype *const parts = std::get<sizeof...(A) - 1>(std::tuple<A...>(a...));
        if (passes_through(mode)) {
            const int result = call_mpi<F>(type, a...);
            if (result == MPI_SUCCESS && InnerCalls::current() != nullptr) {
                note_references(type, parts);
            }
            return result;
        }
        Call call(F, site);
        call.add_word(word_of(MovedTypes::recorded(type)));
        if (mode == CD_LOG_REPLAYING) {
            Parts recorded;
            const int result = replay(call, recorded);
            if (result != MPI_SUCCESS) {
                return result == run_live ? TellsContents::call<F>(site, type, a...) : result;
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

    // By a delete function of the program, which frees them.
    static void note_references(MPI_Datatype type, const MPI_Datatype *parts);
    static void record(const Call &call, MPI_Datatype type, int result, const MPI_Datatype *parts);
    static int replay(const Call &call, Parts &recorded);
    static void give_recorded(MPI_Datatype type, MPI_Datatype *parts, const Parts &recorded);
};

} // namespace cd::logger
