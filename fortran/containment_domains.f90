! SPDX-License-Identifier: BSD-3-Clause
! Copyright the containment-domains authors

! Containment domains for Fortran: the calls of include/cd/cd.h, which holds their rules, in the
! forms of appendix A of the CD specification, and shorter forms for Fortran variables.
! docs/howto/fortran.md explains.
!
! A variable that a call gets by its address (c_loc, cd_preserve) must be a TARGET. Else the compiler
! may keep it in a register while restore_cd writes to its memory.
module Containment_Domains
  use, intrinsic :: iso_c_binding
  implicit none
  public

  ! ---- Types: field for field those of cd.h ------------------------------------------------------

  ! length bytes from address on
  type, bind(C) :: cd_addrspec
    type(c_ptr) :: address
    integer(c_size_t) :: length
    integer(c_int) :: addr_tp
    integer(c_int) :: addr_scope = 0 ! GLOBAL, for programs that set the first three fields only
  end type cd_addrspec

  ! The result of cd_query; cd.h explains each number.
  type, bind(C) :: cd_info
    integer(c_int) :: depth
    integer(c_int) :: sibling
    integer(c_int) :: children
    integer(c_int) :: logging
    integer(c_int) :: replaying
    integer(c_int) :: restarted
    integer(c_int64_t) :: epoch
    integer(c_size_t) :: entries
    integer(c_size_t) :: bytes
    integer(c_size_t) :: read_write
    integer(c_size_t) :: stored_bytes
    integer(c_size_t) :: files
    integer(c_size_t) :: log_length
    integer(c_size_t) :: log_bytes
    integer(c_size_t) :: log_remaining
    integer(c_size_t) :: unbound
    integer(c_int64_t) :: protected_epoch
    integer(c_size_t) :: log_in_files
  end type cd_info

  type, bind(C) :: cd_mismatch
    type(c_ptr) :: address
    integer(c_size_t) :: length
    integer(c_int) :: kind
  end type cd_mismatch

  ! name: cd_fortran_string(event%name)
  type, bind(C) :: cd_event
    integer(c_int) :: operation
    integer(c_int) :: error
    type(c_ptr) :: name
    integer(c_size_t) :: bytes
    integer(c_int64_t) :: start_ns
    integer(c_int64_t) :: duration_ns
  end type cd_event

  ! ---- Constants: those of cd.h, in its order ----------------------------------------------------

  type(c_ptr), parameter :: CD_CURRENT_CD = transfer(1_c_intptr_t, c_null_ptr)
  type(c_ptr), parameter :: CURRENT_CD = transfer(1_c_intptr_t, c_null_ptr)

  integer(c_int), parameter :: CD_SUCCESS = 0, SUCCESS = CD_SUCCESS
  integer(c_int), parameter :: CD_FAILURE = -1, FAILURE = CD_FAILURE

  ! for use with cd_addrspec field addr_tp
  integer(c_int), parameter :: CD_READ_ONLY = 0, READ_ONLY = CD_READ_ONLY
  integer(c_int), parameter :: CD_READ_WRITE = 1, READ_WRITE = CD_READ_WRITE

  ! for use with cd_addrspec field addr_scope
  integer(c_int), parameter :: CD_GLOBAL = 0, GLOBAL = CD_GLOBAL
  integer(c_int), parameter :: CD_CONSTRAINED = 1, CONSTRAINED = CD_CONSTRAINED

  ! for use with create_cd's log_mpi_traffic
  integer(c_int), parameter :: CD_COMM_LOGGING_DISABLED = 0, &
    COMM_LOGGING_DISABLED = CD_COMM_LOGGING_DISABLED, &
    CD_MPI_LOGGING_DISABLED = CD_COMM_LOGGING_DISABLED, &
    MPI_LOGGING_DISABLED = CD_COMM_LOGGING_DISABLED
  integer(c_int), parameter :: CD_COMM_LOGGING_ENABLED = 1, &
    COMM_LOGGING_ENABLED = CD_COMM_LOGGING_ENABLED, &
    CD_MPI_LOGGING_ENABLED = CD_COMM_LOGGING_ENABLED, &
    MPI_LOGGING_ENABLED = CD_COMM_LOGGING_ENABLED
  integer(c_int), parameter :: CD_COMM_LOGGING_INHERIT = 2, &
    COMM_LOGGING_INHERIT = CD_COMM_LOGGING_INHERIT, &
    CD_MPI_LOGGING_INHERIT = CD_COMM_LOGGING_INHERIT, &
    MPI_LOGGING_INHERIT = CD_COMM_LOGGING_INHERIT

  enum, bind(C) ! enum cd_error
    enumerator :: CD_ERROR_NONE = 0

    enumerator :: CD_ERROR_INVALID_HANDLE
    enumerator :: CD_ERROR_NO_CURRENT_CD
    enumerator :: CD_ERROR_HAS_CHILDREN
    enumerator :: CD_ERROR_ACTIVE_ELSEWHERE
    enumerator :: CD_ERROR_IN_CALLBACK

    enumerator :: CD_ERROR_NAME_MISSING
    enumerator :: CD_ERROR_NAME_INVALID
    enumerator :: CD_ERROR_NAME_ON_CHILD
    enumerator :: CD_ERROR_NAME_IN_USE
    enumerator :: CD_ERROR_LOGGING_MODE
    enumerator :: CD_ERROR_LOGGING_INHERIT_AT_ROOT
    enumerator :: CD_ERROR_LOGGING_MISMATCH

    enumerator :: CD_ERROR_STORAGE_SYNTAX
    enumerator :: CD_ERROR_STORAGE_KEY
    enumerator :: CD_ERROR_STORAGE_VALUE
    enumerator :: CD_ERROR_STORAGE_UNSUPPORTED

    enumerator :: CD_ERROR_NULL_LIST
    enumerator :: CD_ERROR_COUNT
    enumerator :: CD_ERROR_NULL_ADDRESS
    enumerator :: CD_ERROR_RANGE_WRAPS
    enumerator :: CD_ERROR_ADDR_TYPE
    enumerator :: CD_ERROR_ADDR_SCOPE
    enumerator :: CD_ERROR_SCOPE_FIXED
    enumerator :: CD_ERROR_REGEN_READ_WRITE
    enumerator :: CD_ERROR_REGEN_NULL
    enumerator :: CD_ERROR_NO_PARENT
    enumerator :: CD_ERROR_NOT_IN_PARENT
    enumerator :: CD_ERROR_PARENT_REGEN
    enumerator :: CD_ERROR_NOT_IN_CD

    enumerator :: CD_ERROR_FILE_BAD_DESCRIPTOR
    enumerator :: CD_ERROR_FILE_NOT_SEEKABLE
    enumerator :: CD_ERROR_FILE_CHANGED
    enumerator :: CD_ERROR_FILE_NOT_IN_CD
    enumerator :: CD_ERROR_FILE_SYSTEM

    enumerator :: CD_ERROR_REGEN_FAILED
    enumerator :: CD_ERROR_CHECKSUM
    enumerator :: CD_ERROR_VERIFY_MISMATCH

    enumerator :: CD_ERROR_LOG_DISABLED
    enumerator :: CD_ERROR_LOG_REPLAYING
    enumerator :: CD_ERROR_LOG_ENTRY
    enumerator :: CD_ERROR_LOG_SIBLINGS
    enumerator :: CD_ERROR_LOG_PENDING

    enumerator :: CD_ERROR_NO_MEMORY
    enumerator :: CD_ERROR_ARGUMENT

    enumerator :: CD_ERROR_STORE_DIRECTORY
    enumerator :: CD_ERROR_STORE_LOCKED
    enumerator :: CD_ERROR_STORE_DAMAGED
    enumerator :: CD_ERROR_STORE_VERSION
    enumerator :: CD_ERROR_STORE_IO
    enumerator :: CD_ERROR_STORE_FULL
    enumerator :: CD_ERROR_STORE_FORKED
    enumerator :: CD_ERROR_RESTART_MISMATCH
    enumerator :: CD_ERROR_RESTART_UNBOUND
    enumerator :: CD_ERROR_REDUNDANCY_EXCEEDED

    enumerator :: CD_ERROR_RUN_FAILED

    enumerator :: CD_ERROR_LOG_SPILL
    enumerator :: CD_ERROR_LOG_DIVERGED
    enumerator :: CD_ERROR_LOG_INCOMPLETE
  end enum

  ! of control.h: how often cd_run runs its body if tries is not given
  integer(c_int), parameter :: CD_RUN_TRIES = 3

  enum, bind(C) ! enum cd_mismatch_kind
    enumerator :: CD_MISMATCH_MEMORY = 1
    enumerator :: CD_MISMATCH_CHECKSUM = 2
  end enum

  enum, bind(C) ! enum cd_operation
    enumerator :: CD_OP_CREATE = 0
    enumerator :: CD_OP_ADD_COPY
    enumerator :: CD_OP_ADD_PARENT
    enumerator :: CD_OP_ADD_REGEN
    enumerator :: CD_OP_ADD_FILE
    enumerator :: CD_OP_DELETE
    enumerator :: CD_OP_DELETE_FILE
    enumerator :: CD_OP_COMMIT
    enumerator :: CD_OP_RESTORE
    enumerator :: CD_OP_ADVANCE
    enumerator :: CD_OP_VERIFY
    enumerator :: CD_OP_LOG_ADD
    enumerator :: CD_OP_LOG_GET
    enumerator :: CD_OP_LOG_DELETE
    enumerator :: CD_OP_DISCARD
    enumerator :: CD_OP_IMPLICIT_COMMIT
    enumerator :: CD_OP_REPLAY_BEGIN
    enumerator :: CD_OP_REPLAY_END
    enumerator :: CD_OP_PROTECT
  end enum

  ! ---- Procedures that a program writes ----------------------------------------------------------

  abstract interface
    ! Writes the data of the given ranges; 0 means success. cd_regen_fn of cd.h has the rules.
    function cd_regen_procedure(addrlist, ascount) bind(C) result(error)
      import :: c_int, cd_addrspec
      integer(c_int), value :: ascount
      type(cd_addrspec), intent(in) :: addrlist(ascount)
      integer(c_int) :: error
    end function cd_regen_procedure

    subroutine cd_mismatch_procedure(mismatch, context) bind(C)
      import :: c_ptr, cd_mismatch
      type(cd_mismatch), intent(in) :: mismatch
      type(c_ptr), value :: context
    end subroutine cd_mismatch_procedure

    ! A piece of work for cd_run, or its check; 0 means success. control.h has the rules.
    function cd_body_procedure(cd, context) bind(C) result(error)
      import :: c_int, c_ptr
      type(c_ptr), value :: cd, context
      integer(c_int) :: error
    end function cd_body_procedure

    subroutine cd_event_procedure(event, context) bind(C)
      import :: c_ptr, cd_event
      type(cd_event), intent(in) :: event
      type(c_ptr), value :: context
    end subroutine cd_event_procedure
  end interface

  ! ---- Life of a CD ------------------------------------------------------------------------------

  ! parent_cd: c_null_ptr for a root, else a handle or CURRENT_CD. storage_info and name: Fortran
  ! strings, whose trailing blanks do not count, or C strings, or c_null_ptr. Returns c_null_ptr on
  ! failure; error gets the CD_ERROR_ code.
  ! In each of these interfaces the forms with C strings come last: GNU Fortran accepts the result of
  ! c_loc as any argument, and searches from the end.
  interface create_cd
    module function create_cd_f_f(parent_cd, storage_info, log_mpi_traffic, name, error) result(cd)
      type(c_ptr), value :: parent_cd
      character(*), intent(in) :: storage_info, name
      integer(c_int), intent(in) :: log_mpi_traffic
      integer(c_int), intent(out), optional :: error
      type(c_ptr) :: cd
    end function create_cd_f_f
    module function create_cd_f_c(parent_cd, storage_info, log_mpi_traffic, name, error) result(cd)
      type(c_ptr), value :: parent_cd, name
      character(*), intent(in) :: storage_info
      integer(c_int), intent(in) :: log_mpi_traffic
      integer(c_int), intent(out), optional :: error
      type(c_ptr) :: cd
    end function create_cd_f_c
    module function create_cd_c_f(parent_cd, storage_info, log_mpi_traffic, name, error) result(cd)
      type(c_ptr), value :: parent_cd, storage_info
      integer(c_int), intent(in) :: log_mpi_traffic
      character(*), intent(in) :: name
      integer(c_int), intent(out), optional :: error
      type(c_ptr) :: cd
    end function create_cd_c_f
    module function create_cd_c_c(parent_cd, storage_info, log_mpi_traffic, name, error) result(cd)
      type(c_ptr), value :: parent_cd, storage_info, name
      integer(c_int), intent(in) :: log_mpi_traffic
      integer(c_int), intent(out), optional :: error
      type(c_ptr) :: cd
    end function create_cd_c_c
  end interface create_cd

  interface
    function commit_cd(cd) bind(C) result(outcome)
      import :: c_int, c_ptr
      type(c_ptr), value :: cd
      integer(c_int) :: outcome
    end function commit_cd

    module function restore_cd(cd) result(outcome)
      type(c_ptr), value :: cd
      integer(c_int) :: outcome
    end function restore_cd

    module function advance_cd_point_in_time(cd) result(outcome)
      type(c_ptr), value :: cd
      integer(c_int) :: outcome
    end function advance_cd_point_in_time
  end interface

  ! ---- What a CD holds: variables ----------------------------------------------------------------

  interface
    ! Keeps a variable of any type, array or scalar, as add_to_cd_via_copy does. Of a section that is
    ! not contiguous it keeps the elements, and nothing between them. The defaults are READ_WRITE,
    ! GLOBAL, and the CD's storage_info. Of a derived type it keeps the variable's own bytes; preserve
    ! its allocatable and pointer components one by one. An allocatable variable must not be
    ! reallocated while a CD holds it. An assumed-size array is refused.
    function cd_preserve(cd, variable, access, addr_scope, storage_info) &
        bind(C, name='cd_fortran_preserve') result(outcome)
      import :: c_char, c_int, c_ptr
      type(c_ptr), value :: cd
      type(*), dimension(..), intent(inout), target, asynchronous :: variable
      integer(c_int), intent(in), optional :: access, addr_scope
      character(kind=c_char, len=*), intent(in), optional :: storage_info
      integer(c_int) :: outcome
    end function cd_preserve

    ! Deletes from the CD what cd_preserve has added. Call it before a variable is deallocated or
    ! ceases to exist.
    function cd_forget(cd, variable) bind(C, name='cd_fortran_forget') result(outcome)
      import :: c_int, c_ptr
      type(c_ptr), value :: cd
      type(*), dimension(..), intent(inout), target, asynchronous :: variable
      integer(c_int) :: outcome
    end function cd_forget
  end interface

  ! ---- What a CD holds: ranges of bytes ----------------------------------------------------------

  ! addrlist: one range, or a list of them. storage_info, which may be left out: as for create_cd.
  interface add_to_cd_via_copy
    module function add_via_copy_list_f(cd, addrlist, ascount, storage_info) result(outcome)
      type(c_ptr), value :: cd
      type(cd_addrspec), intent(in), target :: addrlist(*)
      integer(c_int), intent(in) :: ascount
      character(*), intent(in) :: storage_info
      integer(c_int) :: outcome
    end function add_via_copy_list_f
    module function add_via_copy_list_c(cd, addrlist, ascount, storage_info) result(outcome)
      type(c_ptr), value :: cd
      type(cd_addrspec), intent(in), target :: addrlist(*)
      integer(c_int), intent(in) :: ascount
      type(c_ptr), intent(in), optional :: storage_info
      integer(c_int) :: outcome
    end function add_via_copy_list_c
    module function add_via_copy_one_f(cd, addrlist, ascount, storage_info) result(outcome)
      type(c_ptr), value :: cd
      type(cd_addrspec), intent(in), target :: addrlist
      integer(c_int), intent(in) :: ascount
      character(*), intent(in) :: storage_info
      integer(c_int) :: outcome
    end function add_via_copy_one_f
    module function add_via_copy_one_c(cd, addrlist, ascount, storage_info) result(outcome)
      type(c_ptr), value :: cd
      type(cd_addrspec), intent(in), target :: addrlist
      integer(c_int), intent(in) :: ascount
      type(c_ptr), intent(in), optional :: storage_info
      integer(c_int) :: outcome
    end function add_via_copy_one_c
  end interface add_to_cd_via_copy

  interface add_to_cd_via_parent
    module function add_via_parent_list_f(cd, addrlist, ascount, storage_info) result(outcome)
      type(c_ptr), value :: cd
      type(cd_addrspec), intent(in), target :: addrlist(*)
      integer(c_int), intent(in) :: ascount
      character(*), intent(in) :: storage_info
      integer(c_int) :: outcome
    end function add_via_parent_list_f
    module function add_via_parent_list_c(cd, addrlist, ascount, storage_info) result(outcome)
      type(c_ptr), value :: cd
      type(cd_addrspec), intent(in), target :: addrlist(*)
      integer(c_int), intent(in) :: ascount
      type(c_ptr), intent(in), optional :: storage_info
      integer(c_int) :: outcome
    end function add_via_parent_list_c
    module function add_via_parent_one_f(cd, addrlist, ascount, storage_info) result(outcome)
      type(c_ptr), value :: cd
      type(cd_addrspec), intent(in), target :: addrlist
      integer(c_int), intent(in) :: ascount
      character(*), intent(in) :: storage_info
      integer(c_int) :: outcome
    end function add_via_parent_one_f
    module function add_via_parent_one_c(cd, addrlist, ascount, storage_info) result(outcome)
      type(c_ptr), value :: cd
      type(cd_addrspec), intent(in), target :: addrlist
      integer(c_int), intent(in) :: ascount
      type(c_ptr), intent(in), optional :: storage_info
      integer(c_int) :: outcome
    end function add_via_parent_one_c
  end interface add_to_cd_via_parent

  ! regen: c_funloc of a function like cd_regen_procedure. READ_ONLY ranges only.
  interface add_to_cd_via_regen
    module function add_via_regen_list_f(cd, addrlist, ascount, regen, storage_info) result(outcome)
      type(c_ptr), value :: cd
      type(cd_addrspec), intent(in), target :: addrlist(*)
      integer(c_int), intent(in) :: ascount
      type(c_funptr), value :: regen
      character(*), intent(in) :: storage_info
      integer(c_int) :: outcome
    end function add_via_regen_list_f
    module function add_via_regen_list_c(cd, addrlist, ascount, regen, storage_info) result(outcome)
      type(c_ptr), value :: cd
      type(cd_addrspec), intent(in), target :: addrlist(*)
      integer(c_int), intent(in) :: ascount
      type(c_funptr), value :: regen
      type(c_ptr), intent(in), optional :: storage_info
      integer(c_int) :: outcome
    end function add_via_regen_list_c
    module function add_via_regen_one_f(cd, addrlist, ascount, regen, storage_info) result(outcome)
      type(c_ptr), value :: cd
      type(cd_addrspec), intent(in), target :: addrlist
      integer(c_int), intent(in) :: ascount
      type(c_funptr), value :: regen
      character(*), intent(in) :: storage_info
      integer(c_int) :: outcome
    end function add_via_regen_one_f
    module function add_via_regen_one_c(cd, addrlist, ascount, regen, storage_info) result(outcome)
      type(c_ptr), value :: cd
      type(cd_addrspec), intent(in), target :: addrlist
      integer(c_int), intent(in) :: ascount
      type(c_funptr), value :: regen
      type(c_ptr), intent(in), optional :: storage_info
      integer(c_int) :: outcome
    end function add_via_regen_one_c
  end interface add_to_cd_via_regen

  interface delete_from_cd
    function delete_one_from_cd(cd, addrlist, ascount) bind(C, name='delete_from_cd') &
        result(outcome)
      import :: c_int, c_ptr, cd_addrspec
      type(c_ptr), value :: cd
      type(cd_addrspec), intent(in), target :: addrlist
      integer(c_int), value :: ascount
      integer(c_int) :: outcome
    end function delete_one_from_cd
    function delete_list_from_cd(cd, addrlist, ascount) bind(C, name='delete_from_cd') &
        result(outcome)
      import :: c_int, c_ptr, cd_addrspec
      type(c_ptr), value :: cd
      type(cd_addrspec), intent(in), target :: addrlist(*)
      integer(c_int), value :: ascount
      integer(c_int) :: outcome
    end function delete_list_from_cd
  end interface delete_from_cd

  ! ---- What a CD holds: positions in files -------------------------------------------------------

  interface
    ! filedes: a descriptor of the operating system. A Fortran unit has a position of its own as
    ! well; add_unit_to_cd keeps both.
    function add_file_to_cd(cd, filedes) bind(C) result(outcome)
      import :: c_int, c_ptr
      type(c_ptr), value :: cd
      integer(c_int), value :: filedes
      integer(c_int) :: outcome
    end function add_file_to_cd

    function delete_file_from_cd(cd, filedes) bind(C) result(outcome)
      import :: c_int, c_ptr
      type(c_ptr), value :: cd
      integer(c_int), value :: filedes
      integer(c_int) :: outcome
    end function delete_file_from_cd

    ! Does the same for a Fortran unit that is connected to a file, between two of its records. Only
    ! advance_cd_point_in_time and restore_cd of this module handle units.
    module function add_unit_to_cd(cd, unit) result(outcome)
      type(c_ptr), value :: cd
      integer, intent(in) :: unit
      integer(c_int) :: outcome
    end function add_unit_to_cd

    module function delete_unit_from_cd(cd, unit) result(outcome)
      type(c_ptr), value :: cd
      integer, intent(in) :: unit
      integer(c_int) :: outcome
    end function delete_unit_from_cd
  end interface

  ! ---- Errors ------------------------------------------------------------------------------------

  interface
    ! Returns the CD_ERROR_ code of the calling thread's last call of this module.
    function cd_last_error() bind(C) result(code)
      import :: c_int
      integer(c_int) :: code
    end function cd_last_error

    ! Returns the same in a sentence; '' after a success.
    module function cd_last_error_message() result(sentence)
      character(:), allocatable :: sentence
    end function cd_last_error_message

    ! Returns a fixed short text for a code.
    module function cd_strerror(error) result(text)
      integer(c_int), intent(in) :: error
      character(:), allocatable :: text
    end function cd_strerror
  end interface

  ! ---- Looking at a CD ---------------------------------------------------------------------------

  interface
    ! Returns 'rank/name/depth/sibling'; '' on error.
    module function cd_name(cd) result(name)
      type(c_ptr), value :: cd
      character(:), allocatable :: name
    end function cd_name

    function cd_query(cd, info) bind(C) result(outcome)
      import :: c_int, c_ptr, cd_info
      type(c_ptr), value :: cd
      type(cd_info), intent(inout) :: info
      integer(c_int) :: outcome
    end function cd_query

    ! Returns a copy of a C string, such as an event's name; '' for c_null_ptr.
    module function cd_fortran_string(c_string) result(string)
      type(c_ptr), value :: c_string
      character(:), allocatable :: string
    end function cd_fortran_string
  end interface

  interface
    ! Returns 1 if it is time to advance, else 0.
    function cd_need_advance(cd) bind(C) result(needed)
      import :: c_int, c_ptr
      type(c_ptr), value :: cd
      integer(c_int) :: needed
    end function cd_need_advance

    ! name: without trailing blanks.
    module function cd_name_region(name, address, length) result(outcome)
      character(*), intent(in) :: name
      type(c_ptr), value :: address
      integer(c_size_t), value :: length
      integer(c_int) :: outcome
    end function cd_name_region
  end interface

  interface cd_verify
    module function verify_silently(cd) result(outcome)
      type(c_ptr), value :: cd
      integer(c_int) :: outcome
    end function verify_silently

    ! report: c_funloc of a subroutine like cd_mismatch_procedure.
    function verify_with_report(cd, report, context) bind(C, name='cd_verify') result(outcome)
      import :: c_funptr, c_int, c_ptr
      type(c_ptr), value :: cd
      type(c_funptr), value :: report
      type(c_ptr), value :: context
      integer(c_int) :: outcome
    end function verify_with_report
  end interface cd_verify

  ! ---- Watching ----------------------------------------------------------------------------------

  interface
    ! observer: c_funloc of a subroutine like cd_event_procedure, or c_null_funptr.
    function cd_observe(observer, context) bind(C) result(outcome)
      import :: c_funptr, c_int, c_ptr
      type(c_funptr), value :: observer
      type(c_ptr), value :: context
      integer(c_int) :: outcome
    end function cd_observe
  end interface

  ! ---- Calls of control.h ------------------------------------------------------------------------

  interface
    ! Asks for failures, as 'cd=2/root/1/0,at=3'; without an argument takes all back.
    module function cd_inject(injections) result(outcome)
      character(*), intent(in), optional :: injections
      integer(c_int) :: outcome
    end function cd_inject

    ! Returns 1 if an injected failure hits the CD now, else 0; FAILURE on an error.
    function cd_failed(cd) bind(C) result(hit)
      import :: c_int, c_ptr
      type(c_ptr), value :: cd
      integer(c_int) :: hit
    end function cd_failed
  end interface

  ! Runs body in a new child of parent_cd until it is right, at most tries times (CD_RUN_TRIES). body
  ! and check: c_funloc of a function like cd_body_procedure, which gets context.
  ! context and check are not optional: GNU Fortran confuses the results of c_loc and c_funloc, and
  ! writes the address of a function passed by reference into read-only memory.
  interface cd_run
    module function run_unchecked(parent_cd, body, context, tries, storage_info) result(outcome)
      type(c_ptr), value :: parent_cd, context
      type(c_funptr), value :: body
      integer(c_int), intent(in), optional :: tries
      character(*), intent(in), optional :: storage_info
      integer(c_int) :: outcome
    end function run_unchecked
    module function run_checked(parent_cd, body, context, check, tries, storage_info) &
        result(outcome)
      type(c_ptr), value :: parent_cd, context
      type(c_funptr), value :: body, check
      integer(c_int), intent(in), optional :: tries
      character(*), intent(in), optional :: storage_info
      integer(c_int) :: outcome
    end function run_checked
  end interface cd_run

  private :: create_cd_c_c, create_cd_c_f, create_cd_f_c, create_cd_f_f
  private :: add_via_copy_one_c, add_via_copy_one_f, add_via_copy_list_c, add_via_copy_list_f
  private :: add_via_parent_one_c, add_via_parent_one_f, add_via_parent_list_c, add_via_parent_list_f
  private :: add_via_regen_one_c, add_via_regen_one_f, add_via_regen_list_c, add_via_regen_list_f
  private :: run_checked, run_unchecked
  private :: delete_one_from_cd, delete_list_from_cd, verify_silently, verify_with_report
end module Containment_Domains
