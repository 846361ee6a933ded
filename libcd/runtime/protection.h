// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "cd/protection.h"
#include "config/storage_info.h"
#include "file_store/open_store.h"
#include "file_store/snapshot_image.h"

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace cd {

// Who protects the roots of this process, from now on.
Status protect_by(const cd_protector *protector);

// That a root survives the loss of its node: what its protector is told of it. Guarded by the
// root's lock. While the protector is called, the thread is outside the library.
class Protection {
public:
    // root: wants to be protected. start: what its store begins with. opened() follows. Fails also
    // if there is no protector. May throw std::bad_alloc, then before it has met other ranks; met
    // says whether it has.
    static Status open(const OpenRequest &root, std::unique_ptr<Protection> &protection,
                       cd_protected_start &start, bool &met);

    // Instead of open(), where the root cannot come to be: tells the ranks that come to open() why,
    // so that they do not wait for this one. The outcome is that of all, which is no success. root:
    // "" where it has no name that a root can have.
    static Status decline(const char *root, Status own) noexcept;

    Protection(const Protection &) = delete;
    Protection &operator=(const Protection &) = delete;
    ~Protection();

    // own: whether the root could be opened from there in this rank. The outcome is that of all
    // ranks, and after a failure nothing else follows.
    Status opened(Status own) noexcept;

    // own: whether the root can be advanced to that epoch in this rank. The outcome is that of all
    // ranks; after success protect() or skip() follows, else nothing has changed.
    Status may_advance(uint64_t epoch, Status own) noexcept;

    // Offers a point in time of the root.
    Status protect(uint64_t epoch, std::unique_ptr<HeldPoint> held);

    // Instead, when the advance to that epoch failed after all.
    void skip(uint64_t epoch, std::string_view why) noexcept;

    // The newest that is protected; 0: none, or not known in a process that was forked.
    uint64_t protected_epoch() const noexcept;

    // own: whether the root can be committed in this rank. The outcome is that of all ranks. After
    // success nothing else follows; else nothing has changed. In a process that was forked, own.
    Status forget(Status own) noexcept;

private:
    explicit Protection(const cd_protector &protector);

    bool is_of_this_process() const;
    template <typename Call> Status tell(const Call &call, Status own) noexcept;

    const cd_protector &protector_;
    void *protection_; // nullptr: not open
    pid_t process_;
};

} // namespace cd
