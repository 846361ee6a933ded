# SPDX-License-Identifier: BSD-3-Clause
# Copyright the containment-domains authors
"""Python over MPI in the ways that mpi4py has, on any number of ranks: what arrives is printed."""

import os
import sys
from array import array

from mpi4py import MPI

world = MPI.COMM_WORLD
rank, size = world.Get_rank(), world.Get_size()
following, previous = (rank + 1) % size, (rank - 1) % size


def say(*what):
    for one in world.gather(what) or []:
        print(*one)
    sys.stdout.flush()


def objects():
    sent = {"rank": rank, "list": list(range(rank, rank + 5)), "text": "é" * rank}
    say("exchanged", world.sendrecv(sent, following, 1, source=previous, recvtag=1))
    request = world.isend(sent, following, 2)
    say("received", world.recv(source=previous, tag=2))
    request.wait()
    say("broadcast", world.bcast({"from": "root"} if rank == 0 else None))
    say("scattered", world.scatter([i * i for i in range(size)] if rank == 0 else None))
    say("gathered", world.allgather((rank, str(rank))), world.alltoall([rank * 10 + i for i in range(size)]))
    say("reduced", world.allreduce(rank + 1), world.allreduce([rank]), world.scan(rank), world.exscan(rank + 1))
    status = MPI.Status()
    request = world.isend("probed", following, 3)
    world.probe(MPI.ANY_SOURCE, 3, status)
    say("probed", status.source, status.tag, world.mprobe(previous, 3).recv())
    request.wait()


def buffers():
    sent = array("d", (rank + 0.5 * i for i in range(2000)))
    received = array("d", bytes(8 * 2000))
    MPI.Request.Waitall([world.Irecv(received, previous, 4), world.Isend(sent, following, 4)])
    say("sum of what came", sum(received))
    persistent = [world.Recv_init(received, previous, 5), world.Send_init(sent, following, 5)]
    for _ in range(3):
        sent[0] += 1
        MPI.Prequest.Startall(persistent)
        MPI.Request.Waitall(persistent)
        say("once more", received[0])
    for request in persistent:
        request.Free()
    column = MPI.DOUBLE.Create_vector(10, 1, 20).Commit()
    world.Sendrecv([sent, 1, column], following, 6, [received, 1, column], previous, 6)
    say("column", list(received[0:60:20]))
    column.Free()
    total = array("d", bytes(8 * 2000))
    largest = MPI.Op.Create(lambda one, other, datatype: None, commute=True)
    largest.Free()
    world.Iallreduce(sent, total, MPI.MAX).Wait()
    say("largest", total[0], total[-1])
    say("an error", error_of(lambda: world.Send(sent, size + 3)))


def error_of(call):
    try:
        call()
    except MPI.Exception as error:
        return error.Get_error_class() == MPI.ERR_RANK
    return "none"


def communicators():
    half = world.Split(rank % 2, -rank)
    say("half", half.rank, half.size, half.allreduce(rank))
    ring = half.Create_cart([half.size], periods=[True])
    say("ring", ring.Get_topo(), ring.Shift(0, 1))
    both = world.Dup()
    both.Set_name("both")
    say("copy", both.name, MPI.Comm.Compare(world, both) == MPI.CONGRUENT)
    group = world.group.Excl([0])
    say("without the first", group.size, MPI.Group.Translate_ranks(world.group, [0], group))
    for one in (ring, half, both):
        one.Free()


def windows_and_files():
    memory = bytearray(8)
    window = MPI.Win.Create(memory, comm=world)
    window.Fence()
    window.Put(bytes([65 + rank] * 3), following, 2)
    window.Fence()
    say("put", bytes(memory))
    window.Free()
    name = world.bcast(os.path.join(os.getcwd(), "shared"))
    file = MPI.File.Open(world, name, MPI.MODE_CREATE | MPI.MODE_RDWR)
    file.Write_at_all(4 * rank, b"%4d" % rank)
    file.Sync()
    world.Barrier()
    read = bytearray(4 * size)
    file.Read_at_all(0, read)
    say("read", bytes(read))
    file.Close()


objects()
buffers()
communicators()
windows_and_files()
