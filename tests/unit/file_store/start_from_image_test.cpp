// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// A store that begins with an image while each call of the system fails in turn.

#include "failing_calls.h"
#include "file_store/opening.h"
#include "held_root.h"
#include "restart/address_book.h"

#include <algorithm>
#include <fstream>
#include <iterator>

namespace cd {
namespace {

class StartFromImage : public HeldRoot {
protected:
    std::string content(const std::string &path) const {
        std::ifstream file(path, std::ios::binary);
        return {std::istreambuf_iterator<char>(file), {}};
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
    const std::string ahead = content(store());
    int failures = 0;
    for (int call = 0;; ++call) {
        SCOPED_TRACE(call);
        OpenedStore opened;
        FailingSystem system;
        system.failing = call;
        const Status status = open_store(request(), AddressBook::instance(), opened);
        system.failing = -1;
        if (!status) {
            ++failures;
            ASSERT_TRUE(system.failed);
            ASSERT_STRNE(message(), "");
            ASSERT_TRUE(content(store()) == ahead);
            ASSERT_FALSE(std::filesystem::exists(store() + ".old"));
            continue;
        }
        // What was done all the same, or would only have looked at what stays aside.
        ASSERT_TRUE(opened.restarted);
        ASSERT_EQ(opened.loaded.state.cds.at(State::root).epoch, 1U);
        ASSERT_TRUE(content(store() + ".old") == ahead);
        if (!system.failed) {
            break;
        }
        std::filesystem::rename(store() + ".old", store());
    }
    EXPECT_GT(failures, 20);
}

} // namespace
} // namespace cd
