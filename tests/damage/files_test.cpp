// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "specimen.h"

#include "cd/cd.h"
#include "content.h"
#include "file_store/format.h"
#include "memory/crc32c.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <string>

namespace damage {
namespace {

namespace fs = std::filesystem;

class Files : public testing::Test {
protected:
    std::string path(const std::string &name) const { return directory_.path("s/" + name); }
    std::string alpha() const { return path("0-alpha.cds"); }
    std::string beta() const { return path("0-beta.cds"); }

    void SetUp() override {
        for (const char *name : {"alpha", "beta"}) {
            ASSERT_EQ(in_process([&] {
                          Program program(directory_.path("s"));
                          const std::string refused = program.open(name);
                          return refused.empty() ? program.run(2) : refused;
                      }),
                      "");
        }
    }

    std::string attach(const char *name) const {
        return in_process([&] {
            Program program(directory_.path("s"));
            const std::string refused = program.open(name);
            return refused.empty() ? program.restore() : refused;
        });
    }

    // All that can be seen of the directory.
    std::string seen() const {
        std::string text;
        std::set<fs::path> names;
        for (const auto &entry : fs::directory_iterator(directory_.path("s"))) {
            names.insert(entry.path());
        }
        for (const fs::path &name : names) {
            struct stat status = {};
            ::lstat(name.c_str(), &status);
            text += name.string() + " " + std::to_string(status.st_ino) + " " +
                    std::to_string(status.st_mode) + " " + std::to_string(status.st_size) + " " +
                    std::to_string(status.st_mtim.tv_sec) + "." +
                    std::to_string(status.st_mtim.tv_nsec);
            if (S_ISREG(status.st_mode)) {
                text += " " + std::to_string(std::hash<std::string>()(scratch::content(name)));
            }
            text += "\n";
        }
        return text;
    }

    // In both headers, with the right checksum where that version has it.
    void set_version(uint32_t version, size_t checksum_at) const {
        std::fstream file(alpha(), std::ios::binary | std::ios::in | std::ios::out);
        for (size_t header = 0; header < cd::format::headers; ++header) {
            std::array<char, cd::format::block> block = {};
            file.seekg(static_cast<std::streamoff>(header * block.size()));
            file.read(block.data(), block.size());
            block[8] = static_cast<char>(version);
            const uint32_t checksum = cd::crc32c(0, block.data(), checksum_at);
            for (unsigned i = 0; i < 4; ++i) {
                block[checksum_at + i] = static_cast<char>(checksum >> 8 * i);
            }
            file.seekp(static_cast<std::streamoff>(header * block.size()));
            file.write(block.data(), block.size());
        }
    }

    // The store is refused with the code and a sentence, and nothing is touched.
    void expect_refused(const char *name, cd_error code, const std::string &file,
                        const std::string &reason) const {
        const std::string before = seen();
        const std::string error = attach(name);
        EXPECT_TRUE(error.starts_with(std::to_string(code) + " ")) << error;
        EXPECT_NE(error.find(file), std::string::npos) << error;
        EXPECT_NE(error.find(reason), std::string::npos) << error;
        EXPECT_EQ(seen(), before);
    }

