// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// Ranges of which only a part lies in a region that has a name.

#include "restarting.h"

#include <algorithm>
#include <vector>

namespace restarting {
namespace {

constexpr size_t part = 1000; // the region is the middle one of three

class Straddling : public Restarting {
protected:
    struct Program {
        bool names_first; // before create_cd
        bool adds_region_again;
    };
    // Memory is filled by the first, and restored by the others.
    void run_programs(const std::vector<Program> &programs) {
        std::filesystem::remove(store());
        for (size_t i = 0; i < programs.size(); ++i) {
            SCOPED_TRACE(i);
            run([&] { return run_one(programs[i], i); });
        }
    }

private:
    std::string run_one(const Program &program, size_t number) const {
        std::vector<char> bytes(4 * part + number * 24);
        char *const begin = bytes.data() + number * 24;
        std::fill_n(begin, 3 * part, number == 0 ? 'x' : 'y');
        const auto name = [&] { return cd_name_region("middle", begin + part, part); };
        if (program.names_first) {
            name();
        }
        cd_handle root = create();
        name();
        if (!add(root, begin, 3 * part)) {
            return refusal();
        }
        const cd_addrspec region = {begin + part, part, CD_READ_WRITE, CD_GLOBAL};
        if (program.adds_region_again &&
            (delete_from_cd(root, &region, 1) != CD_SUCCESS || !add(root, begin + part, part))) {
            return refusal();
        }
        if (number > 0 && restore_cd(root) != CD_SUCCESS) {
            return refusal();
        }
        const bool right =
            std::all_of(begin, begin + 3 * part, [](char byte) { return byte == 'x'; });
        return !right ? "wrong data" : info_of(root).unbound != 0 ? "unbound" : "";
    }
};

// Whether the region is bound before the call or by it: its part finds its place by the name, what
// is on both sides by the order.
TEST_F(Straddling, ARangeThatIsPartlyInARegionIsFoundInEachProcess) {
    for (const bool first : {true, false}) {
        run_programs({{first, false}, {true, false}, {false, false}, {true, false}});
        run_programs({{first, true}, {true, false}, {false, false}, {true, false}});
    }
}

} // namespace
} // namespace restarting
