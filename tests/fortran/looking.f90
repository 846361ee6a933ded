! SPDX-License-Identifier: BSD-3-Clause
! Copyright the containment-domains authors

! cd_query, cd_verify and cd_observe; and that types have the layout that they have in C.
module listeners
  use Containment_Domains
  implicit none
  integer :: events = 0, mismatches = 0, last_operation = -1, last_error = -1
  integer(c_size_t) :: bytes = 0
  type(cd_mismatch) :: last_mismatch = cd_mismatch(c_null_ptr, 0, 0)
  character(:), allocatable :: last_name

contains

  subroutine count_event(event, context) bind(C)
    type(cd_event), intent(in) :: event
    type(c_ptr), value :: context
    integer(c_int), pointer :: number

    call c_f_pointer(context, number)
    number = number + 1
    events = events + 1
    last_operation = event%operation
    last_error = event%error
    last_name = cd_fortran_string(event%name)
    bytes = event%bytes
  end subroutine count_event

  subroutine count_mismatch(mismatch, context) bind(C)
    type(cd_mismatch), intent(in) :: mismatch
    type(c_ptr), value :: context

    mismatches = mismatches + 1
    if (c_associated(context, mismatch%address)) last_mismatch = mismatch
  end subroutine count_mismatch
end module listeners

program looking
  use checks
  use listeners
  implicit none
  integer, target :: a(4)
  integer(c_int), target :: told
  type(c_ptr) :: cd, child
  type(cd_info) :: info

  call layouts()

  a = [1, 2, 3, 4]
  told = 0
  cd = new_root()
  call must(cd_observe(c_funloc(count_event), c_loc(told)), 'cd_observe')
  call must(cd_preserve(cd, a, READ_ONLY), 'preserve')
  call check(events == 1 .and. told == 1, 'the observer is told, and gets its context')
  call check(last_operation == CD_OP_ADD_COPY .and. last_error == CD_ERROR_NONE, 'what is told')
  call check(last_name == '0/root/0/0' .and. bytes == 16, 'of which CD, and how many bytes')
  call check(advance_cd_point_in_time(c_null_ptr) == FAILURE, 'an invalid handle')
  call check(last_operation == CD_OP_ADVANCE .and. last_error == CD_ERROR_INVALID_HANDLE, 'failures')
  call must(cd_observe(c_null_funptr, c_null_ptr), 'the observer is turned off')

  call must(cd_verify(cd), 'cd_verify')
  if (cd_need_advance(cd) /= 1) error stop 'cd_need_advance without limits'
  a(3) = not(a(3)) ! all of its bytes
  call must_fail(cd_verify(cd), CD_ERROR_VERIFY_MISMATCH, '', 'cd_verify of changed memory')
  call must_fail(cd_verify(cd, c_funloc(count_mismatch), c_loc(a(3))), CD_ERROR_VERIFY_MISMATCH, '', &
    'cd_verify with a report')
  call check(mismatches == 1 .and. last_mismatch%length == 4 .and. &
    last_mismatch%kind == CD_MISMATCH_MEMORY, 'the range that differs is reported')
  call must(restore_cd(cd), 'restore')
  call must(cd_verify(cd), 'cd_verify after the restore')

  child = new_child(cd)
  call must(cd_preserve(child, a(2)), 'preserve an element')
  info = info_of(cd)
  call check(info%depth == 0 .and. info%children == 1 .and. info%bytes == 16 .and. &
    info%read_write == 0 .and. info%restarted == 0 .and. info%logging == 0, 'the root')
  info = info_of(child)
  call check(info%depth == 1 .and. info%children == 0 .and. info%bytes == 4 .and. &
    info%read_write == 4 .and. info%entries == 1, 'the child')
  call must(commit_cd(child), 'commit')
  call must(commit_cd(cd), 'commit')
  call check(events == 2, 'the observer was off')
  call must_fail(cd_query(cd, info), CD_ERROR_INVALID_HANDLE, '', 'cd_query of a committed CD')
  call finish()

contains

  ! layouts.c fills each field with its number.
  subroutine layouts()
    interface
      subroutine fill_info(info, size) bind(C)
        import :: c_size_t, cd_info
        type(cd_info), intent(out) :: info
        integer(c_size_t), intent(out) :: size
      end subroutine fill_info
      subroutine fill_range(range, size) bind(C)
        import :: c_size_t, cd_addrspec
        type(cd_addrspec), intent(out) :: range
        integer(c_size_t), intent(out) :: size
      end subroutine fill_range
      subroutine fill_mismatch(mismatch, size) bind(C)
        import :: c_size_t, cd_mismatch
        type(cd_mismatch), intent(out) :: mismatch
        integer(c_size_t), intent(out) :: size
      end subroutine fill_mismatch
      subroutine fill_event(event, size) bind(C)
        import :: c_size_t, cd_event
        type(cd_event), intent(out) :: event
        integer(c_size_t), intent(out) :: size
      end subroutine fill_event
    end interface
    type(cd_info) :: info
    type(cd_addrspec) :: range
    type(cd_mismatch) :: mismatch
    type(cd_event) :: event
    integer(c_size_t) :: length

    call fill_info(info, length)
    call check(length == c_sizeof(info), 'the size of cd_info')
    call check(all([int(info%depth), info%sibling, info%children, info%logging, info%replaying, &
      info%restarted, int(info%epoch), int(info%entries), int(info%bytes), int(info%read_write), &
      int(info%stored_bytes), int(info%files), int(info%log_length), int(info%log_bytes), &
      int(info%log_remaining), int(info%unbound), int(info%protected_epoch), &
      int(info%log_in_files)] == &
      [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18]), 'cd_info')
    call fill_range(range, length)
    call check(length == c_sizeof(range), 'the size of cd_addrspec')
    call check(transfer(range%address, 1_c_intptr_t) == 1 .and. range%length == 2 .and. &
      range%addr_tp == READ_WRITE .and. range%addr_scope == CONSTRAINED, 'cd_addrspec')
    call fill_mismatch(mismatch, length)
    call check(length == c_sizeof(mismatch), 'the size of cd_mismatch')
    call check(transfer(mismatch%address, 1_c_intptr_t) == 1 .and. mismatch%length == 2 .and. &
      mismatch%kind == CD_MISMATCH_CHECKSUM, 'cd_mismatch')
    call fill_event(event, length)
    call check(length == c_sizeof(event), 'the size of cd_event')
    call check(cd_fortran_string(event%name) == 'name', 'cd_event%name')
    call check(event%operation == CD_OP_ADVANCE .and. event%error == CD_ERROR_COUNT .and. &
      event%bytes == 4 .and. event%start_ns == 5 .and. &
      event%duration_ns == 6, 'cd_event')
  end subroutine layouts
end program looking
