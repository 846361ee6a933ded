// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "file_store/file.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <string>

namespace cd {
namespace {

std::string said_of(int error) {
    errno = error;
    (void)File(-1, "dir").refused("list the directory").is_ok();
    return message();
}

TEST(FileErrors, OfADirectoryHaveNoOffset) {
    EXPECT_EQ(said_of(EMFILE), "dir: cannot list the directory: \"Too many open files\"; the call "
                               "has changed nothing and can be repeated");
    EXPECT_EQ(said_of(ENOSPC),
              "dir: no room on the disk (\"No space left on device\") to list the "
              "directory; free some and repeat the call, which has changed nothing");
}

TEST(FileErrors, SayToRepeatOnlyWhatCanSucceed) {
    for (const int error : {EACCES, EPERM, EROFS, ENOENT, ENOTDIR}) {
        const std::string said = said_of(error);
        EXPECT_TRUE(said.ends_with("; change that and repeat the call, which has changed nothing"))
            << said;
        EXPECT_TRUE(without_repeating(said).ends_with("\"")) << said;
    }
}

TEST(FileErrors, HaveAnOffsetWhereThatSaysSomething) {
    errno = EIO;
    (void)File(-1, "file").refused("read", UINT64_MAX).is_ok();
    EXPECT_EQ(std::string(message()),
              "file: cannot read at offset 18446744073709551615: \"Input/output error\"; the call "
              "has changed nothing and can be repeated");
}

} // namespace
} // namespace cd
