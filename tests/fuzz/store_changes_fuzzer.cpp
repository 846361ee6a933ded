// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors

// Any bytes as the changes of a record: they make a sound state, or are refused. The snapshot of
// that state makes the same state again.
#include "states.h"

using namespace cd;
using fuzz::require;

// NOLINTNEXTLINE(readability-identifier-naming): the name that libFuzzer calls
extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    fuzz::Input input(data, size);
    State state;
    while (!input.empty()) {
        if (apply_changes(input.counted(), state) != nullptr) {
            return 0;
        }
    }
    fuzz::require_sound(state);
    const std::string text = fuzz::text_of(state);
    State again;
    const char *wrong =
        apply_changes({reinterpret_cast<const std::byte *>(text.data()), text.size()}, again);
    // What is left of a family without a root, or of a CD without its parent, is no state of a
    // store.
    bool family = state.cds.contains(State::root);
    for (const auto &[number, stored] : state.cds) {
        family = family && (number == State::root || state.cds.contains(stored.parent));
    }
    require(!family || (wrong == nullptr && fuzz::text_of(again) == text),
            "a snapshot makes the state that it was made of");
    return 0;
}
