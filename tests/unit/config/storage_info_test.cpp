// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "config/storage_info.h"

#include "content.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

namespace cd {
namespace {

constexpr char origin[] = "storage_info";

StorageInfo parsed(std::string_view text, StorageInfo from = {}) {
    EXPECT_TRUE(parse_storage_info(text, origin, from)) << text << ": " << message();
    return from;
}

// All values differ from the defaults.
StorageInfo unusual() {
    return parsed("store=file,dir=/scratch,redundancy=rs:3,set_size=4,group=rack,sync=none,"
                  "checksum=none,track=pages,config=scr.conf,shadow=none,keep=3,"
                  "redundancy_mode=async,flush=/lustre,flush_interval=10,log_limit=64M");
}

// Every refused text must leave what was there alone.
void expect_refused(std::string_view text, cd_error code) {
    StorageInfo into = unusual();
    clear_message();
    EXPECT_EQ(parse_storage_info(text, origin, into).code(), code) << text;
    EXPECT_STRNE(message(), "") << text;
    EXPECT_EQ(into, unusual()) << text;
}

bool message_has(std::string_view part) {
    return std::string_view(message()).find(part) != std::string_view::npos;
}

TEST(StorageInfo, Defaults) {
    const StorageInfo info;
    EXPECT_EQ(info.store, Store::memory);
    EXPECT_EQ(info.dir, "");
    EXPECT_EQ(info.redundancy, (Redundancy{Scheme::none, 0}));
    EXPECT_EQ(info.set_size, std::nullopt);
    EXPECT_EQ(info.ranks_in_set(), 8);
    EXPECT_EQ(info.group, "");
    EXPECT_EQ(info.sync, Sync::full);
    EXPECT_EQ(info.checksum, Checksum::by_store);
    EXPECT_EQ(info.track, Track::explicit_calls);
    EXPECT_EQ(info.config, "");
    EXPECT_EQ(info.shadow, Shadow::full);
    EXPECT_EQ(info.keep, 1);
    EXPECT_EQ(info.redundancy_mode, RedundancyMode::sync);
    EXPECT_EQ(info.flush, "");
    EXPECT_EQ(info.flush_interval, std::nullopt);
    EXPECT_EQ(info.epochs_per_copy(), 1);
    EXPECT_FALSE(info.is_protected());
    EXPECT_EQ(info.log_limit, 0U);
    EXPECT_TRUE(check_supported(info, origin));
}

TEST(StorageInfo, EveryKeyReachesItsField) {
    const StorageInfo info = unusual();
    EXPECT_EQ(info.store, Store::file);
    EXPECT_EQ(info.dir, "/scratch");
    EXPECT_EQ(info.redundancy, (Redundancy{Scheme::reed_solomon, 3}));
    EXPECT_EQ(info.set_size, 4);
    EXPECT_EQ(info.group, "rack");
    EXPECT_EQ(info.sync, Sync::none);
    EXPECT_EQ(info.checksum, Checksum::none);
    EXPECT_EQ(info.track, Track::pages);
    EXPECT_EQ(info.config, "scr.conf");
    EXPECT_EQ(info.shadow, Shadow::none);
    EXPECT_EQ(info.keep, 3);
    EXPECT_EQ(info.redundancy_mode, RedundancyMode::async);
    EXPECT_EQ(info.flush, "/lustre");
    EXPECT_EQ(info.flush_interval, 10);
    EXPECT_EQ(info.log_limit, uint64_t{64} << 20);
}

TEST(StorageInfo, WordsMeanTheirValue) {
    EXPECT_EQ(parsed("store=memory", unusual()).store, Store::memory);
    EXPECT_EQ(parsed("sync=full", unusual()).sync, Sync::full);
    EXPECT_EQ(parsed("checksum=crc32c", unusual()).checksum, Checksum::crc32c);
    EXPECT_EQ(parsed("track=explicit", unusual()).track, Track::explicit_calls);
    EXPECT_EQ(parsed("shadow=full", unusual()).shadow, Shadow::full);
    EXPECT_EQ(parsed("redundancy_mode=sync", unusual()).redundancy_mode, RedundancyMode::sync);
}

TEST(StorageInfo, RedundancyAndItsParameter) {
    const auto redundancy = [](const std::string &value) {
        return parsed("redundancy=" + value, unusual()).redundancy;
    };
    EXPECT_EQ(redundancy("none"), (Redundancy{Scheme::none, 0}));
    EXPECT_EQ(redundancy("single"), (Redundancy{Scheme::single, 0}));
    EXPECT_EQ(redundancy("xor"), (Redundancy{Scheme::xor_set, 0}));
    EXPECT_EQ(redundancy("partner"), (Redundancy{Scheme::partner, 1}));
    EXPECT_EQ(redundancy("partner:1"), (Redundancy{Scheme::partner, 1}));
    EXPECT_EQ(redundancy("partner:255"), (Redundancy{Scheme::partner, 255}));
    EXPECT_EQ(redundancy("rs"), (Redundancy{Scheme::reed_solomon, 2}));
    EXPECT_EQ(redundancy("rs:1"), (Redundancy{Scheme::reed_solomon, 1}));
    EXPECT_EQ(redundancy("rs:255"), (Redundancy{Scheme::reed_solomon, 255}));
    for (const char *value : {"",
                              ":",
                              ":1",
                              "none:1",
                              "single:1",
                              "xor:1",
                              "partner:",
                              "partner:0",
                              "partner:256",
                              "partner:-1",
                              "partner:+1",
                              "partner: 1",
                              "partner:1x",
                              "partner:1:1",
                              "rs:0",
                              "rs:256",
                              "rs:4294967297",
                              "rs:99999999999999999999",
                              "RS",
                              "raid"}) {
        expect_refused(std::string("redundancy=") + value, CD_ERROR_STORAGE_VALUE);
    }
}

TEST(StorageInfo, SetSizeIsBounded) {
    EXPECT_EQ(parsed("set_size=2").set_size, 2);
    EXPECT_EQ(parsed("set_size=65535").set_size, 65535);
    for (const char *value : {"", "0", "1", "65536", "-2", "+2", "2.0", "2 ", "0x8", "4294967298",
                              "99999999999999999999", "eight"}) {
        expect_refused(std::string("set_size=") + value, CD_ERROR_STORAGE_VALUE);
    }
}

TEST(StorageInfo, LogLimitIsASize) {
    const auto limit = [](const std::string &value) {
        return parsed("log_limit=" + value, unusual()).log_limit;
    };
    EXPECT_EQ(limit("0"), 0U);
    EXPECT_EQ(limit("0G"), 0U);
    EXPECT_EQ(limit("256K"), 262144U);
    EXPECT_EQ(limit("262144"), 262144U);
    EXPECT_EQ(limit("1M"), 1048576U);
    EXPECT_EQ(limit("1024G"), uint64_t{1} << 40);
    for (const char *value :
         {"", "K", "M0", "1", "255K", "262143", "1025G", "1T", "1k", "-1M", "+1M", "1.5M", "1 M",
          "1MB", "0x100000", "18446744073709551616", "17179869184G", "18014398509481985K"}) {
        expect_refused(std::string("log_limit=") + value, CD_ERROR_STORAGE_VALUE);
    }
}

TEST(StorageInfo, TextValues) {
    EXPECT_EQ(parsed("dir=/a b/c=d").dir, "/a b/c=d");
    EXPECT_EQ(parsed("group=n\xC3\xB6rd").group, "n\xC3\xB6rd");
    for (const char *key : {"dir=", "group=", "config="}) {
        expect_refused(key, CD_ERROR_STORAGE_VALUE);
        expect_refused(std::string(key) + "a\nb", CD_ERROR_STORAGE_VALUE);
        expect_refused(std::string(key) + "a\x7F", CD_ERROR_STORAGE_VALUE);
        expect_refused(std::string(key) + '\0', CD_ERROR_STORAGE_VALUE);
    }
}

TEST(StorageInfo, KeysGivenReplaceAndOthersStay) {
    EXPECT_EQ(parsed("", unusual()), unusual());
    StorageInfo expected = unusual();
    expected.shadow = Shadow::full;
    expected.dir = "/other";
    EXPECT_EQ(parsed("dir=/other,shadow=full", unusual()), expected);
}

TEST(StorageInfo, RefusesWhatIsNotKeyValue) {
    for (const char *text : {"store", ",", "=", "=memory", "store=memory,", ",store=memory",
                             "store=memory,,shadow=full", "store=memory,="}) {
        expect_refused(text, CD_ERROR_STORAGE_SYNTAX);
    }
    expect_refused("sync=full,stroe", CD_ERROR_STORAGE_SYNTAX);
    EXPECT_TRUE(message_has("\"stroe\"")) << message();
    EXPECT_TRUE(message_has("key=value")) << message();
}

TEST(StorageInfo, RefusesAKeyGivenTwice) {
    expect_refused("shadow=full,sync=full,shadow=full", CD_ERROR_STORAGE_SYNTAX);
    EXPECT_TRUE(message_has("shadow is given twice")) << message();
}

TEST(StorageInfo, UnknownKeyIsNamedAndAllKeysListed) {
    for (const char *text : {"stores=memory", "Store=memory", " store=memory", "store =memory",
                             "stor=memory", "shadow=none,x=y"}) {
        expect_refused(text, CD_ERROR_STORAGE_KEY);
    }
    EXPECT_TRUE(message_has("\"x\"")) << message();
    for (const StorageKey &key : storage_keys()) {
        EXPECT_TRUE(message_has(key.key)) << key.key << " missing in: " << message();
    }
}

TEST(StorageInfo, BadValueIsNamedAndWhatIsAllowedListed) {
    for (const StorageKey &key : storage_keys()) {
        const std::string text = std::string(key.key) + "=\x01"
                                                        "bad";
        expect_refused(text, CD_ERROR_STORAGE_VALUE);
        EXPECT_TRUE(message_has(std::string(key.key) + "=\\x01bad")) << message();
        EXPECT_TRUE(message_has(key.allowed)) << message();
    }
}

TEST(StorageInfo, FirstErrorCounts) {
    expect_refused("x=y,store", CD_ERROR_STORAGE_KEY);
    expect_refused("store=disk,x=y", CD_ERROR_STORAGE_VALUE);
    expect_refused("store,x=y", CD_ERROR_STORAGE_SYNTAX);
}

TEST(StorageInfo, MessageNamesTheOriginAndSurvivesLongText) {
    StorageInfo info;
    const std::string text(3000, 'k');
    EXPECT_FALSE(parse_storage_info(text + "=1", "the environment variable CD_STORAGE_INFO", info));
    EXPECT_EQ(std::string_view(message()).find("the environment variable CD_STORAGE_INFO: "), 0u);
    EXPECT_TRUE(message_has("shadow")) << message();
}

TEST(StorageInfo, ChecksumsFollowTheStore) {
    EXPECT_FALSE(StorageInfo().checksummed());
    EXPECT_TRUE(parsed("checksum=crc32c").checksummed());
    EXPECT_TRUE(parsed("store=file").checksummed());
    EXPECT_FALSE(parsed("store=file,checksum=none").checksummed());
    EXPECT_FALSE(parsed("store=memory", parsed("store=file")).checksummed());
}

TEST(StorageInfo, TellsWhatThisBuildCannotDo) {
    for (const char *text :
         {"store=file,shadow=none", "track=pages", "redundancy=single", "redundancy=partner",
          "redundancy=xor", "redundancy=rs", "config=scr.conf", "store=file,flush=/lustre",
          "store=file,redundancy=none,flush=/lustre"}) {
        clear_message();
        EXPECT_EQ(check_supported(parsed(text), origin).code(), CD_ERROR_STORAGE_UNSUPPORTED)
            << text;
        EXPECT_STRNE(message(), "") << text;
    }
    EXPECT_TRUE(check_supported(parsed("store=memory,dir=/scratch,redundancy=none,set_size=4,"
                                       "group=rack,sync=none,checksum=crc32c,track=explicit,"
                                       "shadow=none"),
                                origin));
    EXPECT_TRUE(check_supported(parsed("store=file,redundancy=rs:3,redundancy_mode=async,"
                                       "flush=/lustre,flush_interval=2"),
                                origin));
    EXPECT_TRUE(check_supported(parsed("store=file,config=scr.conf,flush=/lustre"), origin));
}

TEST(StorageInfo, KeysThatContradictEachOtherOrDoNothingAreBothNamed) {
    struct Case {
        const char *text;
        const char *names;
    };
    for (const auto &[text, names] :
         {Case{"store=file,config=F,redundancy=rs:3", "config=F and redundancy= contradict"},
          Case{"store=file,config=F,set_size=8", "config=F and set_size= contradict"},
          Case{"store=file,redundancy=xor,flush_interval=1", "flush_interval=1 without flush="},
          Case{"flush_interval=2", "flush_interval=2 without flush="}}) {
        clear_message();
        EXPECT_EQ(check_supported(parsed(text), origin).code(), CD_ERROR_STORAGE_UNSUPPORTED)
            << text;
        EXPECT_TRUE(message_has(names)) << message();
    }
    EXPECT_TRUE(check_supported(
        parsed("store=file,config=F,group=rack,redundancy_mode=async,flush=/l,flush_interval=1"),
        origin));
}

// A root's own text is read over that of the environment.
TEST(StorageInfo, WhatIsGivenLastSaysHowPointsInTimeAreProtected) {
    const StorageInfo plain = parsed("store=file,redundancy=rs:3,set_size=4");
    const StorageInfo levels = parsed("store=file,config=F");
    EXPECT_EQ(parsed("config=F", plain), levels);
    EXPECT_EQ(parsed("redundancy=rs:3,set_size=4", levels), plain);
    EXPECT_FALSE(parsed("redundancy=none", levels).is_protected());
    EXPECT_FALSE(check_supported(parsed("set_size=4", levels), origin));
    EXPECT_FALSE(check_supported(parsed("config=F,set_size=4", plain), origin));
}

TEST(StorageInfo, WhoWantsProtectionIsKnownBeforeAllIsRead) {
    EXPECT_TRUE(asks_for_protection("redundancy=xor", "dir=/a"));
    EXPECT_TRUE(asks_for_protection("config=F", "colour=red"));
    EXPECT_TRUE(asks_for_protection("", "config=F,redundancy=none"));
    EXPECT_TRUE(asks_for_protection("redundancy=none", "config=F"));
    EXPECT_FALSE(asks_for_protection("config=F", "redundancy=none"));
    EXPECT_FALSE(asks_for_protection("redundancy=xor", "redundancy=none"));
    EXPECT_FALSE(asks_for_protection("config=F", "store=memory"));
}

TEST(StorageInfo, WhereAFamilyIsKeptAndHowItIsProtectedIsTheRootsInAllItsKeys) {
    const StorageInfo plain = parsed("store=file");
    const StorageInfo root = parsed("store=file,redundancy=xor");
    EXPECT_TRUE(root.is_protected());
    EXPECT_TRUE(parsed("config=f").is_protected());
    for (const char *other :
         {"store=memory", "dir=/other", "sync=none", "keep=2", "log_limit=1M", "checksum=none",
          "redundancy=single", "redundancy=none", "set_size=3", "group=rack", "config=f",
          "redundancy_mode=async", "flush=/lustre", "flush_interval=2"}) {
        for (const StorageInfo &given : {plain, root}) {
            if (parsed(other, given) != given) {
                clear_message();
                EXPECT_EQ(check_same_store(parsed(other, given), given, "0/root/1/0").code(),
                          CD_ERROR_STORAGE_UNSUPPORTED)
                    << other;
                EXPECT_TRUE(message_has("0/root/1/0"));
            }
        }
    }
    for (const StorageInfo &given : {plain, root, parsed("")}) {
        const char *own = given == root ? "shadow=none,checksum=crc32c,redundancy=xor"
                                        : "shadow=none,checksum=crc32c";
        EXPECT_TRUE(check_same_store(parsed(own, given), given, "0/root/1/0")) << own;
    }
}

TEST(StorageInfo, DocumentHasEveryKey) {
    const auto path =
        std::filesystem::path(CD_REDSET_VECTORS) / "../../docs/reference/storage-info.md";
    std::string document = scratch::content(path.lexically_normal());
    ASSERT_NE(document, "") << path;
    std::erase(document, '`');
    for (const StorageKey &key : storage_keys()) {
        const std::string row = std::string("\n| ") + key.key + " | " + key.allowed + " |";
        EXPECT_NE(document.find(row), std::string::npos) << row;
    }
}

} // namespace
} // namespace cd
