// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors

// Large data in the steady state, against a warm memcpy of the same bytes.
#include "measure.h"
#include "shapes.h"

namespace {

constexpr double target = 0.95;
constexpr double checksum_target = 0.6;

// Steady: what earlier domains gave back is used again.
void add_again(benchmark::State &state, const Laid &laid) {
    const List list = laid.list();
    cd_handle root = nullptr;
    const auto create = [&] {
        root = create_cd(nullptr, nullptr, COMM_LOGGING_DISABLED, "bench", nullptr);
        must(root != nullptr);
    };
    create();
    add(root, list);
    must(commit_cd(root));
    measure_ratio(
        state, [&] { laid.copy_out(); }, create, [&] { add(root, list); },
        [&] { must(commit_cd(root)); });
}

void advance(benchmark::State &state, const Laid &laid, const char *storage_info = nullptr) {
    const List list = laid.list();
    const Root root("bench", storage_info);
    const auto promote = [&] { add(root.handle(), list); };
    const auto advance = [&] { must(advance_cd_point_in_time(root.handle())); };
    promote();
    advance();
    promote();
    advance(); // now there are two places for the data
    measure_ratio(
        state, [&] { laid.copy_out(); }, promote, advance, nothing);
}

// What shadow=none costs when it has to keep the most: every page has changed.
void advance_in_place(benchmark::State &state, const Laid &laid) {
    constexpr size_t page = 4096;
    const List list = laid.list();
    const Root root("bench", "shadow=none");
    add(root.handle(), list);
    measure_ratio(
        state, [&] { laid.copy_out(); },
        [&] {
            for (const cd_addrspec &range : list) {
                auto *bytes = static_cast<unsigned char *>(range.address);
                for (size_t at = 0; at < range.length; at += page) {
                    ++bytes[at];
                }
            }
            add(root.handle(), list);
        },
        [&] { must(advance_cd_point_in_time(root.handle())); }, nothing);
}

void restore(benchmark::State &state, const Laid &laid, const char *storage_info = nullptr) {
    const Root root("bench", storage_info);
    add(root.handle(), laid.list());
    laid.copy_out();
    measure_ratio(
        state, [&] { laid.copy_back(); }, nothing, [&] { must(restore_cd(root.handle())); },
        nothing);
}

// How fast any copy can be that goes to places of its own, in turn to two, as advances do.
void copy_elsewhere(benchmark::State &state, size_t size) {
    const Memory places[] = {Memory(size), Memory(size)};
    size_t turn = 0;
    measure_ratio(
        state, [&] { std::memcpy(stage().copy.at(), stage().application.at(), size); },
        [&] { turn = 1 - turn; },
        [&] { std::memcpy(places[turn].at(), stage().application.at(), size); }, nothing);
}

int64_t rounds(size_t size_mib) { return size_mib == 1 ? 501 : size_mib == 64 ? 31 : 7; }

template <typename Operation>
void register_shapes(const std::string &name, const Operation &operation) {
    for (const size_t size : sizes_mib) {
        for (const Shape &shape : {one_entry, adjacent, apart}) {
            register_case(case_name(name, size, shape), rounds(size), [=](benchmark::State &state) {
                const Laid laid(size, shape);
                operation(state, laid);
                if (shape.gap == 0) {
                    set_target(state, target);
                }
            });
        }
    }
}

} // namespace

void register_large_data() {
    register_shapes("add", add_again);
    register_shapes("advance", [](auto &state, const Laid &laid) { advance(state, laid); });
    register_shapes("restore", [](auto &state, const Laid &laid) { restore(state, laid); });

    register_case("memcpy to places of its own/1 MiB", rounds(1),
                  [](benchmark::State &state) { copy_elsewhere(state, mib); });

    constexpr size_t size = 64;
    const Laid laid(size, one_entry);
    register_case(case_name("advance, checksum=crc32c", size, one_entry), rounds(size),
                  [=](benchmark::State &state) {
                      advance(state, laid, "checksum=crc32c");
                      set_target(state, checksum_target);
                  });
    register_case(case_name("restore, checksum=crc32c", size, one_entry), rounds(size),
                  [=](benchmark::State &state) { restore(state, laid, "checksum=crc32c"); });
    register_case(case_name("advance, shadow=none", size, one_entry), rounds(size),
                  [=](benchmark::State &state) { advance_in_place(state, laid); });
}
