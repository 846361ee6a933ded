! SPDX-License-Identifier: BSD-3-Clause
! Copyright the containment-domains authors

! Functions of Fortran that regenerate data.
module regenerators
  use Containment_Domains
  implicit none
  integer, target :: table(100)
  integer :: calls = 0, outcome_of_fill = 0
  integer(c_int) :: inner_outcome = SUCCESS, inner_code = CD_ERROR_NONE

contains

  ! The number at each index is its square, whatever part of the table is asked for.
  function fill(addrlist, ascount) bind(C) result(error)
    integer(c_int), value :: ascount
    type(cd_addrspec), intent(in) :: addrlist(ascount)
    integer(c_int) :: error
    integer, pointer :: numbers(:)
    integer(c_intptr_t) :: first, offset
    integer :: i, j

    calls = calls + 1
    first = transfer(c_loc(table), first)
    do i = 1, ascount
      offset = (transfer(addrlist(i)%address, first) - first) / 4
      call c_f_pointer(addrlist(i)%address, numbers, [addrlist(i)%length / 4])
      numbers = [((int(offset) + j)**2, j = 1, size(numbers))]
    end do
    error = outcome_of_fill
  end function fill

  function fill_and_call(addrlist, ascount) bind(C) result(error)
    integer(c_int), value :: ascount
    type(cd_addrspec), intent(in) :: addrlist(ascount)
    integer(c_int) :: error

    inner_outcome = restore_cd(CURRENT_CD)
    inner_code = cd_last_error()
    error = fill(addrlist, ascount)
  end function fill_and_call
end module regenerators

program regen
  use checks
  use regenerators
  implicit none
  type(c_ptr) :: cd
  type(cd_addrspec) :: half
  integer :: i

  cd = new_root()
  half = cd_addrspec(c_loc(table), 200_c_size_t, READ_ONLY, GLOBAL)
  call must(add_to_cd_via_regen(cd, half, 1, c_funloc(fill)), 'add_to_cd_via_regen')
  table = -1
  call must(restore_cd(cd), 'restore')
  call check(calls > 0 .and. all(table(:50) == [(i**2, i = 1, 50)]), 'the first half is regenerated')
  call check(all(table(51:) == -1), 'and no more')

  call must(delete_from_cd(cd, keep(c_loc(table(11)), 40), 1), 'delete from the middle')
  table = -1
  call must(restore_cd(cd), 'restore')
  call check(all(table(:10) == [(i**2, i = 1, 10)]) .and. all(table(11:20) == -1) .and. &
    all(table(21:50) == [(i**2, i = 21, 50)]), 'the two parts that are left are regenerated')

  outcome_of_fill = 1
  call must_fail(restore_cd(cd), CD_ERROR_REGEN_FAILED, '', 'a function that fails')
  outcome_of_fill = 0
  call must(restore_cd(cd), 'the restore can be repeated')

  call must_fail(add_to_cd_via_regen(cd, keep(c_loc(table), 400), 1, c_funloc(fill)), &
    CD_ERROR_REGEN_READ_WRITE, '', 'READ_WRITE via regen')
  call must(add_to_cd_via_regen(cd, [half], 1, c_funloc(fill_and_call)), 'another function')
  call must(restore_cd(cd), 'restore with a function that calls the library')
  call check(inner_outcome == FAILURE .and. inner_code == CD_ERROR_IN_CALLBACK, 'its call is refused')
  call must(commit_cd(cd), 'commit')
  call finish()
end program regen
