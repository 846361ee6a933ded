// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// The calls for the MPI interposition layer

#include "cd/mpi_log.h"

#include "api/api_call.h"
#include "runtime/active_stack.h"
#include "runtime/family_lock.h"
#include "runtime/identity.h"
#include "runtime/log_listener.h"

#include <cstdint>
#include <cstdlib>

namespace cd {
namespace {

Status lock_log(FamilyLock &lock, cd_handle handle) {
    if (Status status = lock.lock(handle, FamilyLock::Reach::self); !status) {
        return status;
    }
    if (!lock.domain().log.enabled()) {
        return fail(CD_ERROR_LOG_DISABLED,
                    "CD %s does not log MPI traffic; create its root with COMM_LOGGING_ENABLED",
                    lock.domain().name());
    }
    return Status::ok();
}

// Returns why the log took no entry of that length.
Status not_taken(Resident &domain, size_t length) {
    if (const uint64_t remaining = domain.log.extent().remaining; remaining > 0) {
        return fail(CD_ERROR_LOG_REPLAYING,
                    "CD %s replays its MPI log and has %llu entries left; read them with "
                    "get_MPI_log_from_cd before adding others",
                    domain.name(), static_cast<unsigned long long>(remaining));
    }
    if (Status trouble = domain.log.log().trouble(); !trouble) {
        return trouble;
    }
    return fail(
        CD_ERROR_NO_MEMORY,
        "CD %s: no memory for %zu more bytes of the MPI log; free some, or advance more often%s",
        domain.name(), length,
        domain.storage.log_limit == 0 ? ", or create the root with log_limit=" : "");
}

Status outcome_of_adding(bool taken, Resident &domain, size_t length, Report &report) {
    if (!taken) {
        return not_taken(domain, length);
    }
    report.copied(length);
    return Status::ok();
}

// Returns why the log gave no entry.
Status not_given(Resident &domain) {
    Log &log = domain.log.log();
    if (!log.replaying()) {
        return Status::ok(); // the log ends here
    }
    Status trouble = log.trouble();
    return trouble ? out_of_memory("get_MPI_log_from_cd") : trouble;
}

// Checks the parts of an entry and adds up their length.
Status check_parts(const Domain &domain, const cd_log_part *parts, int count, size_t &length) {
    if (count < 0 || (parts == nullptr && count > 0)) {
        return fail(CD_ERROR_LOG_ENTRY,
                    "CD %s: the log entry has %d parts at %p; pass that many parts", domain.name(),
                    count, static_cast<const void *>(parts));
    }
    length = 0;
    for (int i = 0; i < count; ++i) {
        if (parts[i].length > PTRDIFF_MAX - length) {
            return fail(CD_ERROR_LOG_ENTRY,
                        "CD %s: the %d parts of the log entry are longer together than memory; "
                        "part %d is %zu bytes at %p; correct the lengths",
                        domain.name(), count, i, parts[i].length, parts[i].data);
        }
        length += parts[i].length;
        if (parts[i].data == nullptr && parts[i].length > 0) {
            return fail(CD_ERROR_LOG_ENTRY,
                        "CD %s: part %d of the log entry is %zu bytes at NULL; give their address",
                        domain.name(), i, parts[i].length);
        }
    }
    return Status::ok();
}

// Returns the CD if its log may be deleted and that ends a replay, else nullptr.
cd_handle find_replaying(cd_handle cd) {
    FamilyLock lock;
    if (!lock_log(lock, cd)) {
        return nullptr;
    }
    const Resident &domain = lock.domain();
    return domain.log.check_forget(domain.depth, domain.name()) && domain.log.replays(domain.depth)
               ? domain.handle
               : nullptr;
}

// Reports the end of the replay if it has come.
void report_replay_end(Resident &domain, Report &report) {
    if (!domain.log.log().replaying()) {
        report.also_ends_replay();
    }
}

} // namespace

Status next_entry(cd_handle cd, Report &report, void *&entry, size_t &length) {
    FamilyLock lock;
    if (Status status = lock_log(lock, cd); !status) {
        return status;
    }
    Resident &domain = lock.domain();
    report.about(domain.name());
    entry = domain.log.log().next(length);
    if (entry == nullptr) {
        return not_given(domain);
    }
    report.copied(length);
    report_replay_end(domain, report);
    return Status::ok();
}

} // namespace cd

