// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "api/api_call.h"
#include "cd/binding.h"

namespace cd {
namespace {
constinit thread_local cd_error last_error = CD_ERROR_NONE;
}
void set_last_error(cd_error code) { last_error = code; }
} // namespace cd

extern "C" {

cd_error cd_last_error() { return cd::last_error; }

const char *cd_last_error_message() { return cd::message(); }

const char *cd_strerror(int error) { return cd::describe(error); }

int cd_fail(cd_error code, const char *sentence) {
    const cd::Status status = cd::fail(code, "%s", sentence);
    cd::set_last_error(status.code());
    return cd::result_of(status);
}

} // extern "C"
