// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// A re-execution is compared by what its types are made of, not by how they were made.
#include "hazard.h"

#include <cstring>
#include <functional>
#include <iterator>

namespace signatures {

namespace {

constexpr int half = eager / 2;

MPI_Datatype committed(MPI_Datatype type) {
    MPI_Type_commit(&type);
    return type;
}

MPI_Datatype in_a_row() {
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_Type_contiguous(eager, MPI_INT, &type);
    return committed(type);
}

MPI_Datatype every_other() {
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_Type_vector(eager, 1, 2, MPI_INT, &type);
    return committed(type);
}

// Without gaps, and the second half first.
MPI_Datatype halves_exchanged() {
    const int lengths[] = {half, half};
    const int places[] = {half, 0};
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_Type_indexed(2, lengths, places, MPI_INT, &type);
    return committed(type);
}

// In two parts, of types that are gone before anybody asks.
MPI_Datatype struct_of(MPI_Datatype second) {
    MPI_Datatype parts[2];
    MPI_Type_contiguous(half / 2, MPI_INT, &parts[0]);
    MPI_Type_vector(half, 1, 1, second, &parts[1]);
    const int lengths[] = {2, 1};
    const MPI_Aint places[] = {0, half * sizeof(int)};
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_Type_create_struct(2, lengths, places, parts, &type);
    MPI_Type_free(&parts[0]);
    MPI_Type_free(&parts[1]);
    return committed(type);
}

Numbers spread(const Numbers &data) {
    Numbers all(2 * data.size());
    for (size_t i = 0; i < data.size(); ++i) {
        all[2 * i] = data[i];
    }
    return all;
}

Numbers exchanged(const Numbers &data) {
    Numbers all(data.begin() + half, data.end());
    all.insert(all.end(), data.begin(), data.begin() + half);
    return all;
}

struct Types {
    MPI_Datatype row = in_a_row();
    MPI_Datatype spread = every_other();
    MPI_Datatype exchanged = halves_exchanged();
    MPI_Datatype parts = struct_of(MPI_INT);
    MPI_Datatype other = struct_of(MPI_FLOAT); // as many bytes
    Types() = default;
    Types(const Types &) = delete;
    Types &operator=(const Types &) = delete;
    ~Types() {
        for (MPI_Datatype *type : {&row, &spread, &exchanged, &parts, &other}) {
            MPI_Type_free(type);
        }
    }
};

int send_as(MPI_Datatype type, const Numbers &memory) {
    return MPI_Send(memory.data(), 1, type, 1, 1, MPI_COMM_WORLD);
}

int start_sending_as(MPI_Datatype type, const Numbers &memory) {
    MPI_Request request = MPI_REQUEST_NULL;
    const int result = MPI_Isend(memory.data(), 1, type, 1, 2, MPI_COMM_WORLD, &request);
    return result == MPI_SUCCESS ? MPI_Wait(&request, MPI_STATUS_IGNORE) : result;
}

int receive_as(MPI_Datatype type, Numbers &memory) {
    return MPI_Recv(memory.data(), 1, type, 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

int start_receiving_as(MPI_Datatype type, Numbers &memory) {
    MPI_Request request = MPI_REQUEST_NULL;
    const int result = MPI_Irecv(memory.data(), 1, type, 1, 4, MPI_COMM_WORLD, &request);
    return result == MPI_SUCCESS ? MPI_Wait(&request, MPI_STATUS_IGNORE) : result;
}

void be_the_other() {
    CHECK(receive(eager, 0, 1) == numbers(1, eager));
    CHECK(receive(eager, 0, 2) == numbers(2, eager));
    send(numbers(3, eager), 0, 3);
    send(numbers(4, eager), 0, 4);
}

} // namespace

// Each execution sends and receives the same with another type of the same signature, and finds the
// data where that says.
HAZARD(types_of_one_signature_are_the_same_to_a_replay) {
    if (world_rank() == 1) {
        be_the_other();
        for (int i = 0; i < 2; ++i) {
            CHECK(receive(eager, 0, 5) == numbers(5 + i, eager));
            send(numbers(7 + i, eager), 0, 6);
        }
        return;
    }
    const Types types;
    Domain domain;
    const auto execute = [](MPI_Datatype type, const auto &laid_out, bool to_the_end = false) {
        CHECK(send_as(type, laid_out(numbers(1, eager))) == MPI_SUCCESS);
        CHECK(start_sending_as(type, laid_out(numbers(2, eager))) == MPI_SUCCESS);
        Numbers memory(laid_out(numbers(0, eager)).size());
        CHECK(receive_as(type, memory) == MPI_SUCCESS);
        CHECK(memory == laid_out(numbers(3, eager)));
        CHECK(start_receiving_as(type, memory) == MPI_SUCCESS);
        CHECK(memory == laid_out(numbers(4, eager)));
        MPI_Request both[2];
        Numbers sent = laid_out(numbers(5, eager));
        MPI_Send_init(sent.data(), 1, type, 1, 5, MPI_COMM_WORLD, &both[0]);
        MPI_Recv_init(memory.data(), 1, type, 1, 6, MPI_COMM_WORLD, &both[1]);
        for (int i = 0; i < (to_the_end ? 2 : 1); ++i) { // the second time behind the log's end
            set(sent, laid_out(numbers(5 + i, eager)));
            MPI_Startall(2, both);
            MPI_Waitall(2, both, MPI_STATUSES_IGNORE);
            CHECK(memory == laid_out(numbers(7 + i, eager)));
        }
        if (to_the_end) {
            MPI_Request_free(&both[0]);
            MPI_Request_free(&both[1]);
        }
    };
    const auto as_it_is = [](const Numbers &data) { return data; };
    execute(types.exchanged, exchanged);
    domain.restore();
    execute(types.row, as_it_is);
    domain.restore();
    execute(types.spread, spread);
    domain.restore();
    execute(types.parts, as_it_is);
    domain.restore();
    execute(types.exchanged, exchanged);
    domain.restore();
    execute(types.spread, spread, true);
}

// The same bytes as something else.
HAZARD(divergence_another_signature) {
    if (world_rank() == 1) {
        be_the_other();
        return;
    }
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    const Types types;
    Domain domain;
    Numbers memory(eager);
    const std::function<int(MPI_Datatype, Numbers &)> calls[] = {send_as, start_sending_as,
                                                                 receive_as, start_receiving_as};
    const auto before = [](size_t call) { // what a call finds: the first two send it
        return numbers(call < 2 ? static_cast<int>(call) + 1 : 9, eager);
    };
    const auto execute_until = [&](size_t end) {
        for (size_t i = 0; i < end; ++i) {
            set(memory, before(i));
            CHECK(calls[i](types.row, memory) == MPI_SUCCESS);
            CHECK(memory == numbers(static_cast<int>(i) + 1, eager));
        }
    };
    execute_until(std::size(calls));
    for (size_t differing = 0; differing < std::size(calls); ++differing) {
        domain.restore();
        execute_until(differing);
        set(memory, before(differing));
        CHECK(calls[differing](types.other, memory) != MPI_SUCCESS);
        CHECK(memory == before(differing));
    }
    domain.restore();
    execute_until(std::size(calls));
}

namespace {

// To each of two ranks some of the numbers, which are the same ones however they are shared out.
int share_out(int first, MPI_Datatype to_second, bool by_type) {
    const Numbers data = numbers(5, eager);
    const int own = world_rank() == 0 ? first : static_cast<int>(eager) - first;
    Numbers received(eager);
    int counts[] = {first, static_cast<int>(eager) - first};
    int places[] = {0, first};
    int received_counts[] = {own, own};
    int received_places[] = {0, own};
    if (!by_type) {
        received.resize(2 * static_cast<size_t>(own));
        return MPI_Alltoallv(data.data(), counts, places, MPI_INT, received.data(), received_counts,
                             received_places, MPI_INT, MPI_COMM_WORLD);
    }
    received.resize(2 * static_cast<size_t>(own));
    const auto in_bytes = [](int &place) { place *= static_cast<int>(sizeof(int)); };
    in_bytes(places[1]);
    in_bytes(received_places[1]);
    const MPI_Datatype sent[] = {MPI_INT, to_second};
    const MPI_Datatype got = world_rank() == 0 ? MPI_INT : to_second;
    const MPI_Datatype received_types[] = {got, got};
    return MPI_Alltoallw(data.data(), counts, places, sent, received.data(), received_counts,
                         received_places, received_types, MPI_COMM_WORLD);
}

} // namespace

HAZARD(divergence_another_count_for_one_rank) {
    CHECK(share_out(half, MPI_INT, false) == MPI_SUCCESS);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    Domain domain;
    CHECK(share_out(half, MPI_INT, false) == MPI_SUCCESS);
    CHECK(share_out(half, MPI_INT, true) == MPI_SUCCESS);
    if (world_rank() == 1) {
        return;
    }
    domain.restore();
    CHECK(share_out(half - 1, MPI_INT, false) != MPI_SUCCESS);
    domain.restore();
    CHECK(share_out(half, MPI_INT, false) == MPI_SUCCESS);
    CHECK(share_out(half, MPI_FLOAT, true) != MPI_SUCCESS);
    domain.restore();
    CHECK(share_out(half, MPI_INT, false) == MPI_SUCCESS);
    CHECK(share_out(half, MPI_INT, true) == MPI_SUCCESS);
}

} // namespace signatures
