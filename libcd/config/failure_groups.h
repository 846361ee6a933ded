// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "base/status.h"

#include <string>
#include <string_view>

namespace cd {

// Finds the group of hosts that fail together with host, in a text of lines "HOST GROUP". A #
// begins a comment. Fails with CD_ERROR_STORAGE_VALUE for a malformed line, a host that occurs
// twice, or if host does not occur. `file` names the text in messages. May throw std::bad_alloc.
Status find_group(std::string_view text, const char *file, std::string_view host,
                  std::string &group);

} // namespace cd
