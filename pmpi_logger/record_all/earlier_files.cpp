// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "record_all/earlier_files.h"

#include <cerrno>
#include <fcntl.h>
#include <filesystem>
#include <regex>
#include <sys/file.h>
#include <system_error>
#include <unistd.h>

namespace cd::logger {
namespace {

bool is_in_use(const std::string &path) {
    const int descriptor = open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (descriptor < 0) {
        return false;
    }
    const bool taken = flock(descriptor, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    close(descriptor);
    return taken;
}

} // namespace

void remove_earlier_files(const std::string &directory, int rank, int size) {
    static const std::regex of_a_rank("rank-([0-9]{1,9})(\\.thread-[0-9]+)?\\.cdmpilog");
    if (is_in_use(directory + "/rank-" + std::to_string(rank) + ".cdmpilog")) {
        return;
    }
    std::error_code error; // what cannot be removed stays
    for (std::filesystem::directory_iterator file(directory, error), end; !error && file != end;
         file.increment(error)) {
        const std::string name = file->path().filename().string();
        std::smatch parts;
        if (!std::regex_match(name, parts, of_a_rank)) {
            continue;
        }
        const int whose = std::stoi(parts[1]);
        if ((whose == rank || (rank == 0 && whose >= size)) && !is_in_use(file->path().string())) {
            std::error_code stays;
            std::filesystem::remove(file->path(), stays);
        }
    }
}

} // namespace cd::logger
