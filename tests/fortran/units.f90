! SPDX-License-Identifier: BSD-3-Clause
! Copyright the containment-domains authors

! add_unit_to_cd: after a restore a unit reads and writes where it did at the point in time, however
! far ahead the Fortran library has read, and whatever it has not written yet.
program units
  use checks
  implicit none
  integer, parameter :: lines = 3000 ! more than any buffer holds
  type(c_ptr) :: cd
  integer :: way

  cd = new_root()
  do way = 1, 3
    call reading_lines(way)
    call writing_lines(way)
  end do
  call reading_to_the_end()
  call unformatted_records()
  call stream()
  call formatted_stream()
  call two_units_and_a_descriptor()
  call refusals()
  call must(commit_cd(cd), 'commit')
  call finish()

contains

  ! Where the point in time is: at the beginning, inside of a buffer, or far from the beginning.
  function done_before(way) result(count)
    integer, intent(in) :: way
    integer :: count

    count = merge(0, merge(10, lines - 100, way == 2), way == 1)
  end function done_before

  function new_file(access, form) result(unit)
    character(*), intent(in) :: access, form
    integer :: unit

    open (newunit=unit, status='scratch', access=access, form=form, action='readwrite')
  end function new_file

  subroutine reading_lines(way)
    integer, intent(in) :: way
    integer :: unit, i, number, again

    unit = new_file('sequential', 'formatted')
    write (unit, '(i0)') (i**2, i = 1, lines)
    rewind (unit)
    do i = 1, done_before(way)
      read (unit, *) number
    end do
    call must(add_unit_to_cd(cd, unit), 'add_unit_to_cd')
    do again = 1, 3
      do i = done_before(way) + 1, min(done_before(way) + 2500, lines - 10)
        read (unit, *) number
        call check(number == i**2, 'lines are read again')
      end do
      call must(restore_cd(cd), 'restore')
    end do
    read (unit, *) number
    call must(advance_cd_point_in_time(cd), 'advance')
    read (unit, *) number
    call check(number == (done_before(way) + 2)**2, 'an advance leaves the unit where it is')
    call must(restore_cd(cd), 'restore after an advance')
    read (unit, *) number
    call check(number == (done_before(way) + 2)**2, 'the point in time has moved')
    call must(delete_unit_from_cd(cd, unit), 'delete_unit_from_cd')
    call must(restore_cd(cd), 'restore')
    read (unit, *) number
    call check(number == (done_before(way) + 3)**2, 'a unit that was deleted stays where it is')
    close (unit)
  end subroutine reading_lines

  subroutine writing_lines(way)
    integer, intent(in) :: way
    integer :: unit, i, number, again, status

    unit = new_file('sequential', 'formatted')
    do i = 1, done_before(way)
      write (unit, '(i0)') i
    end do
    call must(add_unit_to_cd(cd, unit), 'add_unit_to_cd')
    do again = 1, 3
      do i = 1, 1000 * again
        write (unit, '(i0)') -again
      end do
      call must(restore_cd(cd), 'restore')
    end do
    do i = done_before(way) + 1, lines
      write (unit, '(i0)') i
    end do
    rewind (unit)
    do i = 1, lines
      read (unit, *) number
      call check(number == i, 'lines are written where they belong')
    end do
    read (unit, *, iostat=status) number
    call check(status < 0, 'and what was written in vain is not behind them')
    call must(delete_unit_from_cd(cd, unit), 'delete_unit_from_cd')
    close (unit)
  end subroutine writing_lines

  subroutine reading_to_the_end()
    integer :: unit, i, number, status, again

    unit = new_file('sequential', 'formatted')
    write (unit, '(i0)') (i, i = 1, 20)
    rewind (unit)
    read (unit, *) number
    call must(add_unit_to_cd(cd, unit), 'add_unit_to_cd')
    do again = 1, 2
      do i = 2, 20
        read (unit, *) number
        call check(number == i, 'lines up to the end')
      end do
      read (unit, *, iostat=status) number
      call check(status < 0, 'the end of the file')
      call must(restore_cd(cd), 'restore')
    end do
    call must(delete_unit_from_cd(cd, unit), 'delete_unit_from_cd')
    close (unit)
  end subroutine reading_to_the_end

  subroutine unformatted_records()
    integer :: unit, i, again
    real :: row(400)

    unit = new_file('sequential', 'unformatted')
    do i = 1, 30
      row = i
      write (unit) row
    end do
    call must(add_unit_to_cd(cd, unit), 'add_unit_to_cd')
    do again = 1, 2
      do i = 31, 40
        row = -i
        write (unit) row
      end do
      call must(restore_cd(cd), 'restore')
    end do
    row = 31
    write (unit) row
    rewind (unit)
    do i = 1, 31
      read (unit) row
      call check(all(row == i), 'unformatted records')
    end do
    call must(delete_unit_from_cd(cd, unit), 'delete_unit_from_cd')
    close (unit)
  end subroutine unformatted_records

  subroutine stream()
    integer :: unit, i, number, position, again

    unit = new_file('stream', 'unformatted')
    write (unit) (i, i = 1, lines)
    read (unit, pos=4 * 100 + 1) number
    call must(add_unit_to_cd(cd, unit), 'add_unit_to_cd')
    ! Where the library believes that its descriptor is: it has read as far as that.
    write (unit, pos=4 * lines + 1) lines + 1
    read (unit, pos=4 * 101 + 1) number
    call check(number == 102, 'what is behind the point in time is not written to')
    call must(restore_cd(cd), 'restore')
    do again = 1, 2
      do i = 102, 200
        read (unit) number
        call check(number == i, 'numbers of a stream')
      end do
      write (unit, pos=4 * lines + 1) -again
      call must(restore_cd(cd), 'restore')
      inquire (unit, pos=position)
      call check(position == 4 * 101 + 1, 'the position that inquire tells')
    end do
    call must(delete_unit_from_cd(cd, unit), 'delete_unit_from_cd')
    close (unit)
  end subroutine stream

  subroutine formatted_stream()
    integer :: unit, i, number, again

    unit = new_file('stream', 'formatted')
    write (unit, '(i0)') (i, i = 1, lines)
    rewind (unit)
    read (unit, *) number
    call must(add_unit_to_cd(cd, unit), 'add_unit_to_cd')
    do again = 1, 2
      do i = 2, lines
        read (unit, *) number
        call check(number == i, 'lines of a stream')
      end do
      call must(restore_cd(cd), 'restore')
    end do
    read (unit, *) number
    call check(number == 2, 'lines of a stream after the last restore')
    call must(delete_unit_from_cd(cd, unit), 'delete_unit_from_cd')
    close (unit)
  end subroutine formatted_stream

  subroutine two_units_and_a_descriptor()
    integer :: first, second, i, number

    first = new_file('sequential', 'formatted')
    second = new_file('sequential', 'formatted')
    write (first, '(i0)') (i, i = 1, lines)
    write (second, '(i0)') (-i, i = 1, lines)
    rewind (first)
    rewind (second)
    call must(add_unit_to_cd(cd, first), 'add_unit_to_cd')
    do i = 1, 10
      read (first, *) number
      read (second, *) number
    end do
    call must(add_unit_to_cd(cd, second), 'add_unit_to_cd')
    call must(add_unit_to_cd(cd, second), 'again')
    do i = 1, 1000
      read (first, *) number
      read (second, *) number
    end do
    call must(restore_cd(cd), 'restore')
    read (first, *) number
    call check(number == 1, 'the first unit')
    read (second, *) number
    call check(number == -11, 'the second unit')
    close (second)
    second = new_file('sequential', 'formatted') ! perhaps with the same numbers
    call must(delete_unit_from_cd(cd, first), 'delete_unit_from_cd')
    close (first)
    close (second)
  end subroutine two_units_and_a_descriptor

  subroutine refusals()
    integer :: unit

    open (newunit=unit, status='scratch', access='direct', recl=8)
    call must_fail(add_unit_to_cd(cd, unit), CD_ERROR_ARGUMENT, 'direct access', 'direct access')
    close (unit)
    call must_fail(add_unit_to_cd(cd, 4711), CD_ERROR_FILE_BAD_DESCRIPTOR, '-1', 'no such unit')
    call must_fail(add_unit_to_cd(c_null_ptr, 6), CD_ERROR_INVALID_HANDLE, '', 'no CD')
    call must_fail(delete_unit_from_cd(cd, 6), CD_ERROR_FILE_NOT_IN_CD, '', 'a unit that is not there')
  end subroutine refusals
end program units
