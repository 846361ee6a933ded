// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "domains/regenerate.h"

#include "base/callback_guard.h"

namespace cd {
namespace {

int call(cd_regen_fn regen, cd_addrspec *specs, int count) {
    int result = -1; // also when it throws
    call_application([&] { result = regen(specs, count); });
    return result;
}

} // namespace

Status regenerate(const Domain &domain, cd_regen_fn regen, std::span<cd_addrspec> specs) {
    const cd_addrspec first = specs.front();
    const int result = call(regen, specs.data(), static_cast<int>(specs.size()));
    if (result == 0) {
        return Status::ok();
    }
    return fail(CD_ERROR_REGEN_FAILED,
                "CD %s: the regen function at %p returned %d (-1 also when it threw) for %zu "
                "ranges, the first being %zu bytes at %p; memory is partly restored, the CD can be "
                "restored again",
                domain.name(), reinterpret_cast<void *>(regen), result, specs.size(), first.length,
                first.address);
}

} // namespace cd
