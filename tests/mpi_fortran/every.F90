! SPDX-License-Identifier: BSD-3-Clause
! Copyright the containment-domains authors

! Every function of MPI that Fortran has, called through one of the three interfaces. every.cpp has the
! groups recorded and replayed, and looks for each function in the log.
#include "interface.inc"
#include "ring.inc"

! Calls a function, and says so before.
#define CALL(f) call made("f"); call f

! The same for a function that also has a form with large counts; which one it is depends on the kind
! of these.
#define COUNTS(f) CALL(f)
#define COUNT(n) n
#define INTEGER_FOR_COUNTS integer
#define GROUP(name) 'every_' // 'name'

module every
  use, intrinsic :: iso_c_binding
  use ring
  INTERFACE
#if defined(USE_MPI_F08) && defined(OPEN_MPI) && !defined(MPI_4)
  use mpi_f08_ext
#endif
  implicit none
  interface
    subroutine note_made(name, length) bind(C)
      import :: c_char, c_int
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int), value :: length
    end subroutine note_made
    ! Notes bytes that a replay has to give again.
    subroutine keep(bytes, length) bind(C)
      import :: c_int
      type(*), intent(in) :: bytes(*)
      integer(c_int), value :: length
    end subroutine keep
    ! The name of a file that all ranks may create, in so many characters.
    subroutine name_of_file(name, length) bind(C)
      import :: c_char, c_int
      character(kind=c_char), intent(inout) :: name(*)
      integer(c_int), value :: length
    end subroutine name_of_file
  end interface

  ! What messages bring stays where it is.
  integer, asynchronous, target, save :: a(16), b(16)
  integer, parameter :: bytes = 64 ! of each
  INTEGER_FOR_COUNTS, asynchronous, save :: counts(2), displs(2), byte_displs(2)
  integer(MPI_ADDRESS_KIND), asynchronous, save :: far_displs(2)
  HANDLE(MPI_Datatype), asynchronous, save :: types(2)
  character, asynchronous, target, save :: memory(65536)

contains

  subroutine made(name)
    character(*), intent(in) :: name

    call note_made(name, len(name))
  end subroutine made

  subroutine start()
    integer :: i

    call find_place()
    a = [(100 * rank + i, i = 1, 16)]
    b = -1
  end subroutine start

  subroutine keep_number(number)
    integer, intent(in) :: number

    call keep([number], 4)
  end subroutine keep_number

  subroutine keep_flag(flag)
    logical, intent(in) :: flag

    call keep([merge(1, 0, flag)], 4)
  end subroutine keep_flag

  subroutine keep_text(text)
    character(*), intent(in) :: text

    call keep(transfer(text, ['a']), len(text))
  end subroutine keep_text

  ! What MPI writes of them; the rest may be anything.
  subroutine keep_statuses(list, n)
    integer, intent(in) :: n
    STATUSES(list, n)
    integer :: i, count

    do i = 1, n
      call MPI_Get_count(STATUS(list, i), MPI_INTEGER, count, ierr)
      call keep([SOURCE(list, i), TAG(list, i), count], 12)
    end do
  end subroutine keep_statuses

  ! A communicator of all, which is freed as soon as the program says so.
  subroutine make_all(comm)
    HANDLE(MPI_Comm), intent(out) :: comm

    CALL(MPI_Comm_dup)(MPI_COMM_WORLD, comm, ierr)
  end subroutine make_all

#include "every/messages.inc"
#include "every/partitions.inc"
#include "every/requests.inc"
#include "every/collectives.inc"
#include "every/communicators.inc"
#include "every/types.inc"
#include "every/objects.inc"
#include "every/files.inc"
#include "every/accesses.inc"
#include "every/windows.inc"
#include "every/process.inc"
end module every

#if defined(USE_MPI_F08) && defined(MPI_LARGE_COUNTS)
! Functions with counts once more, with large ones.
#define LARGE_COUNTS
#undef COUNTS
#define COUNTS(f) call made("f" // "_c"); call f
#undef COUNT
#define COUNT(n) int(n, MPI_COUNT_KIND)
#undef INTEGER_FOR_COUNTS
#define INTEGER_FOR_COUNTS integer(MPI_COUNT_KIND)
#undef GROUP
#define GROUP(name) 'every_large_' // 'name'

module every_large
  use, intrinsic :: iso_c_binding
  use ring
  use every, only: a, b, bytes, far_displs, keep, keep_number, keep_statuses, made, memory, start, types
  INTERFACE
  implicit none
  INTEGER_FOR_COUNTS, asynchronous, save :: counts(2), displs(2), byte_displs(2)

contains

#include "every/messages.inc"
#include "every/collectives.inc"
#include "every/accesses.inc"
#include "every/large_counts.inc"
end module every_large
#endif
