! SPDX-License-Identifier: BSD-3-Clause
! Copyright the containment-domains authors

! heat: a Fortran MPI program in which ranks survive failures alone.
!
! A plate cools down: its left edge is kept hot, the others cold. Its columns are spread over the
! ranks. Each time step solves a system of equations by iteration: halos are exchanged with the
! neighbours, each cell is computed from its neighbours, and all ranks agree on the largest change.
!
! The ranks do so twice: undisturbed, and in containment domains. A root domain repairs faults in a
! time step, and is advanced every few steps. A child domain around each solution repairs faults in
! there: only the iterations of this solution are run again. Some ranks are hit, in a solution or
! between two of them. They restore the domain around it and run again alone, while their MPI calls are
! answered from the log. In the end both results are compared bit for bit.
!
! With stores in files it continues after all its ranks were killed at any moment:
!   export CD_STORAGE_INFO=store=file,dir=stores,keep=2
!   CD_RESTART=$(cdctl epoch stores) mpirun -n 2 heat once
! starts and restarts it; "once" leaves out the undisturbed run. All ranks meet in each iteration, so
! none is more than one advance ahead of another. With keep=2 a rank that is ahead still has the point
! in time before. CD_RESTART takes all ranks to the newest epoch that they have in common. Lines that a
! restart needs are marked RESTART.
!
! libpmpi_logger.so makes this work. This program is linked with it; one that is not runs as
!   mpirun -x LD_PRELOAD=.../libpmpi_logger.so (Open MPI), -genv LD_PRELOAD ... (MPICH)

! An ordinary MPI program, with checks whether something is wrong.
module plate
  use mpi_f08
  use, intrinsic :: iso_fortran_env, only: int64, output_unit, real64
  use, intrinsic :: ieee_arithmetic, only: ieee_value, ieee_signaling_nan
  implicit none
  integer, parameter :: rows = 64, columns = 48, steps = 20, steps_between_points = 5
  real(real64), parameter :: diffusion = 2, tolerance = 1e-2_real64

  ! One rank's columns, in a frame of halo cells and edges.
  real(real64), target :: temperature(0:rows+1, 0:columns+1), before_step(0:rows+1, 0:columns+1)
  integer, target :: steps_done
  integer :: left, right, rank, ranks

  ! A failure: this rank is hit in that step and, if not 0, in that iteration of its solution.
  type :: planned_failure
    integer :: rank, step, iteration
    logical :: has_happened = .false.
  end type planned_failure
  type(planned_failure) :: failures(4)
  logical :: may_fail = .false.

contains

  subroutine find_neighbours()
    call MPI_Comm_rank(MPI_COMM_WORLD, rank)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks)
    left = merge(rank - 1, MPI_PROC_NULL, rank > 0)
    right = merge(rank + 1, MPI_PROC_NULL, rank < ranks - 1)
  end subroutine find_neighbours

  subroutine start()
    temperature = 0
    if (left == MPI_PROC_NULL) temperature(:, 0) = 100
    steps_done = 0
  end subroutine start

  ! Destroys the temperatures if a failure hits.
  logical function hit(iteration)
    integer, intent(in) :: iteration
    integer :: i

    hit = .false.
    if (.not. may_fail) return
    do i = 1, size(failures)
      associate (it => failures(i))
        if (it%has_happened .or. it%rank /= rank) cycle
        if (it%step /= steps_done + 1 .or. it%iteration /= iteration) cycle
        it%has_happened = .true.
        hit = .true.
        temperature(1:rows, 1:columns) = ieee_value(0.0_real64, ieee_signaling_nan)
      end associate
    end do
  end function hit

  subroutine exchange_halos()
    type(MPI_Request) :: requests(4)

    call MPI_Irecv(temperature(1, 0), rows, MPI_DOUBLE_PRECISION, left, 1, MPI_COMM_WORLD, requests(1))
    call MPI_Irecv(temperature(1, columns+1), rows, MPI_DOUBLE_PRECISION, right, 2, MPI_COMM_WORLD, &
      requests(2))
    call MPI_Isend(temperature(1, columns), rows, MPI_DOUBLE_PRECISION, right, 1, MPI_COMM_WORLD, &
      requests(3))
    call MPI_Isend(temperature(1, 1), rows, MPI_DOUBLE_PRECISION, left, 2, MPI_COMM_WORLD, requests(4))
    call MPI_Waitall(4, requests, MPI_STATUSES_IGNORE)
  end subroutine exchange_halos

  ! Jacobi's iteration for one implicit time step.
  subroutine solve(wrong)
    logical, intent(out) :: wrong
    real(real64), allocatable :: next(:, :)
    real(real64) :: change
    integer :: iteration

    allocate (next(rows, columns))
    change = huge(change)
    iteration = 0
    do while (change > tolerance)
      iteration = iteration + 1
      call exchange_halos()
      wrong = hit(iteration)
      if (wrong) return
      next = (before_step(1:rows, 1:columns) + diffusion * &
        (temperature(0:rows-1, 1:columns) + temperature(2:rows+1, 1:columns) + &
        temperature(1:rows, 0:columns-1) + temperature(1:rows, 2:columns+1))) / (1 + 4 * diffusion)
      change = maxval(abs(next - temperature(1:rows, 1:columns)))
      call MPI_Allreduce(MPI_IN_PLACE, change, 1, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD)
      temperature(1:rows, 1:columns) = next
    end do
  end subroutine solve
