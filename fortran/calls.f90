! SPDX-License-Identifier: BSD-3-Clause
! Copyright the containment-domains authors

! The call forms that C does not have: optional arguments and Fortran strings.
submodule (Containment_Domains) calls
  implicit none

  type, bind(C) :: run_options ! struct cd_run_options
    integer(c_int) :: tries = 0
    type(c_funptr) :: check = c_null_funptr
    type(c_ptr) :: storage_info = c_null_ptr
  end type run_options

  interface
    function c_create_cd(parent_cd, storage_info, log_mpi_traffic, name, error) &
        bind(C, name='create_cd') result(cd)
      import :: c_int, c_ptr
      type(c_ptr), value :: parent_cd, storage_info, name
      integer(c_int), value :: log_mpi_traffic
      integer(c_int), intent(out), optional :: error
      type(c_ptr) :: cd
    end function c_create_cd

    function c_add_via_copy(cd, addrlist, ascount, storage_info) &
        bind(C, name='add_to_cd_via_copy') result(outcome)
      import :: c_int, c_ptr
      type(c_ptr), value :: cd, addrlist, storage_info
      integer(c_int), value :: ascount
      integer(c_int) :: outcome
    end function c_add_via_copy

    function c_add_via_parent(cd, addrlist, ascount, storage_info) &
        bind(C, name='add_to_cd_via_parent') result(outcome)
      import :: c_int, c_ptr
      type(c_ptr), value :: cd, addrlist, storage_info
      integer(c_int), value :: ascount
      integer(c_int) :: outcome
    end function c_add_via_parent

    function c_add_via_regen(cd, addrlist, ascount, storage_info, regen) &
        bind(C, name='add_to_cd_via_regen') result(outcome)
      import :: c_funptr, c_int, c_ptr
      type(c_ptr), value :: cd, addrlist, storage_info
      integer(c_int), value :: ascount
      type(c_funptr), value :: regen
      integer(c_int) :: outcome
    end function c_add_via_regen

    function c_name_region(name, address, length) bind(C, name='cd_name_region') result(outcome)
      import :: c_int, c_ptr, c_size_t
      type(c_ptr), value :: name, address
      integer(c_size_t), value :: length
      integer(c_int) :: outcome
    end function c_name_region

    function c_inject(injections) bind(C, name='cd_inject') result(outcome)
      import :: c_int, c_ptr
      type(c_ptr), value :: injections
      integer(c_int) :: outcome
    end function c_inject

    function c_run(parent_cd, options, body, context) bind(C, name='cd_run') result(outcome)
      import :: c_funptr, c_int, c_ptr, run_options
      type(c_ptr), value :: parent_cd, context
      type(run_options), intent(in) :: options
      type(c_funptr), value :: body
      integer(c_int) :: outcome
    end function c_run

    function c_last_error_message() bind(C, name='cd_last_error_message') result(sentence)
      import :: c_ptr
      type(c_ptr) :: sentence
    end function c_last_error_message

    function c_strerror(error) bind(C, name='cd_strerror') result(text)
      import :: c_int, c_ptr
      integer(c_int), value :: error
      type(c_ptr) :: text
    end function c_strerror

    function c_name(cd) bind(C, name='cd_name') result(name)
      import :: c_ptr
      type(c_ptr), value :: cd
      type(c_ptr) :: name
    end function c_name

    function c_strlen(string) bind(C, name='strlen') result(length)
      import :: c_ptr, c_size_t
      type(c_ptr), value :: string
      integer(c_size_t) :: length
    end function c_strlen
  end interface

