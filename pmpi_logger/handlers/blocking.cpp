// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "handlers/blocking.h"

#include "log_entry/writer.h"
#include "payload/pack.h"
#include "replay/match.h"

namespace cd::logger {
namespace {

// Adds outputs and status. Returns how many bytes of data count.
size_t add_outcome(EntryWriter &writer, const Call &call, int result, const MPI_Status *status) {
    writer.add_outputs(call);
    if (status == nullptr) {
        return everything;
    }
    writer.add(*status);
    // After an error the count is undefined, and the buffer may have been written in part.
    return result == MPI_SUCCESS ? bytes_received(*status) : everything;
}

} // namespace

void Blocking::add_checksum(Call &call) {
    const ReentryGuard inside;
    Blocks blocks;
    call.arrival->sent(call.arguments, blocks);
    if (!blocks.empty()) {
        call.add_word(compared_checksum_of(blocks));
    }
}

void Blocking::record(const Call &call, int result, const MPI_Status *status) {
    Blocks blocks; // before the log is held
    call.arrival->received(call.arguments, blocks);
    EntryWriter writer(call, result);
    const size_t most = add_outcome(writer, call, result, status);
    writer.add_data(blocks, most);
    writer.write();
}

void Blocking::record_plain(const Call &call, int result, const MPI_Status *status,
                            const Block *received) {
    EntryWriter writer(call, result);
    const size_t most = add_outcome(writer, call, result, status);
    if (received != nullptr) {
        writer.add_data(*received, most);
    }
    writer.write();
}

int Blocking::replay(const Call &call, bool has_status) {
    const ReentryGuard inside;
    int result = MPI_SUCCESS;
    std::optional<EntryReader> entry = next_entry(call, result);
    if (!entry) {
        return result;
    }
    EntryReader after = *entry;
    after.take_outputs(call);
    if (has_status) {
        give_status(after.take<MPI_Status>(), call.arguments.status);
    }
    Blocks blocks;
    call.arrival->received(call.arguments, blocks);
    if (!after.take_data(blocks)) {
        return not_matching(call, *entry, "how much data is received");
    }
    return entry->result() == MPI_SUCCESS ? MPI_SUCCESS : raise(call, entry->result());
}

} // namespace cd::logger