extern "C" {

int add_MPI_log_to_cd(cd_handle cd, void *logent, int loglen) {
    return cd::result_of(cd::observed(CD_OP_LOG_ADD, [&](cd::Report &report) {
        cd::FamilyLock lock;
        if (cd::Status status = cd::lock_log(lock, cd); !status) {
            return status;
        }
        report.about(lock.domain().name());
        if (logent == nullptr || loglen < 0) {
            return cd::fail(
                CD_ERROR_LOG_ENTRY,
                "CD %s: the log entry is %d bytes at %p; pass a malloc'ed entry and its length",
                lock.domain().name(), loglen, logent);
        }
        const auto length = static_cast<size_t>(loglen);
        const cd_log_part part = {logent, length};
        const bool taken = lock.domain().log.log().append(&part, 1);
        if (taken) {
            std::free(logent);
        }
        return cd::outcome_of_adding(taken, lock.domain(), length, report);
    }));
}

int cd_log_append(cd_handle cd, const cd_log_part *parts, int count) {
    return cd::result_of(cd::observed(CD_OP_LOG_ADD, [&](cd::Report &report) {
        cd::FamilyLock lock;
        if (cd::Status status = cd::lock_log(lock, cd); !status) {
            return status;
        }
        report.about(lock.domain().name());
        size_t length = 0;
        if (cd::Status status = cd::check_parts(lock.domain(), parts, count, length); !status) {
            return status;
        }
        const bool taken = lock.domain().log.log().append(parts, count);
        return cd::outcome_of_adding(taken, lock.domain(), length, report);
    }));
}

const void *cd_log_next(cd_handle cd, size_t *length, int *error) {
    void *entry = nullptr;
    size_t entry_length = 0;
    const cd::Status status = cd::observed(CD_OP_LOG_GET, [&](cd::Report &report) {
        return cd::next_entry(cd, report, entry, entry_length);
    });
    if (length != nullptr) {
        *length = entry_length;
    }
    if (error != nullptr) {
        *error = status.code();
    }
    return entry;
}

void *get_MPI_log_from_cd(cd_handle cd, int *error) {
    return const_cast<void *>(cd_log_next(cd, nullptr, error));
}

int delete_MPI_log_from_cd(cd_handle cd) {
    uint64_t forgotten = 0;
    cd_handle root = nullptr;
    const cd::Status status = cd::observed(CD_OP_LOG_DELETE, [&](cd::Report &report) {
        cd::notify_deleting(cd::find_replaying(cd));
        cd::FamilyLock lock;
        if (cd::Status locked = cd::lock_log(lock, cd); !locked) {
            return locked;
        }
        cd::Resident &domain = lock.domain();
        report.about(domain.name());
        if (cd::Status checked = domain.log.check_forget(domain.depth, domain.name()); !checked) {
            return checked;
        }
        const bool replaying = domain.log.log().replaying();
        const bool alone = domain.children.empty(); // else a child may have to be replayed
        domain.log.forget(domain.depth, alone);
        if (replaying) {
            cd::report_replay_end(domain, report);
        }
        if (domain.is_root() && alone) {
            forgotten = domain.log.log().family();
            root = domain.handle;
        }
        return cd::Status::ok();
    });
    cd::notify_boundary();
    cd::notify_forgotten(forgotten, root);
    return cd::result_of(status);
}

int cd_set_rank(int rank) {
    return cd::result_of(cd::guarded([&] {
        if (rank < 0) {
            return cd::fail(CD_ERROR_ARGUMENT,
                            "cd_set_rank: the rank is %d; give the one in MPI_COMM_WORLD, which is "
                            "0 or more",
                            rank);
        }
        cd::set_rank(rank);
        return cd::Status::ok();
    }));
}

} // extern "C"
