// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "fake_protector.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace {

using std::filesystem::path;

int result(cd_error error, const char *what, cd_protection_message *message) {
    if (error != CD_ERROR_NONE) {
        std::strcpy(message->text, (std::string(what) + " was told to fail").c_str());
    }
    return error;
}

// How a rank's own outcome is noted.
std::string told(int own, const cd_protection_message &message) {
    return own == CD_ERROR_NONE ? "" : " " + std::to_string(own) + " " + message.text;
}

int decline(const char *name, int own, cd_protection_message *message) {
    FakeProtector::instance().calls.push_back(std::string("decline ") + name + told(own, *message));
    return own;
}

int open(const cd_protected_root *root, void **protection, cd_protected_start *start,
         cd_protection_message *message) {
    FakeProtector &fake = FakeProtector::instance();
    fake.calls.push_back("open " + std::to_string(root->rank) + " " + root->name);
    fake.directory = root->directory;
    const cd_protection_settings &settings = root->settings;
    fake.settings = "scheme " + std::to_string(settings.scheme) + ":" +
                    std::to_string(settings.parameter) + " of " +
                    std::to_string(settings.set_size) + ", group " + settings.group + ", config " +
                    settings.config + ", flush " + settings.flush + " of " +
                    std::to_string(settings.flush_interval) + ", async " +
                    std::to_string(settings.async) + ", sync " + std::to_string(settings.sync);
    fake.restart = root->restart;
    if (fake.open_fails != CD_ERROR_NONE) {
        return result(fake.open_fails, "open", message);
    }
    *start = fake.start;
    if (fake.restarts && fake.restart != "no") {
        start->epoch = fake.newest_image();
        std::strcpy(start->image, fake.image(start->epoch).c_str());
    }
    fake.protected_epoch = start->epoch;
    *protection = &fake;
    return CD_ERROR_NONE;
}

int opened(void *protection, int own, cd_protection_message *message) {
    auto &fake = *static_cast<FakeProtector *>(protection);
    fake.calls.push_back("opened" + told(own, *message));
    return own != CD_ERROR_NONE ? own : result(fake.opened_fails, "opened", message);
}

int may_advance(void *protection, uint64_t epoch, int own, cd_protection_message *message) {
    auto &fake = *static_cast<FakeProtector *>(protection);
    if (own != CD_ERROR_NONE) {
        fake.calls.push_back("refuse " + std::to_string(epoch) + told(own, *message));
        return own;
    }
    fake.all_may_advance();
    return result(fake.may_not_advance, "may_advance", message);
}

int protect(void *protection, const cd_offered_point *point, cd_protection_message *message) {
    auto &fake = *static_cast<FakeProtector *>(protection);
    if (point->write_image == nullptr) {
        fake.calls.push_back("skip " + std::to_string(point->epoch));
        fake.skipped_since = static_cast<const char *>(point->context);
        return CD_ERROR_NONE;
    }
    fake.calls.push_back("protect " + std::to_string(point->epoch));
    if (fake.protect_fails != CD_ERROR_NONE) {
        point->release(point->context);
        return result(fake.protect_fails, "protect", message);
    }
    if (fake.later) {
        fake.kept.push_back(*point);
        return CD_ERROR_NONE;
    }
    const int code = fake.take_image(*point, message);
    point->release(point->context);
    return code;
}

uint64_t protected_epoch(void *protection) {
    return static_cast<FakeProtector *>(protection)->protected_epoch;
}

int commit(void *protection, int own, cd_protection_message *message) {
    auto &fake = *static_cast<FakeProtector *>(protection);
    fake.calls.push_back("commit" + told(own, *message));
    if (own == CD_ERROR_NONE && fake.commit_fails == CD_ERROR_NONE) {
        std::filesystem::remove_all(fake.images);
    }
    return own != CD_ERROR_NONE ? own : result(fake.commit_fails, "commit", message);
}

