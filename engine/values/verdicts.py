"""How a debate is judged, as frozen values: ballots, votes, verdicts and tallies."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from operator import itemgetter, not_
from typing import Any, Literal, NamedTuple

import orjson
from pydantic import Field, JsonValue

from engine.values.debate import PanelMode, Usage, Value

TIE = "tie"
AGREEING = 6  # readings that have to agree before jurors are proven to see
WEAK = "weak"  # a vote's “neither”
EVEN = "even"  # no one is ahead after a round
WEB = "web"  # the platform of labels on pages, and of people who come by a link
IMPORT = "import"  # the platform of people whose labels come from a file
Withheld = Literal["", "blocked", "flagged"]
"""Why what a person wrote for a turn is not its text: a blocked word, or the moderation model."""


class Ballot(Value):
    """One juror's reading of a debate in one order, valid or not.

    `order` lists the contenders as they were shown; `scores` maps a contender to a criterion
    to an integer 1–10; `verdict` is a contender or "tie". An invalid ballot has no scores and
    no verdict, and a `problem`; its `raw` text is kept. Aggregation adds `signal` (x) and `weight`,
    and the `pos`, `sd` and `slope` that it used. `panel` is 0 while the debate is held, else the
    number of the later judging that it is of.
    """

    juror: str
    family: str
    order: tuple[str, ...]
    names: dict[str, str]
    audit: bool = False
    recused: bool = False
    valid: bool
    problem: str = ""
    repaired: bool = False
    contradictory: bool = False
    scores: dict[str, dict[str, int]] | None = None
    verdict: str | None = None
    confidence: float | None = None
    reasons: str = ""
    raw: str = ""
    signal: dict[str, float] | None = None
    weight: float | None = None
    pos: float | None = None
    sd: float | None = None
    prompt_hash: str = ""
    model: str = ""
    usage: Usage = Usage()
    cost: float | None = None
    cost_origin: str = ""
    latency: float | None = None
    panel: int = Field(0, exclude_if=not_)

    @property
    def explains(self) -> bool:
        """Whether its reasons may stand for the result: it decided, and agrees with its scores."""
        return self.valid and not (self.audit or self.contradictory)


class Summary(Value):
    """A juror's neutral summary of a debate; it calls the sides by their letters.

    `fit` says how it keeps its length: trimmed at a sentence, cut at a word, or left too short.
    Without a `text`, `problem` says why.
    """

    text: str = ""
    fit: Literal["as_written", "trimmed", "cut", "too_short"] = "as_written"
    problem: str = ""


class Rationale(Value):
    """Why a panel decided as it did, in words that people read with the reveal.

    `text` is one sentence, `best` the best point of each contender, and `differed` where jurors
    differed. `juror` is the model that wrote it, or of whose reasons it is `quoted`. Without a
    `text`, `problem` says why.
    """

    text: str = ""
    best: Mapping[str, str] = {}
    differed: str = ""
    juror: str = ""
    quoted: bool = False
    problem: str = ""


def _missing(value: object) -> bool:
    return value is None


class Verdict(Value):
    """The result of the panel's valid ballots.

    `winner` is a contender, "tie", or None when there is no verdict, and then `problem` says
    why; `p` is the probability of each contender; `z` the balanced signal of the first
    contender (two sides) or of the leader over the second (more). `order_alone` says that the
    panel is a tie because its lead could come from the order of showing alone. Where a format has
    several judges of its own, `by_judge` is the winner by each of them alone, in their order.
    `summary` is there where the format asks a juror for one. `totals` are each contender's score by
    the format's own judges, on the format's scale, and `totals_by_judge` those by each one alone.
    `rule` is "model" where the model of jurors decided; `fit` is then the number of its fit,
    `variance` that of the truth after the ballots, and `gain` by how much each further call would
    have raised the chance of a right verdict. `readings` are how many prefer each contender, or a
    tie, where that is no verdict yet, as the jurors have not shown that they see anything.
    """

    winner: str | None
    problem: str = ""
    p: Mapping[str, float] = {}
    z: float | None = None
    valid: int
    invalid: int
    effective_votes: float | None = None
    order_alone: bool = False
    slope: float = 0.9
    mode: PanelMode = PanelMode.ADAPTIVE
    rubric: str = "debate"
    blind: bool = True
    by_judge: tuple[str | None, ...] = ()
    summary: Summary | None = None
    totals: Mapping[str, float] = {}
    totals_by_judge: tuple[Mapping[str, float] | None, ...] = ()
    rule: Literal["", "model"] = Field("", exclude_if=not_)
    fit: int | None = Field(None, exclude_if=_missing)
    variance: float | None = Field(None, exclude_if=_missing)
    gain: float | None = Field(None, exclude_if=_missing)
    readings: Mapping[str, int] = Field({}, exclude_if=not_)

    @property
    def single(self) -> bool:
        """Whether it is the verdict of one juror alone."""
        return self.mode is PanelMode.ONE


class How(StrEnum):
    """How the engine learned of a vote event."""

    LIVE = "live"
    RECOVERED = "recovered"
    BUTTON = "button"


class Question(StrEnum):
    """What a reaction to a message answers."""

    VOTE = "vote"
    STANCE_BEFORE = "stance_before"
    STANCE_AFTER = "stance_after"
    TURN = "turn"
    AGAIN = "again"
    ROUND = "round"
    CONFIDENCE = "confidence"
    CONSENT = "consent"  # whether a person argues a side; asked of that person alone
    SPEAK = "speak"  # what that person says in a turn
    SUPPORT = "support"  # which of the audience's questions should be put to the sides
    GROUND = "ground"
    GUESS = "guess"
    LABEL = "label"  # who debated better, asked on a page of one who knows nothing else of it
    LABEL_TURN = "label_turn"  # a thumb on a turn there


class Log(NamedTuple):
    """A question, and where it is asked several times, which one: the `step`.

    That is of a turn or round; of a guess it is the side whose model was guessed.
    """

    question: Question
    step: str = ""


REVEALED = (Question.TURN, Question.AGAIN)
"""The questions open after the reveal, which closes all others."""
LABELS = (Question.LABEL, Question.LABEL_TURN)


class VoteEvent(Value):
    """One entry of the append-only log of votes; `number` is the order of receipt.

    `person` is a surrogate id. `option` is one of engine/tally/questions.py; `added` is False for a
    choice withdrawn. `variant` tells reactions of one option apart that a person can hold side by
    side, such as one in a skin tone. `votes_seen_before` counts the others who had answered the
    same question by then. `mirror_revealed`: the debate's mirror had named the models by then.
    `step` is the turn that got the thumb, or the round that the question was about.
    `given_at` is when the person acted, if the platform says so. For a choice found by a reading,
    live events since `heard_from` may be newer (None: none are), and those since `newer_since`
    certainly are (None: unknown). For a live event, nothing was missed from `heard_from` until
    then. `read_at` is when the last complete reading before it began, or the one that found it.
    `account_days` is how old the person's account was, `member_days` how long they had been a
    member of the community, in whole days; None: unknown.
    """

    number: int
    person: int
    option: str
    added: bool
    how: How
    received_at: datetime
    variant: str = ""
    late_seen: bool = False
    votes_seen_before: int = 0
    mirror_revealed: bool = False
    question: Question = Question.VOTE
    step: str = ""
    given_at: datetime | None = None
    heard_from: datetime | None = None
    newer_since: datetime | None = None
    read_at: datetime | None = None
    account_days: int | None = None
    member_days: int | None = None


NotGold = Literal[
    "",
    "scripted",
    "judge",
    "starter",
    "speaker",
    "new",
    "ambiguous",
    "known",
    "mirror",
    "gap",
    "unread",
    "imported",
    "excluded",
]
"""Why a vote is no label; empty for one that is.

