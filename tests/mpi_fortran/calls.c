/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright the containment-domains authors */

/* What calls.F90 does, in C. Indices that MPI counts from 0 here are noted as Fortran has them. */
#include "calls.h"

#include <mpi.h>
#include <stdlib.h>
#include <string.h>

static int rank, ranks, next, prev;
static int a[8], b[8], c[8];

static void note_all(const int *numbers, int count) {
    for (int i = 0; i < count; ++i)
        note(numbers[i]);
}

static void note_text(const char *text) {
    note((int)strlen(text));
    for (; *text != '\0'; ++text)
        note(*text);
}

static void start(void) {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    next = (rank + 1) % ranks;
    prev = (rank + ranks - 1) % ranks;
    for (int i = 0; i < 8; ++i) {
        a[i] = 10 * rank + i + 1;
        b[i] = c[i] = -1;
    }
}

void c_in_place(void) {
    MPI_Request request;

    start();
    memcpy(b, a, 4 * sizeof(int));
    MPI_Allreduce(MPI_IN_PLACE, b, 4, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    c[rank] = a[0];
    MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, c, 1, MPI_INT, MPI_COMM_WORLD);
    note_all(b, 8);
    note_all(c, 8);
    if (rank == 0) {
        c[0] = 5;
        MPI_Gather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, c, 1, MPI_INT, 0, MPI_COMM_WORLD);
        MPI_Reduce(MPI_IN_PLACE, b, 4, MPI_INT, MPI_MAX, 0, MPI_COMM_WORLD);
        MPI_Scatter(b, 1, MPI_INT, MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, 0, MPI_COMM_WORLD);
    } else {
        MPI_Gather(a, 1, MPI_INT, c, 0, MPI_INT, 0, MPI_COMM_WORLD);
        MPI_Reduce(a, b, 4, MPI_INT, MPI_MAX, 0, MPI_COMM_WORLD);
        MPI_Scatter(b, 0, MPI_INT, c, 1, MPI_INT, 0, MPI_COMM_WORLD);
    }
    MPI_Iallreduce(MPI_IN_PLACE, a, 8, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, a, 1, MPI_INT, MPI_COMM_WORLD);
    note_all(a, 8);
    note_all(b, 8);
    note_all(c, 8);
}

