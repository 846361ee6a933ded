// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// The functions that libcd calls, and their registration when this library is loaded.

#include "base/no_throw.h"
#include "base/saved_status.h"
#include "checkpoint/checkpointer.h"
#include "checkpoint/options.h"
#include "mpi/finalize.h"
#include "mpi/mpi_job.h"

#include "cd/protection.h"

#include <cstdio>
#include <cstring>
#include <memory>
#include <string>

namespace cd::mpi {
namespace {

using checkpoint::Checkpointer;
using checkpoint::Mode;

// Runs body, which returns a Status, for a caller in C.
template <typename Body> int run(cd_protection_message *why, const Body &body) {
    Status status = catch_exceptions(body);
    if (!status) {
        std::snprintf(why->text, sizeof why->text, "%s", message());
    }
    return status.code();
}

// The Status that libcd passes as a code and a message.
Status status_of(int own, const cd_protection_message &why) {
    return own == CD_ERROR_NONE ? Status::ok() : fail(static_cast<cd_error>(own), "%s", why.text);
}

Checkpointer &checkpointer_of(void *protection) { return *static_cast<Checkpointer *>(protection); }

Status check_threads(Mode mode) {
    int provided = MPI_THREAD_SINGLE;
    if (Status status = outcome(own().query_thread(&provided), "find the thread level"); !status) {
        return status;
    }
    if (mode == Mode::sync || provided == MPI_THREAD_MULTIPLE) {
        return Status::ok();
    }
    return fail(CD_ERROR_STORAGE_UNSUPPORTED,
                "redundancy_mode=async has a thread that calls MPI beside the program's: start MPI "
                "with MPI_Init_thread and MPI_THREAD_MULTIPLE, or use redundancy_mode=sync");
}

Status read_root(const cd_protected_root &root, const std::string &node,
                 checkpoint::Request &request, Mode &mode) {
    const cd_protection_settings &settings = root.settings;
    StorageInfo info;
    info.redundancy = {static_cast<Scheme>(settings.scheme), settings.parameter};
    info.set_size = settings.set_size;
    info.group = settings.group;
    info.config = settings.config;
    info.flush = settings.flush;
    info.flush_interval = settings.flush_interval;
    info.sync = settings.sync != 0 ? Sync::full : Sync::none;
    mode = settings.async != 0 ? Mode::async : Mode::sync;
    info.redundancy_mode = mode == Mode::async ? RedundancyMode::async : RedundancyMode::sync;
    if (Status status = check_threads(mode); !status) {
        return status;
    }
    request.root = root.name;
    request.restart = root.restart;
    return read_request(info, root.directory, node, request);
}

Status copy_start(const Checkpointer &opened, cd_protected_start &start) {
    start = {};
    if (!opened.start()) {
        return Status::ok();
    }
    const std::string image = opened.image_of_start();
    if (image.size() >= sizeof start.image) {
        return fail(CD_ERROR_STORE_DIRECTORY, "%.200s...: the name has %zu bytes, too many",
                    image.c_str(), image.size());
    }
    start.epoch = opened.start()->id.epoch;
    std::memcpy(start.image, image.c_str(), image.size() + 1);
    return Status::ok();
}

// The request's directories but that of flush=, which all nodes see.
std::vector<std::string> directories_of(const checkpoint::Request &request) {
    std::vector<std::string> directories = request.stores;
    if (request.flush_store) {
        directories.erase(directories.begin() + static_cast<std::ptrdiff_t>(*request.flush_store));
    }
    return directories;
}

// A failure before the ranks meet is reported when they do.
Status open_root(const cd_protected_root &root, std::unique_ptr<Checkpointer> &protection,
                 cd_protected_start &start) {
    checkpoint::Request request;
    Mode mode = Mode::sync;
    OwnRoot own;
    const SavedStatus read(catch_exceptions([&] {
        own.name = root.name;
        Status status =
            is_usable() ? read_root(root, MpiJob::name_of_node(), request, mode) : Status::ok();
        own.directories = directories_of(request);
        return status;
    }));
    std::unique_ptr<checkpoint::Job> job;
    if (Status status = MpiJob::meet(own, job); !status) {
        return status;
    }
    if (Status status = agree(*job, read.again()); !status) {
        return status;
    }
    std::unique_ptr<Checkpointer> opened;
    if (Status status = Checkpointer::open(std::move(job), request, mode, opened); !status) {
        return status;
    }
    Status known = catch_exceptions([&] {
        Status status = copy_start(*opened, start);
        return status ? register_checkpointer(*opened) : status;
    });
    if (Status status = opened->agree_on(known); !status) {
        unregister_checkpointer(*opened);
        return status;
    }
    protection = std::move(opened);
    return Status::ok();
}

int decline(const char *name, int own, cd_protection_message *why) {
    return run(why, [&] {
        const SavedStatus refused(status_of(own, *why));
        if (!is_usable()) {
            return refused.again();
        }
        if (*name == '\0') {
            return MpiJob::refuse(refused);
        }
        std::unique_ptr<checkpoint::Job> job;
        Status met = MpiJob::meet({name, {}}, job);
        return met ? agree(*job, refused.again()) : met;
    });
}

int open(const cd_protected_root *root, void **protection, cd_protected_start *start,
         cd_protection_message *why) {
    return run(why, [&] {
        std::unique_ptr<Checkpointer> opened;
        Status status = open_root(*root, opened, *start);
        *protection = opened.release();
        return status;
    });
}

int opened(void *protection, int own, cd_protection_message *why) {
    return run(why, [&] { return checkpointer_of(protection).agree_on(status_of(own, *why)); });
}

int may_advance(void *protection, uint64_t epoch, int own, cd_protection_message *why) {
    return run(
        why, [&] { return checkpointer_of(protection).may_advance(epoch, status_of(own, *why)); });
}

int protect(void *protection, const cd_offered_point *point, cd_protection_message *why) {
    return run(why, [&] { return checkpointer_of(protection).protect(*point); });
}

uint64_t protected_epoch(void *protection) { return checkpointer_of(protection).protected_epoch(); }

int commit_root(void *protection, int own, cd_protection_message *why) {
    return run(why, [&] { return checkpointer_of(protection).commit_root(status_of(own, *why)); });
}

void close(void *protection) {
    const std::unique_ptr<Checkpointer> closing(&checkpointer_of(protection));
    unregister_checkpointer(*closing);
}

constexpr cd_protector protector = {
    sizeof(cd_protector), decline,     open, opened, may_advance, protect,
    protected_epoch,      commit_root, close};

[[gnu::constructor]] void register_protector() {
    if (!notice_forks()) {
        os::system().warn("redundancy across nodes is not available: there is no memory to "
                          "notice forks");
    } else if (cd_protect_by(&protector) != CD_SUCCESS) {
        os::system().warn("redundancy across nodes is not available: another library offers it");
    }
}

} // namespace
} // namespace cd::mpi
