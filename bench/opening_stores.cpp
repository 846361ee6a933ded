// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors

// How long create_cd takes when its store holds many entries: it reads what the store says of them,
// and not their data. Each time in a process of its own, since a store is opened once in a process.
#include "measure.h"
#include "shapes.h"

#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>

namespace {

constexpr size_t entries = 100'000;
constexpr double target_ms = 100;

enum class Known { by_name, by_order };

// Ranges that do not touch, so that each is an entry.
List ranges(size_t length) {
    List list;
    for (size_t i = 0; i < entries; ++i) {
        list.push_back({stage().application.at(i * (length + 8)), length, READ_WRITE, GLOBAL});
    }
    return list;
}

class Stores {
public:
    Stores() {
        std::string pattern = (std::filesystem::temp_directory_path() / "cd-bench-XXXXXX").string();
        if (::mkdtemp(pattern.data()) == nullptr) {
            std::perror("cd_bench: mkdtemp");
            std::exit(EXIT_FAILURE);
        }
        directory_ = pattern;
    }
    Stores(const Stores &) = delete;
    Stores &operator=(const Stores &) = delete;
    ~Stores() { std::filesystem::remove_all(directory_); }

    cd_handle open() const {
        const std::string storage = "store=file,dir=" + directory_;
        const cd_handle root =
            create_cd(nullptr, storage.c_str(), COMM_LOGGING_DISABLED, "bench", nullptr);
        must(root != nullptr);
        return root;
    }

private:
    std::string directory_;
};

template <typename Body> double in_own_process(const Body &body) {
    int ends[2];
    double answer = 0;
    if (::pipe(ends) != 0) {
        std::perror("cd_bench: pipe");
        std::exit(EXIT_FAILURE);
    }
    const pid_t child = ::fork();
    if (child == 0) {
        answer = body();
        ::_exit(::write(ends[1], &answer, sizeof answer) == sizeof answer ? EXIT_SUCCESS
                                                                          : EXIT_FAILURE);
    }
    ::close(ends[1]);
    const bool complete = ::read(ends[0], &answer, sizeof answer) == sizeof answer;
    ::close(ends[0]);
    if (child < 0 || ::waitpid(child, nullptr, 0) != child || !complete) {
        std::fprintf(stderr, "cd_bench: a process that opens a store failed\n");
        std::exit(EXIT_FAILURE);
    }
    return answer;
}

void open_store(benchmark::State &state, size_t length, Known known) {
    const Stores stores;
    const List list = ranges(length);
    const auto name_them = [&] {
        if (known == Known::by_name) {
            must(cd_name_region("bench", stage().application.at(), entries * (length + 8)));
        }
    };
    in_own_process([&] {
        name_them();
        add(stores.open(), list);
        return 0.0;
    });
    Samples times;
    for (auto _ : state) {
        const double took = in_own_process([&] {
            name_them();
            cd_handle root = nullptr;
            const double opening = seconds([&] { root = stores.open(); });
            cd_info info;
            must(cd_query(root, &info));
            must((known == Known::by_name ? info.bytes : info.unbound) == entries * length);
            return opening;
        });
        state.SetIterationTime(took);
        times.add(took);
    }
    state.counters["ms"] = times.best() * 1e3;
    set_target(state, target_ms);
}

} // namespace

void register_opening_stores() {
    for (const size_t length : {8U, 2048U}) {
        for (const Known known : {Known::by_order, Known::by_name}) {
            register_case("open a store/100,000 entries of " + std::to_string(length) + " bytes, " +
                              (known == Known::by_name ? "named" : "by order"),
                          5, [=](benchmark::State &state) { open_store(state, length, known); });
        }
    }
}
