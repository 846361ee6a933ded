! SPDX-License-Identifier: BSD-3-Clause
! Copyright the containment-domains authors

! What the tests share: a program that checks, goes on, and fails at its end.
module checks
  use Containment_Domains
  implicit none
  integer, private :: failures = 0, checked = 0

contains

  subroutine check(condition, what)
    logical, intent(in) :: condition
    character(*), intent(in) :: what

    checked = checked + 1
    if (condition) return
    failures = failures + 1
    print '(2a)', 'failed: ', what
  end subroutine check

  subroutine must(outcome, what)
    integer(c_int), intent(in) :: outcome
    character(*), intent(in) :: what

    call check(outcome == SUCCESS, what//': '//cd_last_error_message())
  end subroutine must

  subroutine must_fail(outcome, code, words, what)
    integer(c_int), intent(in) :: outcome, code
    character(*), intent(in) :: words, what ! words that the message has to contain

    call check(outcome == FAILURE, what//' succeeded')
    call check(cd_last_error() == code, what//': the code is that of "'// &
      cd_strerror(cd_last_error())//'"')
    call check(index(cd_last_error_message(), words) > 0, what//': "'//words//'" is not in "'// &
      cd_last_error_message()//'"')
  end subroutine must_fail

  function new_root() result(cd)
    type(c_ptr) :: cd

    cd = create_cd(c_null_ptr, c_null_ptr, COMM_LOGGING_DISABLED, 'root')
    call check(c_associated(cd), 'create_cd of a root: '//cd_last_error_message())
  end function new_root

  function new_child(parent) result(cd)
    type(c_ptr), intent(in) :: parent
    type(c_ptr) :: cd

    cd = create_cd(parent, c_null_ptr, COMM_LOGGING_INHERIT, c_null_ptr)
    call check(c_associated(cd), 'create_cd of a child: '//cd_last_error_message())
  end function new_child

  function info_of(cd) result(info)
    type(c_ptr), intent(in) :: cd
    type(cd_info) :: info

    call must(cd_query(cd, info), 'cd_query')
  end function info_of

  function bytes_in(cd) result(bytes)
    type(c_ptr), intent(in) :: cd
    type(cd_info) :: info
    integer(c_size_t) :: bytes

    info = info_of(cd)
    bytes = info%bytes
  end function bytes_in

  function keep(address, length) result(range)
    type(c_ptr), intent(in) :: address
    integer, intent(in) :: length
    type(cd_addrspec) :: range

    range = cd_addrspec(address, int(length, c_size_t), READ_WRITE, GLOBAL)
  end function keep

  subroutine finish()
    if (checked == 0) error stop 'nothing was checked'
    if (failures > 0) error stop 1
  end subroutine finish
end module checks
