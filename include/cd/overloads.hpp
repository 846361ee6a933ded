// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#ifndef CD_OVERLOADS_HPP
#define CD_OVERLOADS_HPP

// Overloads of the calls of cd.h: without storage_info, with one range, or with a list of ranges in
// braces. cd.h includes this file; do not include it directly.

extern "C++" { // for programs that include cd.h inside extern "C"

#include <initializer_list>

namespace cd_detail {
// A count larger than a braced list is passed on with no list, which the call refuses.
inline const cd_addrspec *checked(std::initializer_list<cd_addrspec> list, int count) {
    return count <= static_cast<int>(list.size()) ? list.begin() : nullptr;
}
inline const cd_addrspec *checked(const cd_addrspec &one, int count) {
    return count <= 1 ? &one : nullptr;
}
} // namespace cd_detail

inline int add_to_cd_via_copy(cd_handle cd, const cd_addrspec *list, int count) {
    return add_to_cd_via_copy(cd, list, count, nullptr);
}
inline int add_to_cd_via_copy(cd_handle cd, const cd_addrspec &one, int count,
                              const char *storage_info = nullptr) {
    return add_to_cd_via_copy(cd, cd_detail::checked(one, count), count, storage_info);
}
inline int add_to_cd_via_copy(cd_handle cd, std::initializer_list<cd_addrspec> list, int count,
                              const char *storage_info = nullptr) {
    return add_to_cd_via_copy(cd, cd_detail::checked(list, count), count, storage_info);
}

inline int add_to_cd_via_parent(cd_handle cd, const cd_addrspec *list, int count) {
    return add_to_cd_via_parent(cd, list, count, nullptr);
}
inline int add_to_cd_via_parent(cd_handle cd, const cd_addrspec &one, int count,
                                const char *storage_info = nullptr) {
    return add_to_cd_via_parent(cd, cd_detail::checked(one, count), count, storage_info);
}
inline int add_to_cd_via_parent(cd_handle cd, std::initializer_list<cd_addrspec> list, int count,
                                const char *storage_info = nullptr) {
    return add_to_cd_via_parent(cd, cd_detail::checked(list, count), count, storage_info);
}

inline int add_to_cd_via_regen(cd_handle cd, const cd_addrspec *list, int count,
                               cd_regen_fn regen) {
    return add_to_cd_via_regen(cd, list, count, nullptr, regen);
}
inline int add_to_cd_via_regen(cd_handle cd, const cd_addrspec &one, int count, cd_regen_fn regen) {
    return add_to_cd_via_regen(cd, cd_detail::checked(one, count), count, nullptr, regen);
}
inline int add_to_cd_via_regen(cd_handle cd, const cd_addrspec &one, int count,
                               const char *storage_info, cd_regen_fn regen) {
    return add_to_cd_via_regen(cd, cd_detail::checked(one, count), count, storage_info, regen);
}
inline int add_to_cd_via_regen(cd_handle cd, std::initializer_list<cd_addrspec> list, int count,
                               cd_regen_fn regen) {
    return add_to_cd_via_regen(cd, cd_detail::checked(list, count), count, nullptr, regen);
}
inline int add_to_cd_via_regen(cd_handle cd, std::initializer_list<cd_addrspec> list, int count,
                               const char *storage_info, cd_regen_fn regen) {
    return add_to_cd_via_regen(cd, cd_detail::checked(list, count), count, storage_info, regen);
}

inline int delete_from_cd(cd_handle cd, const cd_addrspec &one, int count) {
    return delete_from_cd(cd, cd_detail::checked(one, count), count);
}
inline int delete_from_cd(cd_handle cd, std::initializer_list<cd_addrspec> list, int count) {
    return delete_from_cd(cd, cd_detail::checked(list, count), count);
}

} // extern "C++"

#endif
