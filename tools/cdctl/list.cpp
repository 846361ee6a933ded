// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "command.h"
#include "describe.h"
#include "leftovers.h"
#include "path_args.h"
#include "text.h"

#include <cstdio>

namespace cdctl {
namespace {

void add_row(const Inspection &store, Table &table) {
    const std::string condition = condition_text(store.condition()) + use_text(store);
    if (!store.has_state()) {
        table.add({printable(store.path()), "-", "-", "-", "-", "-", "-", "-",
                   size_text(store.size()), condition});
        return;
    }
    const cd::Loaded &loaded = store.loaded();
    const Totals totals = totals_of(loaded.state);
    table.add({printable(store.path()), std::to_string(loaded.header.rank),
               printable(loaded.header.name),
               std::to_string(loaded.state.cds.at(cd::State::root).epoch),
               std::to_string(loaded.state.versions.size()),
               std::to_string(loaded.state.cds.size()), std::to_string(totals.entries),
               size_text(totals.bytes), size_text(store.size()), condition});
}

void add_object(const Inspection &store, Json &json) {
    json.begin_object();
    describe_file(store, json);
    if (store.has_state()) {
        describe_summary(store, json);
    }
    json.end_object();
}

} // namespace

Outcome list(const Arguments &arguments) {
    using enum Table::Align;
    Table table({{"STORE", left},
                 {"RANK", right},
                 {"NAME", left},
                 {"EPOCH", right},
                 {"OLDER", right},
                 {"CDS", right},
                 {"ENTRIES", right},
                 {"BYTES", right},
                 {"FILE", right},
                 {"CONDITION", left}});
    Json json;
    json.begin_object().key("stores").begin_array();
    const Places places(arguments.paths);
    const Outcome outcome = places.visit([&](Inspection &store) {
        if (arguments.json) {
            add_object(store, json);
            return Outcome::good;
        }
        add_row(store, table);
        if (!store.problem().empty()) {
            std::fprintf(stderr, "cdctl: %s\n", printable(store.problem()).c_str());
        }
        return Outcome::good;
    });
    const std::vector<Leftover> leftovers = find_leftovers(places.directories());
    tell_of(leftovers);
    if (arguments.json) {
        json.end_array();
        describe(leftovers, json);
        json.end_object();
        std::puts(json.text().c_str());
    } else if (!table.empty()) {
        table.print();
    }
    return outcome;
}

} // namespace cdctl
