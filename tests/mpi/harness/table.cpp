// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "harness/table.h"

#include <algorithm>

namespace cd::scenarios {

bool Row::leaves_no_entry() const {
    static const char *const families[] = {"Local",
                                           "CommQuery",
                                           "CommCompare",
                                           "CommFortranHandle",
                                           "WindowFortranHandle",
                                           "FileFortranHandle",
                                           "ErrorHandlerCall",
                                           "CommPack",
                                           "RequestStatusOfMany"};
    return std::ranges::find(families, family) != std::end(families);
}

const std::vector<Row> &table() {
    static const std::vector<Row> rows = {
#define CD_FUNCTION(name, family, arrives, ...) {#name, #family, #arrives},
#include "functions.inc"
#undef CD_FUNCTION
    };
    return rows;
}

const Row *row_of(const std::string &function) {
    const auto found = std::ranges::find(table(), function, &Row::function);
    return found != table().end() ? &*found : nullptr;
}

} // namespace cd::scenarios
