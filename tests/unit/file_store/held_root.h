// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "file_store/load.h"
#include "file_store/snapshot_image.h"
#include "file_store/stored_data.h"
#include "memory/crc32c.h"
#include "runtime/family_lock.h"
#include "store_directory.h"

#include <fcntl.h>

#include <memory>
#include <sstream>
#include <string>
#include <vector>

namespace cd {

// Tests of the points in time of a root of this process.
class HeldRoot : public StoreDirectory {
protected:
    void TearDown() override {
        if (root_ != nullptr) {
            EXPECT_EQ(commit_cd(root_), CD_SUCCESS) << cd_last_error_message();
        }
        StoreDirectory::TearDown();
    }

    void begin(const std::string &more = "") {
        const std::string storage = "store=file,dir=" + directory_ + more;
        root_ = create_cd(nullptr, storage.c_str(), CD_COMM_LOGGING_DISABLED, "root", nullptr);
        ASSERT_NE(root_, nullptr) << cd_last_error_message();
    }

    void add(void *at, size_t length, addr_type access = CD_READ_WRITE) const {
        const cd_addrspec range = {at, length, access, CD_GLOBAL};
        ASSERT_EQ(add_to_cd_via_copy(root_, &range, 1, nullptr), CD_SUCCESS)
            << cd_last_error_message();
    }

    void advance() const {
        ASSERT_EQ(advance_cd_point_in_time(root_), CD_SUCCESS) << cd_last_error_message();
    }

    std::unique_ptr<HeldPoint> hold() const {
        FamilyLock lock;
        EXPECT_TRUE(lock.lock(root_, FamilyLock::Reach::self));
        auto store = std::static_pointer_cast<FileStore>(lock.domain().store);
        return std::make_unique<HeldPoint>(std::move(store), data_of(lock.domain()));
    }

    std::string image(int number = 0) const {
        return directory_ + "/image" + std::to_string(number);
    }

    static Loaded loaded(const std::string &path) {
        const File file(::open(path.c_str(), O_RDONLY | O_CLOEXEC), path);
        Loaded loaded;
        EXPECT_TRUE(load(file, loaded)) << message();
        EXPECT_EQ(loaded.doubt, "");
        return loaded;
    }

    // The newest point in time in a file: everything but where in the file it is.
    static std::string described(const std::string &path) {
        const Loaded found = loaded(path);
        const File file(::open(path.c_str(), O_RDONLY | O_CLOEXEC), path);
        const StoredCd &root = found.state.cds.at(State::root);
        std::ostringstream out;
        out << found.header.rank << ' ' << found.header.name << ' ' << found.state.space << ' '
            << root.epoch << '\n';
        for (const FilePosition &position : root.files) {
            out << position.descriptor << ' ' << position.inode << ' ' << position.position << '\n';
        }
        for (const auto &[place, entry] : root.entries) {
            const StoredName &name = found.state.names.at(entry.key.name);
            out << place.space << ' ' << place.begin << '-' << entry.end << ' ' << entry.access
                << entry.scope << static_cast<int>(entry.restoration) << ' '
                << static_cast<int>(name.kind) << name.text << ' ' << entry.key.add_index << ' '
                << entry.key.offset << ' ' << entry.key.length;
            if (entry.run != nullptr) {
                std::vector<char> bytes(entry.end - place.begin);
                EXPECT_TRUE(
                    read_run(file, *entry.run, entry.run_offset, bytes.data(), bytes.size()))
                    << message();
                out << ' ' << crc32c(0, bytes.data(), bytes.size());
            }
            out << '\n';
        }
        return out.str();
    }

    cd_handle root_ = nullptr;
};

} // namespace cd
