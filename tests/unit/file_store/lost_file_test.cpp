// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// What a program, or somebody else, does to a store that is in use.

#include "store_directory.h"

#include <fcntl.h>

#include <fstream>
#include <sstream>

namespace cd {
namespace {

class LostFile : public StoreDirectory {
protected:
    // The error of an operation that writes data, and of the next one.
    static int advance_after(std::vector<char> &memory) {
        is_held(memory);
        const int added = cd_last_error();
        advance_cd_point_in_time(CURRENT_CD);
        return added == cd_last_error() ? added : 127;
    }

    static bool is_held(std::vector<char> &memory) {
        const cd_addrspec all{memory.data(), memory.size(), CD_READ_WRITE, CD_GLOBAL};
        return add_to_cd_via_copy(CURRENT_CD, &all, 1, nullptr) == CD_SUCCESS;
    }
};

TEST_F(LostFile, WhoseDescriptorIsTheProgramsOwnFileNowIsAnErrorAndThatFileAsItWas) {
    const std::string own = directory_ + "/own";
    std::ofstream(own) << "the program's";
    EXPECT_EQ(in_process([&] {
                  std::vector<char> memory(10000);
                  std::vector<char> more(10000);
                  if (create() == nullptr || !is_held(memory)) {
                      return 127;
                  }
                  for (int fd = 3; fd < 64; ++fd) {
                      ::close(fd);
                  }
                  while (::open(own.c_str(), O_RDWR | O_CLOEXEC) < 63) {
                  }
                  return advance_after(more);
              }),
              CD_ERROR_STORE_IO);
    std::ostringstream text;
    text << std::ifstream(own).rdbuf();
    EXPECT_EQ(text.str(), "the program's");
}

TEST_F(LostFile, ThatSomebodyHasCutIsAnErrorOfTheNextOperation) {
    EXPECT_EQ(in_process([&] {
                  std::vector<char> memory(10000);
                  std::vector<char> more(10000);
                  if (create() == nullptr || !is_held(memory)) {
                      return 127;
                  }
                  std::filesystem::resize_file(store(), 5000);
                  return advance_after(more);
              }),
              CD_ERROR_STORE_DAMAGED);
}

} // namespace
} // namespace cd
