! SPDX-License-Identifier: BSD-3-Clause
! Copyright the containment-domains authors

! cd_preserve and cd_forget for every intrinsic type, kind and rank. LLVM Flang lacks some kinds.
module every_kind
  use Containment_Domains
  use checks
  implicit none

contains

#define SAME ==
#define NAME integer_1
#define KIND_NAME 'integer(1)'
#define ELEMENT integer(1)
#define VALUE(i) int(mod(i, 100), 1)
#include "all_ranks.inc"

#define NAME integer_2
#define KIND_NAME 'integer(2)'
#define ELEMENT integer(2)
#define VALUE(i) int(mod(i, 100), 2)
#include "all_ranks.inc"

#define NAME integer_4
#define KIND_NAME 'integer(4)'
#define ELEMENT integer(4)
#define VALUE(i) int(mod(i, 100), 4)
#include "all_ranks.inc"

#define NAME integer_8
#define KIND_NAME 'integer(8)'
#define ELEMENT integer(8)
#define VALUE(i) int(mod(i, 100), 8)
#include "all_ranks.inc"

#define NAME integer_16
#define KIND_NAME 'integer(16)'
#define ELEMENT integer(16)
#define VALUE(i) int(mod(i, 100), 16)
#include "all_ranks.inc"

#define NAME real_4
#define KIND_NAME 'real(4)'
#define ELEMENT real(4)
#define VALUE(i) (real(i, 4) / 3)
#include "all_ranks.inc"

#define NAME real_8
#define KIND_NAME 'real(8)'
#define ELEMENT real(8)
#define VALUE(i) (real(i, 8) / 3)
#include "all_ranks.inc"

#define NAME real_10
#define KIND_NAME 'real(10)'
#define ELEMENT real(10)
#define VALUE(i) (real(i, 10) / 3)
#include "all_ranks.inc"

#ifdef __GFORTRAN__
#define NAME real_16
#define KIND_NAME 'real(16)'
#define ELEMENT real(16)
#define VALUE(i) (real(i, 16) / 3)
#include "all_ranks.inc"
#endif

#define NAME complex_4
#define KIND_NAME 'complex(4)'
#define ELEMENT complex(4)
#define VALUE(i) (cmplx(i, -i, 4) / 3)
#include "all_ranks.inc"

#define NAME complex_8
#define KIND_NAME 'complex(8)'
#define ELEMENT complex(8)
#define VALUE(i) (cmplx(i, -i, 8) / 3)
#include "all_ranks.inc"

#define NAME complex_10
#define KIND_NAME 'complex(10)'
#define ELEMENT complex(10)
#define VALUE(i) (cmplx(i, -i, 10) / 3)
#include "all_ranks.inc"

#ifdef __GFORTRAN__
#define NAME complex_16
#define KIND_NAME 'complex(16)'
#define ELEMENT complex(16)
#define VALUE(i) (cmplx(i, -i, 16) / 3)
#include "all_ranks.inc"
#endif

#define NAME character_1
#define KIND_NAME 'character(1)'
#define ELEMENT character(5, 1)
#define VALUE(i) repeat(char(33 + mod(i, 90), 1), 5)
#include "all_ranks.inc"

#define NAME character_4
#define KIND_NAME 'character(4)'
#define ELEMENT character(5, 4)
#define VALUE(i) repeat(char(33 + mod(i, 90), 4), 5)
#include "all_ranks.inc"

#undef SAME
#define SAME .eqv.
#define NAME logical_1
#define KIND_NAME 'logical(1)'
#define ELEMENT logical(1)
#define VALUE(i) logical(mod(i, 3) == 1, 1)
#include "all_ranks.inc"

#define NAME logical_2
#define KIND_NAME 'logical(2)'
#define ELEMENT logical(2)
#define VALUE(i) logical(mod(i, 3) == 1, 2)
#include "all_ranks.inc"

#define NAME logical_4
#define KIND_NAME 'logical(4)'
#define ELEMENT logical(4)
#define VALUE(i) logical(mod(i, 3) == 1, 4)
#include "all_ranks.inc"

#define NAME logical_8
#define KIND_NAME 'logical(8)'
#define ELEMENT logical(8)
#define VALUE(i) logical(mod(i, 3) == 1, 8)
#include "all_ranks.inc"

#ifdef __GFORTRAN__
#define NAME logical_16
#define KIND_NAME 'logical(16)'
#define ELEMENT logical(16)
#define VALUE(i) logical(mod(i, 3) == 1, 16)
#include "all_ranks.inc"
#endif

end module every_kind

program kinds
  use every_kind
  implicit none
  type(c_ptr) :: cd

  cd = new_root()
  call integer_1(cd)
  call integer_2(cd)
  call integer_4(cd)
  call integer_8(cd)
  call integer_16(cd)
  call real_4(cd)
  call real_8(cd)
  call real_10(cd)
#ifdef __GFORTRAN__
  call real_16(cd)
#endif
  call complex_4(cd)
  call complex_8(cd)
  call complex_10(cd)
#ifdef __GFORTRAN__
  call complex_16(cd)
#endif
  call character_1(cd)
  call character_4(cd)
  call logical_1(cd)
  call logical_2(cd)
  call logical_4(cd)
  call logical_8(cd)
#ifdef __GFORTRAN__
  call logical_16(cd)
#endif
  call must(commit_cd(cd), 'commit_cd')
  call finish()
end program kinds
