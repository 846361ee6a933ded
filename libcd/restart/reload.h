// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "domains/domain.h"
#include "file_store/open_store.h"

namespace cd {

// Fills a CD of this process from its store. Ranges in loaded objects and named regions become
// entries where these lie now; all other ranges become pending. `binds` records the former. May
// throw std::bad_alloc; the CD is useless then.
Status reload(Domain &domain, const StoredCd &stored, OpenedStore &opened, Transaction &binds);

} // namespace cd
