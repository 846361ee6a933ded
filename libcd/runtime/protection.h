// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "cd/protection.h"
#include "config/storage_info.h"
#include "file_store/held_point.h"
#include "file_store/opening.h"

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace cd {

// Who protects the roots of this process, from now on.
Status protect_by(const cd_protector *protector);

// That a root survives the loss of its node: what its protector is told of it. Guarded by the
// root's lock. While the protector is called, the thread is outside the library.
class Protection {
public:
    // storage: that of the root, which wants to be protected. start: what its store begins with.
    // Fails also if there is no protector. May throw std::bad_alloc.
    static Status open(const OpenRequest &root, std::unique_ptr<Protection> &protection,
                       std::optional<StoreStart> &start);

    Protection(const Protection &) = delete;
    Protection &operator=(const Protection &) = delete;
    ~Protection();

    // Offers a point in time of the root.
    Status protect(uint64_t epoch, std::unique_ptr<HeldPoint> held);

    // Instead, when there is none.
    void skip() noexcept;

    // The newest that is protected; 0: none, or not known in a process that was forked.
    uint64_t protected_epoch() const noexcept;

    // The root was committed. No other call follows.
    Status forget() noexcept;

private:
    Protection(const cd_protector &protector, void *protection);

    bool is_of_this_process() const;
    Status close(bool forget) noexcept;

    const cd_protector &protector_;
    void *protection_;
    pid_t process_;
    bool closed_ = false;
};

} // namespace cd
