// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "runtime/protection.h"

#include "base/callback_scope.h"
#include "os/system.h"

#include <atomic>
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
    const MessageKeeper keeper;
    Status status;
    try {
        status = static_cast<const HeldPoint *>(point)->write_image(path);
    } catch (const std::bad_alloc &) {
        status = fail(CD_ERROR_NO_MEMORY, "%s: there is no memory to write the image", path);
    }
    if (!status) {
        std::strncpy(why->text, message(), sizeof why->text - 1);
        why->text[sizeof why->text - 1] = '\0';
    }
    return status.code();
}

void release(void *point) { delete static_cast<HeldPoint *>(point); }

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
                        std::optional<StoreStart> &start) {
    const cd_protector *protector = protector_of_this_process;
    if (protector == nullptr) {
        return fail(CD_ERROR_STORAGE_UNSUPPORTED,
                    "storage_info: redundancy= and config= need libcd_mpi, which this program does "
                    "not have; link ContainmentDomains::cd_mpi, or preload "
                    "lib/cd/<flavour>/libcd_mpi.so");
    }
    const std::string directory = store_directory(root.storage);
    const std::string storage_info = write_storage_info(root.storage);
    const char *restart = os::system().environment("CD_RESTART");
    const cd_protected_root described = {root.rank, root.name.c_str(), directory.c_str(),
                                         storage_info.c_str(), restart != nullptr ? restart : ""};
    void *opened = nullptr;
    cd_protected_start found = {};
    cd_protection_message message = {};
    int code = CD_ERROR_NONE;
    // Made before, since memory may be short afterwards.
    std::unique_ptr<Protection> made(new Protection(*protector, nullptr));
    made->closed_ = true;
    {
        const CallbackScope scope;
        code = protector->open(&described, &opened, &found, &message);
    }
    if (Status status = outcome(code, message); !status) {
        return status;
    }
    made->protection_ = opened;
    made->closed_ = false;
    protection = std::move(made);
    found.image[sizeof found.image - 1] = '\0';
    start = StoreStart{found.epoch, found.image};
    return Status::ok();
}

Protection::Protection(const cd_protector &protector, void *protection)
    : protector_(protector), protection_(protection), process_(os::system().process()) {}

Protection::~Protection() {
    if (!closed_) {
        const MessageKeeper keeper;
        (void)close(false).is_ok(); // there is nobody to tell
    }
}

bool Protection::is_of_this_process() const { return os::system().process() == process_; }

Status Protection::protect(uint64_t epoch, std::unique_ptr<HeldPoint> held) {
    const cd_offered_point point = {epoch, held.release(), write_image, release};
    cd_protection_message message = {};
    int code = CD_ERROR_NONE;
    {
        const CallbackScope scope;
        code = protector_.protect(protection_, &point, &message);
    }
    return outcome(code, message);
}

// Whatever the others learn from it, they do not wait any more.
void Protection::skip() noexcept {
    if (is_of_this_process()) {
        cd_protection_message message = {};
        const CallbackScope scope;
        protector_.protect(protection_, nullptr, &message);
    }
}

uint64_t Protection::protected_epoch() const noexcept {
    const CallbackScope scope;
    return is_of_this_process() ? protector_.protected_epoch(protection_) : 0;
}

Status Protection::forget() noexcept { return close(true); }

Status Protection::close(bool forget) noexcept {
    closed_ = true;
    cd_protection_message message = {};
    int code = CD_ERROR_NONE;
    if (is_of_this_process()) {
        const CallbackScope scope;
        code = protector_.close(protection_, forget ? 1 : 0, &message);
    }
    return outcome(code, message);
}

} // namespace cd
