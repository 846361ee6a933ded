// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "cd/protection.h"
#include "config/storage_info.h"
#include "file_store/open_store.h"
#include "file_store/snapshot_image.h"
#include "runtime/family_lock.h"
#include "runtime/registry.h"

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string_view>

namespace cd {

// Sets the plug-in that protects the roots of this process.
Status protect_by(const cd_protector *protector);

// Calls the plug-in for one root. Guarded by the root's lock. While the plug-in runs, the thread is
// outside the library. All calls but protected_epoch() are collective. `own` is this rank's status;
// all ranks return success, or the first failure, after which nothing has changed. In a process
// that was forked they return `own`.
class RedundancyClient {
public:
    // Finds the checkpoint that all ranks start from. opened() follows. `met` receives whether
    // other ranks were met. Fails also without a plug-in. May throw std::bad_alloc, then before it
    // has met other ranks.
    static Status open(const OpenRequest &root, std::unique_ptr<RedundancyClient> &client,
                       cd_protected_start &start, bool &met);

    // Takes the place of open() where this rank cannot create the root. root: "" if its name is not
    // valid.
    static Status decline(const char *root, Status own) noexcept;

    RedundancyClient(const RedundancyClient &) = delete;
    RedundancyClient &operator=(const RedundancyClient &) = delete;
    ~RedundancyClient();

    // own: whether this rank could open its store from the start.
    Status opened(Status own) noexcept;

    // After success protect() or skip() follows.
    Status may_advance(uint64_t epoch, Status own) noexcept;

    Status protect(uint64_t epoch, std::unique_ptr<HeldPoint> held) noexcept;

    // Takes the place of protect() where the advance failed in this rank after all.
    void skip(uint64_t epoch, std::string_view why) noexcept;

    // The newest protected epoch. 0: none, or not known in a process that was forked.
    uint64_t protected_epoch() const noexcept;

    Status commit_root(Status own) noexcept;

private:
    explicit RedundancyClient(const cd_protector &protector);

    bool is_of_this_process() const;
    template <typename Call> Status vote(const Call &function, Status own) noexcept;
    Status offer(const cd_offered_point &point) noexcept;

    const cd_protector &protector_;
    void *protection_; // nullptr: not open
    pid_t process_;
};

// The part of create_cd that other ranks take part in, if the root has redundancy. They wait for
// this rank, which calls outcome() however the creation ends.
struct JointCreate {
    const char *name;     // "" where it is not valid
    bool is_wanted;       // or likely to be, until the root's storage is known
    bool has_met = false; // other ranks

    // Returns the status of all ranks, if they do not know this rank's failure yet.
    Status outcome(Status own) const noexcept {
        return !own && is_wanted && !has_met ? RedundancyClient::decline(name, own) : own;
    }
};

// The part of an operation on a root that other ranks take part in, if the root has redundancy. All
// ranks do it or none does.
class JointOperation : public CommitVote {
public:
    // root: outlives this.
    explicit JointOperation(Resident &root) : root_(root) {}

    bool wanted() const { return root_.protection != nullptr; }
    CommitVote *last_vote() { return wanted() ? this : nullptr; }

    // Returns the status of all ranks, if they do not know this rank's yet.
    Status outcome(Status own) noexcept { return wanted() && !voted_ ? vote(own) : own; }

protected:
    Resident &root_;
    bool voted_ = false;
};

class JointCommit : public JointOperation {
public:
    using JointOperation::JointOperation;
    Status vote(Status own) noexcept override;
};

// After the advance either refused() or offer() follows.
class JointAdvance : public JointOperation {
public:
    using JointOperation::JointOperation;
    Status vote(Status own) noexcept override;

    // The advance failed here. Returns the status of all ranks. Where the others have advanced
    // after the vote, this rank uses the epoch up, too.
    Status refused(Status own) noexcept;

    // Offers the new point in time for protection. A failure does not undo the advance; one rank
    // prints it.
    cd_error offer() noexcept;

private:
    bool agreed_ = false; // the others advance
};

} // namespace cd
