// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "redset/offline.h"

#include <string>
#include <vector>

namespace cd::redset {

enum class Claim {
    counts,
    superseded, // another set counts for files that both have
    undecided,  // nothing tells which of them does
};

struct Judgement {
    Claim claim = Claim::counts;
    std::string why; // a sentence with the file and the other set
};

// Sets of different times may tell of the same files, or have a descriptor or scheme file of one
// name, as where a program gave the same ones to redset once more with another scheme: to bring
// back those of one destroys those of the other. Which one counts is told by the descriptors that
// both have; else by which one fits the files that are there, and the other does not. Of each set
// in their order. Only reads. May throw.
std::vector<Judgement> judge_rivals(const std::vector<const FoundSet *> &sets);

} // namespace cd::redset
