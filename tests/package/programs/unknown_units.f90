! SPDX-License-Identifier: BSD-3-Clause
! Copyright the containment-domains authors

! With a compiler that does not tell a unit's descriptor, units are refused with a reason.
program unknown_units
  use Containment_Domains
  implicit none
  type(c_ptr) :: cd
  integer(c_int) :: error
  integer :: unit

  cd = create_cd(c_null_ptr, c_null_ptr, COMM_LOGGING_DISABLED, 'units', error)
  if (error /= CD_ERROR_NONE) call fail('create_cd')
  open (newunit=unit, status='scratch')
  if (add_unit_to_cd(cd, unit) /= FAILURE) call fail('add_unit_to_cd')
  if (cd_last_error() == CD_ERROR_NONE) call fail('cd_last_error')
  if (cd_last_error_message() == '') call fail('the message')
  if (delete_unit_from_cd(cd, unit) /= FAILURE) call fail('delete_unit_from_cd')
  if (restore_cd(cd) /= SUCCESS) call fail('restore_cd')
  if (commit_cd(cd) /= SUCCESS) call fail('commit_cd')

contains

  subroutine fail(what)
    character(*), intent(in) :: what

    print '(3a)', what, ': ', cd_last_error_message()
    error stop 1
  end subroutine fail
end program unknown_units
