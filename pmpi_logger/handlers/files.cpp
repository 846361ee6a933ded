// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "handlers/files.h"

namespace cd::logger {

void OpensFile::opened(MPI_File file) {
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

LoggedFile ClosesFile::known_as(MPI_File file) {
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

void ClosesFile::about_to_be_closed(LoggedFile &file) {
    cd_log_place place = {};
    if (file.handle != MPI_FILE_NULL && cd_log_here(&place) != 0) {
        file.handler = held_handler<Fn::MPI_File_get_errhandler>(file.handle, place);
    }
}

void ClosesFile::closed(LoggedFile &file) {
    LoggedFiles::remove(file.number);
    file.freed = true;
    if (const std::optional<cd_log_place> place = last_entry()) {
        if (note_freed(file, *place)) {
            when_forgotten(*place, [number = file.number] { LoggedFiles::remove(number); });
        }
        when_restored(*place, [file] { LoggedFiles::put_back(file); });
    }
}

} // namespace cd::logger
