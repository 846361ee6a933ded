// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include <algorithm>
#include <cstdio>
#include <string_view>

namespace cd::os {

// Returns how many bytes of a character in UTF-8 follow this one.
inline int bytes_to_come(unsigned char character, int continued) {
    if ((character & 0xc0) == 0x80) {
        return std::max(continued - 1, 0);
    }
    return character >= 0xf0 ? 3 : character >= 0xe0 ? 2 : character >= 0xc0 ? 1 : 0;
}

// Calls visit with each piece of text, with \xNN in place of control characters: names from outside
// must not control a terminal. Those of C1 (U+0080 to U+009F) are two bytes in UTF-8, else one.
template <typename Visit> void for_each_printable(const char *text, const Visit &visit) {
    int continued = 0; // how many bytes of a character in UTF-8 are still to come
    for (; *text != '\0'; ++text) {
        const auto character = static_cast<unsigned char>(*text);
        const auto next = static_cast<unsigned char>(text[1]);
        const bool of_c1 = character >= 0x80 && character < 0xa0 && continued == 0;
        const bool begins_c1 = character == 0xc2 && next >= 0x80 && next < 0xa0;
        const bool control = character < 0x20 || character == 0x7f || of_c1 || begins_c1;
        continued = begins_c1 ? 0 : bytes_to_come(character, continued);
        if (control) {
            char code[sizeof "\\xNN"];
            std::snprintf(code, sizeof code, "\\x%02x", character);
            visit(std::string_view(code));
        } else {
            visit(std::string_view(text, 1));
        }
    }
}

} // namespace cd::os
