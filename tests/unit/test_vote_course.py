"""Any course of a vote, against a model of the platform that knows nothing of the tally."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from hypothesis import given, settings, strategies as st

from engine.tally.tally import standing_votes
from engine.values.debate import BallotKind
from engine.values.judging import How, VoteEvent
from engine.values.ports import Reactions
from engine.votes.reading import reconcile

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
        at = when or NOON + timedelta(seconds=number)
        self.log.append(
            VoteEvent(
                number=number, person=person, option=option, added=added, how=how, received_at=at
            )
        )

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
        holders = {
            option: frozenset(user for user, who in PEOPLE.items() if (who, option) in self.held)
            for option in OPTIONS
        }
        self.bot.recover(Reactions(holders, frozenset(self.seeds)))
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


# --- reactions beside buttons ------------------------------------------------------------


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
        holders = {
            option: frozenset(user for user, who in PEOPLE.items() if (who, option) in self.shown)
            for option in OPTIONS
        }
        self.bot.recover(Reactions(holders, frozenset(OPTIONS)))


@settings(max_examples=100)
@given(steps=st.lists(BESIDE, max_size=30))
def test_what_is_pressed_stands_until_a_reaction_comes_after_it(
    steps: list[tuple[str, str, str]],
) -> None:
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


# --- secret ballots ----------------------------------------------------------------------


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
        holders = {
            option: frozenset(user for user, who in PEOPLE.items() if (who, option) in self.shown)
            for option in OPTIONS
        }
        self.bot.recover(Reactions(holders, frozenset(OPTIONS)))
        self.take_away()


@settings(max_examples=100)
@given(steps=st.lists(SECRET, max_size=30))
def test_in_secret_the_last_choice_stands_whatever_is_taken_away_or_left(
    steps: list[tuple[str, str, str]],
) -> None:
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
