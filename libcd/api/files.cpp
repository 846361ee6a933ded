// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// add_file_to_cd and delete_file_from_cd

#include "api/operation.h"
#include "restart/bind.h"
#include "runtime/family_lock.h"
#include "runtime/file_positions.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <memory>
#include <vector>

namespace cd {
namespace {

using Positions = std::vector<FilePosition>;

// What one CD holds of a file then.
struct Holding {
    Domain *domain;
    FilePosition file;
    Positions::iterator stored; // the same, as it came from another process; the end: it did not
    bool came_back() const { return stored != domain->unbound_files.end(); }
    bool owed() const { return came_back() && domain->files_owed; }
};

void write_down(Transaction &transaction, const Domain &domain, const FileTable &files,
                Positions::const_iterator bound) {
    Positions all(files.begin(), files.end());
    const Positions &unbound = domain.unbound_files;
    all.insert(all.end(), unbound.begin(), bound);
    all.insert(all.end(), bound != unbound.end() ? std::next(bound) : bound, unbound.end());
    transaction.files(domain.number, all);
}

Status write_down(const std::vector<Holding> &holdings) {
    const std::shared_ptr<Ledger> &ledger = holdings.front().domain->ledger;
    if (ledger == nullptr) {
        return Status::ok();
    }
    const std::unique_ptr<Transaction> transaction = ledger->begin();
    for (const Holding &holding : holdings) {
        FileTable files = holding.domain->files;
        files.add(holding.file);
        write_down(*transaction, *holding.domain, files, holding.stored);
    }
    return transaction->commit();
}

// now: as the file is. Where it came back from a store it keeps the position that it has there,
// also in ancestors: what a child gave them its code adds again. The CD itself is the first.
std::vector<Holding> find_holdings(Domain &domain, const FilePosition &now) {
    std::vector<Holding> found;
    for (Domain *at = &domain; at != nullptr; at = at->parent) {
        Holding holding = {at, now, find_stored(at->unbound_files, now)};
        if (holding.came_back()) {
            holding.file.position = holding.stored->position;
        }
        if (at == &domain || (holding.came_back() && !at->files.holds(now.descriptor))) {
            found.push_back(holding);
        }
    }
    // Where the file goes, the older wins, as in a restore.
    const auto oldest = std::find_if(found.rbegin(), found.rend(), std::mem_fn(&Holding::owed));
    if (oldest != found.rend() && !found.front().came_back()) {
        found.front().file.position = oldest->file.position;
    }
    return found;
}

Status hold_file(Domain &domain, const FilePosition &now) {
    const std::vector<Holding> holdings = find_holdings(domain, now);
    for (const Holding &holding : holdings) {
        holding.domain->files.make_room(1);
    }
    // For another process the file is the same, whatever the descriptor.
    if (Status status = write_down(holdings); !status) {
        return status;
    }
    for (const Holding &holding : holdings) { // the oldest last
        Status status = holding.owed() ? set_position(domain, holding.file) : Status::ok();
        if (!status) {
            return status;
        }
    }
    for (const Holding &holding : holdings) {
        holding.domain->files.add(holding.file);
        if (holding.came_back()) {
            holding.domain->unbound_files.erase(holding.stored);
        }
    }
    return Status::ok();
}

// What came from another process may wait for the file in an ancestor, too.
FamilyLock::Reach reach_of_add(cd_handle cd) {
    FamilyLock lock;
    const bool stored =
        lock.lock(cd, FamilyLock::Reach::self).is_ok() && lock.domain().ledger != nullptr;
    return stored ? FamilyLock::Reach::ancestors : FamilyLock::Reach::self;
}

Status let_go_of_file(Domain &domain, int descriptor) {
    FileTable files = domain.files;
    files.remove(descriptor);
    if (domain.ledger != nullptr) {
        const std::unique_ptr<Transaction> transaction = domain.ledger->begin();
        write_down(*transaction, domain, files, domain.unbound_files.end());
        if (Status status = transaction->commit(); !status) {
            return status;
        }
    }
    domain.files.remove(descriptor);
    return Status::ok();
}

} // namespace
} // namespace cd

extern "C" {

int add_file_to_cd(cd_handle cd, int filedes) {
    return cd::result_of(cd::observed(CD_OP_ADD_FILE, [&](cd::Report &report) {
        const cd::FamilyLock::Reach reach = cd::reach_of_add(cd);
        cd::FamilyLock lock;
        if (cd::Status status = lock.lock(cd, reach); !status) {
            return status;
        }
        report.about(lock.domain().name());
        cd::FilePosition file;
        if (cd::Status status = cd::read_position(lock.domain(), filedes, file); !status) {
            return status;
        }
        const auto &files = lock.domain().files;
        const auto held = std::ranges::find(files, filedes, &cd::FilePosition::descriptor);
        if (held != files.end()) {
            return cd::check_same_file(lock.domain(), *held, file);
        }
        return cd::hold_file(lock.domain(), file);
    }));
}

int delete_file_from_cd(cd_handle cd, int filedes) {
    return cd::result_of(cd::observed(CD_OP_DELETE_FILE, [&](cd::Report &report) {
        cd::FamilyLock lock;
        if (cd::Status status = lock.lock(cd, cd::FamilyLock::Reach::self); !status) {
            return status;
        }
        report.about(lock.domain().name());
        if (!lock.domain().files.holds(filedes)) {
            return cd::fail(CD_ERROR_FILE_NOT_IN_CD,
                            "CD %s does not hold file descriptor %d; delete only what was added to "
                            "this CD",
                            lock.domain().name(), filedes);
        }
        return cd::let_go_of_file(lock.domain(), filedes);
    }));
}

} // extern "C"
