"""Any course and order of a vote, against models of the platform that share no code with it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings, strategies as st

from engine.tally.hands import is_undecided
from engine.tally.tally import standing_votes
from engine.values.debate import BallotKind
from engine.values.ports import Reactions
from engine.values.verdicts import How, VoteEvent
from engine.votes.recovery import UNHEARD, EventOrder, reconcile

OPTIONS = ("A", "B", "tie", "weak")
PEOPLE = {"ann": 1, "bob": 2, "cem": 3}
NOON = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


@dataclass
class Bot:
    """The product's side: a log, and what it makes of a reading."""

    ballot: BallotKind = BallotKind.OPEN
    log: list[VoteEvent] = field(default_factory=list)

    def note(
        self,
        person: int,
        option: str,
        added: bool,
        how: How = How.LIVE,
        when: datetime | None = None,
    ) -> None:
        number = len(self.log) + 1
        fields = {"number": number, "person": person, "option": option, "added": added, "how": how}
        at = when or NOON + timedelta(seconds=number)
        self.log.append(VoteEvent.model_validate(fields | {"received_at": at}))

    def recover(self, reactions: Reactions) -> None:
        now = NOON + timedelta(seconds=len(self.log) + 1)
        found = reconcile(self.log, reactions, read_began_at=now, people=PEOPLE, ballot=self.ballot)
        for event in found:
            self.note(event.person, event.option, event.added, event.how, now)

    def votes(self) -> dict[int, str]:
        votes = standing_votes(
            self.log,
            starter=None,
            judge_visible=False,
            tally_visible=self.ballot is BallotKind.OPEN,
        )
        return {vote.person: "?" if vote.ambiguous else vote.option for vote in votes}


def holders(shown: set[tuple[int, str]]) -> dict[str, frozenset[str]]:
    """Return who is seen with each option."""
    return {
        option: frozenset(user for user, who in PEOPLE.items() if (who, option) in shown)
        for option in OPTIONS
    }


@dataclass
class Platform:
    """The model: who holds what, since when that is known, what was cleared."""

    bot: Bot = field(default_factory=Bot)
    held: set[tuple[int, str]] = field(default_factory=set)
    cleared: set[tuple[int, str]] = field(default_factory=set)
    seeds: set[str] = field(default_factory=lambda: set(OPTIONS))
    known: dict[tuple[int, str], int] = field(default_factory=dict)
    late: list[tuple[int, str, bool]] = field(default_factory=list)
    connected: bool = True
    slow: bool = False
    clock: int = 0
    read: set[int] = field(default_factory=lambda: {0})

    def react(self, person: int, option: str, *, twice: bool) -> None:
        added = (person, option) not in self.held
        (self.held.add if added else self.held.remove)((person, option))
        if not added:
            self.cleared.discard((person, option))
        if self.connected and self.slow:
            self.late.append((person, option, added))
        elif self.connected:
            for _ in range(1 + twice):
                self.tell(person, option, added)

    def tell(self, person: int, option: str, added: bool) -> None:
        self.bot.note(person, option, added)
        self.clock += 1
        if added and self.known.get((person, option), 0) in self.read:
            self.known[person, option] = self.clock  # it was only read of before
        elif added:
            self.known.setdefault((person, option), self.clock)
        else:
            self.known.pop((person, option), None)

    def catch_up(self) -> None:
        for event in self.late:
            self.tell(*event)
        self.late.clear()
        self.connected, self.slow = True, False

    def recover(self) -> None:
        self.bot.recover(Reactions(holders(self.held), frozenset(self.seeds)))
        self.clock += 1
        self.read.add(self.clock)
        for holding in set(self.known) - self.stands():
            del self.known[holding]
        for holding in self.stands() - self.known.keys():
            self.known[holding] = self.clock

    def fail_to_recover(self) -> None:
        self.bot.recover(Reactions(complete=False))

    def clear(self, options: Sequence[str]) -> None:
        """Let a moderator clear, at a moment when the bot knows who holds what."""
        self.catch_up()
        self.recover()
        gone = {holding for holding in self.held if holding[1] in options}
        self.held -= gone
        self.cleared |= gone
        self.seeds -= set(options)

    def stands(self) -> set[tuple[int, str]]:
        return self.held | self.cleared

    def expected(self) -> dict[int, str]:
        votes = {}
        for person in PEOPLE.values():
            own = [option for who, option in self.stands() if who == person]
            newest = max((self.known[person, option] for option in own), default=0)
            last = [option for option in own if self.known[person, option] == newest]
            if own:
                votes[person] = last[0] if len(last) == 1 else "?"
        return votes


