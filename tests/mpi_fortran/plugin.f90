! SPDX-License-Identifier: BSD-3-Clause
! Copyright the containment-domains authors

! What a program in C loads: sets an attribute, and tells what it is. 0: all went well.
function plugin() bind(C) result(failures)
  use, intrinsic :: iso_c_binding
  use mpi
  implicit none
  integer(MPI_ADDRESS_KIND), parameter :: large = 9876543210987_MPI_ADDRESS_KIND
  integer(c_int) :: failures
  integer(MPI_ADDRESS_KIND) :: value
  integer :: key, ierr
  logical :: flag

  failures = 0
  call MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, key, large, ierr)
  if (ierr /= MPI_SUCCESS) failures = failures + 1
  call MPI_Comm_set_attr(MPI_COMM_SELF, key, large, ierr)
  if (ierr /= MPI_SUCCESS) failures = failures + 1
  call MPI_Comm_get_attr(MPI_COMM_SELF, key, value, flag, ierr)
  if (ierr /= MPI_SUCCESS .or. .not. flag .or. value /= large) failures = failures + 1
end function plugin
