"""What Rostrum says in a thread, as semantic values; only an adapter knows how each looks.

A message is stored in the outbox as JSON, rendered once by the venue that delivers it, and never
changed after that. Texts of models and people are Markdown and data: an adapter escapes anything
its platform would act on. `stances` are what the sides argue in the asker's own words, if given.
"""

from __future__ import annotations

from abc import abstractmethod
from base64 import b64decode
from collections.abc import Mapping
from datetime import datetime, timedelta
from operator import not_
from typing import Annotated, Literal

from pydantic import Field, TypeAdapter

from engine.values.debate import BallotKind, Criterion, Length, Rehearsal, Value, Violation
from engine.values.language import StoredText, spoken
from engine.values.verdicts import Persuasion, Question, Rationale, RoundTally, Tally, Verdict

Phase = Literal[
    "queued",
    "asked",
    "running",
    "judging",
    "voting",
    "closed",
    "partial",
    "cancelled",
    "failed",
    "gone",
]


Where = Literal["thread", "channel", "starter", "waiting", "nowhere"]
"""Where a closed debate's models were named; "waiting": the reveal is still to be posted."""


class Estimate(Value):
    """The expected and maximum demand of a debate.

    Money is USD; `usd` is None if a price is unknown. `minutes` are until it is held, `reading`
    those that it takes to read (0: not said).
    """

    calls: int
    calls_max: int
    tokens_in: int
    tokens_out: int
    minutes: float
    usd: float | None
    usd_max: float | None
    reading: float = 0.0

    def beside(self, other: Estimate) -> Estimate:
        """Return the combined estimate of two debates that run at the same time."""
        return Estimate(
            calls=self.calls + other.calls,
            calls_max=self.calls_max + other.calls_max,
            tokens_in=self.tokens_in + other.tokens_in,
            tokens_out=self.tokens_out + other.tokens_out,
            minutes=max(self.minutes, other.minutes),
            usd=None if self.usd is None or other.usd is None else self.usd + other.usd,
            usd_max=None
            if self.usd_max is None or other.usd_max is None
            else self.usd_max + other.usd_max,
            reading=self.reading + other.reading,
        )


class Progress(Value):
    """A debate's progress: `turns` of `total` (0: unknown) are done.

    Phase `asked`: a person is asked to argue a side; `judging`: the jury reads; `gone`: the thread
    was lost. `round` is the newest turn's,
    `until` when an open vote closes (None: that depends on its mirror), `mirror` the code of the
    debate whose vote closes with it, `reason` why the debate ended early or what its vote waits
    for, and `revealed` where its models were named. `result` is the reveal that was posted, and
    `veiled` that its models stay unnamed while people vote on its mirror. `writing` are those who
    write the next turn, of this `round`, as people call them.
    """

    phase: Phase
    turns: int
    total: int
    round: str = ""
    thread: str | None = None
    until: datetime | None = None
    mirror: str = ""
    reason: StoredText = ""
    revealed: Where | None = None
    result: Reveal | None = Field(None, exclude_if=not_)
    veiled: bool = Field(False, exclude_if=not_)
    writing: tuple[str, ...] = Field((), exclude_if=not_)


class _Message(Value):
    """What every message has: the language that it is read in, at first that spoken now."""

    language: str = Field(default_factory=spoken)

    @property
    def elsewhere(self) -> bool:
        """Whether it is for another place than its debate's thread."""
        return False


class Before(Value):
    """The debate that a rematch holds once more, and whether its models have `swapped` sides.

    Delivery fills in the `link` to its announcement.
    """

    debate: str
    code: str
    swapped: bool
    link: str = ""


