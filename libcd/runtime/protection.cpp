// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "runtime/protection.h"

#include "base/callback_guard.h"
#include "os/system.h"
#include "runtime/registry.h"

#include <atomic>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <new>
#include <utility>

namespace cd {
namespace {

std::atomic<const cd_protector *> protector_of_this_process = nullptr;

// What the protector says went wrong.
Status outcome(int code, cd_protection_message &message) {
    if (code == CD_ERROR_NONE) {
        return Status::ok();
    }
    message.text[sizeof message.text - 1] = '\0';
    return fail(static_cast<cd_error>(code), "%s",
                *message.text != '\0' ? message.text : describe(code));
}

int write_image(void *point, const char *path, cd_protection_message *why) {
    const SavedMessage keeper;
    Status status;
    try {
        status = static_cast<const HeldPoint *>(point)->write_image(path);
    } catch (const std::bad_alloc &) {
        status = fail(
            CD_ERROR_NO_MEMORY,
            "%s: there is no memory to write the image; free some before the next advance", path);
    }
    if (!status) {
        std::strncpy(why->text, message(), sizeof why->text - 1);
        why->text[sizeof why->text - 1] = '\0';
    }
    return status.code();
}

// Another thread may do it, which is not in a process that is forked meanwhile.
void release(void *point) {
    Registry::instance().between_forks([&] { delete static_cast<HeldPoint *>(point); });
}

} // namespace

Status protect_by(const cd_protector *protector) {
    if (protector == nullptr || protector->size < sizeof(cd_protector)) {
        return fail(CD_ERROR_ARGUMENT,
                    "cd_protect_by: the protector is NULL, or was compiled for another version of "
                    "libcd; use libcd and libcd_mpi of the same installation");
    }
    const cd_protector *expected = nullptr;
    if (!protector_of_this_process.compare_exchange_strong(expected, protector) &&
        expected != protector) {
        return fail(CD_ERROR_ARGUMENT,
                    "cd_protect_by: this process has another protector already; load one libcd_mpi "
                    "only");
    }
    return Status::ok();
}

Status Protection::open(const OpenRequest &root, std::unique_ptr<Protection> &protection,
                        cd_protected_start &start, bool &met) {
    const cd_protector *protector = protector_of_this_process;
    if (protector == nullptr) {
        return fail(CD_ERROR_STORAGE_UNSUPPORTED,
                    "storage_info: redundancy= and config= need libcd_mpi, which this program does "
                    "not have; link ContainmentDomains::cd_mpi, or preload "
                    "lib/cd/<flavour>/libcd_mpi.so");
    }
    std::string directory;
    if (Status status = store_directory(root.storage, directory); !status) {
        return status;
    }
    const std::string storage_info = write_storage_info(root.storage);
    const char *restart = os::system().environment("CD_RESTART");
    const cd_protected_root described = {root.rank, root.name.c_str(), directory.c_str(),
                                         storage_info.c_str(), restart != nullptr ? restart : ""};
    std::unique_ptr<Protection> made(new Protection(*protector));
    void *opened = nullptr;
    cd_protection_message message = {};
    int code = CD_ERROR_NONE;
    {
        const CallbackGuard scope;
        met = true;
        code = protector->open(&described, &opened, &start, &message);
    }
    if (Status status = outcome(code, message); !status) {
        return status;
    }
    made->protection_ = opened;
    protection = std::move(made);
    start.image[sizeof start.image - 1] = '\0';
    return Status::ok();
}

Status Protection::decline(const char *root, Status own) noexcept {
    const cd_protector *protector = protector_of_this_process;
    if (protector == nullptr) {
        return own;
    }
    cd_protection_message text = {};
    std::strncpy(text.text, message(), sizeof text.text - 1);
    int code = CD_ERROR_NONE;
    {
        const CallbackGuard scope;
        code = protector->decline(root, own.code(), &text);
    }
    return outcome(code, text);
}

Protection::Protection(const cd_protector &protector)
    : protector_(protector), protection_(nullptr), process_(os::system().process()) {}

Protection::~Protection() {
    if (protection_ != nullptr && is_of_this_process()) {
        const SavedMessage keeper;
        const CallbackGuard scope;
        protector_.close(protection_);
    }
}

bool Protection::is_of_this_process() const { return os::system().process() == process_; }

template <typename Call> Status Protection::tell(const Call &call, Status own) noexcept {
    if (!is_of_this_process()) {
        return own;
    }
    cd_protection_message text = {};
    if (!own) {
        std::strncpy(text.text, message(), sizeof text.text - 1);
    }
    int code = CD_ERROR_NONE;
    {
        const CallbackGuard scope;
        code = call(protection_, own.code(), &text);
    }
    return outcome(code, text);
}

Status Protection::may_advance(uint64_t epoch, Status own) noexcept {
    return tell(
        [&](void *protection, int code, cd_protection_message *message) {
            return protector_.may_advance(protection, epoch, code, message);
        },
        own);
}

Status Protection::opened(Status own) noexcept { return tell(protector_.opened, own); }

Status Protection::protect(uint64_t epoch, std::unique_ptr<HeldPoint> held) {
    const cd_offered_point point = {epoch, held.release(), write_image, release};
    cd_protection_message message = {};
    int code = CD_ERROR_NONE;
    {
        const CallbackGuard scope;
        code = protector_.protect(protection_, &point, &message);
    }
    return outcome(code, message);
}

// Whatever the others learn from it, they do not wait any more.
void Protection::skip(uint64_t epoch, std::string_view why) noexcept {
    if (is_of_this_process()) {
        cd_protection_message text = {};
        std::snprintf(text.text, sizeof text.text, "%.*s", static_cast<int>(why.size()),
                      why.data());
        const cd_offered_point none = {epoch, text.text, nullptr, nullptr};
        cd_protection_message message = {};
        const CallbackGuard scope;
        protector_.protect(protection_, &none, &message);
    }
}

uint64_t Protection::protected_epoch() const noexcept {
    const CallbackGuard scope;
    return is_of_this_process() ? protector_.protected_epoch(protection_) : 0;
}

Status Protection::forget(Status own) noexcept { return tell(protector_.forget, own); }

} // namespace cd
