// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "handlers/blocking.h"
#include "handlers/bsend_buffer.h"
#include "handlers/communicators.h"
#include "handlers/completion.h"
#include "handlers/datatypes.h"
#include "handlers/files.h"
#include "handlers/free_objects.h"
#include "handlers/init_finalize.h"
#include "handlers/nonblocking.h"
#include "handlers/object_state.h"
#include "handlers/partitioned.h"
#include "handlers/passthrough.h"
#include "handlers/persistent.h"
#include "handlers/probe.h"
#include "handlers/request_free.h"
#include "handlers/rma_operations.h"
#include "handlers/rma_sync.h"
#include "handlers/windows.h"

#include <type_traits>

namespace cd::logger {

// Intercepts an MPI function: its C name and its profiling name lead to the handler's call(). The
// signature comes from mpi.h.
template <Fn F, typename Handler, typename Type = typename Declaration<F>::Type> struct Interceptor;

template <Fn F, typename Handler, typename R, typename... A>
struct Interceptor<F, Handler, R(A...)> {
    static R call(A... a) {
        const void *const site = __builtin_return_address(0);
        if constexpr (requires { Handler::guards_itself; }) {
            return Handler::template call<F>(site, a...);
        } else {
            return RecordFailure::guarded<F>([&] { return Handler::template call<F>(site, a...); });
        }
    }
};

} // namespace cd::logger

#define CD_ROW(name, handler, arrives, ...)                                                        \
    namespace cd::logger {                                                                         \
    template <> struct Row<Fn::name> {                                                             \
        using enum Role;                                                                           \
        using Roles = RoleList<__VA_ARGS__>;                                                       \
        static constexpr auto &of = handler::Of::arrives;                                          \
    };                                                                                             \
    }

// Exports a function under another name. Only the assembler can name what a template makes; an
// IFUNC would make the loader write warnings in some programs.
#define CD_EXPORT(exported, function)                                                              \
    asm(".globl " #exported "\n\t.type " #exported ", @function\n\t.set " #exported ", %c0"        \
        :                                                                                          \
        : "i"(function))

#define CD_INTERCEPT(name, handler, arrives, ...)                                                  \
    CD_ROW(name, handler, arrives, __VA_ARGS__)                                                    \
    namespace cd::logger {                                                                         \
    [[gnu::used]] static void export_##name() {                                                    \
        using Called = Interceptor<Fn::name, handler>;                                             \
        CD_EXPORT(name, &Called::call);                                                            \
        CD_EXPORT(P##name, &Called::call);                                                         \
    }                                                                                              \
    }
