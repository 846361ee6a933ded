! SPDX-License-Identifier: BSD-3-Clause
! Copyright the containment-domains authors

! cd_preserve of what is neither a plain array nor a section of one; what it refuses; and that the
! compiler knows, also when it optimises, that a restore writes to what was preserved.
program variables
  use checks
  implicit none
  type :: particle
    character(1) :: label
    real(c_double) :: position(3)
  end type particle
  type(c_ptr) :: cd

  cd = new_root()
  call derived_types()
  call components()
  call dummies(reshape([1, 2, 3, 4, 5, 6], [2, 3]))
  call allocatables_and_pointers()
  call strings()
  call nothing()
  call access_and_scope()
  call refusals([1, 2, 3])
  call locals()
  call must(commit_cd(cd), 'commit')
  call finish()

contains

  subroutine derived_types()
    type(particle), target :: swarm(5)
    integer :: i

    swarm = [(particle(achar(64 + i), [i, i, i] * 0.5d0), i = 1, 5)]
    call must(cd_preserve(cd, swarm(2:4:2)), 'preserve')
    swarm = particle('-', [0, 0, 0])
    call must(restore_cd(cd), 'restore')
    call check(all(swarm%label == ['-', 'B', '-', 'D', '-']), 'a section of a derived type')
    call check(all(swarm(4)%position == [2, 2, 2]), 'its components')
    call must(cd_forget(cd, swarm(2:4:2)), 'forget')
  end subroutine derived_types

  subroutine components()
    type(particle), target :: swarm(3)
    complex, target :: waves(4)

    swarm = particle('a', [1, 2, 3])
    waves = (1, 2)
    call must(cd_preserve(cd, swarm%position(2)), 'preserve a component')
    call must(cd_preserve(cd, waves%im), 'preserve imaginary parts')
    swarm = particle('b', [-1, -1, -1])
    waves = (-1, -1)
    call must(restore_cd(cd), 'restore')
    call check(all(swarm%label == 'b') .and. all(swarm%position(1) == -1) .and. &
      all(swarm%position(2) == 2) .and. all(swarm%position(3) == -1), 'one component of each element')
    call check(all(waves == (-1, 2)), 'imaginary parts')
    call must(cd_forget(cd, swarm%position(2)), 'forget a component')
    call must(cd_forget(cd, waves%im), 'forget imaginary parts')
  end subroutine components

  ! Sections as seen by procedures that they are passed to: assumed shape and explicit shape.
  subroutine dummies(initial)
    integer, intent(in) :: initial(:, :)
    integer, target :: a(4, 5)

    a = 0
    a(2:4:2, 1:5:2) = initial
    call preserve_assumed_shape(a(2:4:2, 5:1:-2))
    call preserve_explicit_shape(a(:, 2), 4)
    a = 7
    call must(restore_cd(cd), 'restore')
    call check(all(a(2:4:2, 1:5:2) == initial), 'an assumed-shape dummy of a section')
    call check(all(a(:, 2) == 0), 'an explicit-shape dummy')
    call check(all(a(1, 3:) == 7) .and. all(a(3, 3:) == 7) .and. all(a(:, 4) == 7), 'and no more')
    call must(cd_forget(cd, a(2:4:2, ::2)), 'forget, in another order')
    call must(cd_forget(cd, a(:, 2)), 'forget')
  end subroutine dummies

  subroutine preserve_assumed_shape(section)
    integer, intent(inout), target :: section(:, :)

    call must(cd_preserve(cd, section), 'preserve an assumed-shape dummy')
  end subroutine preserve_assumed_shape

  subroutine preserve_explicit_shape(column, n)
    integer, intent(in) :: n
    integer, intent(inout), target :: column(n)

    call must(cd_preserve(cd, column), 'preserve an explicit-shape dummy')
  end subroutine preserve_explicit_shape

  subroutine allocatables_and_pointers()
    real, allocatable, target :: field(:, :)
    real, pointer :: inner(:, :), mirrored(:)

    allocate (field(-1:4, 0:3))
    field = 1
    inner => field(0:3, 1:2)
    mirrored => field(4:-1:-1, 0)
    call must(cd_preserve(cd, inner), 'preserve through a pointer')
    call must(cd_preserve(cd, mirrored), 'preserve through a pointer that goes backward')
    field = 2
    call must(restore_cd(cd), 'restore')
    call check(all(field(0:3, 1:2) == 1) .and. all(field(:, 0) == 1) .and. all(field(:, 3) == 2) .and. &
      all(field(-1, 1:) == 2) .and. all(field(4, 1:) == 2), 'what pointers refer to')
    call check(sum(field) == 14 + 2 * 10, 'and no more')
    call must(cd_forget(cd, field(0:3, 1:2)), 'forget what a pointer referred to')
    call must(cd_forget(cd, field(:, 0)), 'forget what a pointer referred to')
    call check(bytes_in(cd) == 0, 'all is forgotten')
    call must(cd_preserve(cd, field), 'preserve an allocatable array')
    field = 3
    call must(restore_cd(cd), 'restore')
    call check(sum(field) == 14 + 2 * 10, 'an allocatable array')
    call must(cd_forget(cd, field), 'forget an allocatable array')
  end subroutine allocatables_and_pointers

  subroutine strings()
    character(:), allocatable, target :: line
    character(6), target :: words(4)

    line = 'containment'
    words = ['first ', 'second', 'third ', 'fourth']
    call must(cd_preserve(cd, line(4:7)), 'preserve a substring')
    call must(cd_preserve(cd, words(::2)(2:3)), 'preserve substrings of a section')
    line(:) = '-----------'
    words = '++++++'
    call must(restore_cd(cd), 'restore')
    call check(line == '---tain----', 'a substring: '//line)
    call check(all(words == ['+ir+++', '++++++', '+hi+++', '++++++']), 'substrings of a section')
    call must(cd_forget(cd, line(4:7)), 'forget a substring')
    call must(cd_forget(cd, words(::2)(2:3)), 'forget substrings')
    call must(cd_preserve(cd, line), 'preserve a string of deferred length')
    line(:) = 'x'
    call must(restore_cd(cd), 'restore')
    call check(line == '---tain----', 'a string of deferred length: '//line)
    call must(cd_forget(cd, line), 'forget a string')
  end subroutine strings

  subroutine nothing()
    integer, allocatable, target :: empty(:, :)
    integer, target :: some(4)

    allocate (empty(0, 3))
    some = 1
    call must(cd_preserve(cd, empty), 'an array of no elements')
    call must(cd_preserve(cd, some(3:2)), 'a section of no elements')
    call check(bytes_in(cd) == 0, 'nothing is held')
  end subroutine nothing

  subroutine access_and_scope()
    integer, target :: constant, scratch
    type(c_ptr) :: child
    type(cd_info) :: info

    constant = 1
    scratch = 2
    child = new_child(cd)
    call must(cd_preserve(child, constant, READ_ONLY), 'preserve as READ_ONLY')
    info = info_of(child)
    call check(info%read_write == 0, 'it is READ_ONLY')
    call must(cd_preserve(child, scratch, addr_scope=CONSTRAINED, storage_info='checksum=crc32c  '), &
      'preserve as CONSTRAINED, with storage_info')
    info = info_of(child)
    call check(info%read_write == c_sizeof(scratch), 'it is READ_WRITE')
    call must(commit_cd(child), 'commit')
    call check(bytes_in(cd) == c_sizeof(constant), 'the parent gets what is GLOBAL')
    call must(cd_forget(cd, constant), 'forget')
  end subroutine access_and_scope

  subroutine refusals(assumed_size)
    integer, target :: assumed_size(*)
    integer, allocatable, target :: unallocated(:)
    integer(c_int8_t), target :: byte
    integer(c_int8_t), pointer :: huge_array(:)
    type(c_ptr) :: somewhere
    integer, target :: x

    x = 0
    allocate (unallocated(3))
    deallocate (unallocated)
    call must_fail(cd_preserve(cd, assumed_size), CD_ERROR_COUNT, 'a(1:n)', 'an assumed-size array')
    call must_fail(cd_preserve(cd, unallocated), CD_ERROR_NULL_ADDRESS, 'not allocated', 'unallocated')
    call must_fail(cd_forget(cd, unallocated), CD_ERROR_NULL_ADDRESS, 'not allocated', 'unallocated')
    somewhere = c_loc(byte)
    call c_f_pointer(somewhere, huge_array, [2_c_size_t**33])
    call must_fail(cd_preserve(cd, huge_array(::2)), CD_ERROR_COUNT, '2147483647', 'too many pieces')
    call must_fail(cd_preserve(cd, x, 17), CD_ERROR_ADDR_TYPE, '17', 'an access type of 17')
    call must_fail(cd_preserve(cd, x, addr_scope=9), CD_ERROR_ADDR_SCOPE, '9', 'a scope of 9')
    call must_fail(cd_preserve(cd, x, storage_info='colour=red'), CD_ERROR_STORAGE_KEY, 'colour', &
      'an unknown key')
    call must_fail(cd_preserve(c_null_ptr, x), CD_ERROR_INVALID_HANDLE, '', 'no CD')
    call must_fail(cd_preserve(c_null_ptr, assumed_size(1:0)), CD_ERROR_INVALID_HANDLE, '', &
      'no CD and no element')
    call must_fail(cd_forget(cd, x), CD_ERROR_NOT_IN_CD, '', 'forget what is not held')
    call check(bytes_in(cd) == 0, 'nothing is held')
  end subroutine refusals

  ! Nothing but the CD knows the addresses of these variables.
  subroutine locals()
    integer, target :: counter, array(3)
    integer, target :: named
    type(cd_addrspec) :: range

    counter = 1
    array = [1, 2, 3]
    named = 4
    range = keep(c_loc(named), 4)
    call must(cd_preserve(cd, counter), 'preserve a local scalar')
    call must(cd_preserve(cd, array(::2)), 'preserve a section of a local array')
    call must(add_to_cd_via_copy(cd, range, 1), 'add a local scalar')
    counter = 17
    array = 18
    named = 19
    call must(restore_cd(cd), 'restore')
    call check(counter == 1, 'a local scalar')
    call check(all(array == [1, 18, 3]), 'a section of a local array')
    call check(named == 4, 'a local scalar by its address')
    call must(cd_forget(cd, counter), 'forget a local scalar')
    call must(cd_forget(cd, array(::2)), 'forget a section of a local array')
    call must(delete_from_cd(cd, range, 1), 'delete a local scalar')
  end subroutine locals
end program variables
