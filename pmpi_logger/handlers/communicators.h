// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "handlers/attribute_holders.h"
#include "handlers/blocking.h"
#include "handlers/free_objects.h"
#include "handlers/object_state.h"
#include "handlers/spawned.h"
#include "objects/inner_frees.h"
#include "payload/mortal_comms.h"
#include "payload/private_comm.h"

#include <optional>

namespace cd::logger {

// Communicators that are freed while their log may still be replayed live on, as all objects do.
// But MPI has names for some thousands only (MPICH for about 2,000), so not all of them can. Once
// many wait, further ones that are created are mortal: they are freed when the program frees them,
// what the program asks of them is recorded, and a replay uses their handles without MPI.

class CommCreate : public MovesData {
public:
    template <Fn F, typename... A> static int call(const void *site, A... a) {
        const int mode = Logging::mode();
        if (passes_through(mode)) {
            return call_mpi<F>(a...);
        }
        Call call = decode_data<F>(site, a...);
        // What tells a mortal one is written as an output, so that a replay finds it.
        Mortal mortal; // of no communicator: it is none
        call.add_output({&mortal, sizeof mortal});
        if (mode == CD_LOG_REPLAYING) {
            const int result = Blocking::replay(call, false);
            if (result == run_live) {
                return CommCreate::call<F>(site, a...);
            }
            if (mortal.handle != MPI_COMM_NULL) {
                MortalComms::add(mortal);
            } else if (result == MPI_SUCCESS) {
                comm_made(made_by(call));
            }
            return result;
        }
        const ReentryGuard inside;
        const int result = call_mpi<F>(a...);
        created(call, result, mortal);
        Blocking::record(call, result, nullptr, false);
        if (mortal.handle == MPI_COMM_NULL && result == MPI_SUCCESS) {
            comm_made(made_by(call));
        }
        return result;
    }

private:
    static void created(const Call &call, int result, Mortal &mortal);
    static MPI_Comm made_by(const Call &call) {
        return *static_cast<const MPI_Comm *>(call.outputs[0].to);
    }
};

class CommFree {
public:
    using Of = Arrivals;

    template <Fn F> static int call(const void *site, MPI_Comm *comm) {
        if (comm == nullptr) {
            return call_mpi<F>(comm); // which is an error
        }
        if (InnerCalls::are_of_undo()) {
            return ObjectFree::call<F>(site, comm);
        }
        const bool logs = !passes_through(Logging::mode());
        bool at_once = false;
        if (F == Fn::MPI_Comm_disconnect && logs) {
            if (const int failure = leads_elsewhere(*comm, at_once); failure != MPI_SUCCESS) {
                return failure; // the handle is none, and MPI has said so
            }
        }
        if (at_once && !MortalComms::has(*comm)) {
            becomes_mortal(*comm);
        }
        if (const std::optional<Mortal> meant = MortalComms::find(*comm); meant && meant->freed) {
            return ReentryGuard::mpi() ? ObjectFree::free_comm<F>(comm) // another one, of MPI's own
                                       : freed_again<F>(site, comm, *meant);
        }
        const std::optional<Mortal> before = MortalComms::take(*comm);
        InnerCalls *const inner = InnerCalls::current();
        if (inner != nullptr && before && !before->is_other) {
            return free_inside<F>(*inner, site, comm, *before);
        }
        if (!before || before->is_other) {
            const int result = counted<F>(site, comm);
            if (before && (logs || inner != nullptr || *comm != MPI_COMM_NULL)) {
                stays(*before);
            }
            return result;
        }
        Mortal mortal = *before;
        int result = MPI_SUCCESS;
        if (logs && !at_once && is_used(mortal)) {
            result = ObjectFree::call<F>(site, comm); // a re-execution may need it alive
        } else {
            const int refused = logs ? delete_attributes(*comm) : MPI_SUCCESS;
            result = Blocking::call_by<F>(
                [&](MPI_Comm *freed) {
                    if (refused != MPI_SUCCESS) {
                        return refused;
                    }
                    if (logs) {
                        about_to_be_freed(mortal);
                    }
                    return ObjectFree::free_comm<F>(freed, mortal.number);
                },
                site, comm);
        }
        if (*comm != MPI_COMM_NULL) {
            stays(*before);
        } else if (logs) {
            mortal_freed(mortal);
        }
        return result;
    }

