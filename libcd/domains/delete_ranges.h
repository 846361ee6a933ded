// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "domains/domain.h"

namespace cd {

// Deletes the bytes of the (checked) list from the CD, all or nothing; a byte that it does not hold
// is an error. May throw std::bad_alloc; then nothing has changed.
Status remove(Domain &domain, const cd_addrspec *list, int count);

} // namespace cd