class Announcement(_Message):
    """Posted in the channel; the debate's thread hangs on it. Never names a model.

    Of the `jurors` at least and at most as many as `readers` says will read, `readings` times each;
    None where that was not said. `single` says that one juror alone gives the verdict.
    `progress` is None when it is first posted, and updated as the debate continues. `names` are
    those of agents who answer a question; two sides have none. `sources` are titles,
    `searches` what each side may look up before it begins, `about` what the format is like. A
    rematch says what was held `before`. `guest` is the side that a person argues. Delivery fills in
    `page`, where everyone can read the debate on the web.
    """

    kind: Literal["announcement"] = "announcement"
    code: str
    topic: str
    conditions: str = ""
    format: str
    rounds: tuple[str, ...]
    contenders: tuple[str, ...]
    jurors: int
    readers: tuple[int, int] | None = None
    readings: int = 1
    single: bool = False
    blind: bool = True
    vote_minutes: float
    estimate: Estimate
    rehearsal: Rehearsal = ""
    progress: Progress | None = None
    stances: Mapping[str, str] = {}
    length: Length = Length.NORMAL
    names: Mapping[str, str] = {}
    sources: tuple[str, ...] = Field((), exclude_if=not_)
    searches: int = Field(0, exclude_if=not_)
    about: str = Field("", exclude_if=not_)
    before: Before | None = Field(None, exclude_if=not_)
    guest: str = Field("", exclude_if=not_)
    page: str = Field("", exclude_if=not_)


class TurnPost(_Message):
    """One turn; `number` of `total` turns (0: unknown), `limit` in words (0: none).

    `seconds` is the time used and `seconds_limit` the time allowed, in formats with a clock.
    `quotations` says what code found of those marked as from a source; empty without any.
    `speaker` is the neutral name under which it is posted where a bot may use others than its own.
    What follows it is posted once people have had `reading` seconds for it; 0: at once.
    `person`: a person wrote it.
    """

    kind: Literal["turn"] = "turn"
    side: str
    seat: str
    round: str
    number: int
    total: int
    text: str
    words: int
    limit: int
    violations: tuple[Violation, ...] = ()
    seconds: int | None = None
    seconds_limit: int | None = None
    name: str = ""
    quotations: str = Field("", exclude_if=not_)
    speaker: str = Field("", exclude_if=not_)
    reading: float = Field(0, exclude_if=not_)
    person: bool = Field(False, exclude_if=not_)


class Invitation(_Message):
    """A message that asks something, with a reaction or a button for each of its options."""

    options: tuple[str, ...]

    @abstractmethod
    def asks(self) -> tuple[Question, timedelta | None, str]:
        """Return the question, for how long it is open, and of which round or turn.

        None: until another question opens or closes.
        """


class VoteInvite(Invitation):
    """Asks people to vote.

    The venue seeds one reaction an option; a private ballot has buttons instead, a secret one
    reactions and a button that withdraws. `mirrored`: the vote closes together with its mirror's.
    `names` are those of agents whose final answers are voted on. `cases` are what each side argued
    in a line, and `begins` is the key of the first turn's post. With the debate's `code`, a button
    lets those who voted say why (`reasons`) or how sure they are (`percent`), or guess the models.
    Delivery fills in `link`, the
    address of that post, and `until`, when the vote closes, if that is certain. `known`: people can
    know the models, so no vote is gold. `guest` is the side that a person argued. `trial`: people
    say which answer is right.
    """

    kind: Literal["vote_invite"] = "vote_invite"
    minutes: float
    quorum: int
    ballot: BallotKind = BallotKind.OPEN
    mirrored: bool = False
    stances: Mapping[str, str] = {}
    names: Mapping[str, str] = {}
    topic: str = Field("", exclude_if=not_)
    cases: Mapping[str, str] = Field({}, exclude_if=not_)
    begins: str = Field("", exclude_if=not_)
    code: str = Field("", exclude_if=not_)
    reasons: bool = Field(False, exclude_if=not_)
    percent: bool = Field(False, exclude_if=not_)
    link: str = Field("", exclude_if=not_)
    until: datetime | None = Field(None, exclude_if=not_)
    known: bool = Field(False, exclude_if=not_)
    guest: str = Field("", exclude_if=not_)
    trial: bool = Field(False, exclude_if=not_)

    def asks(self) -> tuple[Question, timedelta | None, str]:
        """Return the question, and for how long it is open."""
        return Question.VOTE, timedelta(minutes=self.minutes), ""


