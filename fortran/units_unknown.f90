! SPDX-License-Identifier: BSD-3-Clause
! Copyright the containment-domains authors

! For compilers without a way to a unit's descriptor: units are refused, and the calls are those of C.
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
  end interface

contains

  module procedure restore_cd
    outcome = c_restore_cd(cd)
  end procedure restore_cd

  module procedure advance_cd_point_in_time
    outcome = c_advance(cd)
  end procedure advance_cd_point_in_time

  module procedure add_unit_to_cd
    outcome = refused(unit)
  end procedure add_unit_to_cd

  module procedure delete_unit_from_cd
    outcome = refused(unit)
  end procedure delete_unit_from_cd

  function refused(unit) result(outcome)
    integer, intent(in) :: unit
    integer(c_int) :: outcome
    character(200) :: sentence

    write (sentence, '(a, i0, 2a)') 'unit ', unit, ' cannot be added: this Fortran compiler hides its ', &
      'descriptor; open the file in C and use add_file_to_cd'
    outcome = cd_fail(CD_ERROR_ARGUMENT, trim(sentence)//c_null_char)
  end function refused
end submodule units
