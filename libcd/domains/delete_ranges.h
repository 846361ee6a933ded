// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "domains/domain.h"

namespace cd {

// Performs delete_from_cd: deletes the bytes of the checked list from the CD, all or nothing. Fails
// if the CD does not hold one of them. May throw std::bad_alloc; then nothing has changed.
Status delete_ranges(Domain &domain, const cd_addrspec *list, int count);

} // namespace cd
