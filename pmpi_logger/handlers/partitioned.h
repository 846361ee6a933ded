// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "handlers/handler.h"
#include "record_all/record_all.h"
#include "replay/divergence.h"
#include "replay/poll_counts.h"
#include "requests/request_table.h"

#include <tuple>
#include <vector>

namespace cd::logger {

// MPI_Pready and its like: send parts of a partitioned message, from a copy. A replay sends none
// again.
class PartitionedReady : public MovesData {
public:
    template <Fn F, typename... A> static int call(const void *site, A... a) {
        if (ReentryGuard::mpi()) {
            return call_mpi<F>(a...);
        }
        const std::tuple<A...> arguments(a...);
        const MPI_Request handle = std::get<sizeof...(A) - 1>(arguments);
        const auto ready = [&] {
            const ReentryGuard inside;
            return call_mpi<F>(a...);
        };
        const int mode = Logging::mode();
        Request *request = RequestTable::instance().find(handle);
        if (mode == CD_LOG_OFF) {
            if (request != nullptr && request->logged() && !RecordAll::holds(request->place)) {
                return refuse(F, started_in_a_cd_of_another_thread);
            }
            copy(request, parts<F>(arguments));
            return ready();
        }
        Call call = decode_data<F>(site, a...);
        const std::vector<int> which = parts<F>(arguments);
        add_checksum(call, request, which);
        int result = MPI_SUCCESS;
        if (mode == CD_LOG_REPLAYING) {
            if (replay(call, result)) {
                return PartitionedReady::call<F>(site, a...);
            }
            take_new(request, which);
            return result;
        }
        const std::vector<int> fresh = take_new(request, which);
        copy(request, fresh);
        result = fresh == which ? ready() : ready_one_by_one(fresh, handle);
        record(call, result);
        return result;
    }

private:
    static constexpr const char *started_in_a_cd_of_another_thread =
        "the request was started in a CD of another thread, which alone can say what is ready";

    template <Fn F, typename Tuple> static std::vector<int> parts(const Tuple &arguments) {
        std::vector<int> which;
        if constexpr (std::tuple_size_v<Tuple> == 2) {
            which.push_back(std::get<0>(arguments));
        } else if constexpr (std::is_integral_v<std::tuple_element_t<1, Tuple>>) {
            for (int i = std::get<0>(arguments); i <= std::get<1>(arguments); ++i) {
                which.push_back(i);
            }
        } else {
            which.assign(std::get<1>(arguments), std::get<1>(arguments) + std::get<0>(arguments));
        }
        return which;
    }

    // Returns the parts that no earlier execution has sent, and notes all.
    static std::vector<int> take_new(Request *request, const std::vector<int> &parts);
    static int ready_one_by_one(const std::vector<int> &parts, MPI_Request handle);
    static void copy(const Request *request, const std::vector<int> &parts);
    static void add_checksum(Call &call, const Request *request, const std::vector<int> &parts);
    static void record(const Call &call, int result);
    // Returns true if the call has to go to MPI after all.
    static bool replay(const Call &call, int &result);
};

// MPI_Parrived: the part is there from the first call that says so.
class PartitionedArrived : public MovesData {
public:
    template <Fn F> static int call(const void *site, MPI_Request request, int part, int *flag) {
        const int mode = Logging::mode();
        if (ReentryGuard::mpi() || flag == nullptr ||
            (mode == CD_LOG_OFF && RequestTable::empty())) {
            return call_mpi<F>(request, part, flag);
        }
        const Call call = call_of(F, site, part);
        if (may_have_answer(mode)) {
            int result = MPI_SUCCESS;
            return replay(call, request, part, flag, result)
                       ? PartitionedArrived::call<F>(site, request, part, flag)
                       : result;
        }
        const int result = ask<F>(call, request, part, flag);
        settle(call, request, part, *flag, result, mode == CD_LOG_RECORDING);
        return result;
    }

private:
    template <Fn F> static int ask(const Call &call, MPI_Request request, int part, int *flag) {
        const ReentryGuard inside;
        const MPI_Request whole = arrived_whole(call, request);
        return whole != MPI_REQUEST_NULL
                   ? real<Fn::MPI_Request_get_status>(whole, flag, MPI_STATUS_IGNORE)
                   : call_mpi<F>(request, part, flag);
    }

    static Call call_of(Fn fn, const void *site, int part);
    // Returns the stand-in of a request whose log has gone in another thread.
    static MPI_Request arrived_whole(const Call &call, MPI_Request handle);
    static void settle(const Call &call, MPI_Request request, int part, int flag, int result,
                       bool recording);
    // Returns true if the call has to go to MPI after all.
    static bool replay(const Call &call, MPI_Request request, int part, int *flag, int &result);
};

} // namespace cd::logger
