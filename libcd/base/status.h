// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "cd/cd.h"

namespace cd {

// The outcome of an operation: an error code, and for the failing thread a sentence about it. The
// function that detects an error makes the Status with fail(); callers pass it on unchanged. Works
// without memory.
class [[nodiscard]] Status {
public:
    Status() = default;
    static Status ok() { return {}; }
    bool is_ok() const { return code_ == CD_ERROR_NONE; }
    explicit operator bool() const { return is_ok(); }
    cd_error code() const { return code_; }

private:
    friend Status fail(cd_error, const char *, ...);
    explicit Status(cd_error code) : code_(code) {}
    cd_error code_ = CD_ERROR_NONE;
};

// Replaces the calling thread's message. The sentence names the values involved and the remedy. A
// long message loses its middle; control characters become \xNN. Without memory for the message it
// is describe(code).
[[gnu::format(printf, 2, 3)]] Status fail(cd_error code, const char *format, ...);

// Allocates the calling thread's room for messages. False without memory.
bool reserve_message();

// Returns the calling thread's message since the last clear_message(), or "".
const char *message();
void clear_message();

// Restores the calling thread's message at its end.
class SavedMessage {
public:
    SavedMessage();
    SavedMessage(const SavedMessage &) = delete;
    SavedMessage &operator=(const SavedMessage &) = delete;
    ~SavedMessage();

private:
    const char *last_; // its text is in kept_ if it may be overwritten
    char kept_[1024];
};

// Returns a fixed short text for a code; never null.
const char *describe(int code);

} // namespace cd
