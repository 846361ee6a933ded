// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "whole_program/whole_program.h"

#include "interception/inside.h"
#include "interception/real.h"
#include "replay/polls.h"
#include "whole_program/log_file.h"

#include "cd/mpi_log.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace cd::logger {
namespace {

constexpr size_t usual_limit = size_t{64} << 20;

struct Recording {
    cd_handle cd = nullptr;
    uint64_t family = 0;
    size_t limit = usual_limit;
    size_t held = 0; // bytes of entries since the log was empty
    LogFile file;
};
Recording recording;

bool is_wanted() {
    const char *setting = std::getenv("CD_LOG");
    if (setting == nullptr || std::strcmp(setting, "cd") == 0) {
        return false;
    }
    if (std::strcmp(setting, "all") == 0) {
        return true;
    }
    std::fprintf(stderr,
                 "pmpi_logger: CD_LOG is \"%s\"; allowed are cd, to record what CDs ask for, and "
                 "all; taking cd\n",
                 setting);
    return false;
}

size_t limit_wanted() {
    const char *setting = std::getenv("CD_LOG_LIMIT");
    char *end = nullptr;
    const unsigned long long bytes = setting != nullptr ? std::strtoull(setting, &end, 10) : 0;
    if (setting != nullptr && (*end != '\0' || bytes == 0)) {
        std::fprintf(stderr,
                     "pmpi_logger: CD_LOG_LIMIT is \"%s\"; it has to be a number of bytes; taking "
                     "%zu\n",
                     setting, usual_limit);
    }
    return bytes != 0 ? static_cast<size_t>(bytes) : usual_limit;
}

} // namespace

bool WholeProgram::is_active() {
    cd_log_place place = {};
    return cd_log_here(&place) != 0 && place.family == recording.family;
}

bool WholeProgram::holds(const cd_log_place &place) {
    return recording.cd != nullptr && place.family == recording.family;
}

void WholeProgram::begin() {
    if (!is_wanted()) {
        return;
    }
    int error = 0;
    recording.cd = create_cd(nullptr, nullptr, CD_COMM_LOGGING_ENABLED, "cd_log_all", &error);
    if (recording.cd == nullptr) {
        std::fprintf(stderr, "pmpi_logger: CD_LOG=all records nothing: %s\n",
                     cd_last_error_message());
        return;
    }
    cd_log_place place = {};
    cd_log_here(&place);
    recording.family = place.family;
    recording.limit = limit_wanted();
    if (const char *directory = std::getenv("CD_LOG_FILE")) {
        int rank = 0;
        real<Fn::MPI_Comm_rank>(MPI_COMM_WORLD, &rank);
        recording.file.open(directory, rank);
    }
    recording_ = true;
}

void WholeProgram::end() {
    if (recording.cd != nullptr) {
        recording_ = false;
        recording.file.close();
        commit_cd(recording.cd);
        recording.cd = nullptr;
    }
}

void WholeProgram::written(const void *entry, size_t length) {
    recording.file.append(entry, length);
    recording.held += length;
    if (recording.held > recording.limit) {
        recording.held = 0;
        delete_MPI_log_from_cd(recording.cd);
    }
}

} // namespace cd::logger
