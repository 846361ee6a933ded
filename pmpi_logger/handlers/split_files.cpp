// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "handlers/split_files.h"

#include "requests/send_copy.h"

#include <map>
#include <mutex>

namespace cd::logger {
namespace {

std::mutex splits_mutex;

// Never destroyed: MPI may be used while the process ends.
std::map<uint64_t, SplitOperation> &splits() {
    static auto &one = *new std::map<uint64_t, SplitOperation>;
    return one;
}

} // namespace

void SplitOperation::begins(MPI_File file, SplitOperation &&operation) {
    const std::scoped_lock lock(splits_mutex);
    splits()[word_of(file)] = std::move(operation);
}

void SplitOperation::moves(MPI_File file, const Block &received) {
    const std::scoped_lock lock(splits_mutex);
    splits()[word_of(file)].received = received;
}

SplitOperation SplitOperation::ends(MPI_File file) {
    const std::scoped_lock lock(splits_mutex);
    auto found = splits().extract(word_of(file));
    return found.empty() ? SplitOperation() : std::move(found.mapped());
}

Block SplitOperation::received_by(MPI_File file) {
    const std::scoped_lock lock(splits_mutex);
    return splits()[word_of(file)].received;
}

Staging BeginsSplit::staging_of(Call call, bool reads) {
    const ReentryGuard inside;
    if (!shadows_wanted() || RecordAll::records()) {
        return {};
    }
    if (reads) {
        call.arrival = &Arrivals::message; // with the second call
    }
    return Staging::of(call, !reads, {});
}

} // namespace cd::logger
