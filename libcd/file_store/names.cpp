// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "file_store/names.h"

#include "base/no_throw.h"

#include <utility>

namespace cd {

NewName::~NewName() {
    if (reserved_) {
        best_effort([this] { directory_.give_up_unfinished(name_); });
    }
}

Status NewName::reserve(File &file) {
    Status status = directory_.create_store(name_, file);
    reserved_ = status.is_ok();
    return status;
}

OldName::~OldName() {
    if (!second_.empty()) {
        directory_.give_back(name_, second_, forced_);
    }
}

Status OldName::keep_as(std::string second) {
    Status status = directory_.keep_by(name_, second, forced_);
    second_ = status ? std::move(second) : "";
    return status;
}

} // namespace cd
