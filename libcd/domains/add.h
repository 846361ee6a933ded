// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "domains/add_request.h"
#include "domains/domain.h"

#include <cstddef>

namespace cd {

// Performs add_to_cd_via_copy, _parent or _regen: checks the request and adds its elements in
// order, all or nothing. Bytes that the CD already holds take the new access type and restoration
// type. Their data are copied only when they become COPY. `copied`: bytes that went into the store.
//
// Needs the CD's lock, and via parent those of its ancestors. May throw std::bad_alloc; then
// nothing has changed.
Status add(Domain &domain, const AddRequest &request, size_t &copied);

} // namespace cd
