// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "handlers/rma_operations.h"

#include "log_entry/writer.h"
#include "payload/datatype_cache.h"
#include "payload/pack.h"
#include "replay/match.h"

namespace cd::logger {
namespace {

// Returns where the call's result goes; empty if it has none.
Block result_of(const Call &call, int target) {
    const Arguments &a = call.arguments;
    const bool brings = target != MPI_PROC_NULL && call.arrival == &Arrivals::message &&
                        a.recv_count > 0 && a.recv_type != MPI_DATATYPE_NULL;
    return brings ? Block{a.recv_buf, a.recv_count, a.recv_type} : Block{};
}

SendCopy send_copy_of(const Block &block) {
    return block.type != MPI_DATATYPE_NULL && bytes_in(block) > 0 && send_copies_wanted()
               ? SendCopy::of(block)
               : SendCopy();
}

// If the result lies in a window's memory, MPI writes it into the copy: other ranks may read it
// when the epoch ends.
void land_in_copy(Access &access) {
    const DatatypeFacts facts = facts_of(access.result.type);
    auto *const first = static_cast<std::byte *>(access.result.address) + facts.lower_bound;
    const auto bytes = static_cast<size_t>(facts.span_of(access.result.count));
    if (const Window *window = WindowTable::instance().over(first, bytes)) {
        access.landing.address =
            static_cast<std::byte *>(window->in_copy(first, bytes)) - facts.lower_bound;
    }
}

} // namespace

void RmaOperation::add_checksum(Call &call, const Block &block) {
    const ReentryGuard inside;
    call.add_word(compared_checksum_of(block));
}

Access RmaOperation::access_without_log(const Call &call, int target) {
    Access access;
    access.target = target;
    access.result = result_of(call, target);
    access.landing = access.result;
    if (access.brings()) {
        land_in_copy(access);
    }
    return access;
}

Access RmaOperation::begin(const Call &call, const Block &compared, int target) {
    Access access = access_without_log(call, target);
    const Block sent = {const_cast<void *>(call.arguments.send_buf), call.arguments.send_count,
                        call.arguments.send_type};
    access.departing = send_copy_of(sent);
    access.compared = send_copy_of(compared);
    access.reads_program =
        sent.type != MPI_DATATYPE_NULL && sent.count > 0 && access.departing.empty();
    if (access.writes_program()) {
        access.arriving = send_copy_of(access.result);
        if (!access.arriving.empty()) {
            access.landing.address = access.arriving.address();
        }
    }
    return access;
}

void RmaOperation::record(const Call &call, Window &window, int result, Access &&access) {
    cd_log_here(&access.place);
    if (result == MPI_SUCCESS) {
        access.id = WindowTable::instance().next_id();
    }
    EntryWriter writer(call, result);
    writer.add(access.id);
    writer.write();
    if (result == MPI_SUCCESS) {
        window.accesses.push_back(std::move(access));
    }
}

int RmaOperation::replay(const Call &call, Window &window, int target) {
    Access access;
    cd_log_here(&access.place);
    int result = MPI_SUCCESS;
    std::optional<EntryReader> entry = next_entry(call, result);
    if (!entry) {
        return result;
    }
    if (entry->result() != MPI_SUCCESS) {
        return raise_at(window, entry->result());
    }
    access.id = entry->take<uint64_t>();
    access.target = target;
    access.result = result_of(call, target);
    if (Access *under_way = window.find(access.id)) {
        under_way->result = access.result;
    } else if (access.result.type != MPI_DATATYPE_NULL) {
        access.landing = access.result;
        access.under_way = false;
        window.accesses.push_back(std::move(access));
    }
    return MPI_SUCCESS;
}

} // namespace cd::logger
