// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "base/status.h"

#include <cstring>

namespace cd {

// A Status with its message, carried to a later time or another thread. Needs no memory.
class SavedStatus {
public:
    SavedStatus() = default;
    explicit SavedStatus(Status status) : status_(status) {
        if (!status) {
            std::strncpy(text_, message(), sizeof text_ - 1);
        }
    }

    bool is_ok() const { return status_.is_ok(); }
    cd_error code() const { return status_.code(); }
    const char *text() const { return text_; } // "" of a success
    Status again() const { return is_ok() ? status_ : fail(code(), "%s", text_); }

private:
    Status status_;
    char text_[1024] = "";
};

} // namespace cd
