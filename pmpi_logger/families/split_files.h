// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "families/exchange.h"

namespace cd::logger {

// Reading a file in two calls, of which only the first knows what arrives.
class BeginsSplitRead : public MovesData {
public:
    template <Fn F, typename... A> static int call(const void *site, MPI_File file, A... a) {
        if (!passes_through(Logging::mode())) {
            remember(file, decode_data<F>(site, file, a...).arguments);
        }
        return Exchange::call<F>(site, file, a...);
    }

    static void remember(MPI_File file, const Arguments &arguments);
};

class EndsSplitRead : public MovesData {
public:
    template <Fn F>
    static int call(const void *site, MPI_File file, void *buffer, MPI_Status *status) {
        const int mode = Logging::mode();
        if (passes_through(mode)) {
            return real<F>(file, buffer, status);
        }
        const Inside inside;
        Call call = decode_data<F>(site, file, buffer, status);
        recall(file, call.arguments);
        if (mode == CD_LOG_REPLAYING) {
            const int result = Exchange::replay(call, true);
            return result == run_live ? real<F>(file, buffer, status) : result;
        }
        StatusLoan loan(status);
        const int result = real<F>(file, buffer, loan.to());
        Exchange::record(call, result, loan.to(), loan.settle());
        return result;
    }

private:
    static void recall(MPI_File file, Arguments &arguments);
};

} // namespace cd::logger
