// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "domains/domain.h"

namespace cd {

// Of a CD that came back, and was neither restored nor advanced since: whether its own calls have
// come to what it holds, in the order of the process that added it. Else it would be lost, and the
// call whose it is would find nothing.
Status check_deletable(const Domain &domain, Range range);
Status check_committable(const Domain &domain);

// The parent has come to what that child gives it.
void come_to_what_is_given(const Domain &child) noexcept;

} // namespace cd
