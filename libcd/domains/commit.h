// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "domains/domain.h"

namespace cd {

// Gives the parent what the CD holds, as Handover says; the CD holds nothing afterwards. A root
// only gives everything up. Refused while there are children. The caller has locked the parent, and
// then ends the CD. May throw std::bad_alloc; then nothing has changed.
Status commit(Domain &domain);

// The reason why an operation that needs a CD without children is refused, if it is.
Status check_no_children(const Domain &domain, const char *operation);

} // namespace cd
