// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "handlers/handler.h"

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
        return run(decode_data<F>(site, a...), parts(arguments),
                   std::get<sizeof...(A) - 1>(arguments));
    }

private:
    template <typename Tuple> static std::vector<int> parts(const Tuple &arguments) {
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

    static int run(Call call, const std::vector<int> &parts, MPI_Request handle);
};

// MPI_Parrived: delivers the part at the first call that reports it.
class PartitionedArrived : public MovesData {
public:
    template <Fn F> static int call(const void *site, MPI_Request request, int part, int *flag) {
        if (ReentryGuard::mpi() || flag == nullptr) {
            return call_mpi<F>(request, part, flag);
        }
        Call call(F, site);
        call.add_word(static_cast<uint64_t>(part));
        return run(call, request, part, flag);
    }

private:
    static int run(const Call &call, MPI_Request request, int part, int *flag);
};

} // namespace cd::logger