end module plate

! The loops to take home.
module contained
  use Containment_Domains
  use plate
  implicit none
  integer :: restores_of_step = 0, restores_of_solution = 0, replayed = 0
  logical :: restarted = .false.

contains

  ! Leaves the domain to the caller.
  subroutine run_in_domain(root)
    type(c_ptr), intent(out) :: root

    root = create_cd(c_null_ptr, c_null_ptr, COMM_LOGGING_ENABLED, 'plate')
    if (.not. c_associated(root)) call stop_all('create_cd')
    call start()
    do
      call must(cd_preserve(root, temperature), 'cd_preserve')
      call must(cd_preserve(root, before_step), 'cd_preserve')
      call must(cd_preserve(root, steps_done), 'cd_preserve')
      call go_on_if_restarted(root) ! RESTART
      if (steps_done == steps) exit
      before_step = temperature
      if (hit(0)) then
        call restore(root, restores_of_step)
        cycle
      end if
      call solve_in_domain(root)
      steps_done = steps_done + 1
      if (mod(steps_done, steps_between_points) == 0) &
        call must(advance_cd_point_in_time(root), 'advance_cd_point_in_time')
    end do
  end subroutine run_in_domain

  ! RESTART: restores memory from the files of a program that was killed, the first time. Ends the
  ! program if CD_RESTART was forgotten.
  subroutine go_on_if_restarted(root)
    type(c_ptr), intent(in) :: root
    type(cd_info) :: info
    integer :: steps_of_ranks(2)

    call must(cd_query(root, info), 'cd_query')
    if (info%restarted /= 0) then
      call must(restore_cd(root), 'restore_cd')
      restarted = .true.
    end if
    steps_of_ranks = [steps_done, -steps_done]
    call MPI_Allreduce(MPI_IN_PLACE, steps_of_ranks, 2, MPI_INTEGER, MPI_MIN, MPI_COMM_WORLD)
    if (steps_of_ranks(1) /= -steps_of_ranks(2)) then
      print '(a)', 'heat: the ranks are at different steps; start with CD_RESTART=$(cdctl epoch DIRECTORY)'
      call MPI_Abort(MPI_COMM_WORLD, 1)
    end if
    if (rank == 0 .and. steps_done < steps .and. info%replaying == 0) then
      print '(a, i0, a)', 'step ', steps_done + 1, &
        trim(merge(', restarted', '           ', info%restarted /= 0))
      flush (output_unit)
    end if
  end subroutine go_on_if_restarted

  subroutine solve_in_domain(parent)
    type(c_ptr), intent(in) :: parent
    type(c_ptr) :: solution
    logical :: wrong

    solution = create_cd(parent, c_null_ptr, COMM_LOGGING_INHERIT, c_null_ptr)
    if (.not. c_associated(solution)) call stop_all('create_cd')
    call must(cd_preserve(solution, temperature), 'cd_preserve')
    do
      call solve(wrong)
      if (.not. wrong) exit
      call restore(solution, restores_of_solution)
    end do
    call must(commit_cd(solution), 'commit_cd')
  end subroutine solve_in_domain

  subroutine restore(cd, count)
    type(c_ptr), intent(in) :: cd
    integer, intent(inout) :: count
    type(cd_info) :: info

    call must(restore_cd(cd), 'restore_cd')
    call must(cd_query(cd, info), 'cd_query')
    count = count + 1
    replayed = replayed + int(info%log_remaining)
  end subroutine restore

  subroutine must(outcome, call)
    integer(c_int), intent(in) :: outcome
    character(*), intent(in) :: call

    if (outcome /= SUCCESS) call stop_all(call)
  end subroutine must

  subroutine stop_all(call)
    character(*), intent(in) :: call

    print '(a, ": ", a)', call, cd_last_error_message()
    call MPI_Abort(MPI_COMM_WORLD, 1)
  end subroutine stop_all
