// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include <concepts>
#include <string>
#include <string_view>

namespace cdctl {

// Writes JSON (RFC 8259), indented by two blanks. Replaces bytes that are not UTF-8 by U+FFFD.
class Json {
public:
    Json &begin_object() { return begin('{'); }
    Json &end_object() { return end('}'); }
    Json &begin_array() { return begin('['); }
    Json &end_array() { return end(']'); }

    // Writes the key of the next value of an object.
    Json &key(std::string_view name);

    Json &value(std::string_view text);
    Json &value(const char *text) { return value(std::string_view(text)); }
    Json &value(bool truth) { return raw(truth ? "true" : "false"); }
    Json &value(std::integral auto number) { return raw(std::to_string(number)); }
    Json &null() { return raw("null"); }

    template <typename Value> Json &member(std::string_view name, const Value &of_it) {
        return key(name).value(of_it);
    }

    const std::string &text() const { return text_; }

private:
    Json &begin(char bracket);
    Json &end(char bracket);
    Json &raw(std::string_view text);
    void separate();
    void write_text(std::string_view text);

    std::string text_;
    size_t depth_ = 0;
    bool first_ = true; // in its object or array
    bool after_key_ = false;
};

} // namespace cdctl
