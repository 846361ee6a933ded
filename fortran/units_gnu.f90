! SPDX-License-Identifier: BSD-3-Clause
! Copyright the containment-domains authors

! Keeps the positions of GNU Fortran units. Its library reads ahead and writes behind, so a unit has a
! position of its own, and the library relies on the position of the descriptor. The C calls read and
! set descriptors only. So each call is made in three steps: move the descriptors of known units to
! the units' positions, call, then move the units to where the call has put the descriptors.
submodule (Containment_Domains) units
  implicit none

  interface
    function c_restore_cd(cd) bind(C, name='restore_cd') result(outcome)
      import :: c_int, c_ptr
      type(c_ptr), value :: cd
      integer(c_int) :: outcome
    end function c_restore_cd

    function c_advance(cd) bind(C, name='advance_cd_point_in_time') result(outcome)
      import :: c_int, c_ptr
      type(c_ptr), value :: cd
      integer(c_int) :: outcome
    end function c_advance

    function cd_fail(code, sentence) bind(C) result(outcome)
      import :: c_char, c_int
      integer(c_int), value :: code
      character(kind=c_char), intent(in) :: sentence(*)
      integer(c_int) :: outcome
    end function cd_fail

    ! Lets one thread at a time move descriptors and change the list of known units. Returns an error
    ! if this thread has the lock already.
    function lock_units() bind(C, name='cd_fortran_lock_units') result(error)
      import :: c_int
      integer(c_int) :: error
    end function lock_units
    subroutine unlock_units() bind(C, name='cd_fortran_unlock_units')
    end subroutine unlock_units

    subroutine file_behind(descriptor, identity) bind(C, name='cd_fortran_file_behind')
      import :: c_int, c_int64_t
      integer(c_int), value :: descriptor
      integer(c_int64_t), intent(out) :: identity(2)
    end subroutine file_behind

    ! off_t is a long on all supported systems.
    function lseek(descriptor, offset, whence) bind(C) result(position)
      import :: c_int, c_long
      integer(c_int), value :: descriptor, whence
      integer(c_long), value :: offset
      integer(c_long) :: position
    end function lseek
  end interface

  integer(c_int), parameter :: SEEK_SET = 0, SEEK_CUR = 1

  type :: known_unit
    integer :: unit
    integer(c_int) :: descriptor
    integer(c_int64_t) :: file(2)
    integer(c_long) :: position_of_unit = 0, position_of_descriptor = 0
  end type known_unit

  type(known_unit), allocatable, save :: known(:) ! units that a CD may hold

