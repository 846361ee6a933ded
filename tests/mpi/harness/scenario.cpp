// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "harness/scenario.h"

#include <filesystem>
#include <sstream>

namespace cd::scenarios {
namespace {

// "A, B"
std::vector<std::string> split(const std::string &names) {
    std::vector<std::string> all;
    std::istringstream stream(names);
    for (std::string name; stream >> name;) {
        if (name.back() == ',') {
            name.pop_back();
        }
        all.push_back(name);
    }
    return all;
}

} // namespace

std::vector<Scenario> &all_scenarios() {
    static std::vector<Scenario> all;
    return all;
}

Registration::Registration(const char *file, const char *name, const char *proves,
                           const char *refuses, bool buffers_stay, void (*run)(Run &)) {
    all_scenarios().push_back({std::filesystem::path(file).stem().string(), name, split(proves),
                               split(refuses), buffers_stay, run});
}

} // namespace cd::scenarios
