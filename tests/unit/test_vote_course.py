"""Any course and order of a vote, against a model of the platform that shares no code with it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from engine.tally import standing_votes
from engine.tally.fold import is_undecided
from engine.values.debate import BallotKind
from engine.values.ports import Reactions
from engine.values.verdicts import How, VoteEvent
from engine.votes.recovery import UNHEARD, _EventOrder, reconcile
from tests.kit import NOW

OPTIONS = ("A", "B", "tie", "weak")
PEOPLE = {"ann": 1, "bob": 2, "cem": 3}
PERSON = 1

Holding = tuple[int, str]  # of a person and an option
Step = tuple[Any, ...]  # a method of the world, and what it is given


def at(second: int) -> datetime:
    return NOW + timedelta(seconds=second)


@dataclass
class World:
    """People on a platform, and a bot: its log of what it heard, and what it makes of a reading."""

    ballot: BallotKind = BallotKind.OPEN
    log: list[VoteEvent] = field(default_factory=list)
    held: dict[Holding, int] = field(default_factory=dict)  # since when
    seeds: set[str] = field(default_factory=lambda: set(OPTIONS))
    now: int = 0
    pause: int = 1  # seconds before each event

    def note(self, person: int, option: str, added: bool, how: How = How.LIVE, **more: Any) -> None:
        self.now += self.pause
        plain = {"number": len(self.log) + 1, "received_at": at(self.now), "how": how}
        told = {"person": person, "option": option, "added": added}
        self.log.append(VoteEvent.model_validate(plain | told | more))

    def recover(self, reading: Reactions | None = None, order: _EventOrder = UNHEARD) -> None:
        shown = {
            option: frozenset(user for user, who in PEOPLE.items() if (who, option) in self.held)
            for option in OPTIONS
        }
        self.now += 1
        began = at(self.now)
        for event in reconcile(
            self.log,
            reading or Reactions(shown, frozenset(self.seeds)),
            read_began_at=began,
            people=PEOPLE,
            ballot=self.ballot,
            order=order,
        ):
            place = {"heard_from": event.heard_from, "newer_since": event.newer_since}
            how = {"read_at": began, "received_at": began, **place}
            self.note(event.person, event.option, event.added, event.how, **how)

    def votes(self) -> dict[int, str]:
        open_ = self.ballot is BallotKind.OPEN
        votes = standing_votes(self.log, starter=None, judge_visible=False, tally_visible=open_)
        return {vote.person: "?" if vote.ambiguous else vote.option for vote in votes}

    def live_through(self, steps: Iterable[Step]) -> None:
        for what, *rest in steps:
            getattr(self, what)(*rest)


def step(what: str, *given: st.SearchStrategy[Any]) -> st.SearchStrategy[Step]:
    return st.tuples(st.just(what), *given)


def steps(*kinds: st.SearchStrategy[Step], most: int = 30) -> st.SearchStrategy[list[Step]]:
    return st.lists(st.one_of(*kinds), max_size=most)


SOMEBODY, OPTION = st.sampled_from(sorted(PEOPLE.values())), st.sampled_from(OPTIONS)


class Open(World):
    """Who holds what, since when that is known, what was cleared, what is told late."""

    def __init__(self) -> None:
        super().__init__()
        self.cleared: set[Holding] = set()
        self.known: dict[Holding, int] = {}
        self.read = {0}  # when that was by a reading
        self.late: list[tuple[int, str, bool]] = []
        self.connected, self.slow = True, False

    def react(self, person: int, option: str, twice: bool) -> None:
        added = (person, option) not in self.held
        if added:
            self.held[person, option] = self.now
        else:
            del self.held[person, option]
            self.cleared.discard((person, option))
        if self.connected and self.slow:
            self.late.append((person, option, added))
        elif self.connected:
            for _ in range(1 + twice):
                self.tell(person, option, added)

    def tell(self, person: int, option: str, added: bool) -> None:
        self.note(person, option, added)
        if not added:
            self.known.pop((person, option), None)
        elif self.known.get((person, option), 0) in self.read:
            self.known[person, option] = self.now  # it was only read of before
        else:
            self.known.setdefault((person, option), self.now)

    def lose(self) -> None:
        if not self.late:
            # After a clear nobody can tell what a missed removal was; see JUDGING's rule.
            self.connected = bool(set(OPTIONS) - self.seeds)

    def slow_down(self) -> None:
        self.slow = self.slow or (self.connected and self.seeds == set(OPTIONS))

    def catch_up(self) -> None:
        for event in self.late:
            self.tell(*event)
        self.late.clear()
        self.connected, self.slow = True, False

    def look(self) -> None:
        self.recover()
        self.now += 1
        self.read.add(self.now)
        stands = self.stands()
        kept = {holding: when for holding, when in self.known.items() if holding in stands}
        self.known = dict.fromkeys(stands, self.now) | kept

    def fail_to_look(self) -> None:
        self.recover(Reactions(complete=False))

    def clear(self, options: Sequence[str]) -> None:
        """Let a moderator clear, at a moment when the bot knows who holds what."""
        self.catch_up()
        self.look()
        gone = {holding for holding in self.held if holding[1] in options}
        self.held = {holding: when for holding, when in self.held.items() if holding not in gone}
        self.cleared |= gone
        self.seeds -= set(options)

    def stands(self) -> set[Holding]:
        return self.held.keys() | self.cleared

    def expected(self) -> dict[int, str]:
        votes = {}
        for person in PEOPLE.values():
            own = [option for who, option in self.stands() if who == person]
            newest = max((self.known[person, option] for option in own), default=0)
            last = [option for option in own if self.known[person, option] == newest]
            if own:
                votes[person] = last[0] if len(last) == 1 else "?"
        return votes


REACT = step("react", SOMEBODY, OPTION, st.booleans())
HAPPEN = st.sampled_from(["lose", "slow_down", "catch_up", "look", "fail_to_look"]).map(
    lambda what: (what,)
)
CLEAR = step("clear", st.sampled_from([OPTIONS, *((option,) for option in OPTIONS)]))


@settings(max_examples=100)
@given(course=steps(REACT, REACT, REACT, HAPPEN, CLEAR))
def test_what_stands_at_the_close_is_what_people_hold(course: list[Step]) -> None:
    world = Open()
    world.live_through(course)
    world.look()
    assert world.votes() == world.expected()
    known = world.log.copy()
    world.look()
    assert world.log == known


class Beside(World):
    """A question that is answered by reactions and elsewhere by buttons.

    What somebody presses is in place of all before it; reactions since then are held beside it.
    """

    def __init__(self) -> None:
        super().__init__()
        self.holds: dict[int, list[str]] = {person: [] for person in PEOPLE.values()}
        self.pressed: dict[int, str] = {}

    def react(self, person: int, option: str) -> None:
        added, own = (person, option) not in self.held, self.holds[person]
        if added:
            self.held[person, option] = self.now
        else:
            del self.held[person, option]
        if added and option not in own:
            own.append(option)
        elif not added and option in own and self.pressed.get(person) != option:
            own.remove(option)
        self.note(person, option, added)

    def press(self, person: int, option: str) -> None:
        self.holds[person] = [option]
        self.pressed[person] = option
        self.note(person, option, True, How.BUTTON)

    def take_back(self, person: int) -> None:
        if self.holds[person]:
            self.note(person, self.holds[person][-1], False, How.BUTTON)
        self.holds[person] = []
        self.pressed.pop(person, None)


BESIDE = (
    *(step("react", SOMEBODY, OPTION), step("press", SOMEBODY, OPTION)),
    *(step("take_back", SOMEBODY), step("recover")),
)


@settings(max_examples=100)
@given(course=steps(*BESIDE))
def test_what_is_pressed_stands_until_a_later_reaction(course: list[Step]) -> None:
    beside = Beside()
    beside.live_through([*course, ("recover",)])
    assert beside.votes() == {person: own[-1] for person, own in beside.holds.items() if own}


class Secret(World):
    """A secret ballot: the last choice that somebody made stands."""

    def __init__(self) -> None:
        super().__init__(BallotKind.SECRET)
        self.chosen: dict[int, str] = {}
        self.stuck = False

    def react(self, person: int, option: str) -> None:
        if (person, option) in self.held:
            return  # a platform lets nobody react twice
        self.held[person, option] = self.now
        self.chosen[person] = option
        self.note(person, option, True)
        self.take_away(stuck=self.stuck)

    def take_away(self, stuck: bool) -> None:
        """Let the bot take away what is shown, unless the platform refuses."""
        self.stuck = stuck
        while self.held and not stuck:
            (person, option), _ = self.held.popitem()
            self.note(person, option, False)

    def restart(self) -> None:
        self.recover()
        self.take_away(stuck=self.stuck)


SECRET = (step("react", SOMEBODY, OPTION), step("take_away", st.booleans()), step("restart"))


@settings(max_examples=100)
@given(course=steps(*SECRET))
def test_in_secret_the_last_choice_stands_whatever_stays(course: list[Step]) -> None:
    secret = Secret()
    secret.live_through([*course, ("restart",)])
    assert secret.votes() == secret.chosen


# --- Which of several choices is the last, against a model that knows when each was really made


CHOICES = OPTIONS[:3]


class Told(World):
    """One person of whom the bot hears at once, late, or not at all.

    `timed` platforms tell when something was done, and may tell it late and in any order; the
    others tell at once, but nothing of what happens while the bot is away.
    """

    def __init__(self, *, timed: bool, now: int = 0, last_read: int | None = None) -> None:
        super().__init__(now=now, pause=0)
        self.timed = timed
        self.late: list[tuple[str, bool, int]] = []
        self.missed: set[str] = set()  # done since the last reading, and told of nobody
        self.away = False
        self.gaps = [0]  # when each ended
        self.last_read = last_read

    def hear(self, option: str, added: bool, given_at: int | None, person: int = PERSON) -> None:
        read = None if self.last_read is None else at(self.last_read)
        told: dict[str, Any] = {
            "given_at": None if given_at is None else at(given_at),
            "read_at": read,
        }
        self.note(person, option, added, **told)

    def act(self, option: str, later: bool = False) -> None:
        self.now += 1
        if option in self.missed:
            return  # nobody can know that something was taken back and given again
        added = (PERSON, option) not in self.held
        self.held.pop((PERSON, option), None)
        if added:
            self.held[PERSON, option] = self.now
        if self.away:
            self.missed.add(option)
        elif later and self.timed:
            self.late.append((option, added, self.now))
        else:
            self.hear(option, added, self.now if self.timed else None)

    def tell(self, which: int) -> None:
        """Tell something late, whichever it is."""
        if self.late and not self.away:
            self.now += 1
            self.hear(*self.late.pop(which % len(self.late)))

    def leave(self) -> None:
        if not self.late:
            self.now += 1
            self.away = True

    def back(self) -> None:
        self.now += 1
        if self.away:
            self.gaps.append(self.now)
        self.away = False

    def read(self) -> None:
        if self.away:
            return
        missed = [gap for gap in self.gaps if self.last_read is None or gap > self.last_read]
        order = UNHEARD
        if missed:
            order = _EventOrder(at(missed[0]), at(missed[-1]))
        elif self.timed and self.last_read is not None:
            order = _EventOrder(at(self.last_read))
        began = self.now + 1
        self.recover(order=order)
        self.last_read, self.missed = began, set()

    def newest(self) -> str | None:
        return max(self.held, key=lambda held: self.held[held], default=(PERSON, None))[1]

    def is_last_or_unknown(self) -> bool:
        return self.votes().get(PERSON) in (self.newest(), "?" if len(self.held) > 1 else None)


COURSE = steps(
    step("act", st.sampled_from(CHOICES), st.booleans()),
    step("act", st.sampled_from(CHOICES)),
    st.sampled_from([("leave",), ("back",), ("read",)]),
    step("tell", st.integers(0, 2)),
    most=25,
)


@pytest.mark.slow
@settings(max_examples=150)
@given(course=COURSE)
def test_where_no_times_are_told_the_choice_named_is_the_last_one_made(course: list[Step]) -> None:
    world = Told(timed=False)
    world.live_through([*course, ("back",), ("read",)])
    assert world.is_last_or_unknown()


@settings(max_examples=150)
@given(course=COURSE)
def test_what_is_told_with_its_time_is_put_in_order(course: list[Step]) -> None:
    """All is told at last, whatever the order: then every choice is known, and none ambiguous."""
    world = Told(timed=True)
    world.live_through([*(step for step in course if step[0] != "leave"), ("back",)])
    while world.late:
        world.tell(world.now)
    assert world.votes().get(PERSON) == world.newest()
    world.read()
    assert world.votes().get(PERSON) == world.newest()


@pytest.mark.slow
@settings(max_examples=500, deadline=None)
@given(course=COURSE, told=st.integers(0, 3))
def test_what_is_still_untold_after_a_reading_never_names_another_choice(
    course: list[Step], told: int
) -> None:
    world = Told(timed=True)
    world.hear("A", True, 0, person=PERSON + 1)  # so that the two clocks are known
    world.held[PERSON + 1, "A"] = 0
    world.live_through([*course, ("back",), ("read",)])
    for which in range(told):
        world.tell(which)
    del world.held[PERSON + 1, "A"]
    # That something was taken back and given again is not to be seen before it is told.
    unseen = any(not added and (PERSON, option) in world.held for option, added, _ in world.late)
    assert unseen or is_undecided(world.log, at(0)) or world.is_last_or_unknown()


@pytest.mark.parametrize(
    ("course", "standing"),
    [
        # What a gap missed is newer than what was heard before it.
        ("read A leave B back read", "B"),
        ("read A leave A back read", None),
        ("read leave B back A read", "A"),
        ("read leave B back A leave back read", "?"),
    ],
)
def test_what_a_gap_missed_lies_between_what_was_heard_around_it(
    course: str, standing: str | None
) -> None:
    world = Told(timed=False)
    world.live_through(("act", what) if what in CHOICES else (what,) for what in course.split())
    assert world.votes().get(PERSON) == standing


def test_a_choice_given_again_unheard_is_found_though_its_first_giving_was_told_late() -> None:
    """Told: A taken away, then (late) A given before that; A given again while it was away."""
    world = Told(timed=True)
    for added, given_at in ((False, 20), (True, 10)):
        world.hear("A", added, given_at)
    world.now, world.held = 30, {(PERSON, "A"): 25}
    world.recover()
    assert [(event.option, event.added) for event in world.log[2:]] == [("A", True)]


def test_what_was_taken_back_before_a_reading_found_it_is_held_though_that_is_told_late() -> None:
    world = Told(timed=True, now=20, last_read=17)  # a reading that took three seconds
    world.note(PERSON, "A", True, How.RECOVERED, read_at=at(20))  # given again at 15, untold
    world.now = 25
    for option, added, given_at in (("A", True, 3), ("A", False, 8), ("B", True, 18)):
        world.hear(option, added, given_at)
    world.hear("tie", True, 25)
    world.held = {(PERSON, "A"): 15, (PERSON, "B"): 18, (PERSON, "tie"): 25}
    logged = len(world.log)
    world.read()
    assert world.log[logged:] == []
    assert world.votes() == {PERSON: "tie"}
