// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "payload/sent_data.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace cd::logger {
namespace {

bool read_setting() {
    const char *setting = std::getenv("CD_SENT_DATA");
    if (setting == nullptr || std::strcmp(setting, "compare") == 0) {
        return true;
    }
    if (std::strcmp(setting, "ignore") == 0) {
        return false;
    }
    std::fprintf(stderr,
                 "pmpi_logger: CD_SENT_DATA is \"%s\"; allowed are compare and ignore; taking "
                 "compare\n",
                 setting);
    return true;
}

} // namespace

const bool sent_data_compared = read_setting();

} // namespace cd::logger
