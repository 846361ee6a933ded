// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors

// Domains inside each other: the smaller one repairs a small fault cheaply, the larger one repairs
// a large fault completely.
//
// The root keeps a total, its child one part of the work. When the part goes wrong the child
// alone is restored, and the total stays as it is. When everything goes wrong the root is
// restored: it brings back its own total and, from the child's data, the part too.
#include <cd/cd.hpp>

#include <cstdlib>
#include <exception>
#include <iostream>
#include <stdexcept>

namespace {

struct Work {
    int total;
    int part;
};

void show(const char *what, const Work &work) {
    std::cout << "  " << what << ": total " << work.total << ", part " << work.part << '\n';
}

void expect(const Work &work, int total, int part) {
    if (work.total != total || work.part != part) {
        throw std::logic_error("that is not what memory should hold now");
    }
}

void run() {
    Work work = {10, 1};

    cd::Domain root = cd::Domain::root("root");
    std::cout << "created the root " << root.name() << '\n';
    root.preserve(work.total);
    work.total = 11;

    cd::Domain child = root.child();
    std::cout << "created its child " << child.name() << '\n';
    child.preserve(work.part);
    work.part = -1;
    show("the part goes wrong      ", work);
    child.restore();
    show("the child is restored    ", work);
    expect(work, 11, 1);

    work.part = 2;
    child.commit();
    show("done, child is committed ", work);

    work = {-1, -1};
    show("everything goes wrong    ", work);
    root.restore();
    show("the root is restored     ", work);
    expect(work, 10, 1);
}

} // namespace

int main() {
    try {
        run();
    } catch (const std::exception &error) {
        std::cerr << error.what() << '\n';
        return EXIT_FAILURE;
    }
    return EXIT_SUCCESS;
}
