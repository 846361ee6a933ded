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
#include <new>
#include <string_view>

namespace cd {

// Sets the plug-in that protects the roots of this process.
Status protect_by(const cd_protector *protector);

// The plug-in's side of one root: calls the plug-in's table. Guarded by the root's lock. While the
// plug-in runs, the thread is outside the library. All calls but protected_epoch() are collective.
class RedundancyClient {
public:
    // start: what the root's store begins with. met: whether other ranks were met. opened()
    // follows. Fails also without a plug-in. May throw std::bad_alloc, then before it has met other
    // ranks.
    static Status open(const OpenRequest &root, std::unique_ptr<RedundancyClient> &client,
                       cd_protected_start &start, bool &met);

    // Takes the place of open() where this rank cannot create the root: the ranks that call open()
    // get `own`. root: "" where the name is not valid.
    static Status decline(const char *root, Status own) noexcept;

    RedundancyClient(const RedundancyClient &) = delete;
    RedundancyClient &operator=(const RedundancyClient &) = delete;
    ~RedundancyClient();

    // own: whether this rank could open its store from the start. All ranks get the same outcome.
    Status opened(Status own) noexcept;

    // own: whether this rank can advance to that epoch. All ranks get the same outcome. After
    // success protect() or skip() follows, else nothing has changed.
    Status may_advance(uint64_t epoch, Status own) noexcept;

    Status protect(uint64_t epoch, std::unique_ptr<HeldPoint> held);

    // Takes the place of protect() where the advance failed in this rank after all.
    void skip(uint64_t epoch, std::string_view why) noexcept;

    // The newest protected epoch. 0: none, or not known in a process that was forked.
    uint64_t protected_epoch() const noexcept;

    // own: whether this rank can commit the root. All ranks get the same outcome; after a failure
    // nothing has changed. In a process that was forked it is `own`.
    Status forget(Status own) noexcept;

private:
    explicit RedundancyClient(const cd_protector &protector);

    bool is_of_this_process() const;
    template <typename Call> Status call(const Call &function, Status own) noexcept;

    const cd_protector &protector_;
    void *protection_; // nullptr: not open
    pid_t process_;
};

// The part of create_cd that other ranks take part in, if the root has redundancy. They wait for
// this rank, which calls outcome() however the creation ends.
class JointCreate {
public:
    // name: outlives this; "" where it is not valid. expected: whether the root is likely to have
    // redundancy, until its storage is known.
    JointCreate(const char *name, bool expected) : name_(name), owed_(expected) {}

    void is_likely(bool expected) { owed_ = expected; }
    void is_to_have(const StorageInfo &storage) {
        owed_ = storage.store == Store::file && storage.is_protected();
    }

    bool met = false; // other ranks; set by who meets them

    // The outcome of all ranks, if they do not know this rank's failure yet.
    Status outcome(Status own) noexcept {
        return !own && owed_ && !met ? RedundancyClient::decline(name_, own) : own;
    }

private:
    const char *name_;
    bool owed_;
};

// The part of an advance that other ranks take part in, if the CD is a root with redundancy. All
// ranks advance it or none does. After the advance either refused() or offer() follows.
class JointAdvance : public CommitVote {
public:
    // root: outlives this.
    explicit JointAdvance(Resident &root) : domain_(root) {}

    bool wanted() const { return domain_.protection != nullptr; }
    CommitVote *last_vote() { return wanted() ? this : nullptr; }
    Status vote(Status own) noexcept override;

    // The advance failed here. The outcome of all ranks, if they do not know yet. Where they have
    // advanced after the vote, this rank uses the epoch up, too.
    Status refused(Status own) noexcept;

    // Offers the new point in time for protection. A failure does not undo the advance; one rank
    // prints it.
    cd_error offer() noexcept;

private:
    uint64_t next_epoch() const { return domain_.epoch + 1 + domain_.missed_epochs; }

    Resident &domain_;
    bool voted_ = false;
    bool agreed_ = false; // the others advance
};

// The same for a commit: all ranks commit the root, or none does.
class JointCommit : public CommitVote {
public:
    // domain: outlives this.
    explicit JointCommit(Resident &domain) : domain_(domain), owed_(domain.protection != nullptr) {}

    CommitVote *last_vote() { return owed_ ? this : nullptr; }
    Status vote(Status own) noexcept override;

    // The outcome of all ranks, if they do not know this rank's yet: it failed here, or the root
    // ends without its store.
    Status outcome(Status own) noexcept { return owed_ ? vote(own) : own; }

private:
    Resident &domain_;
    bool owed_;
};

// Runs the part of this rank, and reports a lack of memory in it to the ranks that wait.
template <typename Joint, typename Body>
auto run_own_part(Joint &joint, const Body &body) -> decltype(body()) {
    try {
        return body();
    } catch (const std::bad_alloc &) {
        (void)joint
            .outcome(fail(CD_ERROR_NO_MEMORY, "out of memory; free some and repeat the call"))
            .is_ok();
        throw;
    }
}

} // namespace cd
