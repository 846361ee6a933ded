// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors

// every REPORT [GROUP...]: makes the calls of every.F90 under the logger, group by group. One of
// the ranks fails, and makes them again from the log: they give the same, byte by byte. Each
// function that was called has to be in the log, and not more often than it was called; or not at
// all if it is left to MPI. Then REPORT gets a line for each function, with its group.

#include "harness/recorded.h"
#include "harness/table.h"

#include "cd/cd.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <mpi.h>
#include <set>
#include <string>
#include <unistd.h>
#include <vector>

#define GROUPS(X)                                                                                  \
    X(sends)                                                                                       \
    X(found)                                                                                       \
    X(partitions)                                                                                  \
    X(completions)                                                                                 \
    X(other_requests)                                                                              \
    X(collectives)                                                                                 \
    X(neighbors)                                                                                   \
    X(communicators)                                                                               \
    X(groups)                                                                                      \
    X(topologies)                                                                                  \
    X(made_types)                                                                                  \
    X(asked_types)                                                                                 \
    X(operators)                                                                                   \
    X(attributes)                                                                                  \
    X(error_handlers)                                                                              \
    X(infos)                                                                                       \
    X(files)                                                                                       \
    X(shared_positions)                                                                            \
    X(asked_files)                                                                                 \
    X(accesses)                                                                                    \
    X(windows)                                                                                     \
    X(process)                                                                                     \
    X(sessions)

// Which mpi_f08 of MPI 4 has, and no other.
#define GROUPS_WITH_LARGE_COUNTS(X)                                                                \
    X(large_sends)                                                                                 \
    X(large_found)                                                                                 \
    X(large_collectives)                                                                           \
    X(large_neighbors)                                                                             \
    X(large_accesses)                                                                              \
    X(large_made_types)                                                                            \
    X(large_asked_types)                                                                           \
    X(large_asked_statuses)                                                                        \
    X(large_windows)

extern "C" {
#define DECLARE(name) void every_##name();
GROUPS(DECLARE)
#undef DECLARE
#define DECLARE(name) [[gnu::weak]] void every_##name();
GROUPS_WITH_LARGE_COUNTS(DECLARE)
#undef DECLARE
}

namespace {

using namespace cd::scenarios;

using Bytes = std::vector<unsigned char>;

// The results of the calls of one run.
struct Given {
    std::map<std::string, int> made;
    struct Note {
        std::string after; // the function that was called last
        Bytes bytes;
    };
    std::vector<Note> notes;
    std::string last;
};

Given given;
std::string file;
int rank = 0;
int failures = 0;

void check(bool good, const std::string &group, const std::string &what) {
    if (!good) {
        std::fprintf(stderr, "rank %d, %s: %s\n", rank, group.c_str(), what.c_str());
        ++failures;
    }
}

void demand(bool succeeded) {
    if (!succeeded) {
        std::fprintf(stderr, "rank %d: %s\n", rank, cd_last_error_message());
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
}

Given run(void (*calls)()) {
    given = Given();
    calls();
    return given;
}

void expect_same(const Given &first, const Given &again, const std::string &group) {
    for (size_t i = 0; i < first.notes.size() && i < again.notes.size(); ++i) {
        if (first.notes[i].bytes != again.notes[i].bytes) {
            check(false, group,
                  "a replay gives other bytes after " + first.notes[i].after + " (note " +
                      std::to_string(i) + ")");
            return;
        }
    }
    check(first.notes.size() == again.notes.size(), group, "a replay gives other notes");
}

// MPI's Fortran may call functions of its own accord: those are none of ours.
void expect_logged(const std::map<std::string, int> &made, const std::map<std::string, int> &logged,
                   const std::string &group) {
    for (const auto &[function, times] : made) {
        const Row *const row = row_of(function);
        if (row == nullptr) {
            check(false, group, function + " is no function of this MPI");
            continue;
        }
        const auto found = logged.find(function);
        const int entries = found != logged.end() ? found->second : 0;
        const bool good = row->leaves_no_entry() ? entries == 0 : entries > 0 && entries <= times;
        check(good, group,
              function + " was called " + std::to_string(times) + " times, and the log has " +
                  std::to_string(entries));
    }
}

std::map<std::string, std::string> group_of;

void compare(const std::string &group, void (*calls)(), bool fails) {
    const cd_handle cd = create_cd(nullptr, nullptr, COMM_LOGGING_ENABLED, "root", nullptr);
    demand(cd != nullptr);
    const Given first = run(calls);
    cd_info info = {};
    demand(cd_query(cd, &info) == SUCCESS);
    if (fails && info.log_length > 0) {
        expect_logged(first.made, functions_in_log(cd), group);
        demand(restore_cd(cd) == SUCCESS);
        expect_same(first, run(calls), group);
        demand(cd_query(cd, &info) == SUCCESS);
        check(!info.replaying, group, "the log is not used up");
    }
    demand(commit_cd(cd) == SUCCESS);
    for (const auto &[function, times] : first.made) {
        group_of.emplace(function, group);
    }
}

// Returns a path that is the same on all ranks and differs between runs.
void choose_file() {
    char path[256] = {};
    const char *folder = std::getenv("TMPDIR");
    std::snprintf(path, sizeof path, "%s/cd_every.%d", folder != nullptr ? folder : "/tmp",
                  static_cast<int>(getpid()));
    MPI_Bcast(path, sizeof path, MPI_CHAR, 0, MPI_COMM_WORLD);
    file = path;
}

} // namespace

extern "C" void note_made(const char *name, int length) {
    given.last.assign(name, static_cast<size_t>(length));
    ++given.made[given.last];
}

extern "C" void keep(const void *bytes, int length) {
    const auto *first = static_cast<const unsigned char *>(bytes);
    given.notes.push_back({given.last, {first, first + length}});
}

extern "C" void name_of_file(char *name, int length) {
    std::memset(name, ' ', static_cast<size_t>(length));
    std::memcpy(name, file.data(), std::min(file.size(), static_cast<size_t>(length)));
}

int main(int argc, char **argv) {
    int provided = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SINGLE, &provided);
    MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_ARE_FATAL);
    int ranks = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (argc < 2 || ranks != 2) {
        std::fprintf(stderr, "use: %s REPORT [GROUP...], with 2 ranks\n", argv[0]);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    choose_file();
    const std::set<std::string> chosen(argv + 2, argv + argc);
    int failing = 0;
#define COMPARE(name)                                                                              \
    ++failing;                                                                                     \
    if (chosen.empty() || chosen.count(#name) > 0) {                                               \
        compare(#name, every_##name, rank == failing % ranks);                                     \
    }
    GROUPS(COMPARE)
#undef COMPARE
#define COMPARE(name)                                                                              \
    ++failing;                                                                                     \
    if (every_##name != nullptr && (chosen.empty() || chosen.count(#name) > 0)) {                  \
        compare(#name, every_##name, rank == failing % ranks);                                     \
    }
    GROUPS_WITH_LARGE_COUNTS(COMPARE)
#undef COMPARE
    int failures_of_all = 0;
    MPI_Allreduce(&failures, &failures_of_all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0) {
        std::remove(argv[1]);
    }
    if (rank == 0 && failures_of_all == 0) {
        std::ofstream report(argv[1]);
        for (const auto &[function, group] : group_of) {
            report << function << " " << group << "\n";
        }
    }
    MPI_Finalize();
    return failures_of_all == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
