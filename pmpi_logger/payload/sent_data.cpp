// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "payload/sent_data.h"

#include "settings/settings.h"

namespace cd::logger {

bool read_whether_sent_data_are_compared() {
    return choice_in("CD_SENT_DATA", {"compare", "ignore"}).value_or(0) == 0;
}

} // namespace cd::logger