No person is known to be behind it, a judge's scores were visible, the voter had started the debate
or argues a side of it, their account or membership was not known to be as old as the community
asks, it is unknown which of several choices came last, the models could be known from the start,
the mirror had named them, a message is missing in the thread, the reactions could never be read, it
is from another tool, where its person was perhaps not blind, or the operator left its annotator
out of figures. Of several reasons the first counts.
"""


Recovery = Literal["complete", "unread", "imported"]
"""What a standing vote rests on.

"complete": all reactions were read before the question closed, or it has buttons only. "unread":
they could not be read; the vote is the last known one, and not gold. "imported": it is a label from
another tool.
"""


class Vote(NamedTuple):
    """A person's standing vote or stance, derived from the events of that person.

    Its times are texts, as they are stored: an export reads a million votes.
    In a question of stance `option` is "for", "against" or "unsure". `votes_seen_before` is 0 if
    others' votes are hidden. `mirror_revealed`: the debate's mirror had named the models before
    the choice. `fast`: no one can have read the debate by then. `step` is the round after which
    people were asked who is ahead, or the side whose model was guessed; of a guess `option` is that
    model. `confidence` is how clear its person found the debate, in one of three words, and
    `ground` what decided, in one of five; empty if they did not say. A label was given on a page,
    in so many `seconds`, with the sides in an `order`, for a labelling `task`; `comment` is the
    reason in the person's own words. `account_days` and `member_days` are those of its event,
    rounded to one digit, as the exact day could be linked to an account.
    """

    person: int
    option: str
    ambiguous: bool
    gold: bool
    starter: bool
    judge_visible: bool
    late_seen: bool
    tally_visible: bool
    votes_seen_before: int
    changes: int
    first_at: str
    last_at: str
    question: str = Question.VOTE
    mirror_revealed: bool = False
    fast: bool = False
    reason: NotGold = ""
    recovery: Recovery = "complete"
    step: str = ""
    confidence: str = ""
    ground: str = ""
    account_days: int | None = None
    member_days: int | None = None
    order: str = ""
    seconds: float | None = None
    comment: str = ""
    task: str = ""

    @classmethod
    def of(cls, body: Mapping[str, Any]) -> Vote:
        """Return a vote of its stored fields."""
        return cls(**body) if body["question"] in LABELS else cls(*_EVERY_VOTE(body))

    def encode(self) -> str:
        """Return it as it is stored: without what only a label has, where it is empty."""
        fields = self._asdict()
        for name in _LABEL_ALONE:
            if fields[name] in ("", None):
                del fields[name]
        return orjson.dumps(fields).decode()


_LABEL_ALONE = ("order", "seconds", "comment", "task")
_EVERY_VOTE = itemgetter(*(name for name in Vote._fields if name not in _LABEL_ALONE))


def iso(at: datetime) -> str:
    """Return a UTC time as votes have it."""
    return at.isoformat().replace("+00:00", "Z")


class TurnLabel(Value):
    """A person's thumb on a turn; `blind`: nothing had named the models by then."""

    step: str
    person: int
    up: bool
    blind: bool
    received_at: datetime


