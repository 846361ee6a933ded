! SPDX-License-Identifier: BSD-3-Clause
! Copyright the containment-domains authors

! Calls whose arguments differ between Fortran and C, in one of the three interfaces: mpif.h, use mpi
! (USE_MPI), use mpi_f08 (USE_MPI_F08).
#include "interface.inc"
#include "ring.inc"

module notes
  use, intrinsic :: iso_c_binding
  implicit none
  interface
    ! What the calls give without the logger, too.
    subroutine note(number) bind(C)
      import :: c_int
      integer(c_int), value :: number
    end subroutine note
    ! What a replay gets, too.
    subroutine keep(bytes, length) bind(C)
      import :: c_int
      type(*), intent(in) :: bytes(*)
      integer(c_int), value :: length
    end subroutine keep
    ! Sets an attribute of each of three objects, which are handles of Fortran.
    subroutine c_sets(comm, comm_key, datatype, type_key, win, win_key) bind(C)
      import :: c_int
      integer(c_int), value :: comm, comm_key, datatype, type_key, win, win_key
    end subroutine c_sets
    ! Notes these attributes, as C sees them.
    subroutine c_tells(comm, comm_key, datatype, type_key, win, win_key) bind(C)
      import :: c_int
      integer(c_int), value :: comm, comm_key, datatype, type_key, win, win_key
    end subroutine c_tells
  end interface

contains

  subroutine note_all(numbers)
    integer, intent(in) :: numbers(:)
    integer :: i

    do i = 1, size(numbers)
      call note(numbers(i))
    end do
  end subroutine note_all

  ! As a caller sees it, and what its bits are.
  subroutine note_logical(flag)
    logical, intent(in) :: flag

    call note(merge(1, 0, flag))
    call keep([transfer(flag, 0)], 4)
  end subroutine note_logical

  ! Its blanks at the end are the caller's alone.
  subroutine note_text(text)
    character(*), intent(in) :: text
    integer :: i

    call keep(transfer(text, ['a']), len(text))
    call note(len_trim(text))
    do i = 1, len_trim(text)
      call note(iachar(text(i:i)))
    end do
  end subroutine note_text
end module notes

module calls
  use notes
  use ring
  INTERFACE
  implicit none
  integer, asynchronous, target :: a(8), b(8), c(8) ! what messages bring stays where it is
  integer :: errors ! of which a handler was told

  type :: with_attributes
    HANDLE(MPI_Comm) :: comm
    HANDLE(MPI_Datatype) :: datatype
    HANDLE(MPI_Win) :: win
    integer :: comm_keys(3), type_keys(3), win_keys(3)
  end type with_attributes
  type(with_attributes) :: old

