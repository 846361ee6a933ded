// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "dice.h"
#include "truth.h"

namespace crash {

// Makes up the steps of a random program. All of them are legal.
class Generator {
public:
    // next_id: for the CDs that are created.
    Generator(Dice &dice, int next_id) : dice_(dice), next_id_(next_id) {}

    model::Step next(const Truth &truth);

private:
    model::Step propose(const Truth &truth);
    model::Step on_a_cd(const Truth &truth);
    model::Step of_file(const Truth &truth);
    model::Step write();
    int slot();
    std::vector<model::Element> elements();
    static std::vector<model::Element> read_only(std::vector<model::Element> list);
    std::vector<model::Element> held(const model::Cd &cd);

    Dice &dice_;
    int next_id_;
};

} // namespace crash
