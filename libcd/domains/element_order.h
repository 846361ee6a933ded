// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "domains/arguments.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace cd {

// One element of a call's list, or several that follow each other there and in memory and differ in
// nothing else.
struct Element {
    Range range;
    addr_type access;
    addr_scope scope;
    uint32_t index; // in the list, of the first
    uint32_t count; // how many
};

enum class Neighbours : uint8_t { apart, together };

// The elements of a (checked) list that are not empty, in order of address if that gives the same
// result as the given order: neighbours are then found without searching. It does unless elements
// overlap. May throw std::bad_alloc.
std::vector<Element> ordered_elements(const cd_addrspec *list, int count);

// The same of a request whose call is checked. Nothing where an element is not legal, of which
// check_request tells: lists are long, and walked once.
std::optional<std::vector<Element>> legal_elements(const AddRequest &request,
                                                   Neighbours neighbours);

} // namespace cd
