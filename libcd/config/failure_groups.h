// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "base/status.h"

#include <string>
#include <string_view>

namespace cd {

// What fails together with a host, by a text of lines "HOST GROUP"; what follows a # is read over.
// file names the text in messages. CD_ERROR_STORAGE_VALUE for lines that are none, a host that is
// there twice, and one that is not there. May throw std::bad_alloc.
Status find_group(std::string_view text, const char *file, std::string_view host,
                  std::string &group);

} // namespace cd