contains

  subroutine start()
    integer :: i

    call find_place()
    a = [(10 * rank + i, i = 1, 8)]
    b = -1
    c = -1
  end subroutine start

  subroutine in_place() bind(C, name='fortran_in_place')
    HANDLE(MPI_Request) :: request

    call start()
    b(:4) = a(:4)
    call MPI_Allreduce(MPI_IN_PLACE, b, 4, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
    c(rank + 1) = a(1)
    call MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, c, 1, MPI_INTEGER, MPI_COMM_WORLD, ierr)
    call note_all(b)
    call note_all(c)
    if (rank == 0) then
      c(1) = 5
      call MPI_Gather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, c, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr)
      call MPI_Reduce(MPI_IN_PLACE, b, 4, MPI_INTEGER, MPI_MAX, 0, MPI_COMM_WORLD, ierr)
      call MPI_Scatter(b, 1, MPI_INTEGER, MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, 0, MPI_COMM_WORLD, ierr)
    else
      call MPI_Gather(a, 1, MPI_INTEGER, c, 0, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr)
      call MPI_Reduce(a, b, 4, MPI_INTEGER, MPI_MAX, 0, MPI_COMM_WORLD, ierr)
      call MPI_Scatter(b, 0, MPI_INTEGER, c, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr)
    end if
    call MPI_Iallreduce(MPI_IN_PLACE, a, 8, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, request, ierr)
    call MPI_Wait(request, MPI_STATUS_IGNORE, ierr)
    call MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, a, 1, MPI_INTEGER, MPI_COMM_WORLD, ierr)
    call note_all(a)
    call note_all(b)
    call note_all(c)
  end subroutine in_place

  subroutine bottom() bind(C, name='fortran_bottom')
    integer(MPI_ADDRESS_KIND) :: here(1)
    HANDLE(MPI_Datatype) :: from, to

    call start()
    call MPI_Get_address(a, here(1), ierr)
    call MPI_Type_create_hindexed(1, [8], here, MPI_INTEGER, from, ierr)
    call MPI_Type_commit(from, ierr)
    call MPI_Get_address(b, here(1), ierr)
    call MPI_Type_create_hindexed(1, [8], here, MPI_INTEGER, to, ierr)
    call MPI_Type_commit(to, ierr)
    call MPI_Sendrecv(MPI_BOTTOM, 1, from, next, 4, MPI_BOTTOM, 1, to, prev, 4, MPI_COMM_WORLD, &
      MPI_STATUS_IGNORE, ierr)
    call note_all(b)
    call MPI_Bcast(MPI_BOTTOM, 1, to, 1, MPI_COMM_WORLD, ierr)
    call note_all(b)
    call MPI_Type_free(from, ierr)
    call MPI_Type_free(to, ierr)
  end subroutine bottom

  subroutine ignored() bind(C, name='fortran_ignored')
    HANDLE(MPI_Request) :: requests(2)
    logical :: flag

    call start()
    call MPI_Irecv(b, 8, MPI_INTEGER, prev, 1, MPI_COMM_WORLD, requests(1), ierr)
    call MPI_Isend(a, 8, MPI_INTEGER, next, 1, MPI_COMM_WORLD, requests(2), ierr)
    call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, ierr)
    call MPI_Sendrecv_replace(b, 8, MPI_INTEGER, next, 2, prev, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE, &
      ierr)
    call MPI_Isend(a, 8, MPI_INTEGER, next, 3, MPI_COMM_WORLD, requests(1), ierr)
    call MPI_Probe(prev, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
    call MPI_Recv(c, 8, MPI_INTEGER, prev, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
    call MPI_Wait(requests(1), MPI_STATUS_IGNORE, ierr)
    requests = MPI_REQUEST_NULL
    call MPI_Testall(2, requests, flag, MPI_STATUSES_IGNORE, ierr)
    call note_logical(flag)
    call note_all(b)
    call note_all(c)
  end subroutine ignored

  subroutine unweighted() bind(C, name='fortran_unweighted')
    integer :: in, out, sources(2), weights_in(2), destinations(2), weights_out(2)
    logical :: weighted
    HANDLE(MPI_Comm) :: graph

    call start()
    call MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, [prev], MPI_UNWEIGHTED, 1, [next], &
      MPI_UNWEIGHTED, MPI_INFO_NULL, .false., graph, ierr)
    call MPI_Dist_graph_neighbors_count(graph, in, out, weighted, ierr)
    call note(in)
    call note(out)
    call note_logical(weighted)
    sources = -1
    destinations = -1
    call MPI_Dist_graph_neighbors(graph, 1, sources, MPI_UNWEIGHTED, 1, destinations, MPI_UNWEIGHTED, &
      ierr)
    call note_all(sources)
    call note_all(destinations)
    call MPI_Neighbor_allgather(a, 2, MPI_INTEGER, b, 2, MPI_INTEGER, graph, ierr)
    call note_all(b)
    call MPI_Comm_free(graph, ierr)
    ! From rank 0 to rank 1, with a weight.
    if (rank == 0) then
      call MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 0, [0], MPI_WEIGHTS_EMPTY, 1, [1], [7], &
        MPI_INFO_NULL, .false., graph, ierr)
    else
      call MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, [0], [7], 0, [0], MPI_WEIGHTS_EMPTY, &
        MPI_INFO_NULL, .false., graph, ierr)
    end if
    call MPI_Dist_graph_neighbors_count(graph, in, out, weighted, ierr)
    call note(in)
    call note(out)
    call note_logical(weighted)
    weights_in = -1
    weights_out = -1
    call MPI_Dist_graph_neighbors(graph, in, sources, weights_in, out, destinations, weights_out, ierr)
    call note_all(weights_in)
    call note_all(weights_out)
    call MPI_Comm_free(graph, ierr)
  end subroutine unweighted

  subroutine note_statuses(list, n)
    integer, intent(in) :: n
    STATUSES(list, n)
    integer :: i, count

    do i = 1, n
      call note(SOURCE(list, i))
      call note(TAG(list, i))
      call MPI_Get_count(STATUS(list, i), MPI_INTEGER, count, ierr)
      call note(count)
      call MPI_Get_elements(STATUS(list, i), MPI_INTEGER, count, ierr)
      call note(count)
    end do
    call keep(list, 4 * MPI_STATUS_SIZE * n)
  end subroutine note_statuses

  subroutine statuses() bind(C, name='fortran_statuses')
    STATUSES(list, 3)
    HANDLE(MPI_Request) :: requests(3), sends(3)
    integer :: i, indices(3), count
    logical :: cancelled

    call start()
    CLEAR(list, 3) ! not all of each is written
    do i = 1, 3
      call MPI_Isend(a, 2 * i, MPI_INTEGER, next, 10 + i, MPI_COMM_WORLD, sends(i), ierr)
    end do
    call MPI_Probe(MPI_ANY_SOURCE, 11, MPI_COMM_WORLD, STATUS(list, 1), ierr)
    call note_statuses(list, 1)
    call MPI_Recv(b, 8, MPI_INTEGER, MPI_ANY_SOURCE, 11, MPI_COMM_WORLD, STATUS(list, 1), ierr)
    call MPI_Test_cancelled(STATUS(list, 1), cancelled, ierr)
    call note_logical(cancelled)
    call MPI_Recv(b, 8, MPI_INTEGER, prev, 12, MPI_COMM_WORLD, STATUS(list, 3), ierr)
    call MPI_Recv(c, 8, MPI_INTEGER, prev, 13, MPI_COMM_WORLD, STATUS(list, 2), ierr)
    call note_statuses(list, 3)
    call MPI_Waitall(3, sends, MPI_STATUSES_IGNORE, ierr)
    call MPI_Sendrecv_replace(c, 3, MPI_INTEGER, next, 20, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &
      STATUS(list, 2), ierr)
    call note_statuses(list, 3)
    ! One that has something to wait for among two that have nothing.
    requests = MPI_REQUEST_NULL
    call MPI_Irecv(b, 8, MPI_INTEGER, prev, 21, MPI_COMM_WORLD, requests(2), ierr)
    call MPI_Send(a, 5, MPI_INTEGER, next, 21, MPI_COMM_WORLD, ierr)
    call MPI_Waitany(3, requests, i, STATUS(list, 1), ierr)
    call keep([i], 4) ! MPICH 4.0 counts from 0 in mpi_f08
    call note_statuses(list, 1)
    call MPI_Irecv(c, 8, MPI_INTEGER, prev, 22, MPI_COMM_WORLD, requests(3), ierr)
    call MPI_Send(a, 6, MPI_INTEGER, next, 22, MPI_COMM_WORLD, ierr)
    indices = -1
    call MPI_Waitsome(3, requests, count, indices, list, ierr)
    call note(count)
    call keep(indices, 4 * count)
    call note_statuses(list, count)
    call MPI_Irecv(b, 8, MPI_INTEGER, prev, 23, MPI_COMM_WORLD, requests(1), ierr)
    call MPI_Irecv(c, 8, MPI_INTEGER, prev, 24, MPI_COMM_WORLD, requests(2), ierr)
    call MPI_Send(a, 7, MPI_INTEGER, next, 24, MPI_COMM_WORLD, ierr)
    call MPI_Send(a, 8, MPI_INTEGER, next, 23, MPI_COMM_WORLD, ierr)
    call MPI_Waitall(2, requests, list, ierr)
    call note_statuses(list, 2)
    call note_all(b)
    call note_all(c)
  end subroutine statuses

  subroutine logicals() bind(C, name='fortran_logicals')
    logical :: flag, both(2), periods(2), all_of_us
    integer :: dims(2), coords(2), from, to, i
    STATUSES(list, 1)
    HANDLE(MPI_Comm) :: grid, line
    HANDLE(MPI_Request) :: requests(1), send
    HANDLE(MPI_Message) :: message

    call start()
    call MPI_Initialized(flag, ierr)
    call note_logical(flag)
    call MPI_Cart_create(MPI_COMM_WORLD, 2, [ranks, 1], [.true., .false.], .false., grid, ierr)
    call MPI_Cart_get(grid, 2, dims, periods, coords, ierr)
    call note_all(dims)
    call note_logical(periods(1))
    call note_logical(periods(2))
    call note_all(coords)
    call MPI_Cart_shift(grid, 0, 1, from, to, ierr)
    call note(from)
    call note(to)
    call MPI_Cart_sub(grid, [.false., .true.], line, ierr)
    call MPI_Comm_size(line, i, ierr)
    call note(i)
    call MPI_Comm_test_inter(line, flag, ierr)
    call note_logical(flag)
    call MPI_Comm_free(line, ierr)
    call MPI_Comm_free(grid, ierr)
    call MPI_Op_commutative(MPI_SUM, flag, ierr)
    call note_logical(flag)

    both = [rank == 0, .true.]
    call MPI_Allreduce(MPI_IN_PLACE, both, 2, MPI_LOGICAL, MPI_LAND, MPI_COMM_WORLD, ierr)
    call note_logical(both(1))
    call note_logical(both(2))
    call MPI_Allreduce(rank == 0, all_of_us, 1, MPI_LOGICAL, MPI_LOR, MPI_COMM_WORLD, ierr)
    call note_logical(all_of_us)

    call MPI_Isend(a, 3, MPI_INTEGER, next, 31, MPI_COMM_WORLD, send, ierr)
    call MPI_Probe(prev, 31, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
    flag = .false.
    call MPI_Iprobe(prev, 31, MPI_COMM_WORLD, flag, STATUS(list, 1), ierr)
    call note_logical(flag)
    call note(TAG(list, 1))
    call MPI_Improbe(prev, 31, MPI_COMM_WORLD, flag, message, STATUS(list, 1), ierr)
    call note_logical(flag)
    call MPI_Mrecv(b, 8, MPI_INTEGER, message, STATUS(list, 1), ierr)
    call note(merge(1, 0, message == MPI_MESSAGE_NULL))
    call note(SOURCE(list, 1))
    call MPI_Wait(send, MPI_STATUS_IGNORE, ierr)

    call MPI_Isend(a, 3, MPI_INTEGER, next, 32, MPI_COMM_WORLD, send, ierr)
    call MPI_Probe(prev, 32, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
    call MPI_Irecv(c, 8, MPI_INTEGER, prev, 32, MPI_COMM_WORLD, requests(1), ierr)
    flag = .false.
    do while (.not. flag)
      call MPI_Test(requests(1), flag, STATUS(list, 1), ierr)
    end do
    call MPI_Wait(send, MPI_STATUS_IGNORE, ierr)
    call note_logical(flag)
    call note(TAG(list, 1))
    call MPI_Testany(1, requests, i, flag, MPI_STATUS_IGNORE, ierr)
    call note_logical(flag)
    call keep([i], 4) ! MPICH 4.0 has MPI_UNDEFINED + 1 in mpif.h
    call note_all(b)
    call note_all(c)
  end subroutine logicals

#ifdef USE_MPI_F08
  subroutine add_squares(in, inout, count, datatype)
    type(c_ptr), value :: in, inout
    integer :: count, i
    type(MPI_Datatype) :: datatype
    integer, pointer :: from(:), to(:)

    call c_f_pointer(in, from, [count])
    call c_f_pointer(inout, to, [count])
    if (datatype /= MPI_INTEGER) error stop 'add_squares: the type is another one'
    do i = 1, count
      to(i) = to(i) + from(i)**2
    end do
  end subroutine add_squares
#else
  subroutine add_squares(from, to, count, datatype)
    integer :: count, datatype, from(count), to(count)

    if (datatype /= MPI_INTEGER) error stop 'add_squares: the type is another one'
    to = to + from**2
  end subroutine add_squares
#endif

  subroutine handles() bind(C, name='fortran_handles')
    HANDLE(MPI_Comm) :: half, all, made
    HANDLE(MPI_Group) :: world, group
    HANDLE(MPI_Datatype) :: columns, rows
    HANDLE(MPI_Op) :: squares
    HANDLE(MPI_Request) :: requests(2)
    integer :: i, number, result

    call start()
    call MPI_Comm_dup(MPI_COMM_WORLD, all, ierr)
    call MPI_Comm_split(MPI_COMM_WORLD, rank, 0, half, ierr)
    call MPI_Comm_group(MPI_COMM_WORLD, world, ierr)
    call MPI_Group_incl(world, 2, [1, 0], group, ierr)
    call MPI_Comm_create(MPI_COMM_WORLD, group, made, ierr)
    call MPI_Type_vector(4, 1, 2, MPI_INTEGER, columns, ierr)
    call MPI_Type_contiguous(2, columns, rows, ierr)
    call MPI_Type_commit(columns, ierr)
    call MPI_Op_create(add_squares, .false., squares, ierr)
    call MPI_Comm_rank(made, number, ierr)
    call note(number)
    call MPI_Comm_compare(MPI_COMM_WORLD, all, result, ierr)
    call note(merge(1, 0, result == MPI_CONGRUENT))
    call MPI_Comm_compare(made, half, result, ierr)
    call note(merge(1, 0, result == MPI_UNEQUAL))
    call MPI_Type_size(rows, number, ierr)
    call note(number)
    call keep([VALUE_OF(all), VALUE_OF(half), VALUE_OF(world), VALUE_OF(group), VALUE_OF(made), &
      VALUE_OF(columns), VALUE_OF(rows), VALUE_OF(squares)], 32)

    call MPI_Bcast(b, 1, columns, 0, all, ierr)
    call MPI_Allreduce(a, c, 8, MPI_INTEGER, squares, made, ierr)
    call note_all(c)
    call MPI_Send_init(a, 1, columns, next, 5, all, requests(1), ierr)
    call MPI_Recv_init(b, 4, MPI_INTEGER, prev, 5, all, requests(2), ierr)
    do i = 1, 2
      a(1) = a(1) + i
      call MPI_Startall(2, requests, ierr)
      call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, ierr)
      call note_all(b)
    end do
    call MPI_Request_free(requests(1), ierr)
    call MPI_Request_free(requests(2), ierr)
    call note(count([requests(1) == MPI_REQUEST_NULL, requests(2) == MPI_REQUEST_NULL]))

    call MPI_Op_free(squares, ierr)
    call MPI_Type_free(rows, ierr)
    call MPI_Type_free(columns, ierr)
    call MPI_Comm_free(made, ierr)
    call MPI_Group_free(group, ierr)
    call MPI_Group_free(world, ierr)
    call MPI_Comm_free(half, ierr)
    call MPI_Comm_free(all, ierr)
    call note(count([all == MPI_COMM_NULL, half == MPI_COMM_NULL, made == MPI_COMM_NULL, &
      group == MPI_GROUP_NULL, columns == MPI_DATATYPE_NULL, squares == MPI_OP_NULL]))
  end subroutine handles

  subroutine strings() bind(C, name='fortran_strings')
    character(MPI_MAX_OBJECT_NAME) :: name
    character(MPI_MAX_PROCESSOR_NAME) :: host
    character(MPI_MAX_ERROR_STRING) :: sentence
    character(MPI_MAX_INFO_KEY) :: key
    character(12) :: value
    integer :: length
    logical :: flag
    HANDLE(MPI_Comm) :: comm
    HANDLE(MPI_Datatype) :: pair
    HANDLE(MPI_Info) :: info

    call start()
    call MPI_Comm_dup(MPI_COMM_WORLD, comm, ierr)
    call MPI_Comm_set_name(comm, 'a name  ', ierr) ! without its blanks, as the standard says
    name = repeat('#', len(name))
    call MPI_Comm_get_name(comm, name, length, ierr)
    call note(length)
    call note_text(name)
    call MPI_Type_contiguous(2, MPI_INTEGER, pair, ierr)
    call MPI_Type_set_name(pair, 'pair', ierr)
    name = repeat('#', len(name))
    call MPI_Type_get_name(pair, name, length, ierr)
    call note(length)
    call note_text(name)
    host = repeat('#', len(host))
    call MPI_Get_processor_name(host, length, ierr)
    call note(length)
    call note_text(host)
    sentence = repeat('#', len(sentence))
    call MPI_Error_string(MPI_ERR_TAG, sentence, length, ierr)
    call note(length)
    call note_text(sentence)

    call MPI_Info_create(info, ierr)
    call MPI_Info_set(info, 'a key', 'the value', ierr)
    call MPI_Info_set(info, 'other ', ' x', ierr)
    value = repeat('#', len(value))
    call MPI_Info_get(info, 'a key  ', len(value) - 1, value, flag, ierr)
    call note_logical(flag)
    call note_text(value(:9))
    call MPI_Info_get_valuelen(info, 'a key', length, flag, ierr)
    call note(length)
    call note_logical(flag)
    call MPI_Info_get(info, 'none', len(value) - 1, value, flag, ierr)
    call note_logical(flag)
    call MPI_Info_get_nkeys(info, length, ierr)
    call note(length)
    key = repeat('#', len(key))
    call MPI_Info_get_nthkey(info, 0, key, ierr)
    call note_text(key)
    call MPI_Info_free(info, ierr)
    call MPI_Type_free(pair, ierr)
    ! What others do goes on between.
    call MPI_Sendrecv(a, 2, MPI_INTEGER, next, 6, b, 2, MPI_INTEGER, prev, 6, comm, MPI_STATUS_IGNORE, &
      ierr)
    call note_all(b)
    call MPI_Comm_free(comm, ierr)
  end subroutine strings

  ! Buffers of other types and shapes, and sections, which some interfaces pass as descriptors.
  subroutine buffers() bind(C, name='fortran_buffers')
    integer, asynchronous, target, save :: from(4, 8), to(4, 8)
    character(8), save :: text
    real(8), save :: numbers(2)
    complex, save :: one
    integer :: i, scalar
    HANDLE(MPI_Request) :: requests(4)

    call start()
    from = reshape([(100 * rank + i, i = 1, 32)], [4, 8])
    to = -1
    scalar = rank + 3
    call MPI_Bcast(scalar, 1, MPI_INTEGER, 1, MPI_COMM_WORLD, ierr)
    call note(scalar)
    text = merge('from 0..', 'from 1..', rank == 0)
    call MPI_Sendrecv_replace(text, 8, MPI_CHARACTER, next, 1, prev, 1, MPI_COMM_WORLD, &
      MPI_STATUS_IGNORE, ierr)
    call note_text(text)
    numbers = [0.5d0, 1.5d0 * rank]
    call MPI_Allreduce(MPI_IN_PLACE, numbers, 2, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, ierr)
    call note_all(int(4 * numbers))
    one = cmplx(rank + 1, rank + 2)
    call MPI_Bcast(one, 1, MPI_COMPLEX, 0, MPI_COMM_WORLD, ierr)
    call note(int(real(one)))
    call note(int(aimag(one)))

    call MPI_Sendrecv(from(2, :), 8, MPI_INTEGER, next, 2, to(3, :), 8, MPI_INTEGER, prev, 2, &
      MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
    call MPI_Bcast(to(2, 1:7:2), 4, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr)
    call MPI_Allgather(from(1, 2:6:4), 2, MPI_INTEGER, c, 2, MPI_INTEGER, MPI_COMM_WORLD, ierr)
    if (MPI_SUBARRAYS_SUPPORTED) then
      call MPI_Irecv(to(4, 1:8:2), 4, MPI_INTEGER, prev, 3, MPI_COMM_WORLD, requests(1), ierr)
      call MPI_Irecv(to(4, 2:8:2), 4, MPI_INTEGER, prev, 4, MPI_COMM_WORLD, requests(2), ierr)
      call MPI_Isend(from(1, 2:8:2), 4, MPI_INTEGER, next, 4, MPI_COMM_WORLD, requests(3), ierr)
      call MPI_Isend(from(1, 1:8:2), 4, MPI_INTEGER, next, 3, MPI_COMM_WORLD, requests(4), ierr)
      call MPI_Waitall(4, requests, MPI_STATUSES_IGNORE, ierr)
      b = to(4, :)
      to(4, :) = -1
    else
      a = from(1, [1, 3, 5, 7, 2, 4, 6, 8])
      call MPI_Irecv(b(1), 4, MPI_INTEGER, prev, 3, MPI_COMM_WORLD, requests(1), ierr)
      call MPI_Irecv(b(5), 4, MPI_INTEGER, prev, 4, MPI_COMM_WORLD, requests(2), ierr)
      call MPI_Isend(a(5), 4, MPI_INTEGER, next, 4, MPI_COMM_WORLD, requests(3), ierr)
      call MPI_Isend(a(1), 4, MPI_INTEGER, next, 3, MPI_COMM_WORLD, requests(4), ierr)
      call MPI_Waitall(4, requests, MPI_STATUSES_IGNORE, ierr)
      b = b([1, 5, 2, 6, 3, 7, 4, 8])
    end if
    call note_all(b)
    call note_all(c)
    do i = 1, 4
      call note_all(to(i, :))
    end do
  end subroutine buffers
  subroutine note_address(number)
    integer(MPI_ADDRESS_KIND), intent(in) :: number

    call note(int(number / 1000000))
    call note(int(mod(number, 1000000_MPI_ADDRESS_KIND)))
  end subroutine note_address

  subroutine copy_more(comm, key, more, value, copied, flag, error)
    HANDLE(MPI_Comm) :: comm
    integer :: key, error
    integer(MPI_ADDRESS_KIND) :: more, value, copied
    logical :: flag

    copied = value + more
    flag = .true.
    error = MPI_SUCCESS
  end subroutine copy_more

  subroutine forget_value(comm, key, value, more, error)
    HANDLE(MPI_Comm) :: comm
    integer :: key, error
    integer(MPI_ADDRESS_KIND) :: value, more

    error = MPI_SUCCESS
  end subroutine forget_value

  subroutine note_of_comm(comm, key)
    HANDLE(MPI_Comm), intent(in) :: comm
    integer, intent(in) :: key
    integer(MPI_ADDRESS_KIND) :: value
    logical :: flag

    value = 0
    call MPI_Comm_get_attr(comm, key, value, flag, ierr)
    call note_logical(flag)
    if (flag) call note_address(value)
  end subroutine note_of_comm

  subroutine note_of_type(datatype, key)
    HANDLE(MPI_Datatype), intent(in) :: datatype
    integer, intent(in) :: key
    integer(MPI_ADDRESS_KIND) :: value
    logical :: flag

    value = 0
    call MPI_Type_get_attr(datatype, key, value, flag, ierr)
    call note_logical(flag)
    if (flag) call note_address(value)
  end subroutine note_of_type

  subroutine note_of_win(win, key)
    HANDLE(MPI_Win), intent(in) :: win
    integer, intent(in) :: key
    integer(MPI_ADDRESS_KIND) :: value
    logical :: flag

    value = 0
    call MPI_Win_get_attr(win, key, value, flag, ierr)
    call note_logical(flag)
    if (flag) call note_address(value)
  end subroutine note_of_win

  subroutine make_window(win)
    HANDLE(MPI_Win), intent(out) :: win

    call MPI_Win_create(a, 32_MPI_ADDRESS_KIND, 4, MPI_INFO_NULL, MPI_COMM_WORLD, win, ierr)
  end subroutine make_window

  subroutine attributes() bind(C, name='fortran_attributes')
    integer(MPI_ADDRESS_KIND), parameter :: large = 9876543210987_MPI_ADDRESS_KIND
    integer(MPI_ADDRESS_KIND) :: more, value, here
    integer :: key
    logical :: flag
    HANDLE(MPI_Comm) :: comm, copy
    HANDLE(MPI_Datatype) :: pair, twin
    HANDLE(MPI_Win) :: win

    call start()
    more = 100
    call MPI_Comm_create_keyval(copy_more, forget_value, key, more, ierr)
    call keep([key], 4)
    call MPI_Comm_dup(MPI_COMM_WORLD, comm, ierr)
    call note_of_comm(comm, key)
    call MPI_Comm_set_attr(comm, key, large, ierr)
    call note_of_comm(comm, key)
    call MPI_Comm_set_attr(comm, key, -5_MPI_ADDRESS_KIND, ierr)
    call note_of_comm(comm, key)
    call MPI_Comm_dup(comm, copy, ierr)
    call note_of_comm(copy, key)
    call MPI_Comm_delete_attr(comm, key, ierr)
    call note_of_comm(comm, key)
    call note_of_comm(copy, key)
    call MPI_Comm_free_keyval(key, ierr)
    call note(merge(1, 0, key == MPI_KEYVAL_INVALID))
    call MPI_Comm_free(copy, ierr)
    call MPI_Comm_free(comm, ierr)

    call MPI_Type_create_keyval(MPI_TYPE_DUP_FN, MPI_TYPE_NULL_DELETE_FN, key, more, ierr)
    call MPI_Type_contiguous(2, MPI_INTEGER, pair, ierr)
    call MPI_Type_set_attr(pair, key, large, ierr)
    call MPI_Type_set_attr(pair, key, 17_MPI_ADDRESS_KIND, ierr)
    call MPI_Type_dup(pair, twin, ierr)
    call note_of_type(twin, key)
    call MPI_Type_delete_attr(pair, key, ierr)
    call note_of_type(pair, key)
    call MPI_Type_free_keyval(key, ierr)
    call MPI_Type_free(twin, ierr)
    call MPI_Type_free(pair, ierr)

    call make_window(win)
    call MPI_Win_get_attr(win, MPI_WIN_BASE, value, flag, ierr)
    call MPI_Get_address(a, here, ierr)
    call note_logical(flag)
    call note(merge(1, 0, value == here))
    call MPI_Win_get_attr(win, MPI_WIN_MODEL, value, flag, ierr)
    call note_logical(flag)
    call keep([value == MPI_WIN_SEPARATE], 4) ! the logger's, not MPI's
    call note_of_win(win, MPI_WIN_SIZE)
    call MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, MPI_WIN_NULL_DELETE_FN, key, more, ierr)
    call MPI_Win_set_attr(win, key, large, ierr)
    call note_of_win(win, key)
    call MPI_Win_set_attr(win, key, -1_MPI_ADDRESS_KIND, ierr)
    call note_of_win(win, key)
    call MPI_Win_delete_attr(win, key, ierr)
    call note_of_win(win, key)
    call MPI_Win_free_keyval(key, ierr)
    call MPI_Win_free(win, ierr)
  end subroutine attributes

  ! MPI gives the handles of the first windows to the next ones.
  subroutine windows() bind(C, name='fortran_windows')
    integer(MPI_ADDRESS_KIND), parameter :: at = 1
    integer :: i
    HANDLE(MPI_Win) :: win, other

    do i = 1, 2
      call start()
      call make_window(win)
      call MPI_Win_create(b, 32_MPI_ADDRESS_KIND, 4, MPI_INFO_NULL, MPI_COMM_WORLD, other, ierr)
      call keep([VALUE_OF(win), VALUE_OF(other)], 8)
      call MPI_Win_fence(0, win, ierr)
      call MPI_Put(c, 2, MPI_INTEGER, next, at, 2, MPI_INTEGER, win, ierr)
      call MPI_Win_fence(0, win, ierr)
      call MPI_Win_lock(MPI_LOCK_EXCLUSIVE, next, 0, other, ierr)
      call MPI_Accumulate(a(4:5), 2, MPI_INTEGER, next, 2 * at, 2, MPI_INTEGER, MPI_SUM, other, ierr)
      call MPI_Win_unlock(next, other, ierr)
      call MPI_Win_fence(0, win, ierr)
      call MPI_Get(c, 8, MPI_INTEGER, next, 0 * at, 8, MPI_INTEGER, win, ierr)
      call MPI_Win_fence(0, win, ierr)
      call MPI_Barrier(MPI_COMM_WORLD, ierr)
      call MPI_Win_free(other, ierr)
      call MPI_Win_free(win, ierr)
      call note(merge(1, 0, win == MPI_WIN_NULL))
      call note_all(a)
      call note_all(b)
      call note_all(c)
    end do
  end subroutine windows

  ! The names of MPI-1, which mpi_f08 does not have: there it is their successors.
  subroutine old_attributes() bind(C, name='fortran_old_attributes')
    integer :: key, value, i
    logical :: flag
    HANDLE(MPI_Comm) :: comm, copy

    call start()
    call MPI_Comm_dup(MPI_COMM_WORLD, comm, ierr)
#ifdef USE_MPI_F08
    call MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, key, 0_MPI_ADDRESS_KIND, ierr)
    do i = 1, 2
      call MPI_Comm_set_attr(comm, key, int(-3 * i, MPI_ADDRESS_KIND), ierr)
    end do
    call MPI_Comm_dup(comm, copy, ierr)
    call note_of_comm(copy, key)
    call MPI_Comm_delete_attr(comm, key, ierr)
    call note_of_comm(comm, key)
    call MPI_Comm_free_keyval(key, ierr)
