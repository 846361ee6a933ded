! SPDX-License-Identifier: BSD-3-Clause
! Copyright the containment-domains authors

! What an outside Fortran program does first: keep something, change it, bring it back.
program use_cd
  use Containment_Domains
  implicit none
  real, target :: field(10, 10)
  integer(c_int), target :: steps
  type(c_ptr) :: cd
  integer(c_int) :: error

  field = 1
  steps = 5
  cd = create_cd(c_null_ptr, c_null_ptr, COMM_LOGGING_DISABLED, 'outside', error)
  if (error /= CD_ERROR_NONE) call fail('create_cd')
  if (cd_preserve(cd, field(2:9, 2:9)) /= SUCCESS) call fail('cd_preserve')
  if (add_to_cd_via_copy(cd, cd_addrspec(c_loc(steps), c_sizeof(steps), READ_WRITE, GLOBAL), 1) &
    /= SUCCESS) call fail('add_to_cd_via_copy')
  field = 2
  steps = 6
  if (restore_cd(CURRENT_CD) /= SUCCESS) call fail('restore_cd')
  if (nint(sum(field)) /= 64 + 2 * 36 .or. steps /= 5) call fail('the data')
  if (commit_cd(cd) /= SUCCESS) call fail('commit_cd')
  if (restore_cd(cd) /= FAILURE) call fail('restore_cd of a committed CD')
  if (cd_last_error_message() == '') call fail('the message')

contains

  subroutine fail(what)
    character(*), intent(in) :: what

    print '(3a)', what, ': ', cd_last_error_message()
    error stop 1
  end subroutine fail
end program use_cd
