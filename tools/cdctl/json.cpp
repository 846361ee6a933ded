// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "json.h"

#include "text.h"

namespace cdctl {

void Json::separate() {
    if (after_key_) {
        after_key_ = false;
        return;
    }
    if (!first_) {
        text_ += ',';
    }
    if (depth_ > 0) {
        text_ += '\n' + std::string(2 * depth_, ' ');
    }
    first_ = false;
}

Json &Json::begin(char bracket) {
    separate();
    text_ += bracket;
    ++depth_;
    first_ = true;
    return *this;
}

Json &Json::end(char bracket) {
    --depth_;
    if (!first_) {
        text_ += '\n' + std::string(2 * depth_, ' ');
    }
    text_ += bracket;
    first_ = false;
    return *this;
}

Json &Json::key(std::string_view name) {
    separate();
    write_text(name);
    text_ += ": ";
    after_key_ = true;
    return *this;
}

Json &Json::value(std::string_view text) {
    separate();
    write_text(text);
    return *this;
}

Json &Json::raw(std::string_view text) {
    separate();
    text_ += text;
    return *this;
}

void Json::write_text(std::string_view text) {
    constexpr char digits[] = "0123456789abcdef";
    text_ += '"';
    while (!text.empty()) {
        const size_t length = character_length(text);
        const auto first = static_cast<unsigned char>(text.front());
        if (length == 0) {
            text_ += "\\ufffd";
        } else if (first == '"' || first == '\\') {
            text_ += {'\\', text.front()};
        } else if (first < 0x20 || first == 0x7f) {
            text_ += std::string("\\u00") + digits[first >> 4U] + digits[first & 15U];
        } else {
            text_ += text.substr(0, length);
        }
        text.remove_prefix(length > 0 ? length : 1);
    }
    text_ += '"';
}

} // namespace cdctl
