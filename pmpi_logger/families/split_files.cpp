// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "families/split_files.h"

#include <map>
#include <mutex>

namespace cd::logger {
namespace {

// MPI allows one split operation for a file at a time.
std::mutex mutex;
std::map<uint64_t, Arguments> begun;

} // namespace

void BeginsSplitRead::remember(MPI_File file, const Arguments &arguments) {
    const std::scoped_lock lock(mutex);
    begun[word_of(file)] = arguments;
}

void EndsSplitRead::recall(MPI_File file, Arguments &arguments) {
    const std::scoped_lock lock(mutex);
    const Arguments &known = begun[word_of(file)];
    arguments.recv_count = known.recv_count;
    arguments.recv_type = known.recv_type;
}

} // namespace cd::logger