void c_bottom(void) {
    MPI_Aint here;
    MPI_Datatype from, to;
    const int length = 8;

    start();
    MPI_Get_address(a, &here);
    MPI_Type_create_hindexed(1, &length, &here, MPI_INT, &from);
    MPI_Type_commit(&from);
    MPI_Get_address(b, &here);
    MPI_Type_create_hindexed(1, &length, &here, MPI_INT, &to);
    MPI_Type_commit(&to);
    MPI_Sendrecv(MPI_BOTTOM, 1, from, next, 4, MPI_BOTTOM, 1, to, prev, 4, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    note_all(b, 8);
    MPI_Bcast(MPI_BOTTOM, 1, to, 1, MPI_COMM_WORLD);
    note_all(b, 8);
    MPI_Type_free(&from);
    MPI_Type_free(&to);
}

void c_ignored(void) {
    MPI_Request requests[2];
    int flag;

    start();
    MPI_Irecv(b, 8, MPI_INT, prev, 1, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(a, 8, MPI_INT, next, 1, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    MPI_Sendrecv_replace(b, 8, MPI_INT, next, 2, prev, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Isend(a, 8, MPI_INT, next, 3, MPI_COMM_WORLD, &requests[0]);
    MPI_Probe(prev, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Recv(c, 8, MPI_INT, prev, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    requests[0] = requests[1] = MPI_REQUEST_NULL;
    MPI_Testall(2, requests, &flag, MPI_STATUSES_IGNORE);
    note(flag);
    note_all(b, 8);
    note_all(c, 8);
}

void c_unweighted(void) {
    int in, out, weighted, sources[2] = {-1, -1}, destinations[2] = {-1, -1};
    int weights_in[2] = {-1, -1}, weights_out[2] = {-1, -1};
    const int none = 0, other = 1, weight = 7;
    MPI_Comm graph;

    start();
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &prev, MPI_UNWEIGHTED, 1, &next,
                                   MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &graph);
    MPI_Dist_graph_neighbors_count(graph, &in, &out, &weighted);
    note(in);
    note(out);
    note(weighted);
    MPI_Dist_graph_neighbors(graph, 1, sources, MPI_UNWEIGHTED, 1, destinations, MPI_UNWEIGHTED);
    note_all(sources, 2);
    note_all(destinations, 2);
    MPI_Neighbor_allgather(a, 2, MPI_INT, b, 2, MPI_INT, graph);
    note_all(b, 8);
    MPI_Comm_free(&graph);
    if (rank == 0)
        MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 0, &none, MPI_WEIGHTS_EMPTY, 1, &other,
                                       &weight, MPI_INFO_NULL, 0, &graph);
    else
        MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &none, &weight, 0, &none,
                                       MPI_WEIGHTS_EMPTY, MPI_INFO_NULL, 0, &graph);
    MPI_Dist_graph_neighbors_count(graph, &in, &out, &weighted);
    note(in);
    note(out);
    note(weighted);
    MPI_Dist_graph_neighbors(graph, in, sources, weights_in, out, destinations, weights_out);
    note_all(weights_in, 2);
    note_all(weights_out, 2);
    MPI_Comm_free(&graph);
}

static void note_statuses(const MPI_Status *list, int count) {
    for (int i = 0; i < count; ++i) {
        int number;

        note(list[i].MPI_SOURCE);
        note(list[i].MPI_TAG);
        MPI_Get_count(&list[i], MPI_INT, &number);
        note(number);
        MPI_Get_elements(&list[i], MPI_INT, &number);
        note(number);
    }
}

void c_statuses(void) {
    MPI_Status list[3];
    MPI_Request requests[3] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL}, sends[3];
    int cancelled, index, count, indices[3];

    start();
    memset(list, 0, sizeof(list));
    for (int i = 1; i <= 3; ++i)
        MPI_Isend(a, 2 * i, MPI_INT, next, 10 + i, MPI_COMM_WORLD, &sends[i - 1]);
    MPI_Probe(MPI_ANY_SOURCE, 11, MPI_COMM_WORLD, &list[0]);
    note_statuses(list, 1);
    MPI_Recv(b, 8, MPI_INT, MPI_ANY_SOURCE, 11, MPI_COMM_WORLD, &list[0]);
    MPI_Test_cancelled(&list[0], &cancelled);
    note(cancelled);
    MPI_Recv(b, 8, MPI_INT, prev, 12, MPI_COMM_WORLD, &list[2]);
    MPI_Recv(c, 8, MPI_INT, prev, 13, MPI_COMM_WORLD, &list[1]);
    note_statuses(list, 3);
    MPI_Waitall(3, sends, MPI_STATUSES_IGNORE);
    MPI_Sendrecv_replace(c, 3, MPI_INT, next, 20, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD,
                         &list[1]);
    note_statuses(list, 3);
    MPI_Irecv(b, 8, MPI_INT, prev, 21, MPI_COMM_WORLD, &requests[1]);
    MPI_Send(a, 5, MPI_INT, next, 21, MPI_COMM_WORLD);
    MPI_Waitany(3, requests, &index, &list[0]);
    note_statuses(list, 1);
    MPI_Irecv(c, 8, MPI_INT, prev, 22, MPI_COMM_WORLD, &requests[2]);
    MPI_Send(a, 6, MPI_INT, next, 22, MPI_COMM_WORLD);
    MPI_Waitsome(3, requests, &count, indices, list);
    note(count);
    note_statuses(list, count);
    MPI_Irecv(b, 8, MPI_INT, prev, 23, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(c, 8, MPI_INT, prev, 24, MPI_COMM_WORLD, &requests[1]);
    MPI_Send(a, 7, MPI_INT, next, 24, MPI_COMM_WORLD);
    MPI_Send(a, 8, MPI_INT, next, 23, MPI_COMM_WORLD);
    MPI_Waitall(2, requests, list);
    note_statuses(list, 2);
    note_all(b, 8);
    note_all(c, 8);
}

void c_logicals(void) {
    int flag, both[2], periods[2], mine, all_of_us, dims[2] = {ranks, 1}, coords[2], from, to, i;
    const int round[2] = {1, 0}, remaining[2] = {0, 1};
    MPI_Status status;
    MPI_Comm grid, line;
    MPI_Request requests[1], send;
    MPI_Message message;

    start();
    dims[0] = ranks;
    MPI_Initialized(&flag);
    note(flag);
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, round, 0, &grid);
    MPI_Cart_get(grid, 2, dims, periods, coords);
    note_all(dims, 2);
    note_all(periods, 2);
    note_all(coords, 2);
    MPI_Cart_shift(grid, 0, 1, &from, &to);
    note(from);
    note(to);
    MPI_Cart_sub(grid, remaining, &line);
    MPI_Comm_size(line, &i);
    note(i);
    MPI_Comm_test_inter(line, &flag);
    note(flag);
    MPI_Comm_free(&line);
    MPI_Comm_free(&grid);
    MPI_Op_commutative(MPI_SUM, &flag);
    note(flag);

    both[0] = rank == 0;
    both[1] = 1;
    MPI_Allreduce(MPI_IN_PLACE, both, 2, MPI_INT, MPI_LAND, MPI_COMM_WORLD);
    note_all(both, 2);
    mine = rank == 0;
    MPI_Allreduce(&mine, &all_of_us, 1, MPI_INT, MPI_LOR, MPI_COMM_WORLD);
    note(all_of_us);

    MPI_Isend(a, 3, MPI_INT, next, 31, MPI_COMM_WORLD, &send);
    MPI_Probe(prev, 31, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Iprobe(prev, 31, MPI_COMM_WORLD, &flag, &status);
    note(flag);
    note(status.MPI_TAG);
    MPI_Improbe(prev, 31, MPI_COMM_WORLD, &flag, &message, &status);
    note(flag);
    MPI_Mrecv(b, 8, MPI_INT, &message, &status);
    note(message == MPI_MESSAGE_NULL);
    note(status.MPI_SOURCE);
    MPI_Wait(&send, MPI_STATUS_IGNORE);

    MPI_Isend(a, 3, MPI_INT, next, 32, MPI_COMM_WORLD, &send);
    MPI_Probe(prev, 32, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Irecv(c, 8, MPI_INT, prev, 32, MPI_COMM_WORLD, &requests[0]);
    flag = 0;
    while (!flag)
        MPI_Test(&requests[0], &flag, &status);
    MPI_Wait(&send, MPI_STATUS_IGNORE);
    note(flag);
    note(status.MPI_TAG);
    MPI_Testany(1, requests, &i, &flag, MPI_STATUS_IGNORE);
    note(flag);
    note_all(b, 8);
    note_all(c, 8);
}

static void add_squares(void *in, void *inout, int *count, MPI_Datatype *type) {
    const int *from = in;
    int *to = inout;

    if (*type != MPI_INT)
        abort();
    for (int i = 0; i < *count; ++i)
        to[i] += from[i] * from[i];
}

void c_handles(void) {
    MPI_Comm half, all, made;
    MPI_Group world, group;
    MPI_Datatype columns, rows;
    MPI_Op squares;
    MPI_Request requests[2];
    const int order[2] = {1, 0};
    int number, result;

    start();
    MPI_Comm_dup(MPI_COMM_WORLD, &all);
    MPI_Comm_split(MPI_COMM_WORLD, rank, 0, &half);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, 2, order, &group);
    MPI_Comm_create(MPI_COMM_WORLD, group, &made);
    MPI_Type_vector(4, 1, 2, MPI_INT, &columns);
    MPI_Type_contiguous(2, columns, &rows);
    MPI_Type_commit(&columns);
    MPI_Op_create(add_squares, 0, &squares);
    MPI_Comm_rank(made, &number);
    note(number);
    MPI_Comm_compare(MPI_COMM_WORLD, all, &result);
    note(result == MPI_CONGRUENT);
    MPI_Comm_compare(made, half, &result);
    note(result == MPI_UNEQUAL);
    MPI_Type_size(rows, &number);
    note(number);

    MPI_Bcast(b, 1, columns, 0, all);
    MPI_Allreduce(a, c, 8, MPI_INT, squares, made);
    note_all(c, 8);
    MPI_Send_init(a, 1, columns, next, 5, all, &requests[0]);
    MPI_Recv_init(b, 4, MPI_INT, prev, 5, all, &requests[1]);
    for (int i = 1; i <= 2; ++i) {
        a[0] += i;
        MPI_Startall(2, requests);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        note_all(b, 8);
    }
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
    note((requests[0] == MPI_REQUEST_NULL) + (requests[1] == MPI_REQUEST_NULL));

    MPI_Op_free(&squares);
    MPI_Type_free(&rows);
    MPI_Type_free(&columns);
    MPI_Comm_free(&made);
    MPI_Group_free(&group);
    MPI_Group_free(&world);
    MPI_Comm_free(&half);
    MPI_Comm_free(&all);
    note((all == MPI_COMM_NULL) + (half == MPI_COMM_NULL) + (made == MPI_COMM_NULL) +
         (group == MPI_GROUP_NULL) + (columns == MPI_DATATYPE_NULL) + (squares == MPI_OP_NULL));
}

void c_strings(void) {
    char name[MPI_MAX_OBJECT_NAME], host[MPI_MAX_PROCESSOR_NAME], sentence[MPI_MAX_ERROR_STRING];
    char key[MPI_MAX_INFO_KEY + 1], value[12];
    int length, flag;
    MPI_Comm comm;
    MPI_Datatype pair;
    MPI_Info info;

    start();
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_name(comm, "a name");
    MPI_Comm_get_name(comm, name, &length);
    note(length);
    note_text(name);
    MPI_Type_contiguous(2, MPI_INT, &pair);
    MPI_Type_set_name(pair, "pair");
    MPI_Type_get_name(pair, name, &length);
    note(length);
    note_text(name);
    MPI_Get_processor_name(host, &length);
    note(length);
    note_text(host);
    MPI_Error_string(MPI_ERR_TAG, sentence, &length);
    note(length);
    note_text(sentence);

    MPI_Info_create(&info);
    MPI_Info_set(info, "a key", "the value");
    MPI_Info_set(info, "other", "x");
    MPI_Info_get(info, "a key", sizeof(value) - 1, value, &flag);
    note(flag);
    note_text(value);
    MPI_Info_get_valuelen(info, "a key", &length, &flag);
    note(length);
    note(flag);
    MPI_Info_get(info, "none", sizeof(value) - 1, value, &flag);
    note(flag);
    MPI_Info_get_nkeys(info, &length);
    note(length);
    MPI_Info_get_nthkey(info, 0, key);
    note_text(key);
    MPI_Info_free(&info);
    MPI_Type_free(&pair);
    MPI_Sendrecv(a, 2, MPI_INT, next, 6, b, 2, MPI_INT, prev, 6, comm, MPI_STATUS_IGNORE);
    note_all(b, 8);
    MPI_Comm_free(&comm);
}

/* Sections are contiguous here: what counts is which calls are made, and what they bring. */
void c_buffers(void) {
    int from[4][8], to[4][8], scalar, some[4], two[2];
    char text[9];
    double numbers[2];
    float one[2];
    MPI_Request requests[4];

    start();
    for (int i = 0; i < 4; ++i) {
        for (int j = 0; j < 8; ++j) {
            from[i][j] = 100 * rank + 4 * j + i + 1;
            to[i][j] = -1;
        }
    }
    two[0] = from[0][1];
    two[1] = from[0][5];
    scalar = rank + 3;
    MPI_Bcast(&scalar, 1, MPI_INT, 1, MPI_COMM_WORLD);
    note(scalar);
    strcpy(text, rank == 0 ? "from 0.." : "from 1..");
    MPI_Sendrecv_replace(text, 8, MPI_CHAR, next, 1, prev, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    note_text(text);
    numbers[0] = 0.5;
    numbers[1] = 1.5 * rank;
    MPI_Allreduce(MPI_IN_PLACE, numbers, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    note((int)(4 * numbers[0]));
    note((int)(4 * numbers[1]));
    one[0] = (float)(rank + 1);
    one[1] = (float)(rank + 2);
    MPI_Bcast(one, 1, MPI_C_FLOAT_COMPLEX, 0, MPI_COMM_WORLD);
    note((int)one[0]);
    note((int)one[1]);

    MPI_Sendrecv(from[1], 8, MPI_INT, next, 2, to[2], 8, MPI_INT, prev, 2, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    for (int i = 0; i < 4; ++i)
        some[i] = to[1][2 * i];
    MPI_Bcast(some, 4, MPI_INT, 0, MPI_COMM_WORLD);
    for (int i = 0; i < 4; ++i)
        to[1][2 * i] = some[i];
    MPI_Allgather(two, 2, MPI_INT, c, 2, MPI_INT, MPI_COMM_WORLD);
    for (int i = 0; i < 4; ++i) {
        a[i] = from[0][2 * i];
        a[4 + i] = from[0][2 * i + 1];
    }
    MPI_Irecv(b, 4, MPI_INT, prev, 3, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(b + 4, 4, MPI_INT, prev, 4, MPI_COMM_WORLD, &requests[1]);
    MPI_Isend(a + 4, 4, MPI_INT, next, 4, MPI_COMM_WORLD, &requests[2]);
    MPI_Isend(a, 4, MPI_INT, next, 3, MPI_COMM_WORLD, &requests[3]);
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < 4; ++i) {
        note(b[i]);
        note(b[4 + i]);
    }
    note_all(c, 8);
    for (int i = 0; i < 4; ++i)
        note_all(to[i], 8);
}

static void note_address(MPI_Aint number) {
    note((int)(number / 1000000));
    note((int)(number % 1000000));
}

/* Whose address an attribute is that C has set. */
static char of_c;

void c_sets(int comm, int comm_key, int datatype, int type_key, int win, int win_key) {
    MPI_Comm_set_attr(MPI_Comm_f2c(comm), comm_key, &of_c);
    MPI_Type_set_attr(MPI_Type_f2c(datatype), type_key, &of_c);
    MPI_Win_set_attr(MPI_Win_f2c(win), win_key, &of_c);
}

/* Of what Fortran has set, C gets the address. */
static void tell(const void *value, int flag) {
    note(flag);
    if (flag) {
        note(value == &of_c);
        if (value != &of_c)
            note(*(const int *)value);
    }
}

void c_tells(int comm, int comm_key, int datatype, int type_key, int win, int win_key) {
    void *value;
    int flag;

    MPI_Comm_get_attr(MPI_Comm_f2c(comm), comm_key, &value, &flag);
    tell(value, flag);
    MPI_Type_get_attr(MPI_Type_f2c(datatype), type_key, &value, &flag);
    tell(value, flag);
    MPI_Win_get_attr(MPI_Win_f2c(win), win_key, &value, &flag);
    tell(value, flag);
}

static int copy_more(MPI_Comm comm, int key, void *more, void *value, void *copied, int *flag) {
    (void)comm;
    (void)key;
    *(void **)copied = (void *)((MPI_Aint)value + (MPI_Aint)more);
    *flag = 1;
    return MPI_SUCCESS;
}

static int forget_value(MPI_Comm comm, int key, void *value, void *more) {
    (void)comm;
    (void)key;
    (void)value;
    (void)more;
    return MPI_SUCCESS;
}

static void note_value(const void *value, int flag) {
    note(flag);
    if (flag)
        note_address((MPI_Aint)value);
}

static void note_of_comm(MPI_Comm comm, int key) {
    void *value;
    int flag;

    MPI_Comm_get_attr(comm, key, &value, &flag);
    note_value(value, flag);
}

static void note_of_type(MPI_Datatype datatype, int key) {
    void *value;
    int flag;

    MPI_Type_get_attr(datatype, key, &value, &flag);
    note_value(value, flag);
}

void c_tells_number(int win, int win_key) {
    void *value;
    int flag;

    MPI_Win_get_attr(MPI_Win_f2c(win), win_key, &value, &flag);
    note_value(flag ? *(void **)value : NULL, flag);
}

static void note_of_win(MPI_Win win, int key) {
    void *value;
    int flag;

    MPI_Win_get_attr(win, key, &value, &flag);
    note_value(value, flag);
}

static void make_window(MPI_Win *win) {
    MPI_Win_create(a, sizeof(a), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, win);
}

void c_windows(void) {
    MPI_Win win, other;

    for (int i = 1; i <= 2; ++i) {
        start();
        make_window(&win);
        MPI_Win_create(b, sizeof(b), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &other);
        MPI_Win_fence(0, win);
        MPI_Put(c, 2, MPI_INT, next, 1, 2, MPI_INT, win);
        MPI_Win_fence(0, win);
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, next, 0, other);
        MPI_Accumulate(a + 3, 2, MPI_INT, next, 2, 2, MPI_INT, MPI_SUM, other);
        MPI_Win_unlock(next, other);
        MPI_Win_fence(0, win);
        MPI_Get(c, 8, MPI_INT, next, 0, 8, MPI_INT, win);
        MPI_Win_fence(0, win);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Win_free(&other);
        MPI_Win_free(&win);
        note(win == MPI_WIN_NULL);
        note_all(a, 8);
        note_all(b, 8);
        note_all(c, 8);
    }
}

void c_attributes(void) {
    void *const large = (void *)(MPI_Aint)9876543210987, *more = (void *)(MPI_Aint)100;
    void *value, *here;
    int key, flag;
    MPI_Comm comm, copy;
    MPI_Datatype pair, twin;
    MPI_Win win;

    start();
    MPI_Comm_create_keyval(copy_more, forget_value, &key, more);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    note_of_comm(comm, key);
    MPI_Comm_set_attr(comm, key, large);
    note_of_comm(comm, key);
    MPI_Comm_set_attr(comm, key, (void *)(MPI_Aint)-5);
    note_of_comm(comm, key);
    MPI_Comm_dup(comm, &copy);
    note_of_comm(copy, key);
    MPI_Comm_delete_attr(comm, key);
    note_of_comm(comm, key);
    note_of_comm(copy, key);
    MPI_Comm_free_keyval(&key);
    note(key == MPI_KEYVAL_INVALID);
    MPI_Comm_free(&copy);
    MPI_Comm_free(&comm);

    MPI_Type_create_keyval(MPI_TYPE_DUP_FN, MPI_TYPE_NULL_DELETE_FN, &key, more);
    MPI_Type_contiguous(2, MPI_INT, &pair);
    MPI_Type_set_attr(pair, key, large);
    MPI_Type_set_attr(pair, key, (void *)(MPI_Aint)17);
    MPI_Type_dup(pair, &twin);
    note_of_type(twin, key);
    MPI_Type_delete_attr(pair, key);
    note_of_type(pair, key);
    MPI_Type_free_keyval(&key);
    MPI_Type_free(&twin);
    MPI_Type_free(&pair);

    make_window(&win);
    MPI_Win_get_attr(win, MPI_WIN_BASE, &value, &flag);
    here = a;
    note(flag);
    note(value == here);
    MPI_Win_get_attr(win, MPI_WIN_MODEL, &value, &flag);
    note(flag);
    note(*(int *)value == MPI_WIN_SEPARATE);
    MPI_Win_get_attr(win, MPI_WIN_SIZE, &value, &flag);
    note(flag);
    note_address(*(MPI_Aint *)value);
    MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, MPI_WIN_NULL_DELETE_FN, &key, more);
    MPI_Win_set_attr(win, key, large);
    note_of_win(win, key);
    note_of_win(win, key);
    MPI_Win_set_attr(win, key, (void *)(MPI_Aint)-1);
    note_of_win(win, key);
    note_of_win(win, key);
    MPI_Win_delete_attr(win, key);
    note_of_win(win, key);
    MPI_Win_free_keyval(&key);
    MPI_Win_free(&win);
}

void c_old_attributes(void) {
    void *value;
    int key, flag;
    MPI_Comm comm, copy;

    start();
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Keyval_create(MPI_DUP_FN, MPI_NULL_DELETE_FN, &key, NULL);
    for (int i = 1; i <= 2; ++i)
        MPI_Attr_put(comm, key, (void *)(MPI_Aint)(-3 * i));
    MPI_Comm_dup(comm, &copy);
    MPI_Attr_get(copy, key, &value, &flag);
    note(flag);
    note_address((MPI_Aint)value);
    MPI_Attr_delete(comm, key);
    MPI_Attr_get(comm, key, &value, &flag);
    note(flag);
    MPI_Keyval_free(&key);
    MPI_Comm_free(&copy);
    MPI_Comm_free(&comm);
}

static int errors; /* of which a handler was told */

static void on_error(MPI_Comm *comm, int *error, ...) {
    (void)comm;
    (void)error;
    errors += 1;
}

static void on_window_error(MPI_Win *win, int *error, ...) {
    (void)win;
    (void)error;
    errors += 10;
}

static void on_file_error(MPI_File *file, int *error, ...) {
    (void)file;
    (void)error;
    errors += 100;
}

void c_error_handlers(void) {
    int class, size;
    MPI_Comm comm;
    MPI_Datatype datatype;
    MPI_Errhandler handler;
    MPI_Win win;

    start();
    errors = 0;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    for (int i = 1; i <= 2; ++i) {
        if (i == 1)
            MPI_Comm_create_errhandler(on_error, &handler);
        else
            MPI_Errhandler_create(on_error, &handler);
        MPI_Comm_set_errhandler(comm, handler);
        MPI_Errhandler_free(&handler);
        note(handler == MPI_ERRHANDLER_NULL);
        MPI_Error_class(MPI_Send(a, 1, MPI_INT, 99, 1, comm), &class);
        note(class == MPI_ERR_RANK);
        note(errors);
    }
    MPI_Comm_free(&comm);

    make_window(&win);
    MPI_Win_create_errhandler(on_window_error, &handler);
    MPI_Win_set_errhandler(win, handler);
    MPI_Errhandler_free(&handler);
    MPI_Win_free(&win);
    MPI_File_create_errhandler(on_file_error, &handler);
    MPI_Errhandler_free(&handler);
    MPI_Type_match_size(MPI_TYPECLASS_REAL, 8, &datatype);
    MPI_Type_size(datatype, &size);
    note(size);
}
