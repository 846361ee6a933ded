// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// Stores of libraries that knew data of objects without build-id by their order.
#include "specimen.h"

#include "cd/cd.h"
#include "file_store/superblock.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <string>

namespace damage {
namespace {

constexpr size_t object_size = 4096;

class OlderStore : public testing::Test {
protected:
    // A process that has the library's data and the root.
    void run(const char *library,
             const std::function<bool(cd_handle root, unsigned char *data)> &body) const {
        EXPECT_EQ(
            in_process([&]() -> std::string {
                void *loaded = ::dlopen(library, RTLD_NOW);
                const std::string storage = "store=file,sync=none,dir=" + directory_.path("s");
                cd_handle root =
                    create_cd(nullptr, storage.c_str(), CD_COMM_LOGGING_DISABLED, "root", nullptr);
                auto *data = static_cast<unsigned char *>(::dlsym(loaded, "object_data"));
                return body(root, data) ? "" : "not so: " + std::string(cd_last_error_message());
            }),
            "");
    }

    static bool add(cd_handle root, unsigned char *data) {
        const cd_addrspec range = {data, object_size, CD_READ_WRITE, CD_GLOBAL};
        return add_to_cd_via_copy(root, &range, 1, nullptr) == CD_SUCCESS;
    }

    // As such a library would have left them, while nothing was added.
    void make_older() const {
        const std::string path = directory_.path("s/0-root.cds");
        const cd::File file(::open(path.c_str(), O_RDWR | O_CLOEXEC), path);
        for (const cd::Superblock &header : headers(file)) {
            ASSERT_TRUE(header.names_all_objects);
            cd::Superblock older = header;
            older.names_all_objects = false;
            ASSERT_TRUE(cd::write_header(file, older));
        }
    }

    // Until no header is there any more that it had. Then all bytes are 5.
    void advance_until_all_is_written_anew() const {
        run(OBJECT, [&](cd_handle root, unsigned char *data) {
            const auto advance_to = [&](int step) {
                std::memset(data, step, object_size);
                return add(root, data) && advance_cd_point_in_time(root) == CD_SUCCESS;
            };
            const auto is_first = [](const cd::Superblock &header) {
                return header.generation == 1;
            };
            bool goes_on = true;
            while (goes_on && std::ranges::any_of(headers(), is_first)) {
                goes_on = advance_to(4);
            }
            return goes_on && advance_to(5);
        });
    }

    std::array<cd::Superblock, cd::format::headers> headers() const {
        const std::string path = directory_.path("s/0-root.cds");
        return headers(cd::File(::open(path.c_str(), O_RDONLY | O_CLOEXEC), path));
    }
    static std::array<cd::Superblock, cd::format::headers> headers(const cd::File &file) {
        std::array<cd::Superblock, cd::format::headers> all;
        for (size_t slot = 0; slot < all.size(); ++slot) {
            cd::FoundHeader found;
            EXPECT_TRUE(cd::read_header(file, slot, found));
            EXPECT_EQ(found.kind, cd::FoundHeader::Kind::whole);
            all[slot] = found.header;
        }
        return all;
    }

    Directory directory_;
};

TEST_F(OlderStore, GoesOnByOrderInAllProcesses) {
    run(OBJECT, [](cd_handle root, unsigned char *) { return root != nullptr; });
    make_older();
    advance_until_all_is_written_anew();
    for (const char *build : {OBJECT, OTHER_OBJECT}) {
        run(build, [](cd_handle root, unsigned char *data) {
            cd_info info = {};
            return cd_query(root, &info) == CD_SUCCESS && info.unbound == object_size &&
                   add(root, data) && restore_cd(root) == CD_SUCCESS &&
                   data[object_size - 1] == 5 && advance_cd_point_in_time(root) == CD_SUCCESS;
        });
    }
}

TEST_F(OlderStore, IsNoneHoweverOftenItsMetadataMove) {
    advance_until_all_is_written_anew();
    for (const cd::Superblock &header : headers()) {
        EXPECT_TRUE(header.names_all_objects);
    }
    run(OTHER_OBJECT, [](cd_handle root, unsigned char *) {
        return root == nullptr && cd_last_error() == CD_ERROR_RESTART_MISMATCH;
    });
}

} // namespace
} // namespace damage
