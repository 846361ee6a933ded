// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors

// The C++ class in a program without exceptions: every operation by its result.
#include "cd/cd.hpp"

#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#ifdef __cpp_exceptions
#error "this is about programs that are compiled with -fno-exceptions"
#endif

namespace {

int failures = 0;

void expect(bool right, const char *what) {
    if (!right) {
        std::fprintf(stderr, "not so: %s; %s\n", what, cd_last_error_message());
        ++failures;
    }
}

void work(cd::Domain &root) {
    std::vector<int> values(100, 1);
    int grid[2][2] = {{1, 2}, {3, 4}};
    expect(bool(root.try_preserve(values)), "a vector is kept");
    expect(bool(root.try_preserve(grid)), "an array is kept");
    values[7] = grid[1][1] = 0;
    expect(bool(root.try_restore()), "the root is restored");
    expect(values[7] == 1 && grid[1][1] == 4, "what was kept is back");
    expect(bool(root.try_advance()), "the root is advanced");

    cd::Result<cd::Domain> child = root.try_child();
    expect(bool(child), "a child is created");
    expect(*child->try_name() == "0/solver/1/0", "it has its name");
    expect(root.try_query()->children == 1, "it is the root's");
    expect(bool(child->try_commit()), "it is committed");
}

void refused() {
    cd::Domain none;
    const cd::Result<> result = none.try_restore();
    expect(!result && result.code() == CD_ERROR_INVALID_HANDLE, "what names no CD is refused");
    expect(!result.message().empty(), "the refusal says why");
    expect(cd::Domain::try_root("a/b").code() == CD_ERROR_NAME_INVALID, "a bad name is refused");
}

} // namespace

int main() {
    cd::Result<cd::Domain> created = cd::Domain::try_root("solver");
    expect(bool(created), "a root is created");
    cd::Domain root = std::move(*created);
    work(root);
    expect(bool(root.try_commit()) && !root, "the root is committed");
    refused();
    return failures == 0 ? 0 : 1;
}
