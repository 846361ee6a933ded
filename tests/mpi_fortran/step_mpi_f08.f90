! SPDX-License-Identifier: BSD-3-Clause
! Copyright the containment-domains authors
! The step of record_and_replay.c with use mpi_f08.
subroutine step(x) bind(C, name='step')
  use mpi_f08
  implicit none
  real(8), intent(inout) :: x
  type(MPI_Request) :: reqs(2)
  type(MPI_Status) :: st(2)
  type(MPI_Comm) :: c
  include 'exchange.inc'
  call MPI_Waitall(2, reqs, st, ierr)
  call MPI_Allreduce(b, s, 4, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, ierr)
  call MPI_Allreduce(MPI_IN_PLACE, s, 4, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD, ierr)
  call MPI_Comm_dup(MPI_COMM_WORLD, c, ierr)
  call MPI_Bcast(s, 4, MPI_DOUBLE_PRECISION, 1, c, ierr)
  call MPI_Comm_free(c, ierr)
  x = x*0.5d0 + s(1) + b(2) + st(1)%MPI_SOURCE
end subroutine
