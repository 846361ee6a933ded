// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "domains/add_request.h"
#include "domains/domain.h"

#include <cstddef>

namespace cd {

// Checks the request, and adds its elements one after the other, all or nothing. Bytes that the CD
// already holds take the new access type and, if it differs, the new restoration type; their data
// are copied only when they become COPY. Via parent: the caller has locked the ancestors too.
// copied: bytes that went into the store. May throw std::bad_alloc; then nothing has changed.
Status add(Domain &domain, const AddRequest &request, size_t &copied);

} // namespace cd
