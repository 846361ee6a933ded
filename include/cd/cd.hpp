// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#ifndef CD_CD_HPP
#define CD_CD_HPP

/*
 * A containment domain as a C++17 object:
 *
 *     cd::Domain domain = cd::Domain::root("solver");
 *     domain.preserve(field);          // an object, an array, a vector, a span
 *     step(field);
 *     if (wrong(field)) domain.restore();
 *
 * Each operation exists twice. advance() throws cd::Error when it fails; try_advance() returns a
 * cd::Result, which is false when it failed and then knows the code and the sentence. Where the
 * compiler has exceptions turned off (-fno-exceptions) what throws does not exist: cd::Error,
 * value(), cd::run, and all operations but the try_ ones.
 *
 * For calls of cd.h that have no member here, use handle().
 */

#include "cd/cd.h"

#include <cstddef>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

namespace cd {
// The library has a namespace cd inside; the names here stay apart from its names when both are
// linked into one program.
inline namespace cpp {

enum class Access { read_only = CD_READ_ONLY, read_write = CD_READ_WRITE };
enum class Scope { global = CD_GLOBAL, constrained = CD_CONSTRAINED };

#ifdef __cpp_exceptions
class Error : public std::runtime_error {
public:
    Error(cd_error code, const std::string &sentence) : std::runtime_error(sentence), code_(code) {}
    cd_error code() const noexcept { return code_; }

private:
    cd_error code_;
};
#endif

// GCC 14 for aarch64 crashes when it compares such a class with std::string.
#if defined __aarch64__ && __GNUC__ == 14
#define CD_NODISCARD
#else
#define CD_NODISCARD [[nodiscard]]
#endif

// The result of an operation: its value, or the error.
template <typename T = void> class CD_NODISCARD Result;

template <> class CD_NODISCARD Result<void> {
public:
    Result() = default;

    // Returns the error of the thread's last call of the library.
    static Result of_last_call() { return Result(cd_last_error(), cd_last_error_message()); }

    explicit operator bool() const noexcept { return code_ == CD_ERROR_NONE; }
    cd_error code() const noexcept { return code_; }
    const std::string &message() const noexcept { return message_; } // "" after a success

#ifdef __cpp_exceptions
    void value() const {
        if (code_ != CD_ERROR_NONE)
            throw Error(code_, message_);
    }
#endif

protected:
    Result(cd_error code, std::string message) : code_(code), message_(std::move(message)) {}

private:
    cd_error code_ = CD_ERROR_NONE;
    std::string message_;
};

template <typename T> class CD_NODISCARD Result : public Result<void> {
public:
    Result(T value) : value_(std::move(value)) {}
    Result(Result<void> failure) : Result<void>(std::move(failure)) {}

    // Only after a success.
    T &operator*() &noexcept { return value_; }
    T operator*() &&noexcept { return std::move(value_); }
    T *operator->() noexcept { return &value_; }

#ifdef __cpp_exceptions
    // Throws cd::Error if there is none.
    T &value() & {
        Result<void>::value();
        return value_;
    }
    T value() && {
        Result<void>::value();
        return std::move(value_);
    }
#endif

private:
    T value_{};
};
#undef CD_NODISCARD

namespace detail {

template <typename T> constexpr bool check_element() {
    static_assert(!std::is_const_v<T>, "a restore would write to const memory");
    static_assert(std::is_trivially_copyable_v<T>,
                  "only trivially copyable objects can be kept and restored byte by byte");
    return true;
}

// True for containers and views: types with data() and size(), such as vector, array and span.
template <typename T, typename = void> struct IsRange : std::false_type {};
template <typename T>
struct IsRange<
    T, std::void_t<decltype(*std::declval<T &>().data()), decltype(std::declval<T &>().size())>>
    : std::true_type {};

// True for views, whose elements outlive a temporary view: they copy like pointers and give access
// to the same elements when they are const.
template <typename T, typename = void> struct IsView : std::false_type {};
template <typename T>
struct IsView<T, std::void_t<decltype(*std::declval<const T &>().data())>>
    : std::bool_constant<IsRange<T>::value && std::is_trivially_copyable_v<T> &&
                         std::is_same_v<decltype(*std::declval<T &>().data()),
                                        decltype(*std::declval<const T &>().data())>> {};

} // namespace detail

// Owns a CD from its creation to its commit. The destructor commits and never throws, also when an
// exception unwinds the stack: the parent gets the old data that it needs for a restore. A CD that
// still has children stays alive, so a parent must outlive its children. A restore of an ancestor
// ends the CD: calls then fail with CD_ERROR_INVALID_HANDLE.
class Domain {
public:
    // Names no CD; every operation on it fails.
    Domain() = default;

    static Result<Domain> try_root(const char *name, mpi_log logging = CD_COMM_LOGGING_DISABLED,
                                   const char *storage_info = nullptr) {
        return owner_of(create_cd(nullptr, storage_info, logging, name, nullptr));
    }
    Result<Domain> try_child(const char *storage_info = nullptr) const {
        if (handle_ == nullptr)
            return no_cd(); // NULL would ask for a root
        return owner_of(
            create_cd(handle_, storage_info, CD_COMM_LOGGING_INHERIT, nullptr, nullptr));
    }

    Domain(Domain &&other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
    Domain &operator=(Domain &&other) noexcept {
        if (this != &other) {
            end();
            handle_ = std::exchange(other.handle_, nullptr);
        }
        return *this;
    }
    ~Domain() { end(); }

    // Keeps an object, or the elements of an array, a container or a view. The container itself is
    // not kept, and its elements must stay where they are.
    template <typename T>
    Result<> try_preserve(T &object, Access access = Access::read_write,
                          Scope scope = Scope::global) {
        if constexpr (detail::IsRange<T>::value) {
            return try_preserve(object.data(), object.size(), access, scope);
        } else {
            static_assert(!std::is_pointer_v<T>,
                          "give the number of elements, or preserve(&pointer, 1) for the pointer");
            detail::check_element<std::remove_all_extents_t<T>>();
            return keep(&object, sizeof(T), access, scope);
        }
    }

    // Keeps the elements of a temporary view, such as span(field).first(3). A temporary that owns
    // its elements cannot be kept.
    template <typename View, std::enable_if_t<detail::IsView<View>::value, int> = 0>
    Result<> try_preserve(View &&view, Access access = Access::read_write,
                          Scope scope = Scope::global) {
        return try_preserve(view, access, scope);
    }

    // Keeps count elements. An array does not convert to the pointer, see below.
    template <typename T>
    Result<> try_preserve(T *const &first, std::size_t count, Access access = Access::read_write,
                          Scope scope = Scope::global) {
        detail::check_element<T>();
        const bool too_many = count > std::size_t(-1) / sizeof(T); // a length that the call refuses
        return keep(first, too_many ? std::size_t(-1) : count * sizeof(T), access, scope);
    }

    // Refuses an access type as count, and an array with a count: such a count would easily be the
    // array's sizeof, which reaches beyond its end. Give the array alone, or the address of the
    // first element of a part: preserve(&array[2], 3).
    template <typename T> Result<> try_preserve(T *, addr_type) = delete;
    template <typename T, std::size_t N>
    Result<> try_preserve(T (&)[N], std::size_t, Access = Access::read_write,
                          Scope = Scope::global) = delete;
    // Keeps count elements of an array of unknown length.
    template <typename T>
    Result<> try_preserve(T (&first)[], std::size_t count, Access access = Access::read_write,
                          Scope scope = Scope::global) {
        return try_preserve(&first[0], count, access, scope);
    }

    Result<> try_advance() { return outcome(advance_cd_point_in_time(handle_)); }
    Result<> try_restore() { return outcome(restore_cd(handle_)); }
    // Afterwards the object names no CD.
    Result<> try_commit() {
        const int result = commit_cd(handle_);
        if (result == CD_SUCCESS)
            handle_ = nullptr;
        return outcome(result);
    }

    Result<cd_info> try_query() const {
        cd_info info{};
        if (cd_query(handle_, &info) != CD_SUCCESS)
            return Result<>::of_last_call();
        return info;
    }
    // "rank/name/depth/sibling"
    Result<std::string> try_name() const {
        const char *name = cd_name(handle_);
        if (name == nullptr)
            return Result<>::of_last_call();
        return std::string(name);
    }

#ifdef __cpp_exceptions
    // The same operations; each throws the error that its try_ form returns.
    static Domain root(const char *name, mpi_log logging = CD_COMM_LOGGING_DISABLED,
                       const char *storage_info = nullptr) {
        return try_root(name, logging, storage_info).value();
    }
    Domain child(const char *storage_info = nullptr) const {
        return try_child(storage_info).value();
    }
    template <typename T>
    void preserve(T &object, Access access = Access::read_write, Scope scope = Scope::global) {
        try_preserve(object, access, scope).value();
    }
    template <typename View, std::enable_if_t<detail::IsView<View>::value, int> = 0>
    void preserve(View &&view, Access access = Access::read_write, Scope scope = Scope::global) {
        try_preserve(view, access, scope).value();
    }
    template <typename T>
    void preserve(T *const &first, std::size_t count, Access access = Access::read_write,
                  Scope scope = Scope::global) {
        try_preserve(first, count, access, scope).value();
    }
    template <typename T> void preserve(T *, addr_type) = delete;
    template <typename T, std::size_t N>
    void preserve(T (&)[N], std::size_t, Access = Access::read_write,
                  Scope = Scope::global) = delete;
    template <typename T>
    void preserve(T (&first)[], std::size_t count, Access access = Access::read_write,
                  Scope scope = Scope::global) {
        try_preserve(first, count, access, scope).value();
    }
    void advance() { try_advance().value(); }
    void restore() { try_restore().value(); }
    void commit() { try_commit().value(); }
    cd_info query() const { return try_query().value(); }
    std::string name() const { return try_name().value(); }
#endif

    // Returns the handle for calls of cd.h; NULL if there is no CD. The object still owns the CD.
    cd_handle handle() const noexcept { return handle_; }
    explicit operator bool() const noexcept { return handle_ != nullptr; }

private:
    explicit Domain(cd_handle handle) noexcept : handle_(handle) {}

    static Result<Domain> owner_of(cd_handle handle) {
        if (handle == nullptr)
            return Result<>::of_last_call();
        return Domain(handle);
    }
    static Result<> outcome(int result) {
        return result == CD_SUCCESS ? Result<>() : Result<>::of_last_call();
    }
    static Result<> no_cd() { return outcome(commit_cd(nullptr)); } // the library's words for it

    Result<> keep(void *address, std::size_t length, Access access, Scope scope) {
        const cd_addrspec range = {address, length, static_cast<addr_type>(access),
                                   static_cast<addr_scope>(scope)};
        return outcome(add_to_cd_via_copy(handle_, &range, 1, nullptr));
    }

    void end() noexcept {
        if (handle_ != nullptr)
            commit_cd(handle_);
    }

    cd_handle handle_ = nullptr;
};

} // namespace cpp
} // namespace cd

#ifdef __cpp_exceptions
#include "cd/run.hpp"
#endif

#endif
