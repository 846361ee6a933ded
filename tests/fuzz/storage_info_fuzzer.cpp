// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors

// Any text at all: storage_info is taken as a whole, or refused with a message and no effect.
#include "config/storage_info.h"
#include "input.h"

#include <string_view>

using namespace cd;
using fuzz::require;

namespace {

bool has_message() { return message()[0] != '\0'; }

bool within_bounds(const StorageInfo &info) {
    const bool counted =
        info.redundancy.scheme == Scheme::partner || info.redundancy.scheme == Scheme::reed_solomon;
    const int parameter = info.redundancy.parameter;
    return info.ranks_in_set() >= 2 && info.ranks_in_set() <= 65535 &&
           (counted ? parameter >= 1 && parameter <= 255 : parameter == 0);
}

} // namespace

// NOLINTNEXTLINE(readability-identifier-naming): the name that libFuzzer calls
extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const std::string_view text(reinterpret_cast<const char *>(data), size);

    clear_message();
    StorageInfo into;
    if (const Status status = parse_storage_info(text, "storage_info", into); !status) {
        require(into == StorageInfo(), "a refused text changes nothing");
        require(has_message(), "a refused text is explained");
        require(status.code() == CD_ERROR_STORAGE_SYNTAX || status.code() == CD_ERROR_STORAGE_KEY ||
                    status.code() == CD_ERROR_STORAGE_VALUE,
                "a refused text has one of three causes");
        return 0;
    }
    require(!has_message(), "an accepted text leaves no message");
    require(within_bounds(into), "what is accepted is within bounds");

    StorageInfo again = into;
    require(parse_storage_info(text, "storage_info", again).is_ok() && again == into,
            "a text over its own result changes nothing");

    require(check_supported(into, "storage_info").is_ok() != has_message(),
            "what is not supported is explained");
    return 0;
}
