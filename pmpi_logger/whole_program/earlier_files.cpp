// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "whole_program/earlier_files.h"

#include <filesystem>
#include <regex>
#include <system_error>

namespace cd::logger {

void remove_earlier_files(const std::string &directory, int rank, int size) {
    static const std::regex of_a_rank("rank-([0-9]{1,9})(\\.thread-[0-9]+)?\\.cdmpilog");
    std::error_code error; // what cannot be removed stays
    for (std::filesystem::directory_iterator file(directory, error), end; !error && file != end;
         file.increment(error)) {
        const std::string name = file->path().filename().string();
        std::smatch parts;
        if (!std::regex_match(name, parts, of_a_rank)) {
            continue;
        }
        const int whose = std::stoi(parts[1]);
        if (whose == rank || (rank == 0 && whose >= size)) {
            std::error_code stays;
            std::filesystem::remove(file->path(), stays);
        }
    }
}

} // namespace cd::logger