void close(void *protection) {
    auto &fake = *static_cast<FakeProtector *>(protection);
    fake.calls.emplace_back("close");
    for (const cd_offered_point &point : fake.kept) {
        point.release(point.context);
    }
    fake.kept.clear();
}

constexpr cd_protector functions = {sizeof functions, decline,         open,   opened, may_advance,
                                    protect,          protected_epoch, commit, close};

} // namespace

FakeProtector &FakeProtector::instance() {
    static FakeProtector fake;
    return fake;
}

int FakeProtector::take_image(const cd_offered_point &point, cd_protection_message *message) {
    std::filesystem::create_directories(images);
    const path unfinished = images / "unfinished";
    std::filesystem::remove(unfinished);
    const int code = point.write_image(point.context, unfinished.c_str(), message);
    if (code == CD_ERROR_NONE) {
        std::filesystem::rename(unfinished, image(point.epoch));
        protected_epoch = point.epoch;
    }
    return code;
}

void FakeProtector::take_images() {
    for (const cd_offered_point &point : std::exchange(kept, {})) {
        cd_protection_message message = {};
        EXPECT_EQ(take_image(point, &message), CD_ERROR_NONE) << message.text;
        point.release(point.context);
    }
}

path FakeProtector::image(uint64_t epoch) const { return images / std::to_string(epoch); }

uint64_t FakeProtector::newest_image() const {
    uint64_t newest = 0;
    std::error_code none;
    for (const auto &entry : std::filesystem::directory_iterator(images, none)) {
        newest =
            std::max<uint64_t>(newest, std::strtoull(entry.path().filename().c_str(), nullptr, 10));
    }
    return newest;
}

void Protected::SetUp() {
    ::unsetenv("CD_STORAGE_INFO");
    ::unsetenv("CD_RESTART");
    std::string pattern = (std::filesystem::temp_directory_path() / "cd-protect-XXXXXX").string();
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    scratch = pattern;
    local = scratch / "local";
    protector = FakeProtector();
    protector.images = scratch / "images";
    ASSERT_EQ(cd_protect_by(&functions), CD_SUCCESS) << cd_last_error_message();
}

void Protected::TearDown() {
    ::unsetenv("CD_RESTART");
    cd_observe(nullptr, nullptr);
    if (root != nullptr) {
        EXPECT_EQ(commit_cd(root), CD_SUCCESS) << cd_last_error_message();
    }
    std::filesystem::remove_all(scratch);
}

cd_handle Protected::create(const std::string &more) const {
    const std::string storage = "store=file,redundancy=xor,dir=" + local.string() + more;
    return create_cd(nullptr, storage.c_str(), CD_COMM_LOGGING_DISABLED, "root", nullptr);
}

void Protected::begin(const std::string &more) {
    root = create(more);
    ASSERT_NE(root, nullptr) << cd_last_error_message();
}

void Protected::add() {
    const cd_addrspec range = {memory.data(), memory.size(), CD_READ_WRITE, CD_GLOBAL};
    ASSERT_EQ(add_to_cd_via_copy(root, &range, 1, nullptr), CD_SUCCESS) << cd_last_error_message();
}

void Protected::fill(char value) { std::ranges::fill(memory, value); }

void Protected::advance_with(char value) {
    add();
    fill(value);
    ASSERT_EQ(advance_cd_point_in_time(root), CD_SUCCESS) << cd_last_error_message();
}

cd_info Protected::info() const {
    cd_info info = {};
    EXPECT_EQ(cd_query(root, &info), CD_SUCCESS) << cd_last_error_message();
    return info;
}

std::vector<std::string> Protected::calls() { return std::exchange(protector.calls, {}); }

std::vector<std::string> Protected::files() const {
    std::vector<std::string> names;
    std::error_code none;
    for (const auto &entry : std::filesystem::directory_iterator(local, none)) {
        names.push_back(entry.path().filename());
    }
    std::ranges::sort(names);
    return names;
}
