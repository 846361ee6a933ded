// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// What MPI tells that a type is made of, which is the program's to free.
#include "hazard.h"

#include <vector>

namespace contents_of_types {

namespace {

int freed_pairs = 0;
int count_freed_pairs(MPI_Datatype, int, void *, void *) {
    ++freed_pairs;
    return MPI_SUCCESS;
}

MPI_Datatype part_of(MPI_Datatype type) {
    int integers[2] = {};
    MPI_Datatype part = MPI_DATATYPE_NULL;
    MPI_Type_get_contents(type, 2, 0, 1, integers, nullptr, &part);
    CHECK(integers[0] == 3);
    return part;
}

// Three pairs of numbers; the pair belongs to it alone, and has an attribute.
MPI_Datatype three_pairs(int key) {
    MPI_Datatype pair = MPI_DATATYPE_NULL;
    MPI_Type_contiguous(2, MPI_INT, &pair);
    MPI_Type_set_attr(pair, key, nullptr);
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_Type_contiguous(3, pair, &type);
    MPI_Type_free(&pair);
    return type;
}

void send_to_itself(MPI_Datatype type) {
    MPI_Type_commit(&type);
    const Numbers out = numbers(1, 2);
    Numbers in(2);
    MPI_Sendrecv(out.data(), 1, type, 0, 1, in.data(), 1, type, 0, 1, MPI_COMM_SELF,
                 MPI_STATUS_IGNORE);
    CHECK(in == out);
}

} // namespace

HAZARD(contents_of_a_type_are_the_same_again) {
    int key = MPI_KEYVAL_INVALID;
    MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, count_freed_pairs, &key, nullptr);
    std::vector<MPI_Datatype> seen;
    {
        Domain domain;
        for (int i = 0; i < 3; ++i) {
            MPI_Datatype type = three_pairs(key);
            MPI_Datatype part = part_of(type);
            seen.push_back(part);
            send_to_itself(part);
            MPI_Type_free(&part);
            MPI_Type_free(&type);
            if (i < 2) {
                domain.restore();
            }
        }
        freed_pairs = 0; // restores have taken the attribute away
    }
    CHECK(seen[0] == seen[1] && seen[1] == seen[2]);
    CHECK(freed_pairs == 1);
    MPI_Type_free_keyval(&key);
}

HAZARD(contents_of_a_type_are_the_programs_behind_the_cd) {
    int key = MPI_KEYVAL_INVALID;
    MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, count_freed_pairs, &key, nullptr);
    MPI_Datatype part = MPI_DATATYPE_NULL;
    {
        Domain domain;
        for (int i = 0; i < 2; ++i) {
            MPI_Datatype type = three_pairs(key);
            part = part_of(type);
            MPI_Type_free(&type);
            if (i == 0) {
                domain.restore();
            }
        }
        freed_pairs = 0;
    }
    send_to_itself(part);
    MPI_Type_free(&part);
    CHECK(freed_pairs == 1); // which Open MPI has copied
    MPI_Type_free_keyval(&key);
}

// The part lies elsewhere in the re-execution.
HAZARD(contents_of_a_type_that_was_made_anew) {
    Domain domain;
    std::vector<Numbers> memory(3, Numbers(2));
    for (size_t i = 0; i < memory.size(); ++i) {
        MPI_Aint places[2];
        MPI_Get_address(&memory[i][0], &places[0]);
        MPI_Get_address(&memory[i][1], &places[1]);
        const int lengths[] = {1, 1};
        const MPI_Datatype types[] = {MPI_INT, MPI_INT};
        MPI_Datatype inner = MPI_DATATYPE_NULL;
        MPI_Type_create_struct(2, lengths, places, types, &inner);
        MPI_Datatype outer = MPI_DATATYPE_NULL;
        MPI_Type_contiguous(3, inner, &outer);
        MPI_Type_free(&inner);
        MPI_Datatype part = part_of(outer);
        MPI_Type_commit(&part);
        const Numbers out = numbers(1, 2);
        MPI_Sendrecv(out.data(), 2, MPI_INT, 0, 1, MPI_BOTTOM, 1, part, 0, 1, MPI_COMM_SELF,
                     MPI_STATUS_IGNORE);
        CHECK(memory[i] == out);
        MPI_Type_free(&part);
        MPI_Type_free(&outer);
        if (i + 1 < memory.size()) {
            domain.restore();
        }
    }
}

} // namespace contents_of_types
