// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// Logs that exceed log_limit many times: most of what is replayed lies in a file.
#include "cd/mpi_log.h"
#include "hazard.h"

#include <fcntl.h>
#include <unistd.h>

#include <climits>
#include <cstdlib>
#include <filesystem>
#include <string>

namespace log_limits {

namespace {

constexpr int messages = 300;
constexpr char limit[] = "log_limit=256K";

// Sizes that meet the ends of chunks in many ways; together some mebibytes.
size_t size_of(int message) { return static_cast<size_t>(message) * 977U % 9000U; }

void send_all() {
    for (int i = 0; i < messages; ++i) {
        send(numbers(i, size_of(i)), 0, i);
        int sum = i;
        MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    }
}

// Of each message, where it came from, how long it is, and its numbers.
Numbers take(int first, int last) {
    Numbers all;
    for (int i = first; i < last; ++i) {
        Numbers buffer(10000);
        MPI_Request request = MPI_REQUEST_NULL;
        MPI_Status status;
        MPI_Irecv(buffer.data(), static_cast<int>(buffer.size()), MPI_INT, MPI_ANY_SOURCE, i,
                  MPI_COMM_WORLD, &request);
        for (int arrived = 0; !arrived;) {
            MPI_Test(&request, &arrived, &status);
        }
        int count = 0;
        MPI_Get_count(&status, MPI_INT, &count);
        int sum = 0;
        MPI_Allreduce(&status.MPI_SOURCE, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        all.insert(all.end(), {status.MPI_SOURCE, status.MPI_TAG, count, sum});
        all.insert(all.end(), buffer.begin(), buffer.begin() + count);
    }
    return all;
}

// The file in which most of the log lies.
int find_file() {
    for (const auto &entry : std::filesystem::directory_iterator("/proc/self/fd")) {
        char target[PATH_MAX] = "";
        if (::readlink(entry.path().c_str(), target, sizeof target - 1) > 0 &&
            std::string(target).find("/cd-log-limits/") != std::string::npos) {
            return std::stoi(entry.path().filename());
        }
    }
    return -1;
}

} // namespace

HAZARD(log_that_exceeds_its_limit_is_replayed) {
    if (world_rank() == 1) {
        send_all();
        return;
    }
    Domain domain(nullptr, "hazard", limit);
    Numbers state = numbers(9, eager);
    domain.keep(state);
    const Numbers first = take(0, messages);
    CHECK(domain.info().log_bytes > size_t{4} << 20);
    CHECK(domain.info().log_in_files > size_t{2} << 20);
    for (int i = 0; i < 2; ++i) {
        destroy(state);
        domain.restore();
        CHECK(state == numbers(9, eager));
        CHECK(take(0, messages) == first);
        CHECK(domain.info().replaying == 0);
    }
    domain.advance();
    CHECK(domain.info().log_in_files == 0);
}

// A child that is restored in the middle of its parent's replay, and an advance in there.
HAZARD(nested_logs_that_exceed_their_limit_are_replayed) {
    constexpr int third = messages / 3;
    if (world_rank() == 1) {
        send_all();
        return;
    }
    Domain parent(nullptr, "hazard", limit);
    Numbers state = numbers(9, eager);
    parent.keep(state);
    const Numbers expected[] = {take(0, third), [&] {
                                    Domain child(parent.handle());
                                    take(third, third + 20);
                                    child.restore();
                                    return take(third, 2 * third);
                                }()};
    parent.restore();
    CHECK(take(0, third) == expected[0]);
    {
        Domain child(parent.handle());
        CHECK(take(third, 2 * third) == expected[1]);
        child.restore();
        CHECK(take(third, 2 * third) == expected[1]);
    }
    parent.restore();
    CHECK(take(0, third) == expected[0]);
    parent.advance();
    parent.restore();
    CHECK(take(third, 2 * third) == expected[1]);
    const Numbers rest = take(2 * third, messages);
    parent.restore();
    CHECK(take(third, 2 * third) == expected[1]);
    CHECK(take(2 * third, messages) == rest);
}

namespace {

void send_data() {
    for (int i = 0; i < messages; ++i) {
        send(numbers(i, size_of(i)), 0, i);
    }
}

void receive_data() {
    for (int i = 0; i < messages; ++i) {
        CHECK(receive(size_of(i), 1, i) == numbers(i, size_of(i)));
    }
}

// Whether one could not be received, and all before it were right.
bool one_cannot_be_received() {
    int failed = 0;
    for (int i = 0; i < messages && failed == 0; ++i) {
        Numbers buffer(size_of(i));
        failed = MPI_Recv(buffer.data(), static_cast<int>(buffer.size()), MPI_INT, 1, i,
                          MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK(failed != 0 || buffer == numbers(i, size_of(i)));
    }
    return failed != 0;
}

void damage_file() {
    const int file = find_file();
    CHECK(file >= 0);
    const Numbers wrong = numbers(7, 1000);
    CHECK(::pwrite(file, wrong.data(), wrong.size() * sizeof(int), 1'000'000) > 0);
}

// Its name is how find_file() finds it.
class Directory {
public:
    Directory() { std::filesystem::create_directories(name_); }
    Directory(const Directory &) = delete;
    Directory &operator=(const Directory &) = delete;
    ~Directory() { std::filesystem::remove(name_); }
    std::string storage_info() const { return limit + (",dir=" + name_); }

private:
    const std::string name_ = std::filesystem::temp_directory_path().string() + "/cd-log-limits";
};

} // namespace

HAZARD(log_that_was_damaged_in_its_file_is_an_error) {
    if (world_rank() == 1) {
        send_data();
        await(0);
        return;
    }
    const Directory directory;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    Domain domain(nullptr, "hazard", directory.storage_info().c_str());
    receive_data();
    damage_file();
    domain.restore();
    CHECK(one_cannot_be_received());
    CHECK(domain.info().replaying == 1);
    CHECK(delete_MPI_log_from_cd(domain.handle()) == SUCCESS);
    signal(1);
}

// The program goes on, and what it says names the directory.
HAZARD(log_that_cannot_be_written_says_why) {
    if (world_rank() == 1) {
        send_data();
        return;
    }
    const Domain domain(nullptr, "hazard", "log_limit=256K,dir=/proc/nowhere");
    receive_data();
    CHECK(restore_cd(domain.handle()) !=
          SUCCESS); // the re-execution would wait for what is missing
    CHECK(cd_last_error() == CD_ERROR_LOG_INCOMPLETE);
}

} // namespace log_limits
