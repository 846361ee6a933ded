// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors

// Any text as config=FILE: taken as a whole, or refused with its line and no effect.
#include "config/scr_config.h"
#include "input.h"
#include "os/system.h"

#include <algorithm>
#include <cstring>
#include <string_view>

using namespace cd;
using fuzz::require;

namespace {

// Gives variables the same values in every run.
class Environment : public os::System {
public:
    const char *environment(const char *name) override {
        return *name == 'D' ? "/d e" : *name == 'N' ? "2" : *name == 'E' ? "" : nullptr;
    }
};

bool within_bounds(const Level &level) {
    const auto [scheme, parameter] = level.redundancy;
    const bool counted = scheme == Scheme::partner || scheme == Scheme::reed_solomon;
    return level.interval >= 1 && level.set_size >= 2 && level.set_size <= 65535 &&
           scheme != Scheme::none && !level.group.empty() &&
           (counted ? parameter >= 1 && parameter <= 255 : parameter == 0);
}

} // namespace

// NOLINTNEXTLINE(readability-identifier-naming): the name that libFuzzer calls
extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static Environment environment;
    os::replace_system(&environment);
    const std::string_view text(reinterpret_cast<const char *>(data), size);
    clear_message();
    Levels levels;
    if (const Status status = parse_levels(text, "levels.conf", levels); !status) {
        require(levels.levels.empty() && levels.groups.empty() && levels.variables.empty(),
                "a refused text changes nothing");
        require(std::strncmp(message(), "levels.conf:", 12) == 0, "a refused text is explained");
        require(status.code() == CD_ERROR_STORAGE_VALUE, "a refused text has one cause");
        return 0;
    }
    require(std::ranges::all_of(levels.levels, within_bounds), "what is accepted is within bounds");
    for (uint64_t epoch = 1; epoch < 20; ++epoch) {
        require(std::ranges::any_of(
                    levels.levels, [&](const Level &level) { return epoch % level.interval == 0; }),
                "every epoch has a level");
    }
    return 0;
}
