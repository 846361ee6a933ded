// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "handlers/probe.h"

#include "log_entry/writer.h"
#include "replay/poll_counts.h"

namespace cd::logger {

void Probe::record(const Call &call, int result, const MPI_Status &status) {
    if (result == MPI_SUCCESS && *call.arguments.flag == 0) {
        record_nothing(call, result);
        return;
    }
    EntryWriter writer(call, result);
    writer.add_outputs(call);
    writer.add(*call.arguments.flag);
    writer.add(status);
    writer.write();
}

int Probe::replay(const Call &call) {
    int result = MPI_SUCCESS;
    std::optional<EntryReader> entry = next_answer(call, result);
    if (!entry) {
        return result;
    }
    entry->take_outputs(call);
    if (entry->has(EntryHeader::negative)) {
        *call.arguments.flag = 0;
        return MPI_SUCCESS;
    }
    *call.arguments.flag = entry->take<int>();
    give_status(entry->take<MPI_Status>(), call.arguments.status);
    return entry->result() == MPI_SUCCESS ? MPI_SUCCESS
                                          : raise_logged(call.arguments.comm, entry->result());
}

} // namespace cd::logger
