// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "file_store/names.h"

#include "base/attempt.h"

#include <utility>

namespace cd {

NewName::~NewName() {
    if (reserved_) {
        attempt_quietly([this] { directory_.give_up_unfinished(name_); });
    }
}

Status NewName::reserve(File &file) {
    Status status = directory_.create_store(name_, file);
    reserved_ = status.is_ok();
    return status;
}

OldName::~OldName() {
    if (hidden_) {
        attempt_quietly([this] { return directory_.undo_remove(name_, forced_); });
    } else if (!aside_.empty()) {
        directory_.undo_rename(name_, aside_, forced_);
    }
}

Status OldName::keep_as(std::string aside) {
    Status status = directory_.rename(name_, aside, forced_);
    aside_ = status ? std::move(aside) : "";
    return status;
}

Status OldName::remove() {
    Status status = directory_.hide(name_, forced_, hidden_);
    hidden_ = hidden_ || status.is_ok();
    return status;
}

void OldName::is_taken() {
    if (hidden_) {
        attempt_quietly([this] { directory_.finish_remove(name_); });
    }
    hidden_ = false;
    aside_.clear();
}

} // namespace cd
