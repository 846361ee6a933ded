// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "file_store/file_store.h"
#include "restart/arrivals.h"

#include <cstdint>
#include <map>
#include <string>

namespace cd {

// Finds what an add call names by the object, or the named region, that it lies in.
class ByName {
public:
    explicit ByName(Arrivals &arrivals) : arrivals_(arrivals) {}

    // gap: bytes of the call that the CD's own calls have not added, with their name. May throw
    // std::bad_alloc.
    Status bind(const StoredName &name, const StoredKey &key, Range gap);

private:
    // What an object is that was in another process, compared with one that is in this one.
    enum class Named { same_build, other_build, something_else };

    static Named compare(const std::string &object, const std::string &here);
    Status bind_of_build(const StoredName &name, const StoredKey &key, Range gap,
                         size_t bound_before);
    void bind_parts(Domain &holder, const UnboundRanges::Numbers &numbers, uint64_t offset,
                    Range gap);

    Arrivals &arrivals_;
    std::string compared_with_;
    std::map<std::string, Named> compared_; // objects that were elsewhere, with that one
};

} // namespace cd
