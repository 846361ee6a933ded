// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// cd_protect_by

#include "api/api_call.h"
#include "runtime/redundancy_client.h"

extern "C" {

int cd_protect_by(const cd_protector *protector) {
    return cd::result_of(cd::guarded([&] { return cd::protect_by(protector); }));
}

} // extern "C"