REACT = st.tuples(
    st.just("react"), st.sampled_from(sorted(PEOPLE)), st.sampled_from(OPTIONS), st.booleans()
)
HAPPEN = st.tuples(
    st.sampled_from(["lose", "slow", "catch up", "recover", "fail to recover"]),
    st.just(""),
    st.just(""),
    st.just(False),
)
CLEAR = st.tuples(st.just("clear"), st.just(""), st.sampled_from(["", *OPTIONS]), st.just(False))


def happen(platform: Platform, what: str, user: str, option: str, twice: bool) -> None:
    match what:
        case "react":
            platform.react(PEOPLE[user], option, twice=twice)
        case "lose" if not platform.late:
            # After a clear nobody can tell what a missed removal was; see JUDGING's rule.
            platform.connected = bool(set(OPTIONS) - platform.seeds)
        case "slow" if platform.connected and platform.seeds == set(OPTIONS):
            platform.slow = True
        case "catch up":
            platform.catch_up()
        case "recover":
            platform.recover()
        case "fail to recover":
            platform.fail_to_recover()
        case "clear":
            platform.clear([option] if option else OPTIONS)


@settings(max_examples=100)
@given(steps=st.lists(st.one_of(REACT, REACT, REACT, HAPPEN, CLEAR), max_size=30))
def test_what_stands_at_the_close_is_what_people_hold(
    steps: list[tuple[str, str, str, bool]],
) -> None:
    platform = Platform()
    for step in steps:
        happen(platform, *step)
    platform.recover()
    assert platform.bot.votes() == platform.expected()
    known = platform.bot.log.copy()
    platform.recover()
    assert platform.bot.log == known


BESIDE = st.one_of(
    st.tuples(st.just("react"), st.sampled_from(sorted(PEOPLE)), st.sampled_from(OPTIONS)),
    st.tuples(st.just("press"), st.sampled_from(sorted(PEOPLE)), st.sampled_from(OPTIONS)),
    st.tuples(st.just("take back"), st.sampled_from(sorted(PEOPLE)), st.just("")),
    st.tuples(st.just("restart"), st.just("ann"), st.just("")),
)


@dataclass
class Beside:
    """The model of a question that is answered by reactions and elsewhere by buttons.

    What somebody presses is in place of all before it; reactions since then are held beside it.
    """

    bot: Bot = field(default_factory=Bot)
    shown: set[tuple[int, str]] = field(default_factory=set)
    holds: dict[int, list[str]] = field(default_factory=lambda: {n: [] for n in PEOPLE.values()})
    pressed: dict[int, str] = field(default_factory=dict)

    def react(self, person: int, option: str) -> None:
        added, own = (person, option) not in self.shown, self.holds[person]
        self.shown ^= {(person, option)}
        if added and option not in own:
            own.append(option)
        elif not added and option in own and self.pressed.get(person) != option:
            own.remove(option)
        self.bot.note(person, option, added)

    def press(self, person: int, option: str) -> None:
        self.holds[person] = [option]
        self.pressed[person] = option
        self.bot.note(person, option, True, How.BUTTON)

    def take_back(self, person: int) -> None:
        if self.holds[person]:
            self.bot.note(person, self.holds[person][-1], False, How.BUTTON)
        self.holds[person] = []
        self.pressed.pop(person, None)

    def restart(self) -> None:
        self.bot.recover(Reactions(holders(self.shown), frozenset(OPTIONS)))


