// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "objects/type_ends.h"

#include "call/handle_word.h"
#include "mpi/real.h"
#include "objects/lifetimes.h"

#include <cstdint>
#include <mutex>
#include <unordered_set>

namespace cd::logger {
namespace {

struct Noticed {
    std::mutex mutex; // held in no call of MPI
    std::unordered_set<uint64_t> types;
};

// Never destroyed: types may be freed while the process ends.
Noticed &noticed() {
    static auto &all = *new Noticed;
    return all;
}

int type_ends(MPI_Datatype type, int, void *, void *) {
    {
        const std::scoped_lock lock(noticed().mutex);
        noticed().types.erase(word_of(type));
    }
    object_goes(word_of(type), 0);
    return MPI_SUCCESS;
}

int make_key() {
    int key = MPI_KEYVAL_INVALID;
    real<Fn::MPI_Type_create_keyval>(MPI_TYPE_NULL_COPY_FN, type_ends, &key, nullptr);
    return key;
}

} // namespace

void notice_end(MPI_Datatype type) {
    static const int key = make_key();
    bool is_new = false;
    if (type != MPI_DATATYPE_NULL) {
        const std::scoped_lock lock(noticed().mutex);
        is_new = noticed().types.insert(word_of(type)).second;
    }
    if (is_new) { // to set it again would be its end
        real<Fn::MPI_Type_set_attr>(type, key, nullptr);
    }
}

} // namespace cd::logger
