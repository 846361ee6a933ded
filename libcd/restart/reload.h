// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "domains/domain.h"
#include "file_store/open_store.h"

namespace cd {

// Entries know how long their region was when they were added, which it may not have been any more
// for later ones: from now on they know the greatest length that any has of it. Before
// fill_from_store().
void agree_on_lengths_of_regions(State &state);

// Of what was added as one range some is filled anew only if all is: otherwise memory would become
// half of the one and half of the other. Before fill_from_store().
void agree_on_first_values(State &state);

// Fills a CD of this process with what the store says that it held in another: what lies in
// objects and named regions becomes entries where these are now, the rest waits unbound. binds:
// writes down the former. May throw std::bad_alloc; the CD is useless then.
Status fill_from_store(Domain &domain, const StoredCd &stored, OpenedStore &opened,
                       Transaction &binds);

} // namespace cd
