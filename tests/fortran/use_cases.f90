! SPDX-License-Identifier: BSD-3-Clause
! Copyright the containment-domains authors

! The use cases of the seed document, as a Fortran programmer writes them.
program use_cases
  use checks
  implicit none

  call simple_loop()
  call transient_failure()
  call static_points_in_time()
  call delete_of_a_local_variable()
  call siblings()
  call committing()
  call advance_with_an_uncommitted_child()
  call finish()

contains

  ! "Simple API Use Example", undisturbed and with a failure.
  subroutine simple_loop()
    integer(c_int64_t) :: undisturbed, disturbed
    integer :: kernels

    call run(0, undisturbed, kernels)
    call check(kernels == 200, 'an undisturbed loop runs each kernel once')
    call run(7, disturbed, kernels)
    call check(disturbed == undisturbed, 'a disturbed loop has the result of an undisturbed one')
    call check(kernels == 204, 'only the inner loop that failed is run again')
  end subroutine simple_loop

  subroutine run(failing_i, final_result, kernels)
    integer, intent(in) :: failing_i
    integer(c_int64_t), intent(out) :: final_result
    integer, intent(out) :: kernels
    integer, parameter :: n_cd = 10
    integer(c_int64_t), target :: gpu_state, node_copy_of_result
    integer, target :: i, j
    logical :: wrong, failed
    type(c_ptr) :: cd

    gpu_state = 1
    node_copy_of_result = 0
    kernels = 0
    failed = .false.
    cd = create_cd(c_null_ptr, c_null_ptr, COMM_LOGGING_ENABLED, 'root')
    i = 1
    do while (i <= 20)
      call must(cd_preserve(cd, gpu_state), 'preserve the state')
      call must(cd_preserve(cd, node_copy_of_result), 'preserve the result')
      call must(cd_preserve(cd, i), 'preserve i')
      wrong = .false.
      do j = 1, n_cd
        kernels = kernels + 1
        gpu_state = modulo(gpu_state * 31 + i * 100 + j, 1000003_c_int64_t)
        wrong = .not. failed .and. i == failing_i .and. j == 4
        if (wrong) then
          failed = .true.
          gpu_state = -1
          call must(restore_cd(cd), 'restore')
          exit
        end if
        node_copy_of_result = gpu_state
      end do
      if (wrong) cycle
      i = i + 1
      call must(advance_cd_point_in_time(cd), 'advance')
    end do
    call must(commit_cd(cd), 'commit')
    final_result = node_copy_of_result
  end subroutine run

  ! "One CD used to recover from a transient CPU failure".
  subroutine transient_failure()
    integer, target :: data, compute_done
    integer :: computations
    type(c_ptr) :: cd

    data = 0
    compute_done = 0
    computations = 0
    cd = new_root()
    do
      call must(add_to_cd_via_copy(cd, [keep(c_loc(data), 4), keep(c_loc(compute_done), 4)], 2), 'add')
      computations = computations + 1
      data = data + 1
      if (mod(computations, 3) == 0) then
        data = -1000
        call must(restore_cd(cd), 'restore')
        cycle
      end if
      if (data == 10) compute_done = 1
      if (compute_done == 1) exit
      call must(advance_cd_point_in_time(cd), 'advance')
    end do
    call must(commit_cd(cd), 'commit')
    call check(data == 10 .and. computations == 14, '10 good computations, and each third failed')
  end subroutine transient_failure

  ! "STATIC 1" and "STATIC 2", up to time T4: the columns of their tables.
  subroutine static_points_in_time()
    integer, target :: x, y, z
    type(c_ptr) :: root, cd_a, cd_b
    integer :: column

    do column = 1, 3
      x = 0; y = 0; z = 0
      root = create_cd(c_null_ptr, c_null_ptr, COMM_LOGGING_ENABLED, 'root')
      cd_a = new_child(root)
      call must(cd_preserve(cd_a, x), 'cd_a contains x = 0')
      x = x + 1
      cd_b = new_child(cd_a)
      call must(cd_preserve(cd_b, x), 'cd_b contains x = 1')
      call must(cd_preserve(cd_b, y), 'cd_b contains y = 0')
      call must(cd_preserve(cd_b, z), 'cd_b contains z = 0')
      x = x + 1; y = y + 1; z = z + 1
      select case (column)
      case (1)
        call must(restore_cd(cd_b), 'restore of cd_b')
        call check(x == 1 .and. y == 0 .and. z == 0, 'restore of cd_b takes all that it holds')
        call must(commit_cd(cd_b), 'cd_b is still there')
      case (2)
        call must(restore_cd(cd_a), 'restore of cd_a')
        call check(x == 0 .and. y == 0 .and. z == 0, 'x: parent wins; y and z: child wins')
        call check(commit_cd(cd_b) == FAILURE, 'cd_b is discarded')
      case (3)
        call must(commit_cd(cd_b), 'commit of cd_b')
        call check(x == 2 .and. y == 1 .and. z == 1, 'a commit leaves memory alone')
        call check(bytes_in(cd_a) == 3 * c_sizeof(x), 'cd_a contains all three')
        call must(restore_cd(cd_a), 'restore of cd_a')
        call check(x == 0 .and. y == 0 .and. z == 0, 'restore of cd_a after the commit of cd_b')
      end select
      call must(commit_cd(cd_a), 'commit of cd_a')
      call must(commit_cd(root), 'commit of the root')
    end do
  end subroutine static_points_in_time

  ! "Delete_from_cd"
  subroutine delete_of_a_local_variable()
    integer, target :: x
    type(c_ptr) :: root

    x = 0
    root = new_root()
    call must(add_to_cd_via_copy(root, keep(c_loc(x), 4), 1), 'root contains x = 0')
    call check(calculator(root) == 1, 'the calculator survives its failure')
    call check(bytes_in(root) == c_sizeof(x), 'root contains x only')
    x = x + 1
    call must(restore_cd(root), 'restore')
    call check(x == 0, 'x is restored')
    call must(commit_cd(root), 'commit')
  end subroutine delete_of_a_local_variable

  function calculator(cd) result(answer)
    type(c_ptr), intent(in) :: cd
    integer :: answer
    integer, target :: y

    y = 0
    call must(add_to_cd_via_copy(cd, keep(c_loc(y), 4), 1), 'cd contains y, too')
    y = 99
    call must(restore_cd(cd), 'restore in the calculator')
    y = y + 1
    call must(delete_from_cd(cd, keep(c_loc(y), 4), 1), 'delete')
    answer = y
  end function calculator

  ! "Sibling CDs": what they do, one after the other in one thread.
  subroutine siblings()
    integer, target :: data(4)
    type(c_ptr) :: root, child(4)
    type(cd_info) :: third
    integer :: i

    data = [10, 20, 30, 40]
    root = create_cd(c_null_ptr, c_null_ptr, COMM_LOGGING_ENABLED, 'root')
    do i = 1, 4
      child(i) = new_child(root)
      call must(cd_preserve(child(i), data(i)), 'a sibling preserves its element')
    end do
    third = info_of(child(3))
    call check(third%sibling == 2, 'siblings are numbered')
    data = -1
    call must(restore_cd(child(2)), 'restore of one sibling')
    call check(all(data == [-1, 20, -1, -1]), 'a sibling recovers alone')
    do i = 1, 4
      call must(commit_cd(child(i)), 'commit of a sibling')
    end do
    call must(restore_cd(root), 'restore of the root')
    call check(all(data == [10, 20, 30, 40]), 'the root got the initial data')
    call must(commit_cd(root), 'commit')
  end subroutine siblings

  ! "Committing CDs": the columns of its table one after the other.
  subroutine committing()
    integer, target :: x, y
    type(c_ptr) :: root, cd_a, cd_b

    x = 0; y = 0
    root = new_root()
    cd_a = new_child(root)
    call must(cd_preserve(cd_a, x), 'cd_a contains x = 0')
    x = 1
    cd_b = new_child(cd_a)
    call must(cd_preserve(cd_b, x), 'cd_b contains x = 1')
    call must(cd_preserve(cd_b, y), 'cd_b contains y = 0')
    x = 2; y = 1
    call must_fail(commit_cd(cd_a), CD_ERROR_HAS_CHILDREN, 'child', 'commit before the children')
    call must(commit_cd(cd_b), 'commit of cd_b')
    call must(commit_cd(cd_a), 'commit of cd_a')
    call check(bytes_in(root) == 8, 'the root got x and y')
    call must(restore_cd(root), 'restore of the root')
    call check(x == 0 .and. y == 0, 'child wins over the empty root, after the parent won over cd_b')
    call must(commit_cd(root), 'commit of the root')
  end subroutine committing

  ! "Preserving a CD's Ability to Restore its point in time"
  subroutine advance_with_an_uncommitted_child()
    type(c_ptr) :: parent, child
    type(cd_info) :: info

    parent = new_root()
    child = new_child(parent)
    call must_fail(advance_cd_point_in_time(parent), CD_ERROR_HAS_CHILDREN, 'child', 'advance')
    call must(commit_cd(child), 'commit of the child')
    call must(advance_cd_point_in_time(parent), 'advance')
    info = info_of(parent)
    call check(info%epoch == 1, 'the epoch is counted')
    call must(commit_cd(parent), 'commit of the parent')
  end subroutine advance_with_an_uncommitted_child
end program use_cases
