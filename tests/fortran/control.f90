! SPDX-License-Identifier: BSD-3-Clause
! Copyright the containment-domains authors

! cd_inject, cd_failed and cd_run with bodies of Fortran.
module bodies
  use checks
  implicit none
  integer, target :: state, began_with(8)
  integer :: runs, checks_made
  integer(c_int) :: outcomes(8) ! what the body's runs return
  logical :: knows_its_context

contains

  ! As a program that is to be run does: keeps what it changes, and changes it.
  function work(cd, context) bind(C) result(error)
    type(c_ptr), value :: cd, context
    integer(c_int) :: error
    type(c_ptr) :: expected

    call must(cd_preserve(cd, state), 'cd_preserve in the body')
    runs = runs + 1
    began_with(runs) = state
    state = 10 * state + 1
    expected = c_loc(state)
    knows_its_context = c_associated(context, expected)
    call check(cd_name(CURRENT_CD) == cd_name(cd), 'the child is the active CD')
    error = outcomes(runs)
  end function work

  function look(cd, context) bind(C) result(error)
    type(c_ptr), value :: cd, context
    integer(c_int) :: error

    checks_made = checks_made + 1
    call check(c_associated(cd) .and. .not. c_associated(context), 'what the check is given')
    error = merge(0, 1, checks_made == 2)
  end function look

  subroutine begin(outcomes_of_runs)
    integer, intent(in) :: outcomes_of_runs(:)

    state = 5
    runs = 0
    checks_made = 0
    began_with = 0
    outcomes = 0
    outcomes(:size(outcomes_of_runs)) = outcomes_of_runs
  end subroutine begin
end module bodies

program control
  use bodies
  implicit none
  type(c_ptr) :: root, child

  root = new_root()

  call must(cd_inject('cd=0/root/1/0,at=2  '), 'cd_inject')
  child = new_child(root)
  call check(cd_failed(root) == 0, 'another CD does not fail')
  call check(cd_failed(child) == 0, 'the first occurrence does not fail')
  call check(cd_failed(child) == 1, 'the second does')
  call check(cd_failed(child) == 0, 'the third does not')
  call must(cd_inject('cd=*/*/*/*,times=all'), 'cd_inject')
  call check(cd_failed(child) == 1, 'any CD fails')
  call must(cd_inject(), 'cd_inject without an argument')
  call check(cd_failed(child) == 0, 'takes all back')
  call must_fail(cd_inject('cd=root'), CD_ERROR_ARGUMENT, 'cd=root is not allowed', 'a bad text')
  call must(commit_cd(child), 'commit')
  call check(cd_failed(child) == FAILURE, 'an invalid handle')

  call begin([1, 1])
  call must(cd_run(root, c_funloc(work), c_loc(state)), 'cd_run')
  call check(runs == 3 .and. all(began_with(:3) == 5) .and. state == 51, 'it runs until it is right')
  call check(knows_its_context, 'the body is given its context')
  call must(restore_cd(root), 'restore')
  call check(state == 5, 'the child was committed')

  call begin([integer ::])
  call must(cd_run(root, c_funloc(work), c_null_ptr, c_funloc(look), &
    storage_info='checksum=crc32c '), 'cd_run with a check')
  call check(runs == 2 .and. checks_made == 2, 'it runs until the check is content')
  call check(.not. knows_its_context, 'the context is c_null_ptr')

  call begin([integer ::])
  call must(cd_inject('cd=0/root/1/0,times=2'), 'cd_inject')
  call must(cd_run(root, c_funloc(work), c_null_ptr), 'cd_run with injected failures')
  call check(runs == 3 .and. all(began_with(:3) == 5), 'it runs until no failure is injected')

  call begin([1, 1, 1, 1, 1, 1])
  call must_fail(cd_run(root, c_funloc(work), c_null_ptr, 2), CD_ERROR_RUN_FAILED, &
    'failed in each of its 2 tries, at last because body returned 1', 'cd_run of what always fails')
  call check(runs == 2, 'it runs as often as it may')
  call must_fail(cd_run(root, c_funloc(work), c_null_ptr), CD_ERROR_RUN_FAILED, '3 tries', 'cd_run')
  call check(runs == 2 + CD_RUN_TRIES, 'three times unless told')
  call must_fail(cd_run(root, c_funloc(work), c_null_ptr, storage_info='color=red'), &
    CD_ERROR_STORAGE_KEY, 'color', 'a bad storage_info')

  call must(commit_cd(root), 'commit')
  call finish()
end program control
