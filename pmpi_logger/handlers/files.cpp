// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "handlers/files.h"

#include "requests/send_copy.h"

#include <map>
#include <mutex>

namespace cd::logger {

void FileOpen::opened(MPI_File file) {
    const std::optional<cd_log_place> place = last_entry();
    if (file == MPI_FILE_NULL || !place) {
        return;
    }
    std::optional<LoggedFile> known = LoggedFiles::made_at(*place, file);
    if (!known) {
        known.emplace();
        known->handle = file;
        known->in_fortran = real<Fn::MPI_File_c2f>(file);
        known->number = next_owner_number();
        known->made = *place;
    }
    LoggedFiles::add(*known);
}

LoggedFile FileClose::known_as(MPI_File file) {
    if (const std::optional<LoggedFile> known = LoggedFiles::find(file)) {
        return *known;
    }
    LoggedFile opened_before;
    opened_before.handle = file;
    opened_before.number = next_owner_number();
    if (file != MPI_FILE_NULL) {
        opened_before.in_fortran = real<Fn::MPI_File_c2f>(file);
    }
    return opened_before;
}

SplitOperation &SplitOperation::of(MPI_File file) {
    static std::mutex mutex;
    // Never destroyed: MPI may be used while the process ends.
    static auto &all = *new std::map<uint64_t, SplitOperation>;
    const std::scoped_lock lock(mutex);
    return all[word_of(file)];
}

Staging SplitBegin::staging_of(Call call, bool reads) {
    const ReentryGuard inside;
    if (!send_copies_wanted() || RecordAll::records()) {
        return {};
    }
    if (reads) {
        call.arrival = &Arrivals::message; // read by the second call
    }
    return Staging::of(call, !reads, {});
}

} // namespace cd::logger
