// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors

// The first add of a process: there is no store memory yet that could be reused. Each is measured
// in a process of its own, forked from this one before it has used the library.
#include "measure.h"
#include "shapes.h"

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>

namespace {

struct Times {
    double warm;  // memcpy into memory that was used before
    double fresh; // memcpy into memory that the kernel has yet to provide
    double add;
};

// Memory that this process has not touched yet.
class Fresh {
public:
    explicit Fresh(size_t size) : size_(size) {
        at_ = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (at_ == MAP_FAILED) {
            std::perror("cd_bench: mmap");
            std::exit(EXIT_FAILURE);
        }
        ::madvise(at_, size, MADV_HUGEPAGE);
    }
    Fresh(const Fresh &) = delete;
    Fresh &operator=(const Fresh &) = delete;
    ~Fresh() { ::munmap(at_, size_); }

    std::byte *data() const { return static_cast<std::byte *>(at_); }

private:
    void *at_;
    size_t size_;
};

Times measure_once(const Laid &laid, const List &list) {
    Times times = {};
    const auto copy_to = [&](const Fresh &memory) {
        return seconds([&] { laid.copy(memory.data(), stage().application.at()); });
    };
    copy_to(Fresh(laid.span())); // the kernel itself may be slower the first time
    {
        const Fresh memory(laid.span());
        times.fresh = copy_to(memory);
        times.warm = copy_to(memory);
    }
    const Root root;
    times.add = seconds([&] { add(root.handle(), list); });
    return times;
}

Times in_own_process(const Laid &laid, const List &list) {
    int ends[2];
    Times times = {};
    if (::pipe(ends) != 0) {
        std::perror("cd_bench: pipe");
        std::exit(EXIT_FAILURE);
    }
    const pid_t child = ::fork();
    if (child == 0) {
        times = measure_once(laid, list);
        ::_exit(::write(ends[1], &times, sizeof times) == sizeof times ? EXIT_SUCCESS
                                                                       : EXIT_FAILURE);
    }
    ::close(ends[1]);
    const bool complete = ::read(ends[0], &times, sizeof times) == sizeof times;
    ::close(ends[0]);
    if (child < 0 || ::waitpid(child, nullptr, 0) != child || !complete) {
        std::fprintf(stderr, "cd_bench: a process for a first add failed\n");
        std::exit(EXIT_FAILURE);
    }
    return times;
}

void first_add(benchmark::State &state, size_t size_mib, const Shape &shape) {
    const Laid laid(size_mib, shape);
    const List list = laid.list();
    Samples against_warm;
    Samples against_fresh;
    for (auto _ : state) {
        const Times times = in_own_process(laid, list);
        state.SetIterationTime(times.add);
        against_warm.add(times.warm / times.add);
        against_fresh.add(times.fresh / times.add);
    }
    state.counters["ratio"] = against_warm.median();
    state.counters["against_fresh"] = against_fresh.median();
}

} // namespace

void register_first_adds() {
    for (const size_t size : sizes_mib) {
        for (const Shape &shape : {one_entry, adjacent}) {
            register_case(case_name("first add", size, shape), size > 64 ? 3 : 9,
                          [=](benchmark::State &state) { first_add(state, size, shape); });
        }
    }
}
