// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// A store that begins with an image while each call of the system fails in turn.

#include "content.h"
#include "failing_calls.h"
#include "file_store/format.h"
#include "file_store/open_store.h"
#include "held_root.h"
#include "restart/memory_names.h"

#include <algorithm>
#include <cstring>
#include <fstream>

namespace cd {
namespace {

class StartFromImage : public HeldRoot {
protected:
    // The image is that of epoch 1, the store is at epoch 2.
    void make_image_and_go_on() {
        ASSERT_EQ(0, in_process([&] {
                      std::vector<char> bytes(100'000, 'a');
                      begin();
                      add(bytes.data(), bytes.size());
                      advance();
                      const bool written = hold()->write_image(image()).is_ok();
                      add(bytes.data(), bytes.size());
                      std::ranges::fill(bytes, 'b');
                      advance();
                      return written && !HasFailure() ? 0 : 1;
                  }));
    }
    // The epoch that the store begins with.
    uint64_t start() const {
        OpenedStore opened;
        EXPECT_TRUE(open_store(request(), MemoryNames::instance(), opened)) << message();
        return opened.restarted ? opened.loaded.state.cds.at(State::root).epoch : 0;
    }
    OpenRequest request() const {
        OpenRequest request;
        request.storage.store = Store::file;
        request.storage.dir = directory_;
        request.name = "root";
        request.start = StoreStart{1, image()};
        return request;
    }
};

TEST_F(StartFromImage, ThatFailsAtAnyCallLeavesTheStoreInItsPlace) {
    make_image_and_go_on();
    const std::string ahead = scratch::content(store());
    int failures = 0;
    for (int call = 0;; ++call) {
        SCOPED_TRACE(call);
        OpenedStore opened;
        FailingSystem system;
        system.failing = call;
        const Status status = open_store(request(), MemoryNames::instance(), opened);
        system.failing = -1;
        if (!status) {
            ++failures;
            ASSERT_TRUE(system.failed);
            ASSERT_STRNE(message(), "");
            ASSERT_TRUE(scratch::content(store()) == ahead);
            ASSERT_FALSE(std::filesystem::exists(store() + ".old"));
            continue;
        }
        // The failed call was not needed, or would only have looked at the store set aside.
        ASSERT_TRUE(opened.restarted);
        ASSERT_EQ(opened.loaded.state.cds.at(State::root).epoch, 1U);
        ASSERT_TRUE(scratch::content(store() + ".old") == ahead);
        if (!system.failed) {
            break;
        }
        std::filesystem::rename(store() + ".old", store());
    }
    EXPECT_GT(failures, 20);
}

TEST_F(StartFromImage, ThatFailsAtAnyCallLosesNothingOfWhatAnEarlierOnePutAside) {
    make_image_and_go_on();
    const std::string ahead = scratch::content(store());
    EXPECT_EQ(start(), 1U);
    int failures = 0;
    for (int call = 0;; ++call) {
        SCOPED_TRACE(call);
        OpenedStore opened;
        FailingSystem system;
        system.failing = call;
        const Status status = open_store(request(), MemoryNames::instance(), opened);
        system.failing = -1;
        failures += status ? 0 : 1;
        ASSERT_TRUE(scratch::content(store() + ".old") == ahead);
        if (!system.failed) {
            break;
        }
    }
    EXPECT_GT(failures, 10);
}

TEST_F(StartFromImage, KeepsTheStoreAsideWhereItHasGoneOn) {
    make_image_and_go_on();
    const std::string ahead = scratch::content(store());
    std::filesystem::copy(image(), store() + ".old"); // its removal did not last
    EXPECT_EQ(start(), 1U);
    EXPECT_TRUE(scratch::content(store() + ".old") == ahead);
}

// All of a rank's files may be from an older time, so that each of them fits the others.
TEST_F(StartFromImage, SaysWhatToDoWhereTheImageIsOfAnotherEpoch) {
    make_image_and_go_on();
    OpenRequest of_another = request();
    of_another.start->epoch = 5;
    OpenedStore opened;
    EXPECT_EQ(open_store(of_another, MemoryNames::instance(), opened).code(),
              CD_ERROR_STORE_DAMAGED);
    EXPECT_EQ(std::string(message()),
              image() + ": the image should be of epoch 5, and is of epoch 1; put the right one "
                        "back, or start with CD_RESTART=EPOCH for an epoch that all ranks have");
}

} // namespace
} // namespace cd