#else
    call MPI_Keyval_create(MPI_DUP_FN, MPI_NULL_DELETE_FN, key, 0, ierr)
    do i = 1, 2
      call MPI_Attr_put(comm, key, -3 * i, ierr)
    end do
    call MPI_Comm_dup(comm, copy, ierr)
    call MPI_Attr_get(copy, key, value, flag, ierr)
    call note_logical(flag)
    call note_address(int(value, MPI_ADDRESS_KIND))
    call MPI_Attr_delete(comm, key, ierr)
    call MPI_Attr_get(comm, key, value, flag, ierr)
    call note_logical(flag)
    call MPI_Keyval_free(key, ierr)
#endif
    call MPI_Comm_free(copy, ierr)
    call MPI_Comm_free(comm, ierr)
  end subroutine old_attributes

  subroutine on_error(comm, error)
    HANDLE(MPI_Comm) :: comm
    integer :: error

    errors = errors + 1
  end subroutine on_error

  subroutine on_window_error(win, error)
    HANDLE(MPI_Win) :: win
    integer :: error

    errors = errors + 10
  end subroutine on_window_error

  subroutine on_file_error(file, error)
    HANDLE(MPI_File) :: file
    integer :: error

    errors = errors + 100
  end subroutine on_file_error

  subroutine error_handlers() bind(C, name='fortran_error_handlers')
    integer :: class, i
    HANDLE(MPI_Comm) :: comm
    HANDLE(MPI_Datatype) :: datatype
    HANDLE(MPI_Errhandler) :: handler
    HANDLE(MPI_Win) :: win

    call start()
    errors = 0
    call MPI_Comm_dup(MPI_COMM_WORLD, comm, ierr)
    do i = 1, 2