    // Communicators that wait to be freed.
    static bool many_wait();

private:
    template <Fn F> static int counted(const void *site, MPI_Comm *comm) {
        const MPI_Comm before = *comm;
        const int result = ObjectFree::call<F>(site, comm);
        InnerCalls *const inner = InnerCalls::current();
        if (before == *comm) {
            return result;
        }
        if (inner != nullptr) {
            inner->add([](const InnerCalls::Entry &entry) {
                if (!entry.again) {
                    one_waits();
                }
            });
        } else if (Logging::mode() == CD_LOG_RECORDING) {
            one_waits();
        }
        return result;
    }

    // By a delete function that the program has: like all others.
    template <Fn F>
    static int free_inside(InnerCalls &inner, const void *site, MPI_Comm *comm,
                           const Mortal &mortal) {
        const int result = ObjectFree::call<F>(site, comm);
        if (*comm != MPI_COMM_NULL) {
            stays(mortal);
        } else {
            inner.add([mortal](const InnerCalls::Entry &entry) {
                when_restored(entry.place, [mortal] { MortalComms::put_back(mortal); });
            });
        }
        return result;
    }

    // It is there as long as the re-execution has it, which may have been refused to free it.
    template <Fn F> static int freed_again(const void *site, MPI_Comm *comm, Mortal mortal) {
        if (const MPI_Comm holder = AttributeHolders::find(mortal.number);
            holder != MPI_COMM_NULL) {
            delete_attributes(holder);
        }
        const int result = Blocking::call_by<F>(
            [](MPI_Comm *freed) { return ObjectFree::free_comm<F>(freed); }, site, comm);
        if (*comm == MPI_COMM_NULL) {
            AttributeHolders::remove(mortal.number);
            MortalComms::remove(mortal.number);
            mortal_freed(mortal);
        }
        return result;
    }

    static void one_waits();
    // Finds out whether it connects this job with another one, which waits for the disconnect.
    // Returns what MPI does when it is asked.
    static int leads_elsewhere(MPI_Comm comm, bool &elsewhere);
    static void becomes_mortal(MPI_Comm comm);
    // Whether requests were made on it that may be made once more.
    static bool is_used(const Mortal &mortal);
    static void about_to_be_freed(Mortal &mortal);
    static void mortal_freed(Mortal &mortal);
    // MPI has it still.
    static void stays(Mortal mortal);
};

// What MPI knows of a communicator without asking others.
class CommQuery {
public:
    using Of = Arrivals;
    static constexpr bool guards_itself = true;

    // As short as can be: it is called as often as nothing else.
    template <Fn F, typename... A> static int call(const void *site, MPI_Comm comm, A... a) {
        return MortalComms::may_have(comm) ? ask<F>(site, comm, a...) : real<F>(comm, a...);
    }

    // make: makes the call, as Fortran or as C.
    template <Fn F, typename Make, typename... A>
    static int call_by(const Make &make, const void *site, MPI_Comm comm, A... a) {
        if (!MortalComms::may_have(comm)) {
            return make(comm, a...);
        }
        const std::optional<Mortal> mortal = MortalComms::find(comm);
        if (!mortal) {
            return make(comm, a...);
        }
        return mortal->known_late ? of_ended_connection(F, site, comm)
                                  : ask_mortal<F>(make, *mortal, site, comm, a...);
    }

    // What the first execution asked of a connection to another job, when nobody knew yet that it
    // would be disconnected, is not recorded.
    static int of_ended_connection(Fn fn, const void *site, MPI_Comm comm);

private:
    // Apart, so that the above saves no registers.
    template <Fn F, typename... A>
    [[gnu::noinline]] static int ask(const void *site, MPI_Comm comm, A... a) {
        return RecordFailure::guarded<F, false>([&] { return ask_guarded<F>(site, comm, a...); },
                                                [&] { return real<F>(comm, a...); });
    }
    template <Fn F, typename... A> static int ask_guarded(const void *site, MPI_Comm comm, A... a) {
        const std::optional<Mortal> mortal = MortalComms::find(comm);
        if (!mortal) {
            return call_mpi<F>(comm, a...);
        }
        if (mortal->known_late) {
            if constexpr (is_a_fact<F>()) {
                return tell<F>(mortal->facts, a...);
            } else {
                return of_ended_connection(F, site, comm);
            }
        }
        return ask_mortal<F>([](auto... b) { return call_mpi<F>(b...); }, *mortal, site, comm,
                             a...);
    }

