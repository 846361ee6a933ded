// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "handlers/handler.h"
#include "replay/divergence.h"

namespace cd::logger {

// The buffer of buffered sends. MPI gets one of the logger instead of the program's, which a
// restore may overwrite while messages lie in it.
class BufferAttach : public MovesData {
public:
    template <Fn F, typename Size> static int call(const void *site, void *buffer, Size size) {
        return ReentryGuard::mpi() ? call_mpi<F>(buffer, size)
                                   : run(decode<F>(site, buffer, size), buffer, size);
    }

private:
    static int run(const Call &call, void *buffer, int64_t size);
};

class BufferDetach : public MovesData {
public:
    template <Fn F, typename Size> static int call(const void *site, void *buffer, Size *size) {
        if (ReentryGuard::mpi() || buffer == nullptr || size == nullptr) {
            return call_mpi<F>(buffer, size);
        }
        int64_t bytes = 0;
        Call call(F, site);
        const int result = run(call, static_cast<void **>(buffer), &bytes);
        *size = static_cast<Size>(bytes);
        return result;
    }

private:
    static int run(const Call &call, void **buffer, int64_t *size);
};

} // namespace cd::logger
