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
        known->number = next_owner();
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
    opened_before.number = next_owner();
    if (file != MPI_FILE_NULL) {
        opened_before.in_fortran = real<Fn::MPI_File_c2f>(file);
    }
    return opened_before;
}

void FileClose::about_to_be_closed(LoggedFile &file) {
    cd_log_place place = {};
    if (file.handle != MPI_FILE_NULL && cd_log_here(&place) != 0) {
        file.handler = held_handler<Fn::MPI_File_get_errhandler>(file.handle, place);
    }
}

void FileClose::closed(LoggedFile &file) {
    LoggedFiles::remove(file.number);
    file.freed = true;
    if (const std::optional<cd_log_place> place = last_entry()) {
        if (note_freed(file, *place)) {
            when_forgotten(*place, [number = file.number] { LoggedFiles::remove(number); });
        }
        when_restored(*place, [file] { LoggedFiles::put_back(file); });
    }
}

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

Staging SplitBegin::staging_of(Call call, bool reads) {
    const ReentryGuard inside;
    if (!shadows_wanted() || RecordAll::records()) {
        return {};
    }
    if (reads) {
        call.arrival = &Arrivals::message; // read by the second call
    }
    return Staging::of(call, !reads, {});
}

} // namespace cd::logger
