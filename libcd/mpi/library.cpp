// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// What libcd calls, and how it learns of it when this library is loaded.

#include "mpi/finalizing.h"
#include "mpi/mpi_job.h"
#include "protection/protection.h"
#include "protection/requests.h"

#include "cd/protection.h"

#include <cstdio>
#include <cstring>
#include <new>

namespace cd::mpi {
namespace {

using protection::Mode;
using protection::Protection;

// Runs body, which returns a Status, for a caller in C.
template <typename Body> int tell(cd_protection_message *why, const Body &body) {
    Status status;
    try {
        status = body();
    } catch (const std::bad_alloc &) {
        status = fail(CD_ERROR_NO_MEMORY, "there is no memory to protect points in time");
    }
    if (!status) {
        std::snprintf(why->text, sizeof why->text, "%s", message());
    }
    return status.code();
}

Protection &of(void *protection) { return *static_cast<Protection *>(protection); }

Status check_threads(Mode mode) {
    int provided = MPI_THREAD_SINGLE;
    if (Status status = outcome(own().query_thread(&provided), "tell what threads may do");
        !status) {
        return status;
    }
    if (mode == Mode::sync || provided == MPI_THREAD_MULTIPLE) {
        return Status::ok();
    }
    return fail(CD_ERROR_STORAGE_UNSUPPORTED,
                "redundancy_mode=async has a thread that calls MPI beside the program's: start MPI "
                "with MPI_Init_thread and MPI_THREAD_MULTIPLE, or use redundancy_mode=sync");
}

Status open_root(const cd_protected_root &root, std::unique_ptr<Protection> &protection,
                 cd_protected_start &start) {
    StorageInfo info;
    if (Status status = parse_storage_info(root.storage_info, "storage_info", info); !status) {
        return status;
    }
    const Mode mode = info.redundancy_mode == RedundancyMode::async ? Mode::async : Mode::sync;
    std::unique_ptr<protection::Job> job;
    if (Status status = MpiJob::meet(root.name, job); !status) {
        return status;
    }
    protection::Request request;
    request.root = root.name;
    request.restart = root.restart;
    Status ready = check_threads(mode);
    if (ready) {
        ready = read_request(info, root.directory, job->node(), request);
    }
    if (Status status = agree(*job, ready); !status) {
        return status;
    }
    std::unique_ptr<Protection> opened;
    if (Status status = Protection::open(std::move(job), request, mode, opened); !status) {
        return status;
    }
    start = {};
    if (opened->start()) {
        const std::string image = opened->image_of_start();
        if (image.size() >= sizeof start.image) {
            return fail(CD_ERROR_STORE_DIRECTORY, "%.200s...: the name has %zu bytes, too many",
                        image.c_str(), image.size());
        }
        start.epoch = opened->start()->point.epoch;
        std::memcpy(start.image, image.c_str(), image.size() + 1);
    }
    if (Status status = remember(*opened); !status) {
        return status;
    }
    protection = std::move(opened);
    return Status::ok();
}

int open(const cd_protected_root *root, void **protection, cd_protected_start *start,
         cd_protection_message *why) {
    return tell(why, [&] {
        std::unique_ptr<Protection> opened;
        Status status = open_root(*root, opened, *start);
        *protection = opened.release();
        return status;
    });
}

int protect(void *protection, const cd_offered_point *point, cd_protection_message *why) {
    return tell(why, [&] { return of(protection).protect(point); });
}

uint64_t protected_epoch(void *protection) { return of(protection).protected_epoch(); }

int close(void *protection, int forgetting, cd_protection_message *why) {
    return tell(why, [&] {
        forget(of(protection));
        if (forgetting == 0) {
            return Status::ok(); // the other ranks are not here, and ending it takes all of them
        }
        const std::unique_ptr<Protection> closing(&of(protection));
        return closing->forget();
    });
}

constexpr cd_protector protector = {sizeof(cd_protector), open, protect, protected_epoch, close};

[[gnu::constructor]] void register_protector() {
    if (cd_protect_by(&protector) != CD_SUCCESS) {
        os::system().warn("redundancy across nodes is not available: another library offers it");
    }
}

} // namespace
} // namespace cd::mpi
