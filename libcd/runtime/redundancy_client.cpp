// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "runtime/redundancy_client.h"

#include "base/callback_guard.h"
#include "base/no_throw.h"
#include "base/saved_status.h"
#include "os/system.h"

#include <atomic>
#include <cstdio>
#include <cstring>
#include <new>
#include <utility>

namespace cd {
namespace {

std::atomic<const cd_protector *> protector_of_this_process = nullptr;

cd_protection_settings settings_of(const StorageInfo &info) {
    return {static_cast<int>(info.redundancy.scheme),
            info.redundancy.parameter,
            info.ranks_in_set(),
            info.redundancy_mode == RedundancyMode::async,
            info.sync == Sync::full,
            info.flush_interval.value_or(1),
            info.group.c_str(),
            info.config.c_str(),
            info.flush.c_str()};
}

// The Status of a code and a message of the plug-in.
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
    Status status =
        catch_exceptions([&] { return static_cast<const HeldPoint *>(point)->write_image(path); });
    if (!status) {
        std::snprintf(why->text, sizeof why->text, "%s", message());
    }
    return status.code();
}

// A helper thread may call it; forks wait.
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

Status RedundancyClient::open(const OpenRequest &root, std::unique_ptr<RedundancyClient> &client,
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
    const char *restart = os::system().environment("CD_RESTART");
    const cd_protected_root described = {root.rank, root.name.c_str(), directory.c_str(),
                                         settings_of(root.storage),
                                         restart != nullptr ? restart : ""};
    std::unique_ptr<RedundancyClient> made(new RedundancyClient(*protector));
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
    client = std::move(made);
    start.image[sizeof start.image - 1] = '\0';
    return Status::ok();
}

Status RedundancyClient::decline(const char *root, Status own) noexcept {
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

RedundancyClient::RedundancyClient(const cd_protector &protector)
    : protector_(protector), protection_(nullptr), process_(os::system().process()) {}

RedundancyClient::~RedundancyClient() {
    if (protection_ != nullptr && is_of_this_process()) {
        const SavedMessage keeper;
        const CallbackGuard scope;
        protector_.close(protection_);
    }
}

bool RedundancyClient::is_of_this_process() const { return os::system().process() == process_; }

template <typename Call> Status RedundancyClient::call(const Call &function, Status own) noexcept {
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
        code = function(protection_, own.code(), &text);
    }
    return outcome(code, text);
}

Status RedundancyClient::may_advance(uint64_t epoch, Status own) noexcept {
    return call(
        [&](void *protection, int code, cd_protection_message *message) {
            return protector_.may_advance(protection, epoch, code, message);
        },
        own);
}

Status RedundancyClient::opened(Status own) noexcept { return call(protector_.opened, own); }

Status RedundancyClient::protect(uint64_t epoch, std::unique_ptr<HeldPoint> held) {
    const cd_offered_point point = {epoch, held.release(), write_image, release};
    cd_protection_message message = {};
    int code = CD_ERROR_NONE;
    {
        const CallbackGuard scope;
        code = protector_.protect(protection_, &point, &message);
    }
    return outcome(code, message);
}

void RedundancyClient::skip(uint64_t epoch, std::string_view why) noexcept {
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

uint64_t RedundancyClient::protected_epoch() const noexcept {
    const CallbackGuard scope;
    return is_of_this_process() ? protector_.protected_epoch(protection_) : 0;
}

Status RedundancyClient::forget(Status own) noexcept { return call(protector_.forget, own); }

Status JointAdvance::vote(Status own) noexcept {
    Status status = domain_.protection->may_advance(next_epoch(), own);
    voted_ = true;
    agreed_ = status.is_ok();
    return status;
}

Status JointAdvance::refused(Status own) noexcept {
    if (wanted() && !voted_) {
        return vote(own);
    }
    if (!agreed_) {
        return own;
    }
    const SavedStatus saved(own);
    const std::string_view why = without_repeating(saved.text());
    ++domain_.missed_epochs; // it is one of theirs
    const uint64_t epoch = domain_.epoch + domain_.missed_epochs;
    domain_.protection->skip(epoch, why);
    return fail(own.code(),
                "%.*s. The other ranks have advanced to epoch %llu all the same: do not repeat "
                "this call alone, and restore nothing before the next advance of all ranks",
                static_cast<int>(why.size()), why.data(), static_cast<unsigned long long>(epoch));
}

cd_error JointAdvance::offer() noexcept {
    std::unique_ptr<HeldPoint> held;
    Status status = catch_exceptions([&] {
        auto store = std::static_pointer_cast<FileStore>(domain_.store);
        held = std::make_unique<HeldPoint>(std::move(store), data_of(domain_));
    });
    if (!status) {
        domain_.protection->skip(domain_.epoch + domain_.missed_epochs,
                                 "there is no memory to hold the point in time");
        return status.code();
    }
    return domain_.protection->protect(domain_.epoch, std::move(held)).code();
}

Status JointCommit::vote(Status own) noexcept {
    owed_ = false;
    return domain_.protection->forget(own);
}

} // namespace cd
