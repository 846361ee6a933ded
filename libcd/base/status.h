// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "cd/cd.h"

namespace cd {

// The outcome of an operation: an error code, and for the failing thread a sentence about it.
// The function that decides that something is an error makes the Status with fail(); callers
// pass it on unchanged. Making one works when memory has run out.
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

// Writes the message into the calling thread's error message, replacing the one before.
// The sentence names the values involved and the remedy. Of long messages the middle is
// left out, and control characters in it become \xNN. If there is no room for it, and no memory for
// some, the message is what describe() says of the code.
[[gnu::format(printf, 2, 3)]] Status fail(cd_error code, const char *format, ...);

// Gives the calling thread room for its messages, also for later ones. False: there is no memory.
bool reserve_message();

// The calling thread's message since the last clear_message(); "" if there was none.
const char *message();
void clear_message();

// Brings the message back at its end, whatever was failed in between.
class SavedMessage {
public:
    SavedMessage();
    SavedMessage(const SavedMessage &) = delete;
    SavedMessage &operator=(const SavedMessage &) = delete;
    ~SavedMessage();

private:
    const char *last_; // of which kept_ has the text if it can be written over
    char kept_[1024];
};

// A fixed short text for a code; never null.
const char *describe(int code);

} // namespace cd
