// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>

namespace cdctl {
namespace {

constexpr char digits[] = "0123456789abcdef";

unsigned byte_at(std::string_view text, size_t index) {
    return index < text.size() ? static_cast<unsigned char>(text[index]) : 0U;
}

bool controls_terminal(std::string_view character) {
    const unsigned first = byte_at(character, 0);
    return first < 0x20 || first == 0x7f || (first == 0xc2 && byte_at(character, 1) < 0xa0);
}

// Returns how many characters a terminal shows.
size_t width(std::string_view text) {
    return static_cast<size_t>(std::ranges::count_if(
        text, [](char byte) { return (static_cast<unsigned char>(byte) & 0xc0U) != 0x80; }));
}

} // namespace

size_t character_length(std::string_view text) {
    const unsigned first = byte_at(text, 0);
    if (text.empty() || first < 0x80) {
        return text.empty() ? 0 : 1;
    }
    const size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
    // Overlong forms, surrogates, and values above Unicode.
    const unsigned second = byte_at(text, 1);
    if (first < 0xc2 || first > 0xf4 || (first == 0xe0 && second < 0xa0) ||
        (first == 0xed && second > 0x9f) || (first == 0xf0 && second < 0x90) ||
        (first == 0xf4 && second > 0x8f)) {
        return 0;
    }
    for (size_t i = 1; i < length; ++i) {
        if ((byte_at(text, i) & 0xc0U) != 0x80) {
            return 0;
        }
    }
    return length;
}

std::string printable(std::string_view text) {
    std::string shown;
    while (!text.empty()) {
        const size_t length = character_length(text);
        const std::string_view character = text.substr(0, std::max<size_t>(length, 1));
        if (length > 0 && !controls_terminal(character)) {
            shown += character;
        } else {
            for (const char byte : character) {
                const auto value = static_cast<unsigned char>(byte);
                shown += {'\\', 'x', digits[value >> 4U], digits[value & 15U]};
            }
        }
        text.remove_prefix(character.size());
    }
    return shown;
}

std::string size_text(uint64_t bytes) {
    constexpr const char *units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    size_t unit = 0;
    auto value = static_cast<double>(bytes);
    while (value >= 1024 && unit + 1 < std::size(units)) {
        value /= 1024;
        ++unit;
    }
    std::array<char, 32> shown = {};
    const int places = unit == 0 || value >= 100 ? 0 : 1;
    std::snprintf(shown.data(), shown.size(), "%.*f %s", places, value, units[unit]);
    return shown.data();
}

std::string hexadecimal(uint64_t value) {
    std::array<char, 16> shown = {};
    char *end = std::to_chars(shown.data(), shown.data() + shown.size(), value, 16).ptr;
    return "0x" + std::string(shown.data(), end);
}

void Table::print(int indentation) const {
    std::vector<size_t> widths;
    for (size_t i = 0; i < columns_.size(); ++i) {
        size_t most = width(columns_[i].title);
        for (const auto &row : rows_) {
            most = std::max(most, width(row[i]));
        }
        widths.push_back(most);
    }
    const auto print_line = [&](const auto &text_of) {
        std::string line(static_cast<size_t>(indentation), ' ');
        for (size_t i = 0; i < columns_.size(); ++i) {
            const std::string &text = text_of(i);
            const std::string blanks(widths[i] - width(text), ' ');
            line += i > 0 ? "  " : "";
            line += columns_[i].align == Align::left ? text + blanks : blanks + text;
        }
        line.erase(line.find_last_not_of(' ') + 1);
        std::puts(line.c_str());
    };
    print_line([&](size_t i) -> const std::string & { return columns_[i].title; });
    for (const auto &row : rows_) {
        print_line([&](size_t i) -> const std::string & { return row[i]; });
    }
}

} // namespace cdctl
