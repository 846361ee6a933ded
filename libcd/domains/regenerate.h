// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "domains/domain.h"

#include <span>

namespace cd {

// Has the application's function regenerate what the specs name, at least one.
// CD_ERROR_REGEN_FAILED tells what it returned. The function may change the specs.
Status regenerate(const Domain &domain, cd_regen_fn regen, std::span<cd_addrspec> specs);

} // namespace cd