#ifdef USE_MPI_F08
      call MPI_Comm_create_errhandler(on_error, handler, ierr)
#else
      if (i == 1) call MPI_Comm_create_errhandler(on_error, handler, ierr)
      if (i == 2) call MPI_Errhandler_create(on_error, handler, ierr)
#endif
      call keep([VALUE_OF(handler)], 4)
      call MPI_Comm_set_errhandler(comm, handler, ierr)
      call MPI_Errhandler_free(handler, ierr)
      call note(merge(1, 0, handler == MPI_ERRHANDLER_NULL))
      call MPI_Send(a, 1, MPI_INTEGER, 99, 1, comm, ierr)
      call MPI_Error_class(ierr, class, ierr)
      call note(merge(1, 0, class == MPI_ERR_RANK))
      call note(errors)
    end do
    call MPI_Comm_free(comm, ierr)

    call make_window(win)
    call MPI_Win_create_errhandler(on_window_error, handler, ierr)
    call MPI_Win_set_errhandler(win, handler, ierr)
    call MPI_Errhandler_free(handler, ierr)
    call MPI_Win_free(win, ierr)
    call MPI_File_create_errhandler(on_file_error, handler, ierr)
    call MPI_Errhandler_free(handler, ierr)
    call MPI_Type_match_size(MPI_TYPECLASS_REAL, 8, datatype, ierr)
    call MPI_Type_size(datatype, i, ierr)
    call note(i)
  end subroutine error_handlers

  ! Attributes and names that are older than a domain. Of each kind of object one has been set by Fortran,
  ! and one by C.
  subroutine old_values_made() bind(C)
    integer(MPI_ADDRESS_KIND), parameter :: none = 0
    integer :: i

    call start()
    call MPI_Comm_dup(MPI_COMM_WORLD, old%comm, ierr)
    call MPI_Type_contiguous(3, MPI_INTEGER, old%datatype, ierr)
    call make_window(old%win)
    do i = 1, 3
      call MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, old%comm_keys(i), &
        none, ierr)
      call MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, MPI_TYPE_NULL_DELETE_FN, old%type_keys(i), &
        none, ierr)
      call MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, MPI_WIN_NULL_DELETE_FN, old%win_keys(i), none, &
        ierr)
    end do
    call MPI_Comm_set_attr(old%comm, old%comm_keys(1), 1234567890123_MPI_ADDRESS_KIND, ierr)
    call MPI_Type_set_attr(old%datatype, old%type_keys(1), -42_MPI_ADDRESS_KIND, ierr)
    call MPI_Win_set_attr(old%win, old%win_keys(1), 0_MPI_ADDRESS_KIND, ierr)
    call c_sets(VALUE_OF(old%comm), old%comm_keys(2), VALUE_OF(old%datatype), old%type_keys(2), &
      VALUE_OF(old%win), old%win_keys(2))
