"""The rule engine of a team debate, and how speeches, seats and teams are counted; pure.

A speech's score is the weighted sum of five criteria, 1–10. A seat's total is the sum of its
speeches and its own penalties, a team's the sum of its seats and the team's penalties; nothing
stops either from falling below 0.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import pairwise
from statistics import fmean

from pydantic import model_validator

from engine.prompts import QuotedSpeech, SpeechRecord
from engine.values.debate import OTHER, Turn, Value, side_of
from engine.values.errors import UsageError
from engine.values.language import N_
from engine.values.limits import TeamLimits
from engine.values.messages import BoardRow, Report, ScoreBoard
from engine.values.ports import KEPT
from engine.values.text import marked
from engine.values.verdicts import Adjustment
from engine.words.phrases import round_name, sentence_case
from engine.words.translation import number, plural, say

WEIGHTS: Mapping[str, float] = {
    "logic": 0.25,
    "persuasion": 0.25,
    "expression": 0.20,
    "teamwork": 0.15,
    "rule_compliance": 0.15,
}
PENALTIES: Mapping[str, float] = {
    "overtime_team": 3,
    "overtime_seat": 2,
    "twice": 3,
    "counter_question": 2,
    "attacker_answered": 2,
}
KINDS = (
    "counter_question",
    "not_direct_answer",
    "attacker_answered",
    "off_topic",
    "scripted_summary",
    "personal_attack",
)
# What the judge reports and the engine punishes; only in cross-examination.
PUNISHED = ("counter_question", "attacker_answered")
CROSS = N_("cross-examination")


class Scoring(Value):
    """The relative weight of each criterion, and the points that a breach costs."""

    weights: Mapping[str, float] = WEIGHTS
    penalties: Mapping[str, float] = PENALTIES

    @classmethod
    def of(cls, limits: Mapping[str, float]) -> Scoring:
        """Return the scoring among a debate's limits, `weight_logic` or `penalty_twice`."""
        return cls(
            weights={name: limits.get(f"weight_{name}", value) for name, value in WEIGHTS.items()},
            penalties={name: limits.get(f"penalty_{name}", p) for name, p in PENALTIES.items()},
        )

    def weigh(self, sheet: Mapping[str, float]) -> float:
        """Return a speech's score, 1–10: the weighted mean of its criteria."""
        total = sum(self.weights.values())
        return sum(weight * sheet[name] for name, weight in self.weights.items()) / total


USUAL = Scoring()


class Scored(Value):
    """A speech as the judge saw it; `score` (1–10) is None for one that could not be scored.

    With several judges `score` is that of their median, and `opinions` those of each alone.
    """

    step: str
    seat: str
    side: str
    score: float | None
    violations: tuple[str, ...] = ()
    opinions: tuple[float | None, ...] = ()

    @property
    def round(self) -> str:
        """The round that it was given in, such as `cross-2`."""
        return self.step.split("/")[1]

    def by(self, judge: int) -> Scored:
        """Return the speech as one of several judges saw it, counted from 0."""
        return self.model_copy(update={"score": self.opinions[judge]})


def overtime(turn: Turn, scoring: Scoring = USUAL) -> Iterator[Adjustment]:
    """Yield the penalties of a speech over its time, for speaker and team."""
    over = next((broken for broken in turn.violations if broken.kind == "overtime"), None)
    if over is None:
        return
    # As measured: of a speech that was cut, the turn has only the words that stayed.
    reason = f"overtime: {over.measured:g} words where {over.limit:g} were given"
    yield _penalty(turn, "overtime", turn.seat, scoring.penalties["overtime_seat"], reason)
    yield _penalty(turn, "overtime-team", turn.side, scoring.penalties["overtime_team"], reason)


def reported(
    turn: Turn, stage: str, violations: Sequence[str], scoring: Scoring = USUAL
) -> Iterator[Adjustment]:
    """Yield what the judge's reports cost the speaker; most are only recorded and shown."""
    if stage != CROSS:
        return
    for kind in dict.fromkeys(violations):
        if kind in PUNISHED:
            yield _penalty(turn, kind, turn.seat, scoring.penalties[kind], kind)


