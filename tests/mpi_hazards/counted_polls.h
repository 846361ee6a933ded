// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "hazard.h"

#include <functional>

// As often as a log that ends with polls in vain has them.
constexpr int polls_in_log = 3;

// What is asked for begins, is polled for, and is taken when it is there.
struct Polling {
    std::function<void()> begin;
    std::function<bool()> poll;
    std::function<void()> take;
};

// A program that counts polls in vain counts as many when it is executed again, and again, although
// its log has ended with so many. Rank 0.
void finds_nothing_as_often(Domain &domain, const Polling &polling, int in_log = polls_in_log);

// Rank 1 does its part when rank 0 has been restored.
void go_on_when_told(const std::function<void()> &part);

// Tells it, and waits until it is done, and no log knows.
void let_rank_1_go_on();
