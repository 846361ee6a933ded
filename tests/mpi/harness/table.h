// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include <string>
#include <vector>

namespace cd::scenarios {

// A row of functions.def, of a function that this MPI has.
struct Row {
    std::string function;
    std::string family;
    std::string arrives;

    bool is_refused() const { return family.rfind("Refused", 0) == 0; }
    // Returns whether the call goes to MPI, in a re-execution too.
    bool leaves_no_entry() const;
};

const std::vector<Row> &table();

// nullptr if there is none.
const Row *row_of(const std::string &function);

} // namespace cd::scenarios