def twice_running(turns: Sequence[Turn], scoring: Scoring = USUAL) -> Iterator[Adjustment]:
    """Yield a team's penalty for speaking twice in a row in the free debate."""
    for before, turn in pairwise(turn for turn in turns if turn.round.startswith("free-")):
        if before.side == turn.side:
            reason = N_("the same team spoke twice running")
            yield _penalty(turn, "twice", turn.side, scoring.penalties["twice"], reason)


def _penalty(turn: Turn, name: str, subject: str, points: float, reason: str) -> Adjustment:
    return Adjustment(
        name=f"rule/{name}/{turn.step}",
        subject=subject,
        side=turn.side,
        amount=-points,
        reason=reason,
        by=turn.step,
    )


class Totals(Value):
    """The count: seats and teams, the mean a speech of each, and the best debater.

    `mean_winner` is who leads by the mean a speech; it is flagged where that is not the winner.
    """

    seats: dict[str, float]
    teams: dict[str, float]
    means: dict[str, float]
    best: str | None

    @property
    def winner(self) -> str:
        """The team with the larger total, or a tie."""
        return _ahead(self.teams)

    @property
    def mean_winner(self) -> str:
        """The team with the larger mean a speech, or a tie."""
        return _ahead(self.means)


def count_up(
    speeches: Sequence[Scored], penalties: Sequence[Adjustment], seats: Sequence[str]
) -> Totals:
    """Count seats and teams."""
    totals = dict.fromkeys(seats, 0.0)
    for speech in speeches:
        totals[speech.seat] += speech.score or 0.0
    for penalty in penalties:
        if penalty.subject in totals:
            totals[penalty.subject] += penalty.amount
    teams = {side: sum(totals[seat] for seat in seats if seat[0] == side) for side in "AB"}
    for penalty in penalties:
        if penalty.subject in teams:
            teams[penalty.subject] += penalty.amount
    means = {}  # a speech of a seat or a team, what it lost spread over its speeches
    for subject in (*seats, "A", "B"):
        own = (speech.score for speech in speeches if speech.seat.startswith(subject))
        scores = [score for score in own if score is not None]
        lost = sum(penalty.amount for penalty in penalties if penalty.subject.startswith(subject))
        means[subject] = fmean(scores) + lost / len(scores) if scores else 0.0
    scored = {speech.seat for speech in speeches if speech.score is not None}
    best = min(scored, key=lambda seat: (-round(totals[seat], 9), seat)) if scored else None
    return Totals(seats=totals, teams=teams, means=means, best=best)


def _ahead(counted: Mapping[str, float]) -> str:
    if abs(counted["A"] - counted["B"]) < 1e-9:
        return "tie"
    return max("AB", key=lambda side: counted[side])


# The manual of `team`, a data file: duties, tasks, ways of arguing, what breaks the rules.


NAME = "team"
SEATS = tuple(f"{side}{number}" for side in "AB" for number in range(1, 5))
POSITIONS = ("1", "2", "3", "4")
CLOSERS = ("B4", "A4")
TASKS = ("opening", "ask", "answer", "summary", "free", "closing")
DEFAULT_PERSONALITIES = ("logical", "data_driven", "aggressive", "diplomatic")  # by position


class Personality(Value):
    """One way of arguing: its name for prompts, its traits, and how it shows."""

    name: str
    traits: str
    manner: str


class Manual(Value):
    """Duties by position, what each kind of speech has to do, personalities, violations."""

    positions: dict[str, str]
    tasks: dict[str, str]
    personalities: dict[str, Personality]
    violations: dict[str, str]

    @model_validator(mode="after")
    def _is_complete(self) -> Manual:
        _expect("positions", self.positions, POSITIONS)
        _expect("tasks", self.tasks, TASKS)
        _expect("violations", self.violations, KINDS)
        missing = [name for name in DEFAULT_PERSONALITIES if name not in self.personalities]
        if missing:
            raise ValueError(f"personalities lacks {', '.join(missing)}")
        return self

    def deal(self, asked: Mapping[str, str]) -> dict[str, Personality]:
        """Return every seat's personality. Raises UsageError for one that does not exist."""
        names = {seat: asked.get(seat, DEFAULT_PERSONALITIES[int(seat[1:]) - 1]) for seat in SEATS}
        for name in names.values():
            if name not in self.personalities:
                known = tuple(self.personalities)
                raise UsageError(
                    "There is no personality “{name}”; choose from {known}.",
                    name=name,
                    known=known,
                )
        return {seat: self.personalities[name] for seat, name in names.items()}


