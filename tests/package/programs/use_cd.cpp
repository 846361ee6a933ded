// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors

// What an outside C++ program does first: keep something, change it, bring it back. Once with the
// C API in the forms that C++ has, once with the class.
#include "cd/cd.h"
#include "cd/cd.hpp"
#include "cd/mpi_log.h"

#include <iostream>
#include <vector>

namespace {

bool by_calls() {
    double value = 1;
    cd_handle cd = create_cd(nullptr, nullptr, COMM_LOGGING_DISABLED, "calls", nullptr);
    if (add_to_cd_via_copy(cd, {&value, sizeof(value), READ_WRITE, GLOBAL}, 1) != SUCCESS)
        return false;
    value = 2;
    return restore_cd(CURRENT_CD) == SUCCESS && value == 1 && commit_cd(cd) == SUCCESS;
}

bool by_class() {
    std::vector<int> values(100, 1);
    cd::Domain domain = cd::Domain::root("class");
    domain.preserve(values);
    values.assign(values.size(), 2);
    domain.restore();
    return values == std::vector<int>(100, 1);
}

} // namespace

int main() {
    if (!by_calls() || !by_class()) {
        std::cerr << "failed: " << cd_last_error_message() << '\n';
        return 1;
    }
    return 0;
}
