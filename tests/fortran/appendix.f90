! SPDX-License-Identifier: BSD-3-Clause
! Copyright the containment-domains authors

! Every call in the form that appendix A of the seed document gives it: handles and strings are
! c_ptr, addrlist is one element or an array, integers are c_int32_t; names of arguments, too.
module regeneration
  use Containment_Domains
  implicit none

contains

  function regenerate(addrlist, ascount) bind(C) result(failed)
    integer(c_int), value :: ascount
    type(cd_addrspec), intent(in) :: addrlist(ascount)
    integer(c_int) :: failed
    real(c_double), pointer :: numbers(:)
    integer :: i

    do i = 1, ascount
      call c_f_pointer(addrlist(i)%address, numbers, [addrlist(i)%length / 8])
      numbers = 0.5d0
    end do
    failed = 0
  end function regenerate
end module regeneration

program appendix
  use Containment_Domains
  use regeneration, only: regenerate
  use checks, only: check, must, finish
  implicit none
  type(c_ptr) :: cd, child
  type(cd_addrspec) :: one, list(2)
  integer(c_int32_t) :: error, outcome
  integer(c_int), target :: x = 1, y(3) = [1, 2, 3]
  real(c_double), target :: table(4) = 0.5d0
  character(kind=c_char), target :: name(5) = ['r', 'o', 'o', 't', c_null_char]
  character(kind=c_char), target :: store(13) = &
    [character(kind=c_char) :: 's', 't', 'o', 'r', 'e', '=', 'm', 'e', 'm', 'o', 'r', 'y', c_null_char]

  error = -1
  cd = create_cd(parent_cd=c_null_ptr, storage_info=c_null_ptr, &
    log_mpi_traffic=COMM_LOGGING_DISABLED, name=c_loc(name), error=error)
  call check(c_associated(cd) .and. error == CD_ERROR_NONE, 'create_cd')
  call check(cd_name(cd) == '0/root/0/0', 'the name reaches the CD: '//cd_name(cd))

  one%address = c_loc(x)
  one%length = c_sizeof(x)
  one%addr_tp = READ_WRITE
  call check(one%addr_scope == GLOBAL, 'the field that the appendix does not have')
  list(1) = cd_addrspec(c_loc(y), c_sizeof(y), READ_WRITE)
  list(2) = cd_addrspec(c_loc(table), c_sizeof(table), READ_ONLY, GLOBAL)

  call must(add_to_cd_via_copy(cd=cd, addrlist=one, ascount=1), 'add_to_cd_via_copy of one')
  call must(add_to_cd_via_copy(cd, list, 1), 'add_to_cd_via_copy of an array')
  call must(add_to_cd_via_copy(cd, list(1), 1, c_loc(store)), 'an element, and a storage_info')
  call must(add_to_cd_via_copy(cd, list, 1, c_null_ptr), 'no storage_info')
  call must(add_to_cd_via_regen(cd=cd, addrlist=list(2), ascount=1, regen=c_funloc(regenerate)), &
    'add_to_cd_via_regen')
  call must(add_to_cd_via_regen(cd, list(2:2), 1, c_funloc(regenerate), c_loc(store)), &
    'add_to_cd_via_regen of an array, with storage_info')

  child = create_cd(CURRENT_CD, c_null_ptr, COMM_LOGGING_INHERIT, c_null_ptr, error)
  call check(c_associated(child), 'create_cd of a child')
  call must(add_to_cd_via_parent(cd=child, addrlist=one, ascount=1), 'add_to_cd_via_parent')
  call must(add_to_cd_via_parent(child, list, 1, c_loc(store)), 'add_to_cd_via_parent of an array')
  call must(delete_from_cd(cd=child, addrlist=one, ascount=1), 'delete_from_cd')
  call must(delete_from_cd(child, list, 1), 'delete_from_cd of an array')
  outcome = commit_cd(cd=child)
  call must(outcome, 'commit_cd of a child')

  x = 7; y = 7; table = 7
  call must(restore_cd(cd=cd), 'restore_cd')
  call check(x == 1 .and. all(y == [1, 2, 3]), 'copied data are restored')
  call check(all(table == 0.5d0), 'regenerated data are restored')
  x = 2
  call must(advance_cd_point_in_time(cd=cd), 'advance_cd_point_in_time')
  x = 3
  call must(restore_cd(cd), 'restore_cd after an advance')
  call check(x == 2, 'the point in time has moved')
  call must(add_file_to_cd(cd=cd, filedes=descriptor()), 'add_file_to_cd')
  call must(delete_file_from_cd(cd=cd, filedes=descriptor()), 'delete_file_from_cd')
  call must(commit_cd(cd), 'commit_cd')

  cd = create_cd(c_null_ptr, c_loc(store), MPI_LOGGING_ENABLED, c_loc(name), error)
  call check(c_associated(cd) .and. error == CD_ERROR_NONE, 'create_cd with a storage_info')
  call must(commit_cd(cd), 'commit_cd of an empty CD')
  call finish()

contains

  ! Of a file that can be positioned.
  function descriptor()
    integer(c_int) :: descriptor
    interface
      function c_fileno(file) bind(C, name='fileno') result(filedes)
        import :: c_int, c_ptr
        type(c_ptr), value :: file
        integer(c_int) :: filedes
      end function c_fileno
      function c_tmpfile() bind(C, name='tmpfile') result(file)
        import :: c_ptr
        type(c_ptr) :: file
      end function c_tmpfile
    end interface
    type(c_ptr), save :: file = c_null_ptr

    if (.not. c_associated(file)) file = c_tmpfile()
    descriptor = c_fileno(file)
  end function descriptor
end program appendix