class Persuasion(Value):
    """How many people moved towards each contender, of those who took a stance twice.

    `winner` is the contender that more people moved towards, "tie", or None if no one took
    a stance twice.
    """

    moved: dict[str, int]
    people: int
    winner: str | None


class RoundTally(Value):
    """How many people said after a round who is ahead, by option."""

    round: str
    counts: dict[str, int]


class Tally(Value):
    """The count of a vote: every standing vote by option, and the gold ones, which decide.

    `share` is gold A over gold A + B with its Wilson 95 % interval, for two contenders.
    `winner` is a contender or "tie", None below the quorum.
    """

    counts: dict[str, int]
    gold: dict[str, int]
    quorum_met: bool
    winner: str | None
    share: float | None = None
    low: float | None = None
    high: float | None = None

    @property
    def deciding(self) -> dict[str, int]:
        """The counts that decide: the gold votes', or where none is gold, those of all."""
        return self.gold if any(self.gold.values()) else self.counts

    @property
    def others(self) -> int:
        """How many votes stand beside those that decide."""
        return sum(self.counts.values()) - sum(self.deciding.values())


class PeopleCounts(Value):
    """What people said of a debate, as a reveal tells it.

    `course` is who they saw ahead, round by round; `guessed` counts, by side, the blind guesses at
    its model that were right, and all. `unread`: the vote closed without a reading of reactions.
    """

    tally: Tally
    persuasion: Persuasion | None = None
    course: tuple[RoundTally, ...] = ()
    guessed: Mapping[str, tuple[int, int]] = {}
    unread: bool = False


# A format's findings beside its turns: artifacts, scores and adjustments of scores.
#
# All three are append-only: a wrong score is adjusted, never overwritten.


# The kind of artifact that records a judge's or captain's question without an answer.
UNANSWERED = "unanswered"
# The kind of one that says what a side decides at its end; its name ends with the turn's step.
DECISION = "decision"
# The kind of one that says what a debate has made of a side's position; named likewise.
POSITION = "position"

# The name and kind of the one that says what sides looked up before the debate.
RETRIEVED = "retrieved"
# The name and kind of the one that says what the audience asked, and what of it was put.
QUESTIONS = "questions"


class Artifact(Value):
    """A piece of typed JSON under a name that is unique in its debate; `kind` says which type.

    `valid` is False for a judge's answer that could not be read; its body then holds the raw
    text and the problem.
    """

    name: str
    kind: str
    body: dict[str, JsonValue]
    valid: bool = True

    @classmethod
    def of(
        cls, name: str, kind: str, body: Mapping[str, object], *, valid: bool = True
    ) -> Artifact:
        """Make an artifact of plain values, written as JSON has them."""
        return cls(name=name, kind=kind, body=orjson.loads(orjson.dumps(body)), valid=valid)


class Score(Value):
    """One number that a format's own judge gave a subject: a turn's step, or an argument's id.

    `original` is the judge's own number if a rule changed it, else None. With several judges
    `value` is their median, and `spread` the highest less the lowest.
    """

    subject: str
    side: str
    criterion: str
    value: float
    original: float | None = None
    spread: float | None = None


class Adjustment(Value):
    """Points added to a subject's criterion after it was scored, and why.

    `by` is its cause, such as the step of the turn that exposed a claim; an empty `criterion` means
    the total.
    """

    name: str
    subject: str
    side: str
    criterion: str = ""
    amount: float
    reason: str
    by: str = ""
