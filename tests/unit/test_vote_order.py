"""Which of several choices is the last, against a model that knows when each was really made."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings, strategies as st

from engine.tally.hands import is_undecided
from engine.tally.tally import standing_votes
from engine.values.judging import How, VoteEvent
from engine.values.ports import Reactions
from engine.votes.reading import UNHEARD, EventOrder, reconcile

OPTIONS = ("A", "B", "tie")
NOON = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
PERSON = 1


def at(second: int) -> datetime:
    return NOON + timedelta(seconds=second)


@dataclass
class World:
    """A person on a platform, and a bot that hears of what they do: at once, late, or not at all.

    `timed` platforms tell when something was done, and may tell it late and in any order; the
    others tell at once, but nothing of what happens while the bot is away.
    """

    timed: bool
    held: dict[str, int] = field(default_factory=dict)
    log: list[VoteEvent] = field(default_factory=list)
    late: list[tuple[str, bool, int]] = field(default_factory=list)
    missed: set[str] = field(default_factory=set)  # done since the last reading, and told of nobody
    away: bool = False
    gaps: list[int] = field(default_factory=lambda: [0])  # when each ended
    last_read: int | None = None
    now: int = 0

    def note(
        self,
        option: str,
        added: bool,
        how: How,
        given_at: int | None = None,
        order: EventOrder = UNHEARD,
        person: int = PERSON,
    ) -> None:
        read = self.now if how is How.RECOVERED else self.last_read
        self.log.append(
            VoteEvent(
                number=len(self.log) + 1,
                person=person,
                option=option,
                added=added,
                how=how,
                received_at=at(self.now),
                given_at=None if given_at is None else at(given_at),
                heard_from=order.heard_from,
                newer_since=order.newer_since,
                read_at=None if read is None else at(read),
            )
        )

    def act(self, option: str, *, later: bool) -> None:
        self.now += 1
        if option in self.missed:
            return  # nobody can know that something was taken back and given again
        added = option not in self.held
        self.held = {o: when for o, when in self.held.items() if o != option}
        if added:
            self.held[option] = self.now
        if self.away:
            self.missed.add(option)
        elif later and self.timed:
            self.late.append((option, added, self.now))
        else:
            self.note(option, added, How.LIVE, self.now if self.timed else None)

    def tell(self, which: int) -> None:
        """Tell something late, whichever it is."""
        if self.late and not self.away:
            self.now += 1
            option, added, when = self.late.pop(which % len(self.late))
            self.note(option, added, How.LIVE, when)

    def leave(self) -> None:
        self.now += 1
        self.away = True

    def back(self) -> None:
        self.now += 1
        if self.away:
            self.gaps.append(self.now)
        self.away = False

    def read(self) -> None:
        self.now += 1
        read = Reactions({o: frozenset({"ann"}) for o in self.held}, frozenset(OPTIONS))
        missed = [gap for gap in self.gaps if self.last_read is None or gap > self.last_read]
        order = UNHEARD
        if missed:
            order = EventOrder(at(missed[0]), at(missed[-1]))
        elif self.timed and self.last_read is not None:
            order = EventOrder(at(self.last_read))
        found = reconcile(
            self.log,
            read,
            read_began_at=at(self.now),
            people={"ann": PERSON},
            order=order,
        )
        found = tuple(event for event in found if event.person == PERSON)
        for event in found:
            self.note(
                event.option,
                event.added,
                event.how,
                order=EventOrder(event.heard_from, event.newer_since),
            )
        self.last_read, self.missed = self.now, set()

    def standing(self) -> str | None:
        votes = standing_votes(self.log, starter=None, judge_visible=False, tally_visible=True)
        own = [vote for vote in votes if vote.person == PERSON]
        return None if not own else "?" if own[0].ambiguous else own[0].option


STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("act"), st.sampled_from(OPTIONS), st.booleans()),
        st.tuples(st.just("act"), st.sampled_from(OPTIONS), st.just(False)),
        st.tuples(st.sampled_from(["leave", "back", "read"]), st.just(""), st.just(False)),
        st.tuples(st.just("tell"), st.sampled_from(["0", "1", "2"]), st.just(False)),
    ),
    max_size=25,
)


def live_through(world: World, steps: list[tuple[str, str, bool]]) -> None:
    for what, which, later in steps:
        match what:
            case "act":
                world.act(which, later=later)
            case "tell":
                world.tell(int(which))
            case "leave" if not world.late:
                world.leave()
            case "back":
                world.back()
            case "read" if not world.away:
                world.read()
    world.back()


@pytest.mark.slow
@settings(max_examples=150)
@given(steps=STEPS)
def test_where_no_times_are_told_the_choice_named_is_the_last_one_made(
    steps: list[tuple[str, str, bool]],
) -> None:
    world = World(timed=False)
    live_through(world, steps)
    world.read()
    newest = max(world.held, key=lambda option: world.held[option], default=None)
    assert world.standing() in (newest, "?" if len(world.held) > 1 else newest)


@settings(max_examples=150)
@given(steps=STEPS)
def test_what_is_told_with_its_time_in_any_order_is_put_in_that_order(
    steps: list[tuple[str, str, bool]],
) -> None:
    """All is told at last, whatever the order: then every choice is known, and none ambiguous."""
    world = World(timed=True)
    acts = [step for step in steps if step[0] != "leave"]
    live_through(world, acts)
    while world.late:
        world.tell(world.now)
    newest = max(world.held, key=lambda option: world.held[option], default=None)
    assert world.standing() == newest
    world.read()
    assert world.standing() == newest


@pytest.mark.slow
@settings(max_examples=500, deadline=None)
@given(steps=STEPS, told=st.integers(0, 3))
def test_what_is_still_untold_after_a_reading_never_names_another_choice(
    steps: list[tuple[str, str, bool]], told: int
) -> None:
    world = World(timed=True)
    world.note("A", True, How.LIVE, 0, person=PERSON + 1)  # so that the two clocks are known
    live_through(world, steps)
    world.read()
    for which in range(told):
        world.tell(which)
    newest = max(world.held, key=lambda option: world.held[option], default=None)
    # That something was taken back and given again is not to be seen before it is told.
    unseen = any(not added and option in world.held for option, added, _ in world.late)
    if not unseen and not is_undecided(world.log, at(0)):
        assert world.standing() in (newest, "?" if len(world.held) > 1 else newest)


@given(heard=st.sampled_from(OPTIONS), missed=st.sampled_from(OPTIONS))
def test_what_was_missed_in_a_gap_is_newer_than_what_was_heard_before_it(
    heard: str, missed: str
) -> None:
    world = World(timed=False)
    world.read()
    world.act(heard, later=False)
    world.leave()
    world.act(missed, later=False)
    world.back()
    world.read()
    assert world.standing() == (None if heard == missed else missed)


def test_a_choice_given_again_unheard_is_found_though_its_first_giving_was_told_late() -> None:
    """Told: A taken away, then (late) A given before that; A given again while it was away."""
    world = World(timed=True)
    for option, added, given_at in (("A", False, 20), ("A", True, 10)):
        world.note(option, added, How.LIVE, given_at)
    world.now = 30
    seen = Reactions(holders={"A": frozenset(("ada",))}, seeded=frozenset(OPTIONS))
    found = reconcile(world.log, seen, read_began_at=at(30), people={"ada": PERSON})
    assert [(event.option, event.added) for event in found] == [("A", True)]


def test_what_was_heard_after_the_last_gap_is_newer_than_what_was_missed() -> None:
    world = World(timed=False)
    world.read()
    world.leave()
    world.act("B", later=False)
    world.back()
    world.act("A", later=False)
    world.read()
    assert world.standing() == "A"


def test_what_was_heard_between_two_gaps_is_newer_or_older_than_what_was_missed() -> None:
    world = World(timed=False)
    world.read()
    world.leave()
    world.act("B", later=False)
    world.back()
    world.act("A", later=False)
    world.leave()
    world.back()
    world.read()
    assert world.standing() == "?"


def test_what_was_taken_back_before_a_reading_found_it_is_held_though_that_is_told_late() -> None:
    world = World(timed=True, now=20, last_read=17)  # a reading that took three seconds
    world.note("A", True, How.RECOVERED)  # given again at 15, of which nobody tells
    world.now = 25
    world.note("A", True, How.LIVE, 3)
    world.note("A", False, How.LIVE, 8)
    world.note("B", True, How.LIVE, 18)
    world.note("tie", True, How.LIVE, 25)
    world.held = {"A": 15, "B": 18, "tie": 25}
    logged = len(world.log)
    world.read()
    assert world.log[logged:] == []
    assert world.standing() == "tie"
