// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "payload/sent_data.h"

#include "settings/settings.h"

namespace cd::logger {

const bool sent_data_compared = choice_in("CD_SENT_DATA", {"compare", "ignore"}).value_or(0) == 0;

} // namespace cd::logger
