// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "harness/scenario.h"

#include "cd/mpi_log.h"

#include <cstdio>
#include <cstdlib>
#include <unistd.h>

namespace cd::scenarios {
namespace {

// Captures what is written to stderr from here on.
class CapturedErrors {
public:
    CapturedErrors() : file_(std::tmpfile()) {
        std::fflush(stderr);
        dup2(fileno(file_), STDERR_FILENO);
    }
    CapturedErrors(const CapturedErrors &) = delete;
    CapturedErrors &operator=(const CapturedErrors &) = delete;
    ~CapturedErrors() {
        dup2(before_, STDERR_FILENO);
        close(before_);
        std::fclose(file_);
    }

    std::string text() const {
        std::fflush(stderr);
        std::rewind(file_);
        std::string text;
        for (int c = std::fgetc(file_); c != EOF; c = std::fgetc(file_)) {
            text += static_cast<char>(c);
        }
        return text;
    }

private:
    int before_ = dup(STDERR_FILENO);
    std::FILE *file_;
};

} // namespace

void expect_refusal(const char *function, const std::function<int()> &call) {
    if (cd_log_mode() == CD_LOG_OFF) {
        return; // the arguments need not make sense
    }
    int error_class = MPI_SUCCESS;
    std::string said;
    {
        const CapturedErrors errors;
        MPI_Error_class(call(), &error_class);
        said = errors.text();
    }
    if (error_class != MPI_ERR_UNSUPPORTED_OPERATION) {
        throw Failure(std::string(function) + " is not refused");
    }
    if (said.find(": " + std::string(function) + " cannot be replayed") == std::string::npos) {
        throw Failure(std::string(function) + " is refused, but not by name: " + said);
    }
}

} // namespace cd::scenarios