def read_personalities(given: Sequence[str]) -> dict[str, str]:
    """Read `seat=personality` items. Raises UsageError for another form or a strange seat."""
    pairs = [item.partition("=") for item in given]
    for seat, equals, name in pairs:
        if not equals or not name.strip():
            raise UsageError(
                "“{seat}” gives no personality; write for example A1=logical.",
                seat=seat,
            )
    asked = {seat.strip().upper(): name.strip().lower() for seat, _, name in pairs}
    for seat in asked:
        if seat not in SEATS:
            raise UsageError(
                "There is no speaker “{seat}” in team; it has {seats}.",
                seat=seat,
                seats=tuple(SEATS),
            )
    return asked


def _expect(table: str, given: Mapping[str, str], names: Sequence[str]) -> None:
    if set(given) != set(names):
        raise ValueError(f"{table} has to hold {', '.join(names)}, and nothing else")


# The clock of the free debate: what each team has left, and the time kept for silent seats; pure.
#
# Every seat is sure of a `share` of its team's time until it has spoken. As teams alternate, a team
# also keeps the time for the turns that the other one needs to let all of its seats speak. The
# speaker may use what is left beyond that; a longer speech is cut.


class FreeClock:
    """The free debate's time, in words."""

    def __init__(
        self, team: int, speech: int, speeches: int = 100, owed: Sequence[str] = SEATS
    ) -> None:
        """Start with the words of a `team` and of a `speech`, and a team's most `speeches`.

        `owed` are the seats that have to speak.
        """
        self.left = dict.fromkeys("AB", team)
        self.speeches = dict.fromkeys("AB", speeches)
        self.silent = {side: [seat for seat in owed if seat[0] == side] for side in "AB"}
        self.speech = speech
        self.share = max(1, min(speech, team // max(1, *map(len, self.silent.values()))))
        # A few words cost a third of a speech, so that short speeches do not prolong the debate.
        self.least = min(math.ceil(speech / 3), self.share)

    def runs(self, side: str) -> bool:
        """Return whether a team has time for another speech."""
        return self.speeches[side] > 0 and self.left[side] >= self.least

    def budget(self, seat: str, *together: str) -> int:
        """Return the words that a seat may use without touching what is kept for silent seats.

        `together` are all seats that speak at the same time, this one included, if there are more.
        """
        side = side_of(seat)
        own, other = self._silent_after(side, seat), self._silent_after(OTHER[side], *together)
        # The other team speaks next, unless both speak at once.
        return self.left[side] - self.share * max(own, other if together else other - 1)

    def fits(self, *seats: str) -> bool:
        """Return whether these seats may speak now and every silent seat still gets its time."""
        together = seats if len(seats) > 1 else ()
        if not all(self._has_time(seat, *together) for seat in seats):
            return False
        if together:
            return True
        side = side_of(seats[0])
        other = OTHER[side]
        needed = max(self._silent_after(other), self._silent_after(side, *seats))
        return not needed or self.left[other] >= self.share * needed

    def choose(self, wished: str) -> str:
        """Return who speaks: the seat wished for, or a silent one whose time would run out."""
        return wished if self.fits(wished) else self._due(wished)

    def choose_both(self, first: str, second: str) -> tuple[str, str]:
        """Return who speaks for both teams at the same time; see `choose`."""
        wishes = (
            (first, second),
            (self._due(first), second),
            (first, self._due(second)),
        )
        due = self._due(first), self._due(second)
        return next((pair for pair in wishes if self.fits(*pair)), due)

    def limits(self, seat: str, *together: str) -> tuple[int, int | None]:
        """Return the words of a speech, and the words after which it is cut, None for never."""
        budget = self.budget(seat, *together)
        kept = budget < self.left[side_of(seat)]
        return min(self.speech, budget), budget if kept else None

    def spend(self, seat: str, words: int) -> None:
        """Count a speech."""
        side = side_of(seat)
        self.left[side] -= max(words, self.least)
        self.speeches[side] -= 1
        self.silent[side] = [one for one in self.silent[side] if one != seat]

    def _has_time(self, seat: str, *together: str) -> bool:
        """Return whether a seat has time for a speech: a whole one, while others' time is kept."""
        side, budget = side_of(seat), self.budget(seat, *together)
        kept = budget < self.left[side]
        enough = self.speeches[side] > self._silent_after(side, seat)
        return enough and budget >= (self.share if kept else self.least)

    def _silent_after(self, side: str, *seats: str) -> int:
        return sum(seat not in seats for seat in self.silent[side])

    def _due(self, wished: str) -> str:
        return next(iter(self.silent[side_of(wished)]), wished)


def free_clock(limits: TeamLimits, heard: Collection[str]) -> FreeClock:
    """Return the clock of a free debate that is about to begin; `heard` are who spoke before it.

    Each of the four has to speak; with fewer speeches only those that would not otherwise.
    """
    few = limits.free_speeches < len(POSITIONS)
    owed = [seat for seat in SEATS if not few or seat not in (*heard, *CLOSERS)]
    return FreeClock(
        limits.minutes(limits.free_minutes),
        limits.minutes(limits.free_speech_minutes),
        limits.free_speeches,
        owed,
    )


def tell_clock(minutes: float) -> str:
    """Return minutes as a clock shows them: “1:05”."""
    seconds = round(60 * minutes)
    return f"{seconds // 60}:{seconds % 60:02d}"


# What the thread reads of a `team` debate's judge: the scoreboard and the review; pure.


REVIEW, REVIEW_UNREAD = N_("The judge's review"), N_("The judge gave no review that could be read.")
COLUMNS = ("speeches", "penalties", N_("total"), N_("mean"))
RULES = {
    "overtime": N_("overtime"),
    "the same team spoke twice running": N_("the same team spoke twice running"),
    "counter_question": N_("counter question"),
    "not_direct_answer": N_("not a direct answer"),
    "attacker_answered": N_("attacker answered"),
    "off_topic": N_("off topic"),
    "scripted_summary": N_("scripted summary"),
    "personal_attack": N_("personal attack"),
}


def draw_board(speeches: Sequence[Scored], penalties: Sequence[Adjustment]) -> ScoreBoard:
    """Return the scoreboard: each seat, both teams, and what rules were broken."""
    totals = count_up(speeches, penalties, SEATS)
    names = {seat: seat for seat in SEATS} | {side: say("Team {side}", side=side) for side in "AB"}
    counted = totals.seats | totals.teams
    rows = []
    for subject, name in names.items():
        spoken = sum(speech.seat.startswith(subject) for speech in speeches)
        lost = sum(penalty.amount for penalty in penalties if penalty.subject == subject)
        mean = totals.means[subject]
        points = (number(lost, "g"), *(number(n, ".2f") for n in (counted[subject], mean)))
        cells = (str(spoken), *points)
        rows.append(BoardRow(side=subject[0], name=name, cells=cells))
    notes = (*_remarks(totals, speeches), *_breaches(speeches, penalties))
    return ScoreBoard(title=N_("Scoreboard"), columns=COLUMNS, rows=tuple(rows), notes=notes)


def write_review(
    totals: Totals,
    review: str,
    summaries: Mapping[str, str],
    judges: str,
) -> Report:
    """Return the final review: the judge's words, the count, and how each stage went.

    `judges` says how far several judges agree.
    """
    parts = [review or say(REVIEW_UNREAD)]
    if totals.best:
        points = (f"{marked(side)} {number(total, '.2f')}" for side, total in totals.teams.items())
        parts.append(say("**Points:** {points}", points=say(", ").join(points)))
        parts.append(
            say(
                "**Best debater:** {seat}, {total:.2f}",
                seat=marked(totals.best),
                total=totals.seats[totals.best],
            )
        )
    parts += [say("**Judges:** {text}", text=judges)] if judges else []
    for stage, said in summaries.items():
        parts.append(say("**{stage}.** {text}", stage=headed(stage), text=said))
    return Report(title=say(REVIEW), text="\n\n".join(parts), side="judge")


def _remarks(totals: Totals, speeches: Sequence[Scored]) -> Iterator[str]:
    if totals.winner != totals.mean_winner:
        yield say(
            "Sum and mean a speech disagree: a team that speaks more often gains by it in "
            "the sum alone."
        )
    unread = sum(speech.score is None for speech in speeches)
    if unread:
        yield plural("{n} speech could not be scored.", "{n} speeches could not be scored.", unread)


def _breaches(speeches: Sequence[Scored], penalties: Sequence[Adjustment]) -> Iterator[str]:
    """Yield a line for each speech that broke rules: the rules, the cost and who paid it."""
    for speech in speeches:
        costs = [penalty for penalty in penalties if penalty.by == speech.step]
        # A penalty's reason begins with its rule.
        rules = [*speech.violations, *(cost.reason.partition(":")[0] for cost in costs)]
        if rules:
            told = say(", ").join(say(RULES.get(rule, rule)) for rule in dict.fromkeys(rules))
            lost = say(", ").join(
                f"{marked(cost.subject)} {number(cost.amount, 'g')}" for cost in costs
            )
            where = {"seat": marked(speech.seat), "round": round_name(speech.round)}
            yield say(
                N_("{seat} in {round}: {rules} ({lost}).")
                if lost
                else N_("{seat} in {round}: {rules}."),
                rules=told,
                lost=lost,
                **where,
            )


# Who may read what: a record of channels, from which alone a seat's context is built.


PUBLIC, JUDGE_NOTES = "public", "judge_notes"
JUDGE = "judge"


def team_channel(side: str) -> str:
    """Return the channel of a team."""
    return f"team_{side.lower()}"


def notes_channel(side: str) -> str:
    """Return where the seats of a team write to one another."""
    return f"{team_channel(side)}_notes"


def may_read(reader: str, channel: str) -> bool:
    """Return whether a seat, or the judge, may read a channel."""
    if channel == PUBLIC:
        return True
    if reader == JUDGE:
        return channel == JUDGE_NOTES
    side = side_of(reader)
    return channel in (team_channel(side), notes_channel(side))


class Channels:
    """Everything said in every channel, in order."""

    def __init__(self) -> None:
        self._entries: list[tuple[str, QuotedSpeech]] = []

    def write(self, channel: str, label: str, text: str) -> None:
        """Say something in a channel; `label` gives speaker and time."""
        self._entries.append((channel, QuotedSpeech(f"[{label}]", text)))

    def read(self, reader: str, channel: str, *, last: int | None = None) -> SpeechRecord:
        """Return a channel's entries in order, or only the `last` ones.

        Empty for a reader without access.
        """
        return SpeechRecord(self._heard(reader, channel, last))

    def entries(self, reader: str, channel: str) -> list[SpeechRecord]:
        """Return the same, one by one."""
        return [SpeechRecord([entry]) for entry in self._heard(reader, channel)]

    def record(self, reader: str) -> SpeechRecord:
        """Return the public record, which only grows: each entry is kept in later prompts."""
        return SpeechRecord(self._heard(reader, PUBLIC), KEPT)

    def _heard(self, reader: str, channel: str, last: int | None = None) -> list[QuotedSpeech]:
        if not may_read(reader, channel):
            return []
        heard = [said for where, said in self._entries if where == channel]
        return heard if last is None else heard[-last:] if last else []


def headed(name: str) -> str:
    """Return a round's name as a heading."""
    return sentence_case(round_name(name))