    Directory directory_;
};

TEST_F(Files, StoresThatWereSwappedAreEachRefused) {
    fs::rename(alpha(), path("x"));
    fs::rename(beta(), alpha());
    fs::rename(path("x"), beta());
    expect_refused("alpha", CD_ERROR_STORE_DAMAGED, alpha(), "names root CD \"beta\" of rank 0");
    expect_refused("beta", CD_ERROR_STORE_DAMAGED, beta(), "not \"beta\" of rank 0");
}

TEST_F(Files, ACopyUnderAnotherNameIsRefused) {
    fs::copy_file(alpha(), path("0-gamma.cds"));
    expect_refused("gamma", CD_ERROR_STORE_DAMAGED, path("0-gamma.cds"),
                   "copied or renamed. Rename it to 0-alpha.cds");
    EXPECT_EQ(attach("alpha"), "");
}

TEST_F(Files, ACopyUnderAnotherRankIsRefused) {
    fs::copy_file(alpha(), path("7-alpha.cds"));
    const std::string error = in_process([&] {
        ::setenv("PMIX_RANK", "7", 1);
        return Program(directory_.path("s")).open("alpha");
    });
    EXPECT_NE(error.find("of rank 0, not \"alpha\" of rank 7"), std::string::npos) << error;
}

TEST_F(Files, AnEmptyFileIsRefused) {
    fs::resize_file(alpha(), 0);
    expect_refused("alpha", CD_ERROR_STORE_DAMAGED, alpha(), "offset 0");
}

TEST_F(Files, AFileOfZerosIsRefused) {
    const auto size = fs::file_size(alpha());
    fs::resize_file(alpha(), 0);
    fs::resize_file(alpha(), size);
    expect_refused("alpha", CD_ERROR_STORE_DAMAGED, alpha(), "there is no header");
}

TEST_F(Files, AnotherKindOfFileIsRefused) {
    std::ofstream(alpha(), std::ios::trunc) << std::string(20000, 'x');
    expect_refused("alpha", CD_ERROR_STORE_DAMAGED, alpha(), "no header is whole");
}

TEST_F(Files, ANewerFormatIsRefused) {
    set_version(cd::format::version + 1, cd::format::header_checksum);
    expect_refused("alpha", CD_ERROR_STORE_VERSION, alpha(),
                   "format version 8, this library reads version 7 only");
}

TEST_F(Files, OlderFormatsAreRefused) {
    for (uint32_t version = 2; version < cd::format::version; ++version) {
        set_version(version, cd::format::header_checksum);
        expect_refused("alpha", CD_ERROR_STORE_VERSION, alpha(),
                       "format version " + std::to_string(version) +
                           ", this library reads version 7 only");
    }
}

TEST_F(Files, TheFirstFormatIsRefused) {
    set_version(1, cd::format::header_checksum_of_version_1);
    expect_refused("alpha", CD_ERROR_STORE_VERSION, alpha(),
                   "format version 1, this library reads version 7 only");
}

TEST_F(Files, ADirectoryInItsPlaceIsRefused) {
    fs::remove(alpha());
    fs::create_directory(alpha());
    expect_refused("alpha", CD_ERROR_STORE_DIRECTORY, alpha(), "");
}

TEST_F(Files, AFifoInItsPlaceIsRefusedAndNotWaitedFor) {
    fs::remove(alpha());
    ASSERT_EQ(::mkfifo(alpha().c_str(), S_IRUSR | S_IWUSR), 0);
    expect_refused("alpha", CD_ERROR_STORE_DIRECTORY, alpha(), "no ordinary file");
}

TEST_F(Files, ASymbolicLinkIsNotFollowed) {
    fs::rename(alpha(), directory_.path("elsewhere"));
    fs::create_symlink(directory_.path("elsewhere"), alpha());
    expect_refused("alpha", CD_ERROR_STORE_DIRECTORY, alpha(), "symbolic link");
}

TEST_F(Files, ASymbolicLinkThatLeadsNowhereIsRefused) {
    fs::remove(alpha());
    fs::create_symlink(directory_.path("nowhere"), alpha());
    expect_refused("alpha", CD_ERROR_STORE_DIRECTORY, alpha(), "symbolic link");
    EXPECT_FALSE(fs::exists(directory_.path("nowhere")));
}

TEST_F(Files, ADirectoryThatIsASymbolicLinkIsRefused) {
    fs::rename(directory_.path("s"), directory_.path("t"));
    fs::create_directory_symlink(directory_.path("t"), directory_.path("s"));
    expect_refused("alpha", CD_ERROR_STORE_DIRECTORY, directory_.path("s"), "symbolic link");
}

TEST_F(Files, ADirectoryThatIsASymbolicLinkIsRefusedAlsoWithSlashesAndDotsBehindIt) {
    fs::rename(directory_.path("s"), directory_.path("t"));
    fs::create_directory_symlink(directory_.path("t"), directory_.path("s"));
    for (const char *name : {"s/", "s//", "s/.", "s/./", "s//.//./"}) {
        const std::string error =
            in_process([&] { return Program(directory_.path(name)).open("alpha"); });
        EXPECT_TRUE(error.starts_with(std::to_string(CD_ERROR_STORE_DIRECTORY) + " ")) << error;
        EXPECT_NE(error.find("symbolic link"), std::string::npos) << error;
    }
    for (const char *name : {"t//", "t/.", "./t"}) {
        EXPECT_EQ(in_process([&] { return Program(directory_.path(name)).open("alpha"); }), "");
    }
}

TEST_F(Files, ASymbolicLinkToADirectoryOfAllIsNotFollowed) {
    fs::create_directory(directory_.path("shm"));
    fs::permissions(directory_.path("shm"), fs::perms::all | fs::perms::sticky_bit);
    fs::create_directory_symlink(directory_.path("shm"), directory_.path("link"));
    for (const char *name : {"link", "link/", "link/."}) {
        const std::string error =
            in_process([&] { return Program(directory_.path(name)).open("alpha"); });
        EXPECT_TRUE(error.starts_with(std::to_string(CD_ERROR_STORE_DIRECTORY) + " ")) << error;
        EXPECT_NE(error.find("symbolic link"), std::string::npos) << error;
    }
    EXPECT_TRUE(fs::is_empty(directory_.path("shm")));
}

// Mount points are often reached through links of the system's owner.
TEST_F(Files, ADirectoryBehindASymbolicLinkIsFound) {
    fs::rename(directory_.path("s"), directory_.path("t"));
    fs::create_directory(directory_.path("disk"));
    fs::rename(directory_.path("t"), directory_.path("disk/s"));
    fs::create_directory_symlink(directory_.path("disk"), directory_.path("scratch"));
    EXPECT_EQ(in_process([&] { return Program(directory_.path("scratch/s")).open("alpha"); }), "");
}

TEST_F(Files, ADirectoryThatOthersMayWriteToIsRefused) {
    fs::permissions(directory_.path("s"), fs::perms::all);
    expect_refused("alpha", CD_ERROR_STORE_DIRECTORY, directory_.path("s"), "others may write");
}

TEST_F(Files, AFileThatOthersMayWriteToIsRefused) {
    const std::string file = directory_.path("s/0-alpha.cds");
    for (const fs::perms others : {fs::perms::group_write, fs::perms::others_write}) {
        fs::permissions(file, fs::perms::owner_read | fs::perms::owner_write | others);
        expect_refused("alpha", CD_ERROR_STORE_DIRECTORY, file, "others may write");
    }
}

// A system in which some files belong to another user, as only root could arrange.
class OthersFiles : public cd::os::System {
public:
    explicit OthersFiles(mode_t type) : type_(type) { cd::os::replace_system(this); }
    OthersFiles(const OthersFiles &) = delete;
    OthersFiles &operator=(const OthersFiles &) = delete;
    ~OthersFiles() override { cd::os::replace_system(nullptr); }

