// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "redset/kvtree_file.h"

#include "file_store/file.h"
#include "vector_case.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>

namespace cd::redset {
namespace {

using Bytes = std::vector<std::byte>;

KvTree example() {
    KvTree tree;
    tree.add("empty");
    tree.add_number("number", 7);
    tree.add("deep").add("deeper").add_value("key with spaces", "value\n");
    return tree;
}

Bytes image_of(const KvTree &tree) {
    Bytes image;
    EXPECT_TRUE(encode_image(tree, "file", image)) << message();
    return image;
}

cd_error verdict(const Bytes &bytes) {
    KvTree tree = example();
    uint64_t size = 99;
    const Status status = decode_image(bytes, "some/file", tree, size);
    if (!status) {
        EXPECT_EQ(tree, example());
        EXPECT_EQ(size, 99u);
        EXPECT_EQ(std::string(message()).find("some/file: "), 0u) << message();
        EXPECT_NE(std::string(message()).find("offset"), std::string::npos) << message();
    }
    return status.code();
}

void put_big_endian(Bytes &bytes, size_t at, size_t width, uint64_t value) {
    for (size_t i = 0; i < width; ++i) {
        bytes[at + i] = static_cast<std::byte>(value >> (8 * (width - 1 - i)));
    }
}

// Makes the checksum right again, so that what is behind it is looked at.
Bytes sealed(Bytes bytes) {
    const size_t end = bytes.size() - 4;
    put_big_endian(bytes, 8, 8, bytes.size());
    put_big_endian(bytes, end, 4, crc32(std::span(bytes).first(end)));
    return bytes;
}

Bytes packed(std::initializer_list<int> tree) {
    Bytes bytes = image_of({});
    bytes.resize(20);
    for (const int byte : tree) {
        bytes.push_back(static_cast<std::byte>(byte));
    }
    bytes.resize(bytes.size() + 4);
    return sealed(bytes);
}

TEST(KvTree, SortsEveryLevelByBytes) {
    KvTree tree;
    for (const char *key : {"b", "10", "\xff", "", "2"}) {
        KvTree &below = tree.add(key);
        below.add("z");
        below.add("a");
    }
    tree.sort();
    std::string order;
    for (const auto &[key, below] : tree.elements()) {
        order += key + ",";
        EXPECT_EQ(below.elements().front().key, "a");
    }
    EXPECT_EQ(order, ",10,2,b,\xff,");
}

TEST(KvTree, AValueIsTheOnlyKeyBelow) {
    KvTree tree;
    tree.add_value("one", "x");
    tree.add("none");
    KvTree &two = tree.add("two");
    two.add("a");
    two.add("b");
    EXPECT_EQ(tree.value("one"), "x");
    EXPECT_EQ(tree.value("none"), std::nullopt);
    EXPECT_EQ(tree.value("two"), std::nullopt);
    EXPECT_EQ(tree.value("absent"), std::nullopt);
}

TEST(KvTree, NumbersAreDecimalAndWhole) {
    KvTree tree;
    tree.add_number("largest", UINT64_MAX);
    EXPECT_EQ(tree.value("largest"), "18446744073709551615");
    EXPECT_EQ(tree.number("largest"), UINT64_MAX);
    for (const char *text : {"", "-1", "+1", "0x10", "1 ", " 1", "1.", "18446744073709551616"}) {
        EXPECT_EQ(to_number(text), std::nullopt) << text;
    }
    EXPECT_EQ(to_number("0010"), 10u);
}

TEST(KvTreeImage, EveryHeaderOfUpstreamIsWrittenAgainAsItWas) {
    size_t headers = 0;
    for (const auto &path : files_below(CD_REDSET_VECTORS)) {
        if (path.extension() != ".redset") {
            continue;
        }
        const Bytes bytes = bytes_of(path);
        KvTree tree;
        uint64_t size = 0;
        ASSERT_TRUE(decode_image(bytes, path.c_str(), tree, size)) << message();
        const Bytes again = image_of(tree);
        ASSERT_EQ(again.size(), size);
        EXPECT_EQ(std::memcmp(again.data(), bytes.data(), size), 0) << path;
        KvTree sorted = tree;
        sorted.sort();
        EXPECT_EQ(sorted, tree) << path;

        const File file(::open(path.c_str(), O_RDONLY), path);
        KvTree read;
        uint64_t read_size = 0;
        ASSERT_TRUE(read_image(file, read, read_size)) << message();
        EXPECT_EQ(read, tree);
        EXPECT_EQ(read_size, size);
        ++headers;
    }
    EXPECT_EQ(headers, 144u);
}

TEST(KvTreeImage, BytesBehindItAreLeftAlone) {
    Bytes bytes = image_of(example());
    const size_t length = bytes.size();
    bytes.resize(length + 1000, std::byte{0xff});
    KvTree tree;
    uint64_t size = 0;
    ASSERT_TRUE(decode_image(bytes, "file", tree, size)) << message();
    EXPECT_EQ(size, length);
    EXPECT_EQ(tree, example());
}

TEST(KvTreeImage, ACutIsFoundWhereverItIs) {
    const Bytes bytes = image_of(example());
    for (size_t length = 0; length < bytes.size(); ++length) {
        EXPECT_EQ(verdict(Bytes(bytes.begin(), bytes.begin() + static_cast<long>(length))),
                  CD_ERROR_STORE_DAMAGED)
            << length;
    }
}

TEST(KvTreeImage, AChangedByteIsFoundWhereverItIs) {
    const Bytes bytes = image_of(example());
    for (size_t at = 0; at < bytes.size(); ++at) {
        Bytes changed = bytes;
        changed[at] ^= std::byte{0x40};
        EXPECT_NE(verdict(changed), CD_ERROR_NONE) << at;
    }
}

TEST(KvTreeImage, AnotherVersionIsToldApartFromDamage) {
    Bytes bytes = image_of(example());
    bytes[7] = std::byte{2};
    EXPECT_EQ(verdict(bytes), CD_ERROR_STORE_VERSION);
}

TEST(KvTreeImage, ChecksumIsOptional) {
    Bytes bytes = image_of(example());
    bytes.resize(bytes.size() - 4);
    put_big_endian(bytes, 8, 8, bytes.size());
    put_big_endian(bytes, 16, 4, 0);
    EXPECT_EQ(verdict(bytes), CD_ERROR_NONE);
}

TEST(KvTreeImage, ALengthThatNoHeaderHasIsRefusedBeforeMemoryIsTaken) {
    for (const uint64_t length : {uint64_t{0}, uint64_t{23}, largest_image + 1, UINT64_MAX}) {
        Bytes bytes = image_of(example());
        put_big_endian(bytes, 8, 8, length);
        EXPECT_EQ(verdict(bytes), CD_ERROR_STORE_DAMAGED) << length;
    }
}

TEST(KvTreeImage, ATreeThatLeavesItsBoundsIsRefused) {
    EXPECT_EQ(verdict(packed({0, 0, 0, 0})), CD_ERROR_NONE);
    EXPECT_EQ(verdict(packed({0, 0, 0, 1, 'a', 0, 0, 0, 0, 0})), CD_ERROR_NONE);
    EXPECT_EQ(verdict(packed({0, 0, 0})), CD_ERROR_STORE_DAMAGED);
    EXPECT_EQ(verdict(packed({0xff, 0xff, 0xff, 0xff})), CD_ERROR_STORE_DAMAGED);
    EXPECT_EQ(verdict(packed({0, 0, 0, 2, 'a', 0, 0, 0, 0, 0})), CD_ERROR_STORE_DAMAGED);
    EXPECT_EQ(verdict(packed({0, 0, 0, 1, 'a', 'b', 'c', 'd', 'e', 'f'})), CD_ERROR_STORE_DAMAGED);
    EXPECT_EQ(verdict(packed({0, 0, 0, 1, 'a', 'b', 0, 0, 0, 0})), CD_ERROR_STORE_DAMAGED);
    EXPECT_EQ(verdict(packed({0, 0, 0, 0, 0})), CD_ERROR_STORE_DAMAGED);
}

TEST(KvTreeImage, ATreeDeeperThanAnyIsRefused) {
    KvTree tree;
    KvTree *at = &tree;
    for (int depth = 1; depth < deepest_tree; ++depth) {
        at = &at->add("x");
    }
    EXPECT_EQ(verdict(image_of(tree)), CD_ERROR_NONE);
    at->add("x");
    EXPECT_EQ(verdict(image_of(tree)), CD_ERROR_STORE_DAMAGED);
}

TEST(KvTreeImage, ATreeThatCouldNotBeReadIsNotWritten) {
    KvTree tree;
    tree.add(std::string(largest_image, 'x'));
    Bytes image;
    EXPECT_EQ(encode_image(tree, "file", image).code(), CD_ERROR_ARGUMENT);
    EXPECT_TRUE(image.empty());
}

TEST(Crc32, GivesThePublishedValue) {
    EXPECT_EQ(crc32(std::as_bytes(std::span("123456789", 9))), 0xCBF43926u);
    EXPECT_EQ(crc32_portable(std::as_bytes(std::span("123456789", 9))), 0xCBF43926u);
    EXPECT_EQ(crc32({}), 0u);
}

TEST(Crc32, IsTheSameWithAndWithoutIsaLAtEveryLengthAndAlignment) {
    Bytes bytes(400);
    for (size_t at = 0; at < bytes.size(); ++at) {
        bytes[at] = static_cast<std::byte>(at * 37 >> 2);
    }
    for (size_t first = 0; first < 16; ++first) {
        for (size_t length = 0; first + length <= bytes.size(); ++length) {
            const auto part = std::span(bytes).subspan(first, length);
            ASSERT_EQ(crc32(part), crc32_portable(part)) << first << ' ' << length;
        }
    }
}

} // namespace
} // namespace cd::redset