contains

  module procedure restore_cd
    logical :: moved_any

    moved_any = move_descriptors()
    outcome = c_restore_cd(cd)
    if (moved_any) call move_units()
  end procedure restore_cd

  module procedure advance_cd_point_in_time
    logical :: moved_any

    moved_any = move_descriptors()
    outcome = c_advance(cd)
    if (moved_any) call move_units()
  end procedure advance_cd_point_in_time

  module procedure add_unit_to_cd
    logical :: moved_any
    character(10) :: access
    character(200) :: sentence

    inquire (unit, access=access)
    if (access == 'DIRECT') then
      write (sentence, '(a, i0, a)') 'unit ', unit, &
        ' is connected for direct access: its records are numbered, and there is no position to keep'
      outcome = cd_fail(CD_ERROR_ARGUMENT, trim(sentence)//c_null_char)
      return
    end if
    if (lock_units() == 0) then
      call remember(unit)
      call unlock_units()
    end if
    moved_any = move_descriptors()
    outcome = add_file_to_cd(cd, descriptor_of(unit))
    if (moved_any) call move_units()
  end procedure add_unit_to_cd

  module procedure delete_unit_from_cd
    outcome = delete_file_from_cd(cd, descriptor_of(unit)) ! another CD may still hold it
  end procedure delete_unit_from_cd

  function descriptor_of(unit) result(descriptor)
    integer, intent(in) :: unit
    integer(c_int) :: descriptor
    logical :: connected

    descriptor = -1
    inquire (unit, opened=connected)
    if (connected) descriptor = fnum(unit)
  end function descriptor_of

  subroutine remember(unit)
    integer, intent(in) :: unit
    integer(c_int) :: descriptor
    integer(c_int64_t) :: file(2)

    descriptor = descriptor_of(unit)
    if (.not. allocated(known)) allocate (known(0))
    if (descriptor < 0) return
    call file_behind(descriptor, file)
    ! Replaces older entries of this unit or descriptor, which may have been another file.
    known = [pack(known, known%unit /= unit .and. known%descriptor /= descriptor), &
             known_unit(unit, descriptor, file)]
  end subroutine remember

  ! Moves the descriptors to the units' positions, and locks the units. Returns false if there are no
  ! units, or if a restore of this thread is under way. After true the caller calls move_units.
  function move_descriptors() result(moved_any)
    logical :: moved_any

    moved_any = lock_units() == 0
    if (.not. moved_any) return
    if (allocated(known)) call forget_closed_units()
    moved_any = allocated(known)
    if (moved_any) moved_any = size(known) > 0
    if (moved_any) then
      call put_descriptors_where_units_are()
    else
      call unlock_units()
    end if
  end function move_descriptors

  ! Moves the units to where the descriptors are now, moves the descriptors back, and unlocks.
  subroutine move_units()
    call put_units_where_descriptors_are()
    call unlock_units()
  end subroutine move_units

  ! Forgets units whose descriptor names no file any more, or another one. Asks the system only: the
  ! Fortran library reuses the numbers of closed units for its own files, and crashes if it is asked
  ! about these.
  subroutine forget_closed_units()
    logical :: open(size(known))
    integer(c_int64_t) :: file(2)
    integer :: i

    do i = 1, size(known)
      call file_behind(known(i)%descriptor, file)
      open(i) = all(file == known(i)%file)
    end do
    known = pack(known, open)
  end subroutine forget_closed_units

  subroutine put_descriptors_where_units_are()
    integer(c_long) :: moved
    integer :: i

    do i = 1, size(known)
      associate (it => known(i))
        flush (it%unit)
        it%position_of_unit = ftell(it%unit)
        it%position_of_descriptor = lseek(it%descriptor, 0_c_long, SEEK_CUR)
        moved = lseek(it%descriptor, it%position_of_unit, SEEK_SET)
      end associate
    end do
  end subroutine put_descriptors_where_units_are

  subroutine put_units_where_descriptors_are()
    integer(c_long) :: wanted, moved
    integer :: i

    do i = 1, size(known)
      associate (it => known(i))
        wanted = lseek(it%descriptor, 0_c_long, SEEK_CUR)
        moved = lseek(it%descriptor, it%position_of_descriptor, SEEK_SET)
        if (moved >= 0 .and. wanted /= it%position_of_unit) call move_unit(it%unit, wanted)
      end associate
    end do
  end subroutine put_units_where_descriptors_are

  subroutine move_unit(unit, position)
    integer, intent(in) :: unit
    integer(c_long), intent(in) :: position
    character(11) :: access, form, writable
    integer :: status

    inquire (unit, access=access, form=form, write=writable)
    if (access /= 'STREAM') then
      rewind (unit, iostat=status) ! it forgets that it may have seen the end of the file
      call fseek(unit, position, SEEK_SET, status)
    else if (form == 'FORMATTED' .and. writable == 'YES') then
      write (unit, '(a)', advance='no', pos=position + 1, iostat=status) ''
    else if (form == 'FORMATTED') then
      read (unit, '()', advance='no', pos=position + 1, iostat=status)
    else if (writable == 'YES') then
      write (unit, pos=position + 1, iostat=status)
    else
      read (unit, pos=position + 1, iostat=status)
    end if
  end subroutine move_unit
end submodule units
