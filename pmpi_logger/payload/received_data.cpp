// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "payload/received_data.h"

#include "payload/comm_cache.h"
#include "payload/datatype_cache.h"

namespace cd::logger {
namespace {

// Returns how many ranks this one talks to: those of the remote group, if there is one.
int peers(const CommFacts &comm) { return comm.inter != 0 ? comm.remote_size : comm.size; }

int peers(const Arguments &a) { return peers(comm_facts_of(a.comm)); }
int neighbors_out(const Arguments &a) { return comm_facts_of(a.comm).neighbors_out; }
int neighbors_in(const Arguments &a) { return comm_facts_of(a.comm).neighbors_in; }
using CountRanks = int (*)(const Arguments &);

// Removes the blocks of neighbours that do not exist, at the ends of a grid. The last `neighbors`
// blocks are theirs.
void leave_out_absent(const Arguments &a, int neighbors, Blocks &blocks) {
    uint64_t absent = comm_facts_of(a.comm).absent_neighbors;
    for (size_t i = blocks.size() - static_cast<size_t>(neighbors); absent != 0; ++i) {
        if ((absent & 1) != 0) {
            blocks[i].count = 0;
        }
        absent >>= 1;
    }
}

// Between two groups the root gives MPI_ROOT, and the others of its group MPI_PROC_NULL.
bool is_root(const Arguments &a) {
    const CommFacts &comm = comm_facts_of(a.comm);
    return comm.inter != 0 ? a.root == MPI_ROOT : a.root == comm.rank;
}

bool takes_from_root(const Arguments &a) {
    const CommFacts &comm = comm_facts_of(a.comm);
    return comm.inter != 0 ? a.root >= 0 : a.root != comm.rank;
}

bool gives_to_root(const Arguments &a) { return comm_facts_of(a.comm).inter == 0 || a.root >= 0; }

void *moved(const void *base, int64_t bytes) {
    return const_cast<char *>(static_cast<const char *>(base)) + bytes;
}

bool is_not_in_place(const Arguments &a) { return a.send_buf != MPI_IN_PLACE; }

// A root in its own group gets its part like the others, unless it is in place.
bool takes_scattered(const Arguments &a) {
    return takes_from_root(a) || (comm_facts_of(a.comm).inter == 0 && a.recv_buf != MPI_IN_PLACE);
}

// The first rank's buffer is not written.
bool has_ranks_before(const Arguments &a) { return comm_facts_of(a.comm).rank > 0; }

// Adds blocks where a condition holds.
template <bool (*holds)(const Arguments &), void (*add)(const Arguments &, Blocks &)>
void if_it(const Arguments &a, Blocks &blocks) {
    if (holds(a)) {
        add(a, blocks);
    }
}

void no_blocks(const Arguments &, Blocks &) {}

// Adds nothing if the program gives no types, which MPI refuses.
Block mixed(const void *buffer, const Numbers &displs, const Numbers &counts,
            const MPI_Datatype *types, int i) {
    return types != nullptr ? Block{moved(buffer, displs[i]), counts[i], types[i]} : Block{};
}

// ---- What is sent -------------------------------------------------------------------------

void send_whole(const Arguments &a, Blocks &blocks) {
    if (Arrivals::is_sent(a)) {
        blocks.push_back(Arrivals::sent(a));
    }
}

void send_partitions(const Arguments &a, Blocks &blocks) {
    if (a.send_type != MPI_DATATYPE_NULL) {
        blocks.push_back(
            {const_cast<void *>(a.send_buf), a.partitions * a.send_count, a.send_type});
    }
}

void send_times(const Arguments &a, int64_t times, Blocks &blocks) {
    blocks.push_back({const_cast<void *>(a.send_buf), a.send_count * times, a.send_type});
}

void send_to_each(const Arguments &a, Blocks &blocks) { send_times(a, peers(a), blocks); }

template <CountRanks ranks> void send_vector(const Arguments &a, Blocks &blocks) {
    const int count = ranks(a);
    const int64_t extent = facts_of(a.send_type).extent;
    for (int i = 0; i < count; ++i) {
        blocks.push_back(
            {moved(a.send_buf, a.send_displs[i] * extent), a.send_counts[i], a.send_type});
    }
    if constexpr (ranks == neighbors_out) {
        leave_out_absent(a, count, blocks);
    }
}

template <CountRanks ranks> void send_mixed(const Arguments &a, Blocks &blocks) {
    const int count = ranks(a);
    for (int i = 0; i < count; ++i) {
        blocks.push_back(mixed(a.send_buf, a.send_displs, a.send_counts, a.send_types, i));
    }
    if constexpr (ranks == neighbors_out) {
        leave_out_absent(a, count, blocks);
    }
}

void send_reduce_scatter(const Arguments &a, Blocks &blocks) {
    int64_t count = 0;
    for (int i = 0; i < comm_facts_of(a.comm).size; ++i) {
        count += a.recv_counts[i];
    }
    blocks.push_back({const_cast<void *>(a.send_buf), count, a.send_type});
}

void send_reduce_scatter_block(const Arguments &a, Blocks &blocks) {
    send_times(a, comm_facts_of(a.comm).size, blocks);
}

// ---- What is received ---------------------------------------------------------------------

void receive_whole(const Arguments &a, Blocks &blocks) { blocks.push_back(Arrivals::received(a)); }

void receive_partitions(const Arguments &a, Blocks &blocks) {
    if (a.recv_type != MPI_DATATYPE_NULL) {
        blocks.push_back({a.recv_buf, a.partitions * a.recv_count, a.recv_type});
    }
}

// Returns the rank whose part is in place already, or -1.
int own_in_place(const Arguments &a) {
    return is_not_in_place(a) ? -1 : comm_facts_of(a.comm).rank;
}

void receive_from(const Arguments &a, int own, Blocks &blocks) {
    const int ranks = peers(a);
    if (own < 0) {
        blocks.push_back({a.recv_buf, a.recv_count * ranks, a.recv_type});
        return;
    }
    const int64_t stride = a.recv_count * facts_of(a.recv_type).extent;
    blocks.push_back({a.recv_buf, a.recv_count * own, a.recv_type});
    blocks.push_back(
        {moved(a.recv_buf, stride * (own + 1)), a.recv_count * (ranks - own - 1), a.recv_type});
}

void receive_vector_from(const Arguments &a, int ranks, int own, Blocks &blocks) {
    const int64_t extent = facts_of(a.recv_type).extent;
    for (int i = 0; i < ranks; ++i) {
        if (i != own) {
            blocks.push_back(
                {moved(a.recv_buf, a.recv_displs[i] * extent), a.recv_counts[i], a.recv_type});
        }
    }
}

template <CountRanks ranks> void receive_vector(const Arguments &a, Blocks &blocks) {
    receive_vector_from(a, ranks(a), -1, blocks);
    if constexpr (ranks == neighbors_in) {
        leave_out_absent(a, ranks(a), blocks);
    }
}

template <CountRanks ranks> void receive_mixed(const Arguments &a, Blocks &blocks) {
    const int count = ranks(a);
    for (int i = 0; i < count; ++i) {
        blocks.push_back(mixed(a.recv_buf, a.recv_displs, a.recv_counts, a.recv_types, i));
    }
    if constexpr (ranks == neighbors_in) {
        leave_out_absent(a, count, blocks);
    }
}

void receive_gathered(const Arguments &a, Blocks &blocks) {
    receive_from(a, own_in_place(a), blocks);
}

void receive_gathered_vector(const Arguments &a, Blocks &blocks) {
    receive_vector_from(a, peers(a), own_in_place(a), blocks);
}

void receive_alltoall(const Arguments &a, Blocks &blocks) { receive_from(a, -1, blocks); }

void receive_reduce_scatter(const Arguments &a, Blocks &blocks) {
    blocks.push_back({a.recv_buf, a.recv_counts[comm_facts_of(a.comm).rank], a.recv_type});
}

// ---- Neighbours ---------------------------------------------------------------------------

// Adds an equally long block for each neighbour, one behind the other.
void add_neighbors(const Block &first, int neighbors, const Arguments &a, Blocks &blocks) {
    if (comm_facts_of(a.comm).absent_neighbors == 0) {
        blocks.push_back({first.address, first.count * neighbors, first.type});
        return;
    }
    const int64_t stride = first.count * facts_of(first.type).extent;
    for (int i = 0; i < neighbors; ++i) {
        blocks.push_back({moved(first.address, stride * i), first.count, first.type});
    }
    leave_out_absent(a, neighbors, blocks);
}

void send_neighbor_alltoall(const Arguments &a, Blocks &blocks) {
    add_neighbors(Arrivals::sent(a), neighbors_out(a), a, blocks);
}

void receive_neighbors(const Arguments &a, Blocks &blocks) {
    add_neighbors(Arrivals::received(a), neighbors_in(a), a, blocks);
}

// ---- Which arguments matter ---------------------------------------------------------------

Significance given_by_root(const Arguments &a) { return {true, true, is_root(a)}; }

Significance by_whoever_has_data(const Arguments &a) {
    const bool concerned = is_root(a) || takes_from_root(a);
    return {concerned, concerned, true};
}

Significance for_gathering(const Arguments &a) {
    return {gives_to_root(a) && is_not_in_place(a), is_root(a), true};
}

Significance for_scattering(const Arguments &a) { return {is_root(a), takes_scattered(a), true}; }

Significance of_buffer_in_place(const Arguments &a) { return {is_not_in_place(a), true, true}; }

} // namespace

const Arrival Arrivals::nothing = {no_blocks, send_whole};
const Arrival Arrivals::nothing_given_by_root = {no_blocks, no_blocks, given_by_root};
const Arrival Arrivals::message = {receive_whole, send_whole};
const Arrival Arrivals::fetched = {receive_whole, no_blocks};
const Arrival Arrivals::message_replaced = {receive_whole, receive_whole};
const Arrival Arrivals::partitioned = {receive_partitions, send_partitions};
const Arrival Arrivals::bcast = {if_it<takes_from_root, receive_whole>,
                                 if_it<is_root, receive_whole>, by_whoever_has_data};
const Arrival Arrivals::gather = {if_it<is_root, receive_gathered>,
                                  if_it<gives_to_root, send_whole>, for_gathering};
const Arrival Arrivals::gatherv = {if_it<is_root, receive_gathered_vector>,
                                   if_it<gives_to_root, send_whole>, for_gathering};
const Arrival Arrivals::scatter = {if_it<takes_scattered, receive_whole>,
                                   if_it<is_root, send_to_each>, for_scattering};
const Arrival Arrivals::scatterv = {if_it<takes_scattered, receive_whole>,
                                    if_it<is_root, send_vector<peers>>, for_scattering};
const Arrival Arrivals::allgather = {receive_gathered, send_whole, of_buffer_in_place};
const Arrival Arrivals::allgatherv = {receive_gathered_vector, send_whole, of_buffer_in_place};
const Arrival Arrivals::alltoall = {receive_alltoall, if_it<is_not_in_place, send_to_each>,
                                    of_buffer_in_place};
const Arrival Arrivals::alltoallv = {
    receive_vector<peers>, if_it<is_not_in_place, send_vector<peers>>, of_buffer_in_place};
const Arrival Arrivals::alltoallw = {receive_mixed<peers>,
                                     if_it<is_not_in_place, send_mixed<peers>>, of_buffer_in_place};
const Arrival Arrivals::reduce = {if_it<is_root, receive_whole>, if_it<gives_to_root, send_whole>,
                                  by_whoever_has_data};
const Arrival Arrivals::allreduce = {receive_whole, send_whole};
const Arrival Arrivals::reduce_scatter = {receive_reduce_scatter,
                                          if_it<is_not_in_place, send_reduce_scatter>};
const Arrival Arrivals::reduce_scatter_block = {receive_whole,
                                                if_it<is_not_in_place, send_reduce_scatter_block>};
const Arrival Arrivals::exscan = {if_it<has_ranks_before, receive_whole>, send_whole};
const Arrival Arrivals::neighbor_allgather = {receive_neighbors, send_whole};
const Arrival Arrivals::neighbor_allgatherv = {receive_vector<neighbors_in>, send_whole};
const Arrival Arrivals::neighbor_alltoall = {receive_neighbors, send_neighbor_alltoall};
const Arrival Arrivals::neighbor_alltoallv = {receive_vector<neighbors_in>,
                                              send_vector<neighbors_out>};
const Arrival Arrivals::neighbor_alltoallw = {receive_mixed<neighbors_in>,
                                              send_mixed<neighbors_out>};

namespace {

bool is_one_of_neighbors(const Arrival *way) {
    return way == &Arrivals::neighbor_allgatherv || way == &Arrivals::neighbor_alltoallv ||
           way == &Arrivals::neighbor_alltoallw;
}

} // namespace

int Arrivals::ranks_sent_to(const Call &call) {
    const Arguments &a = call.arguments;
    if (a.send_buf == MPI_IN_PLACE || (call.arrival == &scatterv && !is_root(a))) {
        return 0;
    }
    return is_one_of_neighbors(call.arrival) ? neighbors_out(a) : peers(a);
}

int Arrivals::ranks_received_from(const Call &call) {
    const Arguments &a = call.arguments;
    if (call.arrival == &gatherv && !is_root(a)) {
        return 0;
    }
    if (call.arrival == &reduce_scatter) {
        return comm_facts_of(a.comm).size;
    }
    return is_one_of_neighbors(call.arrival) ? neighbors_in(a) : peers(a);
}

} // namespace cd::logger
