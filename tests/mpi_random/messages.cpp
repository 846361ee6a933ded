// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// Steps in which messages begin and end.
#include "steps.h"

#include <deque>
#include <sched.h>

namespace {

struct Message {
    int from;
    int to;
    int tag;
    int count;
    uint64_t seed;
};

enum class Order { sends_first, receives_first, ready };

// Operations under way; their memory stays where it is.
struct Transfer {
    Layout layout;
    std::vector<int> memory;
    int count = 0;
    bool sends = false;
    bool persistent = false;
    bool type_is_freed = false;
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Status status = {};
};

class Batch {
public:
    explicit Batch(Part &part) : part_(part) {
        order_ = static_cast<Order>(part.common.below(3));
        const int count = 1 + part.common.below(2 * part.size);
        for (int k = 0; k < count; ++k) {
            Message message = {};
            message.from = part.common.below(part.size);
            message.to = part.common.below(part.size);
            message.tag = part.tag(part.common.below(2)); // several with one tag
            message.count = some_count(part.common);
            message.seed = part.common.next();
            messages_.push_back(message);
        }
    }

    void run() {
        if (order_ == Order::sends_first) {
            send_all();
            receive_all();
        } else {
            receive_all();
            if (order_ == Order::ready) {
                MPI_Barrier(part_.comm);
            }
            send_all();
        }
        complete_all();
        for (Transfer &transfer : transfers_) {
            take(transfer);
            part_.pause();
        }
    }

private:
    Transfer &add(const Message &message) {
        Transfer &transfer = transfers_.emplace_back();
        transfer.count = message.count;
        transfer.layout = some_layout(part_.own, message.count);
        return transfer;
    }

    void start_persistent(Transfer &transfer) {
        transfer.persistent = true;
        part_.pause();
        part_.own.percent(50) ? MPI_Start(&transfer.request) : MPI_Startall(1, &transfer.request);
    }

    void free_type_early(Transfer &transfer) {
        if (part_.own.percent(50)) {
            MPI_Type_free(&transfer.layout.type);
            transfer.type_is_freed = true;
        }
    }

    void send_all() {
        for (const Message &message : messages_) {
            if (message.from == part_.rank) {
                send(message);
                part_.pause();
            }
        }
    }

    void send(const Message &m) {
        Transfer &t = add(m);
        t.sends = true;
        std::vector<int> numbers(static_cast<size_t>(m.count));
        fill(numbers.data(), m.count, m.seed, part_.state);
        t.memory = spread(t.layout, numbers);
        void *data = t.memory.data();
        const auto elements = t.layout.elements;
        const auto type = t.layout.type;
        // A rank that sends to itself must not wait for that.
        const bool may_block = order_ != Order::sends_first && m.to != part_.rank;
        const int way = part_.own.below(may_block ? 8 : 4);
        if (order_ == Order::ready) {
            way % 2 != 0 && may_block
                ? MPI_Rsend(data, elements, type, m.to, m.tag, part_.comm)
                : MPI_Irsend(data, elements, type, m.to, m.tag, part_.comm, &t.request);
        } else if (way == 0) {
            MPI_Issend(data, elements, type, m.to, m.tag, part_.comm, &t.request);
        } else if (way == 1 && m.count < 100) {
            MPI_Ibsend(data, elements, type, m.to, m.tag, part_.comm, &t.request);
        } else if (way == 2) {
            MPI_Send_init(data, elements, type, m.to, m.tag, part_.comm, &t.request);
            start_persistent(t);
        } else if (way < 5) {
            MPI_Isend(data, elements, type, m.to, m.tag, part_.comm, &t.request);
        } else if (way == 5) {
            MPI_Ssend(data, elements, type, m.to, m.tag, part_.comm);
        } else if (way == 6 && m.count < 100) {
            MPI_Bsend(data, elements, type, m.to, m.tag, part_.comm);
        } else {
            MPI_Send(data, elements, type, m.to, m.tag, part_.comm);
        }
        free_type_early(t);
    }

    void receive_all() {
        for (const Message &message : messages_) {
            if (message.to == part_.rank) {
                receive(message);
                part_.pause();
            }
        }
    }

    void receive(const Message &m) {
        Transfer &t = add(m);
        t.memory.resize(static_cast<size_t>(t.layout.span(m.count)), -1);
        void *data = t.memory.data();
        const auto elements = t.layout.elements;
        const auto type = t.layout.type;
        MPI_Message found = MPI_MESSAGE_NULL;
        int flag = 0;
        switch (part_.own.below(order_ == Order::sends_first ? 9 : 3)) {
        case 0:
            MPI_Recv_init(data, elements, type, m.from, m.tag, part_.comm, &t.request);
            start_persistent(t);
            break;
        case 3:
            MPI_Recv(data, elements, type, m.from, m.tag, part_.comm, &t.status);
            break;
        case 4:
            MPI_Probe(m.from, m.tag, part_.comm, &t.status);
            part_.pause();
            MPI_Recv(data, elements, type, m.from, m.tag, part_.comm, &t.status);
            break;
        case 5:
            while (MPI_Iprobe(m.from, m.tag, part_.comm, &flag, &t.status), !flag) {
                sched_yield();
            }
            part_.pause();
            MPI_Recv(data, elements, type, m.from, m.tag, part_.comm, &t.status);
            break;
        case 6:
            MPI_Mprobe(m.from, m.tag, part_.comm, &found, &t.status);
            part_.pause();
            MPI_Mrecv(data, elements, type, &found, &t.status);
            break;
        case 7:
            while (MPI_Improbe(m.from, m.tag, part_.comm, &flag, &found, &t.status), !flag) {
                sched_yield();
            }
            part_.pause();
            MPI_Mrecv(data, elements, type, &found, &t.status);
            break;
        case 8:
            MPI_Mprobe(m.from, m.tag, part_.comm, &found, &t.status);
            part_.pause();
            MPI_Imrecv(data, elements, type, &found, &t.request);
            break;
        default:
            MPI_Irecv(data, elements, type, m.from, m.tag, part_.comm, &t.request);
            break;
        }
        free_type_early(t);
    }