class StanceInvite(Invitation):
    """Asks what people think of the topic, before the debate or after it.

    Before the first turn the debate waits `seconds` for answers; the second question closes with
    the vote. The venue seeds one reaction an option: up is for, down against.
    """

    kind: Literal["stance_invite"] = "stance_invite"
    topic: str
    after: bool
    seconds: float | None = None
    ballot: BallotKind = BallotKind.OPEN
    stances: Mapping[str, str] = {}

    def asks(self) -> tuple[Question, timedelta | None, str]:
        """Return the question, and for how long it is open."""
        question = Question.STANCE_AFTER if self.after else Question.STANCE_BEFORE
        lasts = None if self.seconds is None else timedelta(seconds=self.seconds)
        return question, lasts, ""


class AgainInvite(Invitation):
    """Asks again who debated better, below the reveal; otherwise like the first invite."""

    kind: Literal["again_invite"] = "again_invite"
    minutes: float
    ballot: BallotKind = BallotKind.OPEN
    stances: Mapping[str, str] = {}
    names: Mapping[str, str] = {}
    trial: bool = Field(False, exclude_if=not_)

    def asks(self) -> tuple[Question, timedelta | None, str]:
        """Return the question, and for how long it is open."""
        return Question.AGAIN, timedelta(minutes=self.minutes), ""


class ConfidenceInvite(Invitation):
    """Asks those who voted how clear they found it; it closes with the vote."""

    kind: Literal["confidence_invite"] = "confidence_invite"
    ballot: BallotKind = BallotKind.OPEN

    def asks(self) -> tuple[Question, timedelta | None, str]:
        """Return the question, and for how long it is open."""
        return Question.CONFIDENCE, None, ""


class RoundInvite(Invitation):
    """Asks who is ahead after a round, until the next round or the vote; nothing waits for it.

    `names` are those of agents who answer a question.
    """

    kind: Literal["round_invite"] = "round_invite"
    round: str
    ballot: BallotKind = BallotKind.OPEN
    stances: Mapping[str, str] = {}
    names: Mapping[str, str] = {}

    def asks(self) -> tuple[Question, timedelta | None, str]:
        """Return the question, and for how long it is open."""
        return Question.ROUND, None, self.round


class QuestionsInvite(Invitation):
    """Asks people for `minutes` what both sides should answer before they close.

    `listed` are the questions that can be supported, each with its number; `more` were asked and
    stand outside the list. It is edited as they come; `code` is the debate's.
    """

    kind: Literal["questions_invite"] = "questions_invite"
    code: str
    minutes: float
    listed: tuple[tuple[int, str], ...] = ()
    more: int = 0
    options: tuple[str, ...] = ()

    def asks(self) -> tuple[Question, timedelta | None, str]:
        """Return the question, and for how long it is open."""
        return Question.SUPPORT, timedelta(minutes=self.minutes), ""


class GuestInvite(Invitation):
    """Asks a person for `minutes` whether they argue a side of a debate; it notifies them alone.

    `most` is how many turns they would have, and `turn_minutes` the time for each.
    """

    kind: Literal["guest_invite"] = "guest_invite"
    code: str
    side: str
    minutes: float
    most: int
    turn_minutes: float
    options: tuple[str, ...] = ()

    def asks(self) -> tuple[Question, timedelta | None, str]:
        """Return the question, and for how long it is open."""
        return Question.CONSENT, timedelta(minutes=self.minutes), ""


class SpeakInvite(Invitation):
    """Asks the person who argues a side for a turn, for `minutes`; it notifies them alone.

    `step` is the turn's, `words` its limit (0: none).
    """

    kind: Literal["speak_invite"] = "speak_invite"
    code: str
    side: str
    step: str
    round: str
    minutes: float
    words: int = 0
    options: tuple[str, ...] = ()

    def asks(self) -> tuple[Question, timedelta | None, str]:
        """Return the question, and for how long it is open."""
        return Question.SPEAK, timedelta(minutes=self.minutes), self.step


