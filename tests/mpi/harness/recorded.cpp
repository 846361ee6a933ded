// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "harness/recorded.h"

#include "log_entry/entry_header.h"

#include "cd/mpi_log.h"

namespace cd::scenarios {

std::map<std::string, int> functions_in_log(cd_handle root) {
    std::map<std::string, int> functions;
    if (restore_cd(root) == CD_SUCCESS) {
        size_t size = 0;
        while (const void *entry = cd_log_read(&size)) {
            ++functions[logger::name_of(
                static_cast<const logger::EntryHeader *>(entry)->function())];
        }
    }
    return functions;
}

std::vector<std::string> recorded_nowhere(const std::vector<std::string> &names,
                                          const std::map<std::string, int> &recorded_here) {
    std::vector<std::string> missing;
    for (const std::string &name : names) {
        const int here = recorded_here.count(name) > 0 ? 1 : 0;
        int anywhere = 0;
        MPI_Allreduce(&here, &anywhere, 1, MPI_INT, MPI_LOR, MPI_COMM_WORLD);
        if (anywhere == 0) {
            missing.push_back(name);
        }
    }
    return missing;
}

} // namespace cd::scenarios
