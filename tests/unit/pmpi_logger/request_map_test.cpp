// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "requests/request_map.h"

#include <gtest/gtest.h>

#include <deque>
#include <random>
#include <unordered_map>

namespace cd::logger {

// The map only points to them.
struct Request {};

namespace {

TEST(RequestMapTest, FindsWhatAMapWouldFind) {
    std::mt19937 random(20261121); // the same in every run
    std::deque<Request> requests;
    // Addresses of neighbours, numbers that count up, and few enough to meet often.
    for (const uint64_t step : {uint64_t{1}, uint64_t{192}, uint64_t{1} << 32}) {
        RequestMap map;
        std::unordered_map<uint64_t, Request *> model;
        for (int i = 0; i < 20000; ++i) {
            const uint64_t key = random() % 300 * step;
            const auto known = model.find(key);
            ASSERT_EQ(map.find(key), known != model.end() ? known->second : nullptr);
            if (random() % 2 == 0) {
                Request &request = requests.emplace_back();
                map.add(key, request);
                model[key] = &request;
            } else if (known != model.end()) {
                map.remove(key, *known->second);
                model.erase(known);
            }
        }
        for (const auto &[key, request] : model) {
            ASSERT_EQ(map.find(key), request);
        }
    }
}

TEST(RequestMapTest, RemovesOnlyTheOneThatItIsAskedFor) {
    RequestMap map;
    Request first;
    Request second;
    map.add(1, first);
    map.add(1, second);
    map.remove(1, first);
    EXPECT_EQ(map.find(1), &second);
    map.remove(1, second);
    EXPECT_EQ(map.find(1), nullptr);
    map.remove(1, second);
    EXPECT_EQ(map.find(1), nullptr);
}

} // namespace
} // namespace cd::logger