end module contained

program heat
  use contained
  implicit none
  real(real64) :: undisturbed(0:rows+1, 0:columns+1)
  type(c_ptr) :: root
  logical :: same, compares
  integer :: counts(4)
  integer(int64) :: bits

  call MPI_Init()
  call find_neighbours()
  ! The last rank is hit in two solutions; the first between two, long after its point in time, and
  ! in one.
  failures = [planned_failure(ranks - 1, 3, 7), planned_failure(0, 5, 0), &
    planned_failure(ranks - 1, 14, 1), planned_failure(0, 18, 12)]

  compares = command_argument_count() == 0
  if (compares) then
    call run_undisturbed()
    undisturbed = temperature
  end if
  may_fail = .true.
  call run_in_domain(root)

  same = .not. compares .or. all(transfer(undisturbed, [0_int64]) == transfer(temperature, [0_int64]))
  call MPI_Allreduce(MPI_IN_PLACE, same, 1, MPI_LOGICAL, MPI_LAND, MPI_COMM_WORLD)
  counts = [restores_of_step, restores_of_solution, replayed, count(failures%has_happened)]
  call MPI_Allreduce(MPI_IN_PLACE, counts, 4, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
  bits = fingerprint()
  if (rank == 0) then
    print '(4(i0, a))', ranks, ' ranks with ', rows, ' x ', columns, ' cells each, ', steps, ' steps'
    print '(2x, i0, a)', counts(4), ' failures left nothing of the temperatures of the rank that they hit'
    print '(2x, i0, a)', counts(1), ' were between two solutions: several time steps were run again'
    print '(2x, i0, a)', counts(2), ' were in a solution: this solution was run again'
    print '(2x, i0, a)', counts(3), ' MPI calls of the ranks that were hit were answered from their logs'
    if (compares) print '(2a)', '  bit-identical to the undisturbed run: ', merge('yes', 'NO ', same)
    if (same) print '(a, z16.16)', 'result ', bits
    flush (output_unit)
  end if
  ! A run that was killed has already had some of the failures.
  if (.not. same .or. (.not. restarted .and. (counts(1) /= 1 .or. counts(2) /= 3))) &
    call MPI_Abort(MPI_COMM_WORLD, 1)
  call MPI_Barrier(MPI_COMM_WORLD) ! RESTART: a commit removes the store, which others may still need
  call must(commit_cd(root), 'commit_cd')
  call MPI_Finalize()

contains

  subroutine run_undisturbed()
    logical :: wrong

    call start()
    do while (steps_done < steps)
      before_step = temperature
      call solve(wrong)
      steps_done = steps_done + 1
    end do
  end subroutine run_undisturbed

  ! Returns a checksum of the bits of all cells of all ranks.
  integer(int64) function fingerprint()
    integer :: i, j

    fingerprint = rank
    do j = 1, columns
      do i = 1, rows
        fingerprint = ieor(ishftc(fingerprint, 7), transfer(temperature(i, j), 0_int64))
      end do
    end do
    call MPI_Allreduce(MPI_IN_PLACE, fingerprint, 1, MPI_INTEGER8, MPI_BXOR, MPI_COMM_WORLD)
  end function fingerprint
end program heat