contains

  pure function c_string_of(string) result(characters)
    character(*), intent(in) :: string
    character(kind=c_char) :: characters(len_trim(string) + 1)
    integer :: i

    do i = 1, len_trim(string)
      characters(i) = string(i:i)
    end do
    characters(size(characters)) = c_null_char
  end function c_string_of

  pure function or_null(pointer) result(given)
    type(c_ptr), intent(in), optional :: pointer
    type(c_ptr) :: given

    given = c_null_ptr
    if (present(pointer)) given = pointer
  end function or_null

  ! ---- create_cd ----

  module procedure create_cd_c_c
    cd = c_create_cd(parent_cd, storage_info, log_mpi_traffic, name, error)
  end procedure create_cd_c_c

  module procedure create_cd_c_f
    character(kind=c_char), target :: c_name(len_trim(name) + 1)

    c_name = c_string_of(name)
    cd = c_create_cd(parent_cd, storage_info, log_mpi_traffic, c_loc(c_name), error)
  end procedure create_cd_c_f

  module procedure create_cd_f_c
    character(kind=c_char), target :: c_storage(len_trim(storage_info) + 1)

    c_storage = c_string_of(storage_info)
    cd = c_create_cd(parent_cd, c_loc(c_storage), log_mpi_traffic, name, error)
  end procedure create_cd_f_c

  module procedure create_cd_f_f
    character(kind=c_char), target :: c_storage(len_trim(storage_info) + 1)

    c_storage = c_string_of(storage_info)
    cd = create_cd_c_f(parent_cd, c_loc(c_storage), log_mpi_traffic, name, error)
  end procedure create_cd_f_f

  ! ---- add_to_cd_via_copy, _parent, _regen ----

  module procedure add_via_copy_one_c
    outcome = c_add_via_copy(cd, c_loc(addrlist), ascount, or_null(storage_info))
  end procedure add_via_copy_one_c

  module procedure add_via_copy_one_f
    character(kind=c_char), target :: c_storage(len_trim(storage_info) + 1)

    c_storage = c_string_of(storage_info)
    outcome = c_add_via_copy(cd, c_loc(addrlist), ascount, c_loc(c_storage))
  end procedure add_via_copy_one_f

  module procedure add_via_copy_list_c
    outcome = c_add_via_copy(cd, c_loc(addrlist), ascount, or_null(storage_info))
  end procedure add_via_copy_list_c

  module procedure add_via_copy_list_f
    character(kind=c_char), target :: c_storage(len_trim(storage_info) + 1)

    c_storage = c_string_of(storage_info)
    outcome = c_add_via_copy(cd, c_loc(addrlist), ascount, c_loc(c_storage))
  end procedure add_via_copy_list_f

  module procedure add_via_parent_one_c
    outcome = c_add_via_parent(cd, c_loc(addrlist), ascount, or_null(storage_info))
  end procedure add_via_parent_one_c

  module procedure add_via_parent_one_f
    character(kind=c_char), target :: c_storage(len_trim(storage_info) + 1)

    c_storage = c_string_of(storage_info)
    outcome = c_add_via_parent(cd, c_loc(addrlist), ascount, c_loc(c_storage))
  end procedure add_via_parent_one_f

  module procedure add_via_parent_list_c
    outcome = c_add_via_parent(cd, c_loc(addrlist), ascount, or_null(storage_info))
  end procedure add_via_parent_list_c

  module procedure add_via_parent_list_f
    character(kind=c_char), target :: c_storage(len_trim(storage_info) + 1)

    c_storage = c_string_of(storage_info)
    outcome = c_add_via_parent(cd, c_loc(addrlist), ascount, c_loc(c_storage))
  end procedure add_via_parent_list_f

  module procedure add_via_regen_one_c
    outcome = c_add_via_regen(cd, c_loc(addrlist), ascount, or_null(storage_info), regen)
  end procedure add_via_regen_one_c

  module procedure add_via_regen_one_f
    character(kind=c_char), target :: c_storage(len_trim(storage_info) + 1)

    c_storage = c_string_of(storage_info)
    outcome = c_add_via_regen(cd, c_loc(addrlist), ascount, c_loc(c_storage), regen)
  end procedure add_via_regen_one_f

  module procedure add_via_regen_list_c
    outcome = c_add_via_regen(cd, c_loc(addrlist), ascount, or_null(storage_info), regen)
  end procedure add_via_regen_list_c

  module procedure add_via_regen_list_f
    character(kind=c_char), target :: c_storage(len_trim(storage_info) + 1)

    c_storage = c_string_of(storage_info)
    outcome = c_add_via_regen(cd, c_loc(addrlist), ascount, c_loc(c_storage), regen)
  end procedure add_via_regen_list_f

  ! ---- Control ----

  module procedure cd_name_region
    character(kind=c_char), target :: c_name(len_trim(name) + 1)

    c_name = c_string_of(name)
    outcome = c_name_region(c_loc(c_name), address, length)
  end procedure cd_name_region

  module procedure cd_inject
    character(kind=c_char), allocatable, target :: c_injections(:)

    if (.not. present(injections)) then
      outcome = c_inject(c_null_ptr)
      return
    end if
    allocate (c_injections, source=c_string_of(injections))
    outcome = c_inject(c_loc(c_injections))
  end procedure cd_inject

  module procedure run_unchecked
    outcome = run_checked(parent_cd, body, context, c_null_funptr, tries, storage_info)
  end procedure run_unchecked

  module procedure run_checked
    character(kind=c_char), allocatable, target :: c_storage(:)
    type(run_options) :: options

    options%check = check
    if (present(tries)) options%tries = tries
    if (present(storage_info)) then
      allocate (c_storage, source=c_string_of(storage_info))
      options%storage_info = c_loc(c_storage)
    end if
    outcome = c_run(parent_cd, options, body, context)
  end procedure run_checked

  ! ---- Strings of C ----

  module procedure cd_fortran_string
    character(kind=c_char), pointer :: characters(:)
    integer :: i

    string = ''
    if (.not. c_associated(c_string)) return
    call c_f_pointer(c_string, characters, [c_strlen(c_string)])
    string = repeat(' ', size(characters))
    do i = 1, size(characters)
      string(i:i) = characters(i)
    end do
  end procedure cd_fortran_string

  module procedure cd_last_error_message
    sentence = cd_fortran_string(c_last_error_message())
  end procedure cd_last_error_message

  module procedure cd_strerror
    text = cd_fortran_string(c_strerror(error))
  end procedure cd_strerror

  module procedure cd_name
    name = cd_fortran_string(c_name(cd))
  end procedure cd_name

  module procedure verify_silently
    outcome = verify_with_report(cd, c_null_funptr, c_null_ptr)
  end procedure verify_silently
end submodule calls