    void complete_all() {
        std::vector<MPI_Request> requests;
        std::vector<Transfer *> under_way;
        for (Transfer &transfer : transfers_) {
            if (transfer.request != MPI_REQUEST_NULL) {
                requests.push_back(transfer.request);
                under_way.push_back(&transfer);
            }
        }
        std::vector<MPI_Status> statuses;
        complete(part_, requests, statuses);
        for (size_t i = 0; i < under_way.size(); ++i) {
            under_way[i]->request = requests[i];
            under_way[i]->status = statuses[i];
        }
    }

    void take(Transfer &transfer) {
        if (transfer.persistent) {
            MPI_Request_free(&transfer.request);
        }
        if (!transfer.sends) {
            const std::vector<int> numbers =
                gather(transfer.layout, transfer.memory, transfer.count);
            uint64_t &hash = part_.received.in_any_order;
            hash = mix(hash, hash_of(numbers.data(), transfer.count));
            hash = mix(hash, static_cast<unsigned>(transfer.status.MPI_SOURCE));
            hash = mix(hash, static_cast<unsigned>(transfer.status.MPI_TAG));
        }
        if (!transfer.type_is_freed) {
            MPI_Type_free(&transfer.layout.type);
        }
    }

    Part &part_;
    Order order_;
    std::vector<Message> messages_;
    std::deque<Transfer> transfers_;
};

} // namespace

void do_batch(Part &part) { Batch(part).run(); }

void do_any_source(Part &part) {
    const int to = part.common.below(part.size);
    const int count = some_count(part.common);
    std::vector<int> mine(static_cast<size_t>(count));
    fill(mine.data(), count, part.common.next() + static_cast<uint64_t>(part.rank), part.state);
    // Any tag only where no other step's messages are.
    const bool any_tag = part.common.percent(30);
    const int tag = any_tag ? MPI_ANY_TAG : part.tag(0);
    MPI_Comm comm = part.comm;
    if (any_tag) {
        MPI_Comm_dup(part.comm, &comm);
    }
    MPI_Request sending = MPI_REQUEST_NULL;
    MPI_Isend(mine.data(), count, MPI_INT, to, part.tag(any_tag ? part.rank % 2 : 0), comm,
              &sending);
    if (part.rank == to) {
        std::vector<std::vector<int>> all(static_cast<size_t>(part.size),
                                          std::vector<int>(static_cast<size_t>(count)));
        std::vector<MPI_Status> statuses(all.size());
        const int way = part.own.below(4);
        if (way == 0) {
            std::vector<MPI_Request> requests(all.size());
            for (size_t i = 0; i < all.size(); ++i) {
                MPI_Irecv(all[i].data(), count, MPI_INT, MPI_ANY_SOURCE, tag, comm, &requests[i]);
                part.pause();
            }
            complete(part, requests, statuses);
        }
        for (size_t i = 0; way != 0 && i < all.size(); ++i) {
            int from = MPI_ANY_SOURCE;
            MPI_Message found = MPI_MESSAGE_NULL;
            if (way == 1) {
                MPI_Probe(MPI_ANY_SOURCE, tag, comm, &statuses[i]);
                from = statuses[i].MPI_SOURCE;
            } else if (way == 2) {
                MPI_Mprobe(MPI_ANY_SOURCE, tag, comm, &found, &statuses[i]);
            }
            part.pause();
            found != MPI_MESSAGE_NULL
                ? MPI_Mrecv(all[i].data(), count, MPI_INT, &found, &statuses[i])
                : MPI_Recv(all[i].data(), count, MPI_INT, from, tag, comm, &statuses[i]);
        }
        for (size_t i = 0; i < all.size(); ++i) {
            const uint64_t hash = mix(hash_of(all[i].data(), count), hash_of(statuses[i], MPI_INT));
            part.received.in_any_order += hash;
            part.received.in_this_order = mix(part.received.in_this_order, hash);
        }
    }
    part.pause();
    MPI_Wait(&sending, MPI_STATUS_IGNORE);
    if (any_tag) {
        MPI_Comm_free(&comm);
    }
}

void do_exchange(Part &part) {
    const int shift = part.common.below(part.size);
    const int count = some_count(part.common);
    const bool replace = part.common.percent(50);
    const bool is_ring = part.common.percent(70); // else nobody is beyond the first and the last
    const auto neighbor = [&](int rank) {
        const bool is_there = is_ring || (rank >= 0 && rank < part.size);
        return is_there ? (rank + part.size) % part.size : MPI_PROC_NULL;
    };
    const int to = neighbor(part.rank + shift);
    const int from = neighbor(part.rank - shift);
    std::vector<int> out(static_cast<size_t>(count));
    fill(out.data(), count, part.common.next(), part.state);
    std::vector<int> in = out;
    MPI_Status status = {};
    if (replace) {
        MPI_Sendrecv_replace(in.data(), count, MPI_INT, to, part.tag(0), from, part.tag(0),
                             part.comm, &status);
    } else {
        MPI_Sendrecv(out.data(), count, MPI_INT, to, part.tag(0), in.data(), count, MPI_INT, from,
                     part.tag(0), part.comm, &status);
    }
    part.received.in_any_order = mix(hash_of(in.data(), count), hash_of(status, MPI_INT));
}