@settings(max_examples=100)
@given(steps=st.lists(BESIDE, max_size=30))
def test_what_is_pressed_stands_until_a_later_reaction(steps: list[tuple[str, str, str]]) -> None:
    beside = Beside()
    for what, user, option in steps:
        match what:
            case "react":
                beside.react(PEOPLE[user], option)
            case "press":
                beside.press(PEOPLE[user], option)
            case "take back":
                beside.take_back(PEOPLE[user])
            case "restart":
                beside.restart()
    beside.restart()
    expected = {person: own[-1] for person, own in beside.holds.items() if own}
    assert beside.bot.votes() == expected


SECRET = st.one_of(
    st.tuples(st.just("react"), st.sampled_from(sorted(PEOPLE)), st.sampled_from(OPTIONS)),
    st.tuples(st.sampled_from(["stuck", "free", "restart"]), st.just("ann"), st.just("A")),
)


@dataclass
class SecretPlatform:
    """The model of a secret ballot: the last choice that somebody made stands."""

    bot: Bot = field(default_factory=lambda: Bot(BallotKind.SECRET))
    shown: set[tuple[int, str]] = field(default_factory=set)
    chosen: dict[int, str] = field(default_factory=dict)
    stuck: bool = False

    def react(self, person: int, option: str) -> None:
        if (person, option) in self.shown:
            return  # a platform lets nobody react twice
        self.shown.add((person, option))
        self.chosen[person] = option
        self.bot.note(person, option, True)
        self.take_away()

    def take_away(self) -> None:
        """Let the bot take away what is shown, unless the platform refuses."""
        while self.shown and not self.stuck:
            person, option = self.shown.pop()
            self.bot.note(person, option, False)

    def restart(self) -> None:
        self.bot.recover(Reactions(holders(self.shown), frozenset(OPTIONS)))
        self.take_away()


@settings(max_examples=100)
@given(steps=st.lists(SECRET, max_size=30))
def test_in_secret_the_last_choice_stands_whatever_stays(steps: list[tuple[str, str, str]]) -> None:
    platform = SecretPlatform()
    for what, user, option in steps:
        match what:
            case "react":
                platform.react(PEOPLE[user], option)
            case "restart":
                platform.restart()
            case _:
                platform.stuck = what == "stuck"
                platform.take_away()
    platform.restart()
    assert platform.bot.votes() == platform.chosen


# --- Which of several choices is the last, against a model that knows when each was really made


CHOICES = ("A", "B", "tie")
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
        read = Reactions({o: frozenset({"ann"}) for o in self.held}, frozenset(CHOICES))
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
        st.tuples(st.just("act"), st.sampled_from(CHOICES), st.booleans()),
        st.tuples(st.just("act"), st.sampled_from(CHOICES), st.just(False)),
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
def test_what_is_told_with_its_time_is_put_in_order(steps: list[tuple[str, str, bool]]) -> None:
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
    world = World(timed=False)
    for what in course.split():
        if what in CHOICES:
            world.act(what, later=False)
        else:
            getattr(world, what)()
    assert world.standing() == standing


def test_a_choice_given_again_unheard_is_found_though_its_first_giving_was_told_late() -> None:
    """Told: A taken away, then (late) A given before that; A given again while it was away."""
    world = World(timed=True)
    for option, added, given_at in (("A", False, 20), ("A", True, 10)):
        world.note(option, added, How.LIVE, given_at)
    world.now = 30
    seen = Reactions(holders={"A": frozenset(("ada",))}, seeded=frozenset(CHOICES))
    found = reconcile(world.log, seen, read_began_at=at(30), people={"ada": PERSON})
    assert [(event.option, event.added) for event in found] == [("A", True)]


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
