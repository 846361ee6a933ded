// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// Every function that functions.def refuses, called with zeros.

#include "harness/scenario.h"

namespace refusals {
namespace {

using namespace cd::scenarios;

template <typename... A> int call_with_zeros(int (*function)(A...)) { return function(A{}...); }

#define CD_FUNCTION(name, ...)                                                                     \
    const Registration registered_##name("refusals.cpp", #name, "", #name, false, [](Run &) {      \
        expect_refusal(#name, [] { return call_with_zeros(&name); });                              \
    });
#include "refused.inc"
#undef CD_FUNCTION

} // namespace
} // namespace refusals