#ifndef USE_MPI_F08
    call MPI_Attr_put(old%comm, old%comm_keys(3), -7, ierr)
#else
    call MPI_Comm_set_attr(old%comm, old%comm_keys(3), -7_MPI_ADDRESS_KIND, ierr)
#endif
    call MPI_Type_set_name(old%datatype, 'an old type', ierr)
  end subroutine old_values_made

  subroutine note_names()
    character(MPI_MAX_OBJECT_NAME) :: name
    integer :: length

    name = ' '
    call MPI_Comm_get_name(old%comm, name, length, ierr)
    call note_text(name)
    name = ' '
    call MPI_Type_get_name(old%datatype, name, length, ierr)
    call note_text(name)
    name = ' '
    call MPI_Win_get_name(old%win, name, length, ierr)
    call note_text(name)
  end subroutine note_names

  subroutine old_values_told() bind(C)
    integer :: i

    do i = 1, 3
      call note_of_comm(old%comm, old%comm_keys(i))
      call note_of_type(old%datatype, old%type_keys(i))
      call note_of_win(old%win, old%win_keys(i))
      call c_tells(VALUE_OF(old%comm), old%comm_keys(i), VALUE_OF(old%datatype), old%type_keys(i), &
        VALUE_OF(old%win), old%win_keys(i))
    end do
    call note_names()
  end subroutine old_values_told

  ! The first are set and deleted by both languages, the second deleted and set by Fortran, the third
  ! are new.
  subroutine old_values_changed() bind(C)
    integer :: i
    HANDLE(MPI_Errhandler) :: handler

    errors = 0
    call MPI_Win_create_errhandler(on_window_error, handler, ierr)
    call MPI_Win_set_errhandler(old%win, handler, ierr)
    call MPI_Errhandler_free(handler, ierr)
    call MPI_Win_call_errhandler(old%win, MPI_ERR_OTHER, ierr)
    call note(errors)

    call note_of_comm(old%comm, old%comm_keys(1))
    call MPI_Comm_set_attr(old%comm, old%comm_keys(1), 5_MPI_ADDRESS_KIND, ierr)
    call MPI_Type_set_attr(old%datatype, old%type_keys(1), 6_MPI_ADDRESS_KIND, ierr)
    call MPI_Win_set_attr(old%win, old%win_keys(1), 7_MPI_ADDRESS_KIND, ierr)
    call note_of_win(old%win, old%win_keys(1))
    call MPI_Comm_delete_attr(old%comm, old%comm_keys(1), ierr)
    call MPI_Type_delete_attr(old%datatype, old%type_keys(1), ierr)
    call MPI_Win_delete_attr(old%win, old%win_keys(1), ierr)
    call c_sets(VALUE_OF(old%comm), old%comm_keys(1), VALUE_OF(old%datatype), old%type_keys(1), &
      VALUE_OF(old%win), old%win_keys(1))

    call MPI_Comm_delete_attr(old%comm, old%comm_keys(2), ierr)
    call MPI_Type_delete_attr(old%datatype, old%type_keys(2), ierr)
    call MPI_Win_delete_attr(old%win, old%win_keys(2), ierr)
    do i = 2, 3
      call MPI_Comm_set_attr(old%comm, old%comm_keys(i), 25_MPI_ADDRESS_KIND, ierr)
      call MPI_Type_set_attr(old%datatype, old%type_keys(i), 26_MPI_ADDRESS_KIND, ierr)
      call MPI_Win_set_attr(old%win, old%win_keys(i), 27_MPI_ADDRESS_KIND, ierr)
    end do
#ifndef USE_MPI_F08
    call MPI_Attr_put(old%comm, old%comm_keys(3), 77, ierr)
#endif
    call note_of_comm(old%comm, old%comm_keys(3))

    call MPI_Comm_set_name(old%comm, 'a name  ', ierr)
    call MPI_Type_set_name(old%datatype, 'another', ierr)
    call MPI_Win_set_name(old%win, 'the third', ierr)
    call note_names()
  end subroutine old_values_changed

  subroutine old_values_freed() bind(C)
    integer :: i

    call MPI_Win_free(old%win, ierr)
    call MPI_Type_free(old%datatype, ierr)
    call MPI_Comm_free(old%comm, ierr)
    do i = 1, 3
      call MPI_Comm_free_keyval(old%comm_keys(i), ierr)
      call MPI_Type_free_keyval(old%type_keys(i), ierr)
      call MPI_Win_free_keyval(old%win_keys(i), ierr)
    end do
  end subroutine old_values_freed
end module calls
