// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "domains/arguments.h"
#include "domains/domain.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

namespace cd {

// What an add call of a CD binds of what its family holds unbound. First it is put into the CDs as
// arriving, where sources of PARENT bytes are found too; publish() makes it theirs for the add
// call. Without keep() the destructor takes everything back, but for memory that was written: it is
// owed as before. Needs the locks of all CDs of the family. What is not noexcept may throw
// std::bad_alloc.
class Arrivals {
public:
    Arrivals(Domain &domain, const AddRequest &request);
    Arrivals(const Arrivals &) = delete;
    Arrivals &operator=(const Arrivals &) = delete;
    ~Arrivals();

    // The CD whose call this is.
    Domain &domain() const { return domain_; }

    // Those of its family that held anything unbound when the call began.
    const std::vector<Domain *> &waiting() const { return waiting_; }

    // How many parts are bound so far.
    size_t count() const { return bound_.size(); }

    // The part of holder's unbound[number] becomes an entry at address, if it is free there; what
    // is left of it stays unbound. What was left for memory goes there, if it comes again, and the
    // add call takes it from there.
    void bind(Domain &holder, size_t number, Range part, uintptr_t address);

    // Of what is left: whether it is the call's CD that left it, as far as this process has come.
    bool comes_again(const Unbound &left) const;

    // holder's unbound[number] goes, as what this process does in its place is something else.
    void supersede(Domain &holder, size_t number);

    // These bytes, of which some were bound ahead, are added by the CD's own call now, as those of
    // ordinal.
    void reach(Range bytes, uint64_t ordinal);

    // Of these bytes, what is not arriving is new.
    void note_what_is_new(Range bytes, uint64_t ordinal);

    // The call adds something in front of what waits.
    void note_that_it_goes_on() { goes_on_ = true; }

    // What a restore would have written: the oldest CD's bytes last, as there. to_regenerate: gets
    // what it would have had regenerated.
    Status pay_what_is_owed(std::vector<cd_addrspec> &to_regenerate);

    // Whether the program had given other values to some of that before, as far as can be seen,
    // which are there still, or are not. Not looked at again once the program was told.
    bool has_kept_values() const { return kept_values_; }
    bool has_lost_values() const { return lost_values_; }

    // The add call finds what it names, and what it writes down counts on that.
    void publish(OrderedRanges ordered);

    void keep() noexcept;

private:
    struct Bound {
        Domain *domain;
        uint64_t space;
        Range old;
        Entry *entry; // as it arrives; later calls may split it
        Range here;
    };
    struct Owed {
        Domain *domain;
        size_t number;
        uintptr_t address;
    };
    struct Noted {
        Domain *domain;
        OrderedParts::Node part;
    };
    struct Superseded {
        Domain *domain;
        uint64_t space;
        Range old;
    };
    struct Leaving {
        Domain *domain;
        size_t number;
    };

    void leave(Domain &holder, size_t number);
    void cut(Domain &holder, size_t number, uint64_t address);
    void unpublish() noexcept;
    void pass(Domain &holder, size_t number, uintptr_t address);
    Status fill_below(const Unbound &found, Range here);
    Status pay(const Owed &owed, std::vector<cd_addrspec> &to_regenerate);

    Domain &domain_;
    const AddRequest &request_;
    std::vector<Domain *> waiting_;
    std::vector<Bound> bound_;
    std::vector<Owed> owed_;
    std::vector<Superseded> superseded_;
    std::vector<Leaving> leaving_;
    std::map<Domain *, UnboundRanges::Numbers> gone_; // the same, once nothing more is found
    std::vector<Range> reached_;
    std::vector<OrderedParts::Node> early_; // of these, what came before its place
    std::vector<Noted> ahead_;
    std::vector<Noted> anew_;
    bool goes_on_ = false;
    bool kept_values_ = false;
    bool lost_values_ = false;
    bool published_ = false;
    bool kept_ = false;
};

} // namespace cd
