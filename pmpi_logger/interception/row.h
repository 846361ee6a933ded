// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "families/accesses.h"
#include "families/buffers.h"
#include "families/changes.h"
#include "families/communicators.h"
#include "families/completes.h"
#include "families/exchange.h"
#include "families/files.h"
#include "families/freed_requests.h"
#include "families/names.h"
#include "families/partitions.h"
#include "families/pass.h"
#include "families/persistent.h"
#include "families/polls.h"
#include "families/process.h"
#include "families/releases.h"
#include "families/split_files.h"
#include "families/starts.h"
#include "families/synchronizes.h"
#include "families/types.h"
#include "families/windows.h"

namespace cd::logger {

// Takes an MPI function over: its C name and its profiling name lead to the family's call(). The
// signature is the declaration's in mpi.h, so it cannot be wrong.
template <Fn F, typename Family, typename Type = typename Declaration<F>::Type> struct Interceptor;

template <Fn F, typename Family, typename R, typename... A> struct Interceptor<F, Family, R(A...)> {
    static R call(A... a) { return Family::template call<F>(__builtin_return_address(0), a...); }
};

} // namespace cd::logger

#define CD_ROW(name, family, arrives, ...)                                                         \
    namespace cd::logger {                                                                         \
    template <> struct Row<Fn::name> {                                                             \
        using enum Role;                                                                           \
        using Roles = RoleList<__VA_ARGS__>;                                                       \
        static constexpr auto &of = family::Of::arrives;                                           \
    };                                                                                             \
    }

// Resolvers run before this library is relocated, so that they may do nothing but this. They are
// not static, since Clang does not find those.
#define CD_INTERCEPT(name, family, arrives, ...)                                                   \
    CD_ROW(name, family, arrives, __VA_ARGS__)                                                     \
    extern "C" {                                                                                   \
    [[gnu::visibility("hidden")]] decltype(&name) resolve_##name() {                               \
        return &cd::logger::Interceptor<cd::logger::Fn::name, cd::logger::family>::call;           \
    }                                                                                              \
    decltype(name) name __attribute__((ifunc("resolve_" #name), visibility("default")));           \
    decltype(name) P##name __attribute__((ifunc("resolve_" #name), visibility("default")));        \
    }