    int status(int fd, cd::os::FileStatus &status) override {
        const int result = System::status(fd, status);
        if ((status.mode & S_IFMT) == type_) {
            status.owner = 12345;
        }
        return result;
    }

private:
    mode_t type_;
};

TEST_F(Files, WhatSomebodyElseOwnsIsRefused) {
    {
        const OthersFiles files(S_IFREG);
        expect_refused("alpha", CD_ERROR_STORE_DIRECTORY, alpha(), "belongs to user 12345");
    }
    const OthersFiles directories(S_IFDIR);
    expect_refused("beta", CD_ERROR_STORE_DIRECTORY, directory_.path("s"), "belongs to user 12345");
}

TEST_F(Files, WhatLiesUnderTheNameOfAnUnfinishedStoreDoesNoHarm) {
    const std::string unfinished = path(".0-gamma.cds.new");
    fs::create_symlink(alpha(), unfinished);
    const auto before = fs::file_size(alpha());
    const std::string error =
        in_process([&] { return Program(directory_.path("s")).open("gamma"); });
    EXPECT_NE(error, "");
    EXPECT_EQ(fs::file_size(alpha()), before);
    fs::remove(unfinished);
    std::ofstream(unfinished) << "left by a process that was interrupted";
    EXPECT_EQ(in_process([&] { return Program(directory_.path("s")).open("gamma"); }), "");
    EXPECT_FALSE(fs::exists(unfinished));
    EXPECT_EQ(attach("alpha"), "");
}

} // namespace
} // namespace damage
