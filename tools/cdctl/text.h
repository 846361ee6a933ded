// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace cdctl {

// Returns the length of the UTF-8 character at the beginning, 0 if there is none.
size_t character_length(std::string_view text);

// Escapes control characters as \xNN, for terminals.
std::string printable(std::string_view text);

// "1.5 MiB"
std::string size_text(uint64_t bytes);

// "0x7f00"
std::string hexadecimal(uint64_t value);

// A table whose columns fit their contents.
class Table {
public:
    enum class Align { left, right };
    struct Column {
        std::string title;
        Align align;
    };

    explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}
    void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
    bool empty() const { return rows_.empty(); }
    // Prints to standard output, indented by so many blanks.
    void print(int indentation = 0) const;

private:
    std::vector<Column> columns_;
    std::vector<std::vector<std::string>> rows_;
};

} // namespace cdctl