class QuestionsClosed(_Message):
    """Replaces it at the end: what both sides have to answer; empty: no one asked anything."""

    kind: Literal["questions_closed"] = "questions_closed"
    put: tuple[str, ...] = ()


PersonInvite = GuestInvite | SpeakInvite
"""A message to the person who argues a side, or is to."""


class VoteClosed(_Message):
    """Replaces the invitation when the vote has closed."""

    kind: Literal["vote_closed"] = "vote_closed"
    options: tuple[str, ...]
    votes: int
    early: bool = False


class JurorLine(Value):
    """One ballot as the reveal lists it; `verdict` is None for an invalid one.

    `recused` says that it decides nothing, as its juror is of a debater's family. `reasons` call
    the contenders what people call them, and name no model. `marks` are what it gave each
    contender by criterion.
    """

    juror: str
    verdict: str | None
    order: tuple[str, ...]
    problem: str = ""
    contradictory: bool = False
    recused: bool = False
    reasons: str = Field("", exclude_if=not_)
    marks: Mapping[str, Mapping[str, float]] = Field({}, exclude_if=not_)


class Reveal(_Message):
    """Names the models and opens both judgments, people's and the panel's.

    `agree` is None unless both the people and the panel decided; `persuasion` is set if people
    were asked for their stance. `seats` are those with a model of their own, and `judges` the
    format's own. `broadcast` also shows it in the channel; `aside` is where it is shown instead
    of its thread. `gaps` counts messages missing, or maybe missing, in the thread: then no vote
    is gold. `unread`: the reactions could not be read before the close. `criteria`
    are what jurors scored, unless that is the usual rubric. `names` are those of agents whose
    final answers were voted on, and `own` is the format's own verdict. `course` is who people said
    was ahead, round by round. `why` says why the panel decided so, and `marks` are the means of
    what jurors gave each contender by criterion. `guessed` counts, by side, the blind guesses
    at its model that were right, and all of them, of `menu` models to choose from; `guess_bounds`
    are the 95 % intervals of their shares. `opinion` is whom most people chose where they could
    know the models, else empty: such votes name no winner. With the debate's `code`, buttons open
    what stands behind the result; without one it is all in the message. `quorum` is how many
    votes decide. Delivery fills in `page`, as in an announcement.
    """

    kind: Literal["reveal"] = "reveal"
    topic: str
    models: dict[str, str]
    drawn: tuple[str, ...] = ()
    tally: Tally
    verdict: Verdict
    jurors: tuple[JurorLine, ...]
    agree: bool | None
    usd: float | None
    calls: int
    persuasion: Persuasion | None = None
    seats: Mapping[str, str] = {}
    judges: tuple[str, ...] = ()
    broadcast: bool = False
    aside: Literal["", "channel", "starter"] = ""
    rehearsal: Rehearsal = ""
    replaced: tuple[tuple[str, str], ...] = ()
    gaps: int = 0
    unread: bool = False
    criteria: tuple[Criterion, ...] = ()
    stances: Mapping[str, str] = {}
    names: Mapping[str, str] = {}
    own: Verdict | None = None
    course: tuple[RoundTally, ...] = Field((), exclude_if=not_)
    why: Rationale | None = Field(None, exclude_if=not_)
    marks: Mapping[str, Mapping[str, float]] = Field({}, exclude_if=not_)
    code: str = Field("", exclude_if=not_)
    quorum: int = Field(0, exclude_if=not_)
    guessed: Mapping[str, tuple[int, int]] = Field({}, exclude_if=not_)
    menu: int = Field(0, exclude_if=not_)
    guess_bounds: Mapping[str, tuple[float, float]] = Field({}, exclude_if=not_)
    opinion: str = Field("", exclude_if=not_)
    page: str = Field("", exclude_if=not_)

    @property
    def elsewhere(self) -> bool:
        """Whether it is shown beside its thread."""
        return self.aside != ""


class Notice(_Message):
    """A sentence to the thread: the vote was extended, the debate ended early."""

    kind: Literal["notice"] = "notice"
    level: Literal["info", "warning", "error"] = "info"
    text: str


