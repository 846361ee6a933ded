// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "describe.h"

#include "output.h"

#include "runtime/identity.h"

#include <cstdio>
#include <string_view>

namespace cdctl {

void print_json(const Json &json) {
    std::puts(json.dump(2, ' ', false, Json::error_handler_t::replace).c_str());
}

Json text_or_null(const std::string &text) { return text.empty() ? Json() : Json(text); }

std::string identity_of(const cd::Superblock &header, const cd::StoredCd &stored) {
    return cd::make_identity(header.rank, header.name, stored.depth, stored.sibling);
}

std::string place_of(const cd::Loaded &loaded, const cd::StoredKey &key) {
    const cd::StoredName &name = loaded.state.names.at(key.name);
    switch (name.kind) {
    case cd::format::NameKind::object:
    case cd::format::NameKind::program: {
        const std::string_view object = std::string_view(name.text).substr(0, name.text.rfind(' '));
        return std::string(object) + "+" + hexadecimal(key.offset);
    }
    case cd::format::NameKind::region:
        return "region " + name.text + "+" + hexadecimal(key.offset);
    case cd::format::NameKind::path:
        break;
    }
    return "range " + std::to_string(key.add_index) +
           (name.text.empty() ? std::string(" of the root") : " of child " + name.text) + "+" +
           hexadecimal(key.offset);
}

uint64_t bytes_of(const cd::StoredEntries &entries) {
    uint64_t bytes = 0;
    for (const auto &[place, entry] : entries) {
        bytes += entry.end - place.begin;
    }
    return bytes;
}

Totals totals_of(const cd::State &state) {
    Totals totals;
    for (const auto &[number, stored] : state.cds) {
        totals.entries += stored.entries.size();
        totals.bytes += bytes_of(stored.entries);
    }
    return totals;
}

const char *access_text(addr_type access) {
    return access == CD_READ_WRITE ? "READ_WRITE" : "READ_ONLY";
}

const char *scope_text(addr_scope scope) {
    return scope == CD_CONSTRAINED ? "CONSTRAINED" : "GLOBAL";
}

const char *restoration_text(cd::Restoration restoration) {
    constexpr const char *texts[] = {"copy", "parent", "regen"};
    return texts[static_cast<size_t>(restoration)];
}

std::string id_text(const cd::Superblock &header) {
    std::string text;
    for (const std::byte byte : header.id) {
        const auto value = std::to_integer<unsigned>(byte);
        text += {"0123456789abcdef"[value >> 4U], "0123456789abcdef"[value & 15U]};
    }
    return text;
}

std::string use_text(const StoreReader &store) {
    if (!store.user()) {
        return {};
    }
    return *store.user() == 0 ? ", in use" : ", in use by process " + std::to_string(*store.user());
}

Json describe(const StoreReader &store) {
    Json json = {{"path", store.path()},
                 {"condition", condition_text(store.condition())},
                 {"problem", text_or_null(store.problem())},
                 {"in_use", store.user().has_value()},
                 {"process", nullptr},
                 {"file_bytes", store.size()}};
    if (store.user().value_or(0) != 0) {
        json["process"] = *store.user();
    }
    if (!store.has_state()) {
        return json;
    }
    const cd::Superblock &header = store.loaded().header;
    const cd::State &state = store.loaded().state;
    const Totals totals = totals_of(state);
    json["identity"] = identity_of(header, state.cds.at(cd::State::root));
    json["rank"] = header.rank;
    json["name"] = header.name;
    json["epoch"] = state.cds.at(cd::State::root).epoch;
    json["older_epochs"] = Json::array();
    for (const cd::StoredVersion &version : state.versions) {
        json["older_epochs"].push_back(version.epoch);
    }
    json["cds"] = state.cds.size();
    json["entries"] = totals.entries;
    json["bytes"] = totals.bytes;
    return json;
}

} // namespace cdctl
