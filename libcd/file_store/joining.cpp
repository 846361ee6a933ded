// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "file_store/joining.h"

#include <iterator>

namespace cd {
namespace {

// What was compared, and what that has shown, makes no two entries of one.
bool continues(const StoredEntries::value_type &left, const StoredEntries::value_type &right) {
    StoredEntry expected = left.second;
    const uint64_t length = expected.end - left.first.begin;
    expected.key.offset += length;
    expected.run_offset = expected.run != nullptr ? expected.run_offset + length
                                                  : right.second.run_offset; // means nothing
    expected.end = right.second.end;
    expected.compared = right.second.compared;
    expected.filled_anew = right.second.filled_anew;
    return left.first.space == right.first.space && left.second.end == right.first.begin &&
           expected == right.second;
}

} // namespace

StoredEntries::iterator join_before(StoredEntries &entries, StoredEntries::iterator at) {
    if (at == entries.begin() || !continues(*std::prev(at), *at)) {
        return at;
    }
    StoredEntry &before = std::prev(at)->second;
    before.end = at->second.end;
    before.compared |= at->second.compared;
    before.filled_anew &= at->second.filled_anew;
    return std::prev(entries.erase(at));
}

} // namespace cd
