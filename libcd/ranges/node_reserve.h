// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include <bit>
#include <cstddef>
#include <new>

namespace cd {

// Memory for the nodes of one tree, obtained before an insertion so that it cannot fail in the
// middle: absl::btree_map loses nodes when an allocation throws while it splits. Also faster than
// the heap, as nodes go back and forth here.
class NodeReserve {
public:
    NodeReserve() = default;
    NodeReserve(const NodeReserve &) = delete;
    NodeReserve &operator=(const NodeReserve &) = delete;
    ~NodeReserve() {
        while (free_ != nullptr) {
            ::operator delete(pop());
        }
    }

    // After it, one insertion into a tree of that many elements finds its memory here: at worst
    // every node on the way is split, and the root gets a new one above it. May throw
    // std::bad_alloc.
    void prepare_insertion(size_t elements) {
        const auto needed = static_cast<size_t>(std::bit_width(elements)) + 2;
        while (count_ < needed) {
            push(::operator new(node_size));
        }
    }

    void *allocate(size_t size) {
        return size <= node_size && free_ != nullptr ? pop() : ::operator new(at_least_node(size));
    }

    void deallocate(void *node, size_t size) noexcept {
        if (size <= node_size && count_ < most_kept) {
            push(node);
        } else {
            ::operator delete(node);
        }
    }

private:
    // The largest node of the tree, an internal one with 15 elements of 16 bytes and their
    // children.
    static constexpr size_t node_size = 400;
    static constexpr size_t most_kept = 64;

    struct Free {
        Free *next;
    };

    static size_t at_least_node(size_t size) { return size < node_size ? node_size : size; }

    void push(void *node) {
        free_ = new (node) Free{free_};
        ++count_;
    }
    void *pop() {
        Free *node = free_;
        free_ = node->next;
        --count_;
        return node;
    }

    Free *free_ = nullptr;
    size_t count_ = 0;
};

// What a container needs to allocate from a reserve.
template <typename T> class ReserveAllocator {
public:
    using value_type = T;

    explicit ReserveAllocator(NodeReserve &reserve) : reserve_(&reserve) {}
    template <typename Other>
    ReserveAllocator(const ReserveAllocator<Other> &other) : reserve_(&other.reserve()) {}

    T *allocate(size_t count) { return static_cast<T *>(reserve_->allocate(count * sizeof(T))); }
    void deallocate(T *at, size_t count) { reserve_->deallocate(at, count * sizeof(T)); }

    NodeReserve &reserve() const { return *reserve_; }
    template <typename Other> bool operator==(const ReserveAllocator<Other> &other) const {
        return reserve_ == &other.reserve();
    }

private:
    NodeReserve *reserve_;
};

} // namespace cd
