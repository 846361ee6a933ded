! SPDX-License-Identifier: BSD-3-Clause
! Copyright the containment-domains authors

! Strings of Fortran and of C as names and storage_info, in every call that takes them; errors
! as codes and as strings.
program strings_and_errors
  use checks
  implicit none
  character(kind=c_char), target :: c_storage(5) = ['a', '=', 'b', c_null_char, 'z']
  character(20) :: padded = 'solver'
  character(kind=c_char), target :: c_plain(6) = ['p', 'l', 'a', 'i', 'n', c_null_char]
  type(c_ptr) :: cd, child
  integer(c_int) :: error
  integer, target :: x = 1

  cd = create_cd(c_null_ptr, c_null_ptr, COMM_LOGGING_DISABLED, padded, error)
  call check(error == CD_ERROR_NONE, 'a padded name')
  call check(cd_name(cd) == '0/solver/0/0', 'its blanks do not count: '//cd_name(cd))
  call check(len(cd_name(cd)) == 12, 'and are not given back')
  child = create_cd(cd, '', COMM_LOGGING_INHERIT, c_null_ptr, error)
  call check(error == CD_ERROR_NONE, 'an empty storage_info')
  call check(cd_name(child) == '0/solver/1/0', 'the name of a child')
  call must(commit_cd(child), 'commit of the child')

  call must(cd_name_region('field  ', c_loc(x), c_sizeof(x)), 'a region with a padded name')
  call must_fail(cd_name_region('other', c_loc(x), c_sizeof(x)), CD_ERROR_ARGUMENT, '"field"', &
    'another name for it')
  call must(cd_name_region('field'//c_null_char, c_loc(x), 0_c_size_t), 'the name taken back')
  call must(cd_name_region('other', c_loc(x), c_sizeof(x)), 'another name for it now')
  call must(cd_name_region('other', c_loc(x), 0_c_size_t), 'and that taken back')

  child = create_cd(cd, c_null_ptr, COMM_LOGGING_INHERIT, 'name', error)
  call check(.not. c_associated(child) .and. error == CD_ERROR_NAME_ON_CHILD, 'a named child')
  child = create_cd(c_null_ptr, c_null_ptr, COMM_LOGGING_DISABLED, 'solver')
  call refused(CD_ERROR_NAME_IN_USE, 'solver', 'the same name again')
  child = create_cd(c_null_ptr, c_null_ptr, COMM_LOGGING_DISABLED, '   ')
  call refused(CD_ERROR_NAME_MISSING, 'name', 'a blank name')
  child = create_cd(c_null_ptr, c_null_ptr, COMM_LOGGING_DISABLED, c_null_ptr)
  call refused(CD_ERROR_NAME_MISSING, 'name', 'no name')
  child = create_cd(c_null_ptr, c_null_ptr, COMM_LOGGING_INHERIT, 'other')
  call refused(CD_ERROR_LOGGING_INHERIT_AT_ROOT, '', 'a root that inherits')
  child = create_cd(c_null_ptr, c_null_ptr, 17, 'other')
  call refused(CD_ERROR_LOGGING_MODE, '17', 'a logging mode of 17')
  child = create_cd(cd, c_null_ptr, COMM_LOGGING_ENABLED, c_null_ptr)
  call refused(CD_ERROR_LOGGING_MISMATCH, '', 'a child that logs alone')
  child = create_cd(c_null_ptr, 'colour=red', COMM_LOGGING_DISABLED, 'other')
  call refused(CD_ERROR_STORAGE_KEY, 'colour', 'Fortran storage_info, Fortran name')
  child = create_cd(c_null_ptr, 'colour=red', COMM_LOGGING_DISABLED, c_loc(c_plain))
  call refused(CD_ERROR_STORAGE_KEY, 'colour', 'Fortran storage_info, C name')
  child = create_cd(c_null_ptr, c_loc(c_storage), COMM_LOGGING_DISABLED, 'other')
  call refused(CD_ERROR_STORAGE_KEY, '"a"', 'C storage_info, Fortran name')
  child = create_cd(c_null_ptr, c_loc(c_storage), COMM_LOGGING_DISABLED, c_loc(c_plain))
  call refused(CD_ERROR_STORAGE_KEY, '"a"', 'C storage_info, C name')
  child = create_cd(c_null_ptr, 'store', COMM_LOGGING_DISABLED, 'other')
  call refused(CD_ERROR_STORAGE_SYNTAX, 'store', 'a key without a value')
  child = create_cd(c_null_ptr, 'store=tape', COMM_LOGGING_DISABLED, 'other')
  call refused(CD_ERROR_STORAGE_VALUE, 'tape', 'an unknown value')
  child = create_cd(c_null_ptr, c_null_ptr, COMM_LOGGING_DISABLED, c_loc(c_plain))
  call check(cd_name(child) == '0/plain/0/0', 'a name of C: '//cd_name(child))
  call must(commit_cd(child), 'commit of the CD with the name of C')
  child = create_cd(c_null_ptr, 'store=memory,checksum=crc32c  ', COMM_LOGGING_DISABLED, 'other')
  call check(c_associated(child), 'storage_info with blanks at its end')
  call must(commit_cd(child), 'commit of the CD with checksums')

  ! storage_info of the add calls, in both kinds of string, for one range and for a list
  call must_fail(add_to_cd_via_copy(cd, some_range(), 1, 'colour=red'), CD_ERROR_STORAGE_KEY, 'colour', 'copy')
  call must_fail(add_to_cd_via_copy(cd, [some_range()], 1, 'colour=red'), CD_ERROR_STORAGE_KEY, 'colour', &
    'copy of a list')
  call must_fail(add_to_cd_via_copy(cd, some_range(), 1, c_loc(c_storage)), CD_ERROR_STORAGE_KEY, '"a"', 'copy')
  call must_fail(add_to_cd_via_copy(cd, [some_range()], 1, c_loc(c_storage)), CD_ERROR_STORAGE_KEY, '"a"', &
    'copy of a list')
  call must_fail(add_to_cd_via_parent(cd, some_range(), 1, 'colour=red'), CD_ERROR_STORAGE_KEY, 'colour', &
    'parent')
  call must_fail(add_to_cd_via_parent(cd, [some_range()], 1, 'colour=red'), CD_ERROR_STORAGE_KEY, 'colour', &
    'parent of a list')
  call must_fail(add_to_cd_via_parent(cd, some_range(), 1, c_loc(c_storage)), CD_ERROR_STORAGE_KEY, '"a"', &
    'parent')
  call must_fail(add_to_cd_via_parent(cd, [some_range()], 1, c_loc(c_storage)), CD_ERROR_STORAGE_KEY, '"a"', &
    'parent of a list')
  call must_fail(add_to_cd_via_regen(cd, some_range(), 1, c_null_funptr, 'colour=red'), &
    CD_ERROR_STORAGE_KEY, 'colour', 'regen')
  call must_fail(add_to_cd_via_regen(cd, [some_range()], 1, c_null_funptr, 'colour=red'), &
    CD_ERROR_STORAGE_KEY, 'colour', 'regen of a list')
  call must_fail(add_to_cd_via_regen(cd, some_range(), 1, c_null_funptr, c_loc(c_storage)), &
    CD_ERROR_STORAGE_KEY, '"a"', 'regen')
  call must_fail(add_to_cd_via_regen(cd, [some_range()], 1, c_null_funptr, c_loc(c_storage)), &
    CD_ERROR_STORAGE_KEY, '"a"', 'regen of a list')

  ! What else the calls refuse
  call must_fail(add_to_cd_via_copy(cd, some_range(), -1), CD_ERROR_COUNT, '-1', 'a negative count')
  call must_fail(add_to_cd_via_regen(cd, some_range(), 1, c_null_funptr), CD_ERROR_REGEN_NULL, '', &
    'no function')
  call must_fail(add_to_cd_via_parent(cd, some_range(), 1), CD_ERROR_NO_PARENT, '', 'a root has no parent')
  call must_fail(delete_from_cd(cd, some_range(), 1), CD_ERROR_NOT_IN_CD, '', 'delete of what is not there')
  call must_fail(delete_from_cd(cd, [some_range(), some_range()], 2), CD_ERROR_NOT_IN_CD, '', 'the same in a list')
  call must_fail(add_file_to_cd(cd, -1), CD_ERROR_FILE_BAD_DESCRIPTOR, '-1', 'no descriptor')
  call must_fail(delete_file_from_cd(cd, 0), CD_ERROR_FILE_NOT_IN_CD, '', 'a file that is not there')
  call must(commit_cd(cd), 'commit')
  call check(cd_last_error() == CD_ERROR_NONE, 'a success clears the code')
  call check(cd_last_error_message() == '', 'a success clears the message')
  call must_fail(commit_cd(cd), CD_ERROR_INVALID_HANDLE, 'committed', 'commit of a committed CD')
  call must_fail(restore_cd(cd), CD_ERROR_INVALID_HANDLE, 'committed', 'restore of a committed CD')
  call must_fail(advance_cd_point_in_time(cd), CD_ERROR_INVALID_HANDLE, '', 'advance of a committed CD')
  call must_fail(restore_cd(CURRENT_CD), CD_ERROR_NO_CURRENT_CD, '', 'CURRENT_CD without a CD')
  call check(cd_name(cd) == '', 'a committed CD has no name')
  call check(cd_last_error() == CD_ERROR_INVALID_HANDLE, 'asking for its name is an error')
  call check(len(cd_strerror(CD_ERROR_COUNT)) > 5, 'a code has a text')
  call check(cd_strerror(CD_ERROR_COUNT) /= cd_strerror(CD_ERROR_NONE), 'of its own')
  call finish()

contains

  function some_range()
    type(cd_addrspec) :: some_range

    some_range = keep(c_loc(x), 4)
  end function some_range

  subroutine refused(code, words, what)
    integer(c_int), intent(in) :: code
    character(*), intent(in) :: words, what
    integer(c_int) :: outcome

    outcome = SUCCESS
    if (.not. c_associated(child)) outcome = FAILURE
    call must_fail(outcome, code, words, what)
  end subroutine refused
end program strings_and_errors