    template <Fn F, typename Make, typename... A>
    static int ask_mortal(const Make &make, const Mortal &mortal, const void *site, MPI_Comm comm,
                          A... a) {
        const int result = Blocking::call_by<F>(make, site, comm, a...);
        if constexpr (F == Fn::MPI_Comm_get_attr || F == Fn::MPI_Attr_get) {
            // The re-execution's, which may be an address other than that in the log.
            const MPI_Comm holder = AttributeHolders::find(mortal.number);
            const int key = std::get<0>(std::tuple<A...>(a...));
            if (holder != MPI_COMM_NULL && result == MPI_SUCCESS &&
                Keyvals::has(KeyvalsOf::communicators, key)) {
                const ReentryGuard inside;
                return make(holder, a...);
            }
        }
        return result;
    }

    template <Fn F> static constexpr bool is_a_fact() {
        return F == Fn::MPI_Comm_rank || F == Fn::MPI_Comm_size || F == Fn::MPI_Comm_remote_size ||
               F == Fn::MPI_Comm_test_inter;
    }

    template <Fn F> static int tell(const CommCache &facts, int *answer) {
        *answer = F == Fn::MPI_Comm_rank          ? facts.rank
                  : F == Fn::MPI_Comm_size        ? facts.size
                  : F == Fn::MPI_Comm_remote_size ? facts.remote_size
                                                  : facts.inter;
        return MPI_SUCCESS;
    }
};

// MPI_Comm_call_errhandler: a replay calls it, too.
class CommErrorCall {
public:
    using Of = Arrivals;

    template <Fn F> static int call(const void *, MPI_Comm comm, int error) {
        if (!MortalComms::is_freed(comm)) {
            return call_mpi<F>(comm, error);
        }
        raise(comm, error, CalledBy::program);
        return MPI_SUCCESS;
    }
};

// Packing: takes a communicator, and all serve alike.
class CommPack {
public:
    using Of = Arrivals;

    template <Fn F, typename... A> static int call(const void *, A... a) {
        return call_mpi<F>(alive(a)...);
    }

private:
    static MPI_Comm alive(MPI_Comm comm) {
        return MortalComms::is_freed(comm) ? self_comm() : comm;
    }
    template <typename T> static T alive(T argument) { return argument; }
};

// Of two communicators.
class CommCompare {
public:
    using Of = Arrivals;

    template <Fn F, typename... A>
    static int call(const void *site, MPI_Comm one, MPI_Comm other, A... a) {
        bool is_any = false;
        for (const MPI_Comm comm : {one, other}) {
            if (const std::optional<Mortal> mortal = MortalComms::find(comm)) {
                if (mortal->known_late) {
                    return CommQuery::of_ended_connection(F, site, comm);
                }
                is_any = true;
            }
        }
        return is_any ? Blocking::log<F>(site, one, other, a...) : call_mpi<F>(one, other, a...);
    }
};

#ifdef OPEN_MPI // elsewhere handles are the same in Fortran
// MPI_Comm_c2f, MPI_Comm_f2c: MPI has forgotten those that it has freed. It may have given their
// handles and numbers to others since, which are what it means itself.
class CommFortranHandle {
public:
    using Of = Arrivals;

    template <Fn F, typename Handle> static auto call(const void *, Handle handle) {
        if (ReentryGuard::mpi()) {
            return call_mpi<F>(handle);
        }
        if constexpr (F == Fn::MPI_Comm_c2f) {
            const std::optional<Mortal> mortal = MortalComms::find(handle);
            return mortal && mortal->freed ? mortal->in_fortran : call_mpi<F>(handle);
        } else {
            const MPI_Comm freed = MortalComms::find_freed(handle);
            return freed != MPI_COMM_NULL ? freed : call_mpi<F>(handle);
        }
    }
};
#endif

} // namespace cd::logger
