// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "domains/arguments.h"
#include "domains/domain.h"

namespace cd {

// Before an add call of a CD: what the family holds unbound, and the call names, becomes entries at
// the call's addresses, in all CDs of the family. Entries that a restore would have written are
// written to memory now. An error if the call adds something else than the store holds. Needs the
// locks of all CDs of the family. May throw std::bad_alloc. When it fails nothing has changed, but
// for memory that a restore would have written. When the add call itself fails later, what was
// bound stays so: it is what the store holds, and the call can be repeated.
Status bind(Domain &domain, const AddRequest &request);

// The position that the store has for the file that now names, if it has one; it has not any more.
bool bind_file(Domain &domain, const FilePosition &now, FilePosition &stored);

} // namespace cd