class Alert(_Message):
    """Tells managers that `percent` of the `usd` of a community's day are reserved or spent.

    `code` is the debate that passed that share. `manager` counts the places where managers read;
    None: the debate's channel. With `unnamed` it tells instead why the sides of the debate speak
    under the bot's own name.
    """

    kind: Literal["alert"] = "alert"
    code: str
    percent: float = 0.0
    usd: float = 0.0
    manager: int | None = 0
    unnamed: str = Field("", exclude_if=not_)

    @property
    def elsewhere(self) -> bool:
        """It is for managers."""
        return True


class Skipped(_Message):
    """Says that a scheduled debate was skipped, why, and when the next one is due.

    Both times are in the schedule's time zone. `manager` is as in `Alert`.
    """

    kind: Literal["skipped"] = "skipped"
    due: str
    why: StoredText
    following: str
    manager: int | None = None

    @property
    def elsewhere(self) -> bool:
        """It is for managers."""
        return True


class File(Value):
    """A file that belongs to a message; `media` is its MIME type, `content` its text.

    Of a picture the content is in base64 (`encoded`), and `alt` says in words what it shows.
    """

    name: str
    media: str
    content: str
    encoded: bool = False
    alt: str = ""

    def data(self) -> bytes:
        """Return what the file holds."""
        return b64decode(self.content) if self.encoded else self.content.encode()


class Report(_Message):
    """A titled text by the format: a briefing, a review, a judge's verdict, a note.

    `side` colours it: a contender, "judge", or empty for neutral. `text` is Markdown.
    """

    kind: Literal["report"] = "report"
    title: str
    text: str
    side: str = ""
    files: tuple[File, ...] = ()


class BoardRow(Value):
    """One line of a scoreboard: whose, and a cell for each column after the name."""

    side: str
    name: str
    cells: tuple[str, ...]


class ScoreBoard(_Message):
    """A table of scores; `columns` head the cells, `notes` are sentences below.

    A later one that targets its key replaces it.
    """

    kind: Literal["scoreboard"] = "scoreboard"
    title: str
    columns: tuple[str, ...]
    rows: tuple[BoardRow, ...]
    notes: tuple[str, ...] = ()


class LeagueMatch(Value):
    """A match of a league that was revealed: if one model won, `one` did; `by` says who decided."""

    one: str
    other: str
    how: Literal["won", "tied", "none"]
    by: Literal["people", "jury", ""] = ""


Outcome = Literal["going", "over", "stopped"]


class LeagueTable(_Message):
    """The standing of a league, posted in its channel; it names models of revealed matches alone.

    `played` of `total` matches have ended, and `unmet` models met no one yet. `lot` is who goes on
    by lot, `next_match` when the next match begins (empty: soon), `champions` who won.
    """

    kind: Literal["league"] = "league"
    played: int
    total: int
    rows: tuple[BoardRow, ...]
    unmet: int = 0
    latest: LeagueMatch | None = None
    lot: str = ""
    next_match: str = ""
    outcome: Outcome = "going"
    champions: tuple[str, ...] = ()


class ArcPoint(Value):
    """One turn's score, 0–100; `docked` is what later turns deducted, 0 or below."""

    number: int
    side: str
    score: float | None
    docked: float = 0.0


class Arc(_Message):
    """A debate's scores turn by turn, for a picture; `alt` says the same in words."""

    kind: Literal["arc"] = "arc"
    title: str
    points: tuple[ArcPoint, ...]
    alt: str


Content = TurnPost | Report | ScoreBoard | Arc
"""The contents of a debate; a notice replaces any of these that is missing."""

Message = Annotated[
    Announcement
    | VoteInvite
    | StanceInvite
    | AgainInvite
    | RoundInvite
    | ConfidenceInvite
    | QuestionsInvite
    | QuestionsClosed
    | GuestInvite
    | SpeakInvite
    | VoteClosed
    | Reveal
    | Notice
    | Alert
    | Skipped
    | LeagueTable
    | Content,
    Field(discriminator="kind"),
]

MESSAGE: TypeAdapter[Message] = TypeAdapter(Message)
