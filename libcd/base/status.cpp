// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "base/status.h"

#include "os/printable.h"
#include "os/thread_exit.h"

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <new>
#include <string_view>

namespace cd {

namespace {

constexpr size_t message_size = 1024;              // SavedMessage has room for as much
constexpr size_t longest_text = 10 * message_size; // enough for two paths; the rest is cut off

struct Room {
    char message[message_size];
    char text[longest_text]; // the formatted text; not on the stack, which may be small
};

// One for each thread. Only a pointer is thread-local: a library that is loaded late finds little
// room in that block.
constinit thread_local Room *room = nullptr;
// Points into the room, or to a constant text.
constinit thread_local const char *last_message = "";

void free_room(void *of_ending_thread) {
    last_message = "";
    room = nullptr; // a later failure allocates another
    delete static_cast<Room *>(of_ending_thread);
}

bool is_in_room(const char *message) { return room != nullptr && message == room->message; }

struct Text {
    int code;
    const char *text;
};

constexpr Text texts[] = {
    {CD_ERROR_NONE, "no error"},

    {CD_ERROR_INVALID_HANDLE, "not the handle of a live containment domain"},
    {CD_ERROR_NO_CURRENT_CD, "this thread has no active containment domain"},
    {CD_ERROR_HAS_CHILDREN, "the containment domain still has children"},
    {CD_ERROR_ACTIVE_ELSEWHERE, "a descendant is active in another thread"},
    {CD_ERROR_IN_CALLBACK, "called from inside a function that the library called"},

    {CD_ERROR_NAME_MISSING, "a root containment domain needs a name"},
    {CD_ERROR_NAME_INVALID, "not a valid name for a containment domain"},
    {CD_ERROR_NAME_ON_CHILD, "a child containment domain takes no name"},
    {CD_ERROR_NAME_IN_USE, "a live root containment domain has this name"},
    {CD_ERROR_LOGGING_MODE, "not a logging mode"},
    {CD_ERROR_LOGGING_INHERIT_AT_ROOT, "a root has nobody to inherit the logging mode from"},
    {CD_ERROR_LOGGING_MISMATCH, "the logging mode differs from the parent's"},

    {CD_ERROR_STORAGE_SYNTAX, "storage_info is not a list of key=value"},
    {CD_ERROR_STORAGE_KEY, "unknown key in storage_info"},
    {CD_ERROR_STORAGE_VALUE, "a key in storage_info has a value that is not allowed"},
    {CD_ERROR_STORAGE_UNSUPPORTED, "this build does not support these settings of storage_info"},

    {CD_ERROR_NULL_LIST, "the list of ranges is NULL or too short"},
    {CD_ERROR_COUNT, "the number of ranges is wrong"},
    {CD_ERROR_NULL_ADDRESS, "a range with a length has the address NULL"},
    {CD_ERROR_RANGE_WRAPS, "a range runs past the end of the address space"},
    {CD_ERROR_ADDR_TYPE, "not an access type"},
    {CD_ERROR_ADDR_SCOPE, "not an address scope"},
    {CD_ERROR_SCOPE_FIXED, "the containment domain holds the bytes with the other scope"},
    {CD_ERROR_REGEN_READ_WRITE, "READ_WRITE bytes cannot be regenerated"},
    {CD_ERROR_REGEN_NULL, "the regen function is NULL"},
    {CD_ERROR_NO_PARENT, "a root containment domain has no parent"},
    {CD_ERROR_NOT_IN_PARENT, "no ancestor holds a copy of the bytes"},
    {CD_ERROR_PARENT_REGEN, "an ancestor regenerates the bytes and holds no copy"},
    {CD_ERROR_NOT_IN_CD, "the containment domain does not hold the bytes"},

    {CD_ERROR_FILE_BAD_DESCRIPTOR, "the file descriptor is not open"},
    {CD_ERROR_FILE_NOT_SEEKABLE, "the file has no position"},
    {CD_ERROR_FILE_CHANGED, "the file descriptor names another file than before"},
    {CD_ERROR_FILE_NOT_IN_CD, "the containment domain does not hold the file"},
    {CD_ERROR_FILE_SYSTEM, "the operating system refused"},

    {CD_ERROR_REGEN_FAILED, "a regen function failed"},
    {CD_ERROR_CHECKSUM, "stored data do not match their checksum"},
    {CD_ERROR_VERIFY_MISMATCH, "memory or stored data differ from the data that were kept"},

    {CD_ERROR_LOG_DISABLED, "the containment domain does not log MPI traffic"},
    {CD_ERROR_LOG_REPLAYING, "the MPI log is being replayed"},
    {CD_ERROR_LOG_ENTRY, "not a valid entry for the MPI log"},
    {CD_ERROR_LOG_SIBLINGS, "the re-execution created other siblings than the MPI log knows"},
    {CD_ERROR_LOG_PENDING, "MPI operations under way forbid a restore"},

    {CD_ERROR_NO_MEMORY, "out of memory"},
    {CD_ERROR_ARGUMENT, "an argument is NULL or out of range"},

    {CD_ERROR_STORE_DIRECTORY, "the directory for the store cannot be used"},
    {CD_ERROR_STORE_LOCKED, "another process has the store open"},
    {CD_ERROR_STORE_DAMAGED, "the store is damaged"},
    {CD_ERROR_STORE_VERSION, "the store has an unknown format"},
    {CD_ERROR_STORE_IO, "reading or writing the store failed"},
    {CD_ERROR_STORE_FULL, "there is no room for the store"},
    {CD_ERROR_STORE_FORKED, "the store belongs to the parent process"},
    {CD_ERROR_RESTART_MISMATCH, "the program does not match the store"},
    {CD_ERROR_RESTART_UNBOUND, "the store holds bytes that were not added again"},

    {CD_ERROR_REDUNDANCY_EXCEEDED, "more is lost than the redundancy can rebuild"},

    {CD_ERROR_RUN_FAILED, "the work failed in each of its tries"},

    {CD_ERROR_LOG_SPILL, "the file of the MPI log cannot be written or read"},
    {CD_ERROR_LOG_DIVERGED, "the re-execution differs from the MPI log"},
    {CD_ERROR_LOG_INCOMPLETE, "the MPI log lacks calls, for which there was no room"},
};

// True inside a character of UTF-8.
bool goes_on(std::string_view seen) {
    return seen.size() == 1 && (static_cast<unsigned char>(seen.front()) & 0xc0) == 0x80;
}

// Copies text into the room. A long text is cut in its middle, between characters: the values are
// in front, and the remedy is at the end.
void keep(const char *text) {
    constexpr size_t longest = message_size - 1;
    constexpr std::string_view cut = " ... ";
    size_t length = 0;
    size_t head = 0;
    os::for_each_printable(text, [&](std::string_view seen) {
        head = length <= longest / 2 && !goes_on(seen) ? length : head;
        length += seen.size();
    });
    const bool fits = length <= longest;
    const size_t tail = fits ? 0 : length - (longest - longest / 2 - cut.size());
    size_t used = 0;
    const auto append = [&](std::string_view seen) {
        std::memcpy(room->message + used, seen.data(), seen.size());
        used += seen.size();
    };
    size_t passed = 0;
    bool in_tail = fits;
    os::for_each_printable(text, [&](std::string_view seen) {
        if (!in_tail && passed == head) {
            append(cut);
        }
        in_tail |= passed >= tail && !goes_on(seen);
        if (passed < head || in_tail) {
            append(seen);
        }
        passed += seen.size();
    });
    room->message[used] = '\0';
    last_message = room->message;
}

} // namespace

Status fail(cd_error code, const char *format, ...) {
    if (!reserve_message()) {
        last_message = describe(code);
        return Status(code);
    }
    // An argument may be the message before, so it is replaced only when the new one is complete.
    va_list arguments;
    va_start(arguments, format);
    const int length = std::vsnprintf(room->text, sizeof room->text, format, arguments);
    va_end(arguments);
    keep(length < 0 ? describe(code) : room->text);
    return Status(code);
}

bool reserve_message() {
    if (room != nullptr) {
        return true;
    }
    auto *const made = new (std::nothrow) Room;
    if (made == nullptr || !os::ThreadExit<free_room>::set_value(made)) {
        delete made;
        return false;
    }
    room = made;
    return true;
}

const char *message() { return last_message; }

SavedMessage::SavedMessage() : last_(last_message) {
    if (is_in_room(last_)) {
        std::memcpy(kept_, last_, std::strlen(last_) + 1);
    }
}

SavedMessage::~SavedMessage() {
    last_message = last_;
    if (is_in_room(last_)) {
        std::memcpy(room->message, kept_, std::strlen(kept_) + 1);
    }
}

void clear_message() { last_message = ""; }

const char *describe(int code) {
    for (const Text &entry : texts) {
        if (entry.code == code) {
            return entry.text;
        }
    }
    return "unknown error code";
}

} // namespace cd
