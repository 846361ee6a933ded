// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// Data of programs and libraries belong to these, whatever their files are called and wherever they
// are loaded, and to no others.

#include "restarting.h"

#include <dlfcn.h>
#include <link.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>

namespace restarting {
namespace {

// The data of a loaded library.
unsigned char *data_of(const char *library) {
    void *loaded = ::dlopen(library, RTLD_NOW);
    return loaded == nullptr ? nullptr
                             : static_cast<unsigned char *>(::dlsym(loaded, "object_data"));
}
constexpr size_t object_size = 4096;

class BindingOfObjects : public Restarting {
protected:
    // Leaves a point in time that holds all data of the library, each byte 5.
    void store_data_of_library() const {
        run([&] {
            unsigned char *data = data_of(OBJECT);
            cd_handle root = create();
            std::memset(data, 5, object_size);
            return add(root, data, object_size) && advance_cd_point_in_time(root) == CD_SUCCESS;
        });
    }
    // Returns what `program` prints: it restores its data, or stores them where there are none.
    std::string run_program(const std::string &program) const {
        const std::string command =
            "\"" + program + "\" store=file,sync=none,dir=\"" + directory_ + "\"";
        FILE *output = ::popen(command.c_str(), "r");
        std::array<char, 1000> text = {};
        const size_t length = std::fread(text.data(), 1, text.size(), output);
        return ::pclose(output) == -1 ? "" : std::string(text.data(), length);
    }
};

TEST_F(BindingOfObjects, DataOfALibraryFollowItToAnotherAddress) {
    store_data_of_library();
    run([&]() -> std::string {
        // Takes the addresses where the library was.
        ::mmap(nullptr, size_t{64} << 20, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        cd_handle root = create();
        unsigned char *data = data_of(OBJECT); // loaded later
        if (info_of(root).unbound != object_size || !add(root, data, object_size) ||
            restore_cd(root) != CD_SUCCESS) {
            return refusal();
        }
        return std::all_of(data, data + object_size, [](unsigned char byte) { return byte == 5; })
                   ? ""
                   : "wrong data";
    });
}

TEST_F(BindingOfObjects, DataOfALibraryThatIsLoadedAfterTheRestoreAreRestoredThen) {
    store_data_of_library();
    run([&] {
        cd_handle root = create();
        if (restore_cd(root) != CD_SUCCESS) {
            return false;
        }
        unsigned char *data = data_of(OBJECT);
        return add(root, data, object_size) && data[object_size - 1] == 5;
    });
}

TEST_F(BindingOfObjects, ACopiedLibraryOfWhichMoreIsAddedKeepsWhatWasStoredUnderItsFirstName) {
    const std::string copy = path("object-1.1.so");
    std::filesystem::copy(OBJECT, copy);
    run([&] {
        unsigned char *data = data_of(OBJECT);
        *data = 5;
        return add(create(), data, 1);
    });
    for (const size_t more : {100, 200}) {
        run([&]() -> std::string {
            unsigned char *data = data_of(copy.c_str());
            cd_handle root = create();
            if (restore_cd(root) != CD_SUCCESS || *data != 5) {
                return std::to_string(*data) + ", " + refusal();
            }
            return add(root, data + more, 1) && advance_cd_point_in_time(root) == CD_SUCCESS
                       ? ""
                       : refusal();
        });
    }
}

TEST_F(BindingOfObjects, DataOfTwoLoadedCopiesOfALibraryNeedNames) {
    const std::string copy = path("object-1.1.so");
    std::filesystem::copy(OBJECT, copy);
    run([&] {
        unsigned char *data = data_of(OBJECT);
        cd_handle root = create();
        return data_of(copy.c_str()) != nullptr && !add(root, data, 1) &&
               cd_last_error() == CD_ERROR_STORAGE_UNSUPPORTED &&
               cd_name_region("data", data, 1) == CD_SUCCESS && add(root, data, 1);
    });
}

TEST_F(BindingOfObjects, AnotherBuildOfALibraryIsRefusedAndBothAreNamed) {
    run([&] {
        unsigned char *data = data_of(OBJECT);
        return add(create(), data, object_size);
    });
    run([&]() -> std::string {
        if (data_of(OTHER_BUILD_OF_OBJECT) == nullptr) {
            return ::dlerror();
        }
        if (create() != nullptr || cd_last_error() != CD_ERROR_RESTART_MISMATCH) {
            return "taken, or refused with " + refusal();
        }
        const std::string message = cd_last_error_message();
        const size_t stored = message.find("libobject.so ");
        const size_t running = message.rfind("libobject.so ");
        if (stored == std::string::npos || running == stored ||
            message.find(store()) == std::string::npos) {
            return message;
        }
        const std::string one = message.substr(stored + 13, 40);
        const std::string other = message.substr(running + 13, 40);
        return one != other ? "" : message;
    });
}

TEST_F(BindingOfObjects, AnotherBuildOfALibraryThatIsLoadedLaterIsRefusedWhenItIsAdded) {
    run([&] { return add(create(), data_of(OBJECT), object_size); });
    run([&]() -> std::string {
        cd_handle root = create();
        unsigned char *data = data_of(OTHER_BUILD_OF_OBJECT);
        if (add(root, data, object_size) || cd_last_error() != CD_ERROR_RESTART_MISMATCH) {
            return "taken, or refused with " + refusal();
        }
        // Both may be loaded, each in its time.
        unsigned char *stored = data_of(OBJECT);
        return info_of(root).unbound == object_size && info_of(root).entries == 0 &&
                       add(root, stored, object_size) && restore_cd(root) == CD_SUCCESS &&
                       info_of(root).unbound == 0 && add(root, data, object_size)
                   ? ""
                   : "the CD cannot be used: " + refusal();
    });
    run([&] { // which knows both
        unsigned char *other = data_of(OTHER_BUILD_OF_OBJECT);
        cd_handle root = create();
        if (root == nullptr || info_of(root).unbound != object_size) {
            return false;
        }
        const bool added = add(root, other, 1) && add(root, data_of(OBJECT), object_size);
        return added && info_of(root).unbound == 0;
    });
}

TEST_F(BindingOfObjects, ACopyOfALibraryThatIsLoadedLaterIsTheSame) {
    store_data_of_library();
    run([&] {
        const auto copy = std::filesystem::path(directory_) / "object-1.1.so";
        std::filesystem::copy(OBJECT, copy);
        cd_handle root = create();
        unsigned char *data = data_of(copy.c_str());
        return add(root, data, object_size) && restore_cd(root) == CD_SUCCESS && data[9] == 5 &&
               info_of(root).unbound == 0;
    });
}

// No object with the name of the program that wrote the store is loaded.
TEST_F(BindingOfObjects, AnotherProgramOfAnotherNameIsRefusedAndBothAreNamed) {
    ASSERT_EQ(run_program(PROGRAM), "stored");
    const std::string refused = run_program(OTHER_PROGRAM);
    EXPECT_TRUE(refused.starts_with(std::to_string(CD_ERROR_RESTART_MISMATCH) + " ")) << refused;
    for (const char *program : {PROGRAM, OTHER_PROGRAM}) {
        const std::string name = std::filesystem::path(program).filename();
        EXPECT_NE(refused.find("\"" + name + " "), std::string::npos) << refused;
    }
    EXPECT_EQ(run_program(PROGRAM), "restored");
}

TEST_F(BindingOfObjects, AProgramThatWasCopiedUnderAnotherNameIsTheSame) {
    ASSERT_EQ(run_program(PROGRAM), "stored");
    std::filesystem::copy(PROGRAM, path("renamed"));
    EXPECT_EQ(run_program(path("renamed")), "restored");
}

TEST_F(BindingOfObjects, DataOfAnObjectWithoutBuildIdNeedANameOrABuildId) {
    const std::string refused = run_program(PROGRAM_WITHOUT_ID);
    EXPECT_TRUE(refused.starts_with(std::to_string(CD_ERROR_STORAGE_UNSUPPORTED) + " ")) << refused;
    for (const char *part : {"cd_restart_program_without_id", "--build-id", "cd_name_region"}) {
        EXPECT_NE(refused.find(part), std::string::npos) << refused;
    }
    for (const bool is_restart : {false, true}) {
        run([&] {
            unsigned char *data = data_of(OBJECT_WITHOUT_ID);
            cd_handle root = create();
            const bool is_refused = !add(root, data, object_size);
            std::memset(data, is_restart ? 0 : 5, object_size);
            return is_refused && info_of(root).bytes == 0 &&
                   cd_name_region("data", data, object_size) == CD_SUCCESS &&
                   add(root, data, object_size) && restore_cd(root) == CD_SUCCESS &&
                   data[object_size - 1] == 5;
        });
    }
}

} // namespace
} // namespace restarting
