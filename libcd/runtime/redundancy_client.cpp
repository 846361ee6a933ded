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

// Calls function(code, message) of the plug-in's table with this rank's status. Meanwhile the
// thread is outside the library. Returns the status of all ranks.
template <typename Call> Status call_plugin(Status own, const Call &function) noexcept {
    cd_protection_message why = {};
    std::snprintf(why.text, sizeof why.text, "%s", own ? "" : message());
    int code = CD_ERROR_NONE;
    {
        const CallbackGuard scope;
        code = function(own.code(), &why);
    }
    why.text[sizeof why.text - 1] = '\0';
    return code == CD_ERROR_NONE ? Status::ok()
                                 : fail(static_cast<cd_error>(code), "%s",
                                        *why.text != '\0' ? why.text : describe(code));
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
    met = true;
    void *opened = nullptr;
    if (Status status = call_plugin(Status::ok(),
                                    [&](int, cd_protection_message *why) {
                                        return protector->open(&described, &opened, &start, why);
                                    });
        !status) {
        return status;
    }
    made->protection_ = opened;
    client = std::move(made);
    start.image[sizeof start.image - 1] = '\0';
    return Status::ok();
}

Status RedundancyClient::decline(const char *root, Status own) noexcept {
    const cd_protector *protector = protector_of_this_process;
    return protector == nullptr ? own : call_plugin(own, [&](int code, cd_protection_message *why) {
        return protector->decline(root, code, why);
    });
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

// Returns `own` in a process that was forked.
template <typename Call> Status RedundancyClient::vote(const Call &function, Status own) noexcept {
    return is_of_this_process() ? call_plugin(own,
                                              [&](int code, cd_protection_message *why) {
                                                  return function(protection_, code, why);
                                              })
                                : own;
}

Status RedundancyClient::opened(Status own) noexcept { return vote(protector_.opened, own); }

Status RedundancyClient::commit_root(Status own) noexcept { return vote(protector_.commit, own); }

Status RedundancyClient::may_advance(uint64_t epoch, Status own) noexcept {
    return vote(
        [&](void *protection, int code, cd_protection_message *why) {
            return protector_.may_advance(protection, epoch, code, why);
        },
        own);
}

Status RedundancyClient::offer(const cd_offered_point &point) noexcept {
    return call_plugin(Status::ok(), [&](int, cd_protection_message *why) {
        return protector_.protect(protection_, &point, why);
    });
}

Status RedundancyClient::protect(uint64_t epoch, std::unique_ptr<HeldPoint> held) noexcept {
    return offer({epoch, held.release(), write_image, release});
}

void RedundancyClient::skip(uint64_t epoch, std::string_view why) noexcept {
    if (is_of_this_process()) {
        char text[sizeof cd_protection_message::text];
        std::snprintf(text, sizeof text, "%.*s", static_cast<int>(why.size()), why.data());
        (void)offer({epoch, text, nullptr, nullptr}).is_ok();
    }
}

uint64_t RedundancyClient::protected_epoch() const noexcept {
    const CallbackGuard scope;
    return is_of_this_process() ? protector_.protected_epoch(protection_) : 0;
}

Status JointAdvance::vote(Status own) noexcept {
    voted_ = true;
    const uint64_t next = root_.epoch + 1 + root_.missed_epochs;
    Status status = root_.protection->may_advance(next, own);
    agreed_ = status.is_ok();
    return status;
}

Status JointAdvance::refused(Status own) noexcept {
    if (!agreed_) {
        return outcome(own);
    }
    const SavedStatus saved(own);
    const std::string_view why = without_repeating(saved.text());
    ++root_.missed_epochs; // it is one of theirs
    const uint64_t epoch = root_.epoch + root_.missed_epochs;
    root_.protection->skip(epoch, why);
    return fail(own.code(),
                "%.*s. The other ranks have advanced to epoch %llu all the same: do not repeat "
                "this call alone, and restore nothing before the next advance of all ranks",
                static_cast<int>(why.size()), why.data(), static_cast<unsigned long long>(epoch));
}

cd_error JointAdvance::offer() noexcept {
    std::unique_ptr<HeldPoint> held;
    Status status = catch_exceptions([&] {
        auto store = std::static_pointer_cast<FileStore>(root_.store);
        held = std::make_unique<HeldPoint>(std::move(store), data_of(root_));
    });
    if (!status) {
        root_.protection->skip(root_.epoch + root_.missed_epochs,
                               "there is no memory to hold the point in time");
        return status.code();
    }
    return root_.protection->protect(root_.epoch, std::move(held)).code();
}

Status JointCommit::vote(Status own) noexcept {
    voted_ = true;
    return root_.protection->commit_root(own);
}

} // namespace cd
