// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// Nothing but the headers that tests are compiled with; see CMakeLists.txt.
