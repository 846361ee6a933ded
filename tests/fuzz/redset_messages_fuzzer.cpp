// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors

// Members of a set tell anything: who hears it either refuses, or has a survey within bounds.
#include "lying_exchange.h"
#include "redset/encode.h"
#include "redset/survey.h"
#include "redset/thread_exchange.h"
#include "scratch_folder.h"

#include <cstdint>
#include <string>
#include <vector>

using namespace cd;
using namespace cd::redset;
using fuzz::require;

namespace {

const Set sets[] = {
    {{Scheme::xor_set, 3, 1}, 0, 1, 3, {0, 1, 2}},
    {{Scheme::reed_solomon, 4, 2}, 0, 1, 4, {0, 1, 2, 3}},
    {{Scheme::partner, 3, 1}, 0, 1, 3, {0, 1, 2}},
};

// Directories in which members that do not lie have applied each of the sets.
class Applied {
public:
    Applied() {
        for (size_t i = 0; i < std::size(sets); ++i) {
            const Place place = place_of(i);
            require(run_members(sets[i].coding.members,
                                [&](Exchange &exchange) {
                                    return apply(exchange, sets[i], place, {}, {false});
                                })
                        .is_ok(),
                    "a set of no files can be applied");
        }
    }
    Place place_of(size_t set) const { return {folder_.path() + "/" + std::to_string(set), ""}; }
    Place elsewhere() const { return {folder_.path() + "/again", ""}; }

private:
    fuzz::ScratchFolder folder_;
};

} // namespace

// NOLINTNEXTLINE(readability-identifier-naming): the name that libFuzzer calls
extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const Applied applied;
    fuzz::Input input(data, size);
    const size_t chosen = input.number8() % std::size(sets);
    const Set &set = sets[chosen];
    fuzz::LyingExchange others(input, set.coding.members);
    if (input.number8() % 4 == 0) {
        (void)apply(others, set, applied.elsewhere(), {}, {false}).is_ok();
        return 0;
    }
    const Contents contents = input.number8() % 2 == 0 ? Contents::compared : Contents::trusted;
    Survey survey;
    if (take_survey(others, set, applied.place_of(chosen), contents, survey)) {
        const auto members = static_cast<size_t>(set.coding.members);
        require(survey.files.size() == members && survey.members.size() == members &&
                    survey.layout.has_value(),
                "a survey is of all members");
        require(!survey.checksums || survey.checksums->size() == members,
                "checksums are of all members");
        for (const Row &row : survey.rows) {
            for (const auto &items : {row.sources, row.outputs}) {
                for (const Item &item : items) {
                    require(item.member >= 0 && static_cast<size_t>(item.member) < members,
                            "rows are of members");
                }
            }
        }
    }
    return 0;
}
