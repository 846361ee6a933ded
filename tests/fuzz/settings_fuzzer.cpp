// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors

// Any text as CD_RESTART, CD_INJECT, CD_MTBF, CD_OVERHEAD and the file that CD_GROUPS_FILE names:
// each takes it as a whole, or refuses it with a message and no effect.
#include "config/advance_limits.h"
#include "config/failure_groups.h"
#include "config/fault_spec.h"
#include "config/restart_choice.h"
#include "input.h"

#include "os/system.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace cd;
using fuzz::require;

namespace {

// Both limits are the text.
class Environment : public os::System {
public:
    const char *environment(const char *name) override {
        return std::strcmp(name, "CD_MTBF") == 0 || std::strcmp(name, "CD_OVERHEAD") == 0
                   ? text.c_str()
                   : nullptr;
    }
    std::string text;
};

void require_explained(Status status, cd_error code, const char *begin) {
    require(status.code() == code, "a refused text has one cause");
    require(std::strncmp(message(), begin, std::strlen(begin)) == 0,
            "a refused text is explained by what it was for");
}

void read_restart(const std::string &text) {
    RestartChoice choice;
    if (Status status = parse_restart_choice(text.c_str(), choice); !status) {
        require_explained(status, CD_ERROR_ARGUMENT, "the environment variable CD_RESTART is");
        require(!choice.afresh && !choice.epoch, "a refused CD_RESTART changes nothing");
        return;
    }
    require(!choice.afresh || !choice.epoch, "no epoch is chosen by who starts afresh");
    if (choice.epoch) {
        RestartChoice again;
        require(parse_restart_choice(std::to_string(*choice.epoch).c_str(), again).is_ok() &&
                    again.epoch == choice.epoch,
                "an epoch that is written is read as the same");
    }
}

bool within_bounds(const Injection &injection) {
    return injection.rank.value_or(0) >= 0 && injection.depth.value_or(0) >= 0 &&
           injection.sibling.value_or(0) >= 0 && injection.at >= 1 && injection.times >= 1 &&
           (!injection.root_name ||
            (!injection.root_name->empty() &&
             injection.root_name->find_first_of("/,;") == std::string::npos));
}

void read_injections(std::string_view text) {
    std::vector<Injection> injections(1);
    if (Status status = parse_injections(text, "CD_INJECT", injections); !status) {
        require_explained(status, CD_ERROR_ARGUMENT, "CD_INJECT: ");
        require(injections.size() == 1, "refused injections change nothing");
        return;
    }
    const auto some = text.empty() ? 0 : 1 + std::ranges::count(text, ';');
    require(std::cmp_equal(injections.size(), 1 + some), "there is one more than semicolons");
    require(std::ranges::all_of(injections, within_bounds), "injections are within bounds");
}

void read_limits() {
    AdvanceLimits limits;
    if (Status status = read_advance_limits(limits); !status) {
        require_explained(status, CD_ERROR_ARGUMENT, "the environment variable CD_");
        require(!limits.given(), "refused limits change nothing");
        return;
    }
    require(std::isfinite(limits.mean_time_between_failures_s) &&
                limits.mean_time_between_failures_s >= 0,
            "a time is one");
    require(limits.largest_share >= 0 && limits.largest_share < 1, "a share is a part");
}

void read_groups(std::string_view text) {
    std::string group = "before";
    if (Status status = find_group(text, "groups.conf", "n1", group); !status) {
        require_explained(status, CD_ERROR_STORAGE_VALUE, "groups.conf:");
        require(group == "before", "a refused file changes nothing");
        return;
    }
    require(!group.empty() && group.find_first_of(" \t\r\n#") == std::string::npos,
            "a group is one word");
    require(text.find(group) != std::string_view::npos, "a group is one of the file");
}

} // namespace

// NOLINTNEXTLINE(readability-identifier-naming): the name that libFuzzer calls
extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static Environment environment;
    os::replace_system(&environment);
    const std::string_view text(reinterpret_cast<const char *>(data), size);
    environment.text = text.substr(0, text.find('\0')); // as the system hands it over
    read_restart(environment.text);
    read_injections(environment.text);
    read_limits();
    read_groups(text);
    return 0;
}
