"""The nouns of a debate as frozen values, and its state machine.

Every value here can be written as JSON and read back unchanged; nothing here does I/O.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from datetime import datetime
from enum import StrEnum
from math import inf
from operator import not_
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue, field_serializer

from engine.values.errors import UsageError
from engine.values.language import N_, StoredText
from engine.values.makers import kin

RETRIEVAL = "retrieval"  # the backend that a search endpoint is, where an operator has set one
REHEARSAL = "rehearsal"  # the built-in backend: prepared text, no language model
PERSON = "person"  # in place of a backend, where a person is a side
UNATTENDED = "series"  # the platform of debates that are held before no one
OTHER = {"A": "B", "B": "A"}
Effort = Literal["none", "minimal", "low", "medium", "high", "xhigh", "max", "default"]


class Value(BaseModel):
    """A frozen value that refuses unknown fields; its validator is built on first use."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", ser_json_inf_nan="null", defer_build=True
    )


def _unset(value: object) -> bool:
    """Whether a field says nothing, and is not written."""
    return not value


Rehearsal = Literal["", "speakers", "some speakers", "jury"]


class Status(StrEnum):
    """A debate's state; `TRANSITIONS` says what may follow."""

    QUEUED = N_("queued")
    RUNNING = N_("running")
    VOTING = N_("voting")
    CLOSED = N_("closed")
    PARTIAL = N_("partial")
    CANCELLED = N_("cancelled")
    FAILED = N_("failed")

    @property
    def live(self) -> bool:
        """Whether the debate is queued or running."""
        return self in (Status.QUEUED, Status.RUNNING)


class Cause(StrEnum):
    """Why a debate ended early; `Debate.reason` says it in words."""

    REFUSED = "refused"  # a model, or its backend's filter, declined the topic
    MODEL = "model"
    BUDGET = "budget"
    STOPPED = "stopped"
    THREAD = "thread"
    PERSON = "person"  # who is a side declined, or left
    BUG = "bug"
    OTHER = "other"  # storage or settings


ENDED = (Status.CLOSED, Status.PARTIAL, Status.CANCELLED, Status.FAILED)
TRANSITIONS: dict[Status, frozenset[Status]] = {
    Status.QUEUED: frozenset({Status.RUNNING, Status.CANCELLED, Status.FAILED}),
    Status.RUNNING: frozenset(
        {Status.VOTING, Status.PARTIAL, Status.CANCELLED, Status.FAILED, Status.QUEUED}
    ),
    Status.VOTING: frozenset({Status.CLOSED}),
    Status.CLOSED: frozenset(),
    Status.PARTIAL: frozenset({Status.QUEUED}),
    Status.CANCELLED: frozenset(),
    Status.FAILED: frozenset({Status.QUEUED}),
}


class TurnOrder(StrEnum):
    """Who sees what within a round."""

    SEQUENTIAL = "sequential"
    SIMULTANEOUS = "simultaneous"


class Scores(StrEnum):
    """When a format's own judge may be read in the thread."""

    AFTER_VOTE = "after_vote"
    LIVE = "live"


class BallotKind(StrEnum):
    """How people vote."""

    OPEN = "open"
    SECRET = "secret"  # noqa: S105 - a kind of ballot, not a credential
    PRIVATE = "private"


class ConfidenceScale(StrEnum):
    """Whether people are asked how sure they are of their vote: in words, or in percent.

    `on` and `off` are also what a switch is; off is false.
    """

    OFF = "off"
    ON = "on"
    PERCENT = "percent"

    @classmethod
    def _missing_(cls, value: object) -> ConfidenceScale | None:
        return (cls.ON if value else cls.OFF) if isinstance(value, bool) else None

    def __bool__(self) -> bool:
        return self is not ConfidenceScale.OFF


class Length(StrEnum):
    """How long a debate is; each format says what that means for it."""

    SHORT = "short"
    NORMAL = "normal"
    LONG = "long"


class PanelMode(StrEnum):
    """How the panel plans its readings."""

    ADAPTIVE = "adaptive"
    STRICT = "strict"
    ALL = "all"  # every juror in both orders
    ONE = "one"  # a single juror, in both orders


class TrialProtocol(StrEnum):
    """How a jury comes to an answer whose truth is known (arXiv 2407.04622, 2402.06782)."""

    DIRECT = "direct"
    CONSULTANCY = "consultancy"  # one side speaks, which is drawn
    DEBATE = "debate"
    OPEN = "open"  # the first model chooses its side
    EXPERT = "expert"  # the jury reads the sources

    @property
    def opposed(self) -> bool:
        """Whether both sides argue."""
        return self in (TrialProtocol.DEBATE, TrialProtocol.OPEN)


class Sampling(Value):
    """How a role samples: temperature, and a cap on the reply's tokens.

    The rest is of a model's own configuration: nucleus, effort of reasoning, and what its backend
    takes beyond these.
    """

    temperature: float = Field(ge=0, le=2)
    max_tokens: int = Field(gt=0)
    top_p: float | None = Field(None, exclude_if=_unset)
    effort: str | None = Field(None, exclude_if=_unset)
    extra: Mapping[str, JsonValue] | None = Field(None, exclude_if=_unset)


class Configuration(Value):
    """What is set for a model; what is not set stays as its role has it.

    `note` is put before everything that it reads; `extra` are fields of the request to its backend.
    """

    effort: Effort | None = None
    temperature: float | None = Field(None, ge=0, le=2)
    top_p: float | None = Field(None, gt=0, le=1)
    max_tokens: int | None = Field(None, gt=0, le=1_000_000)
    note: str | None = Field(None, min_length=1, max_length=4000)
    extra: Mapping[str, JsonValue] | None = None

    @property
    def settings(self) -> dict[str, Any]:
        """What is set, by name."""
        return self.model_dump(exclude_none=True)

    @property
    def request_fields(self) -> tuple[str, ...]:
        """The fields of a request that come from it, as its backend names them."""
        own = [name for name in self.settings if name in ("temperature", "top_p")]
        effort = ("reasoning_effort",) if self.effort else ()
        return (*own, *effort, *(self.extra or ()))


class Model(Value):
    """A model on a backend, as it is configured; jurors are recused by `family`.

    `variant` is the name of its configuration, empty where that is written out or there is none.
    """

    backend: str
    name: str
    family: str
    variant: str = Field("", exclude_if=_unset)
    configuration: Configuration | None = Field(None, exclude_if=_unset)

    @property
    def ref(self) -> str:
        """The `backend/name@configuration` that commands and settings use; what is rated."""
        return f"{self.bare}@{self.label}" if self.label else self.bare

    @property
    def bare(self) -> str:
        """The `backend/name`, however it is configured."""
        return f"{self.backend}/{self.name}"

    @property
    def maker(self) -> str:
        """The maker of its family."""
        return kin(self.family)

    @property
    def label(self) -> str:
        """The configuration in short: its name, or its settings; empty without one."""
        if self.variant or self.configuration is None:
            return self.variant
        settings = self.configuration.settings.items()
        return ",".join(
            f"{name}={value:g}" if isinstance(value, float) else f"{name}={value}"
            for name, value in settings
        )

    def sampling(self, usual: Sampling) -> Sampling:
        """Return how it samples in a role with such a sampling."""
        if self.configuration is None:
            return usual
        own = self.configuration.settings
        return usual.model_copy(update={k: v for k, v in own.items() if k != "note"})

    @property
    def rehearses(self) -> bool:
        """Whether it is a rehearsal model, not a language model."""
        return self.backend == REHEARSAL

    @property
    def person(self) -> bool:
        """Whether a person speaks in its place."""
        return self.backend == PERSON

    @classmethod
    def parse(cls, text: str) -> Model:
        """Read `backend/model[#family]`; backends are case-insensitive.

        The family defaults to the vendor part of the model (`deepseek/deepseek-v3.2`) or
        to the first word of its name (`llama-3.3`). Raises UsageError.
        """
        reference, _, family = text.strip().partition("#")
        backend, slash, name = reference.strip().partition("/")
        if not slash or not backend.strip() or not name.strip():
            raise UsageError(
                "“{text}” does not name a model; write backend/model, for example rehearsal/maple.",
                text=text.strip(),
            )
        name = name.strip()
        vendor = name.split("/")[0] if "/" in name else name.replace("_", "-").split("-")[0]
        vendor = re.split("[:@]", vendor)[0]
        chosen = family.strip() or vendor
        return cls(backend=backend.strip().lower(), name=name, family=chosen.lower())


SOMEBODY = Model(backend=PERSON, name="somebody", family=PERSON)
"""What stands in the place of a model for a side that a person argues; it never says who."""


class Origin(StrEnum):
    """The source of a call's cost."""

    REPLY = "reply"  # the answer states what was billed
    SETTINGS = "settings"
    BACKEND = "backend"  # the backend's price list
    BUNDLED = "bundled"  # the price list shipped with Rostrum
    LOCAL = "local"  # an own machine, where nothing is billed
    UNKNOWN = "unknown"


class Tier(Value):
    """USD per million tokens of a call whose prompt has more than `above` tokens."""

    above: int = Field(ge=0)
    usd_in: float = Field(ge=0)
    usd_out: float = Field(ge=0)


# What Anthropic, and OpenAI from GPT-5.6 on, charge to write a token to their cache for minutes, as
# a share of its price: platform.claude.com/docs/en/build-with-claude/prompt-caching and
# developers.openai.com/api/docs/guides/prompt-caching.
CACHE_WRITE = 1.25


class Price(Value):
    """USD per million tokens, read and written; `tiers` are for longer prompts.

    `usd_cached` is the price of tokens read from the provider's cache, `usd_written` of those
    written to it. None is unknown: such reads save nothing, and writes cost `CACHE_WRITE`.
    """

    usd_in: float = Field(ge=0)
    usd_out: float = Field(ge=0)
    usd_cached: float | None = Field(None, ge=0)
    usd_written: float | None = Field(None, ge=0)
    tiers: tuple[Tier, ...] = ()
    origin: Origin = Origin.UNKNOWN

    @property
    def free(self) -> bool:
        """Whether nothing costs anything."""
        dear = any(tier.usd_in or tier.usd_out for tier in self.tiers)
        return not (self.usd_in or self.usd_out or dear)

    def cost(
        self,
        tokens_in: int,
        tokens_out: int,
        longest: int | None = None,
        *,
        cached: int = 0,
        written: int = 0,
    ) -> float:
        """Return a call's cost in USD; for several together, `longest` is their longest prompt.

        Of `tokens_in`, `cached` were read from the provider's cache and `written` to it. A tier
        that applies never makes a call cheaper.
        """
        prompt = tokens_in if longest is None else longest
        tiers = [tier for tier in self.tiers if prompt > tier.above]
        usd_in = max(self.usd_in, *(tier.usd_in for tier in tiers), 0.0)
        usd_out = max(self.usd_out, *(tier.usd_out for tier in tiers), 0.0)
        cached = min(cached, tokens_in)
        written = min(written, tokens_in - cached)
        read = 1.0  # the price of a cached token, as a share of a new one's: never more
        if self.usd_cached is not None and self.usd_in:
            read = min(read, self.usd_cached / self.usd_in)
        write = CACHE_WRITE  # of a token written to the cache: never less
        if self.usd_written is not None and self.usd_in:
            write = max(1.0, self.usd_written / self.usd_in)
        charged = tokens_in - cached - written + cached * read + written * write
        return (charged * usd_in + tokens_out * usd_out) / 1e6


class Usage(Value):
    """Tokens of one call as reported by its backend; None if not reported.

    Of `tokens_in`, `tokens_cached` were read from the provider's cache and `tokens_written` to it.
    """

    tokens_in: int | None = None
    tokens_out: int | None = None
    tokens_cached: int | None = None
    tokens_written: int | None = None
    tokens_reasoning: int | None = None


CUT_SHORT = "cut_off"  # the violation of a text that its model's token cap ended
REPEATS = "repeats"  # that of a text which says one sentence over and over


class Violation(Value):
    """A rule that a turn broke, with what was measured."""

    kind: str
    measured: float
    limit: float


# Of a text that is not what its speaker had to say, or not all of it.
FLAWS = frozenset(
    {
        CUT_SHORT,
        "cut",
        "long_reply",
        "unreadable",
        "refusal",
        REPEATS,
        "missed",
        "blocked",
        "flagged",
    }
)


def not_given(violations: Iterable[Violation]) -> bool:
    """Return whether a person gave no turn in its time, or one that cannot be shown."""
    return any(broken.kind in ("missed", "blocked", "flagged") for broken in violations)


class Source(Value):
    """A text that every side reads before the debate; `title` is one line, without markup."""

    title: str
    text: str


class Quotation(Value):
    """Words that a turn quotes as from a source, and where code found them (see quotations.py).

    `source` is the number that the turn named, from 1. `found_in` is the source that has the words,
    None if none has; `share` is how much of them stands there, or in the named source, 0–1.
    """

    text: str
    source: int
    found_in: int | None
    share: float


class Turn(Value):
    """One public utterance of a seat.

    `number` counts from 1 through the debate; `place` from 1 within the round, in the order of
    speaking; `words` is the product's one word count (see engine/values/text.py). `quotations` are
    those marked as from a source, and `asked` the audience's questions that it answers.
    """

    step: str
    seat: str
    side: str
    round: str
    number: int
    place: int
    text: str
    words: int
    limit: int
    model: str
    violations: tuple[Violation, ...] = ()
    quotations: tuple[Quotation, ...] = Field((), exclude_if=not_)
    asked: tuple[str, ...] = Field((), exclude_if=not_)

    @property
    def flaws(self) -> tuple[str, ...]:
        """Why its text is not what its speaker had to say, or not all of it."""
        return tuple(broken.kind for broken in self.violations if broken.kind in FLAWS)


class JurorHistory(Value):
    """What past ballots say about a juror (engine/jury/history.py), frozen when a debate starts.

    `pos` is the lean towards the side shown first and `sd` the spread, both in points of
    the 1–10 scale; `weight` has mean 1 over jurors; `correlation` is that of this juror's signal
    with what all jurors see (None without data).
    """

    ballots: int = 0
    pos: float = 0.0
    sd: float = 1.5
    weight: float = 1.0
    correlation: float | None = None


class JurorFit(Value):
    """What the model of jurors (engine/jury/model.py) knows about one of them.

    `lean` is toward the side shown first, in points, and `named` the same for verdicts, from −1 to
    1; `spread` is in points. The juror's signal has standard deviation `scale`. Beside an error of
    its own with variance 1, it holds the truth and the errors of all and of its family, times
    `skill`, and the group's error, times `group`. `weight` is in a panel of all, with mean 1.
    `drift` says by how many standard errors its newer ballots differ from those before; `left` of
    those before were left out for it. The `_error`s are standard deviations; a skill's is of its
    logarithm. `group_error` is 0 while it is not measured. `sees` is the chance that it sees
    anything of what the others see, and `stake` the logarithm of what became of a stake of 1 on
    that it sees more than order or chance (engine/jury/roster.py).
    """

    family: str
    ballots: int = 0
    lean: float = 0.0
    lean_error: float = 0.0
    named: float = 0.0
    spread: float = 1.5
    scale: float = 1.0
    skill: float = 1.0
    skill_error: float = 0.3
    group: float = 0.0
    group_error: float = 0.0
    weight: float = 1.0
    drift: float = 0.0
    left: int = 0
    sees: float = 1.0
    stake: float = 0.0

    @property
    def known(self) -> bool:
        """Whether it has ballots enough to count by the model, and sees something."""
        return self.ballots >= KNOWN_AFTER and self.sees >= SEES


BEHIND = -1.5  # errors by which the model may tell held-back ballots worse than the balanced rule
KNOWN_AFTER = 10  # ballots from which a juror's lean and skill count as measured
SEES = 0.5  # the chance that a juror sees something, from which its ballots count


class Fit(Value):
    """The model of an installation's jurors, as fitted to its past debates.

    `version` is the model's; `number` is that of the stored fit, 0 for one that is not stored.
    `shared` and `kin` are the variances of the errors of all and of one family, as a multiple of
    the truth's, and their errors are of the logarithm; `people` is the correlation of people's
    majority with the truth; `worth` is what a verdict adds to a signal; `evidence` is by how many
    standard errors jurors who read in opposite orders agree. `steady` is the share of a juror's own
    error that stays when it reads in the other order; `ahead` is by how many standard errors the
    model told held-back ballots better than the balanced rule did.
    """

    version: int = 1
    number: int = 0
    debates: int = 0
    ballots: int = 0
    labels: int = 0
    shared: float = 0.25
    shared_error: float = 0.7
    kin: float = 0.05
    kin_error: float = 0.7
    people: float = 0.74
    worth: float = 0.35
    evidence: float = 0.0
    steady: float = 0.6
    ahead: float = 0.0
    jurors: dict[str, JurorFit] = {}

    def knows(self, juror: str) -> bool:
        """Return whether a juror has ballots enough to count by the model, and sees something."""
        one = self.jurors.get(juror)
        return one is not None and one.known

    def heard(self, juror: Model) -> int:
        """Return how many ballots of a juror it has seen."""
        one = self.jurors.get(juror.ref)
        return one.ballots if one else 0

    def only(self, jurors: Collection[str]) -> Fit:
        """Return the part that is about these jurors."""
        kept = {juror: one for juror, one in self.jurors.items() if juror in jurors}
        return self if kept == self.jurors else self.model_copy(update={"jurors": kept})


class Criterion(Value):
    """One thing that jurors score, as a whole number from `lowest` to `highest`.

    `low` and `high` say what these two mean. The weights of a rubric add up to 1.
    """

    name: str
    weight: float
    low: str = ""
    high: str = ""
    description: str = ""
    lowest: int = 1
    highest: int = 10

    @property
    def range(self) -> tuple[int, int]:
        """The lowest and the highest score."""
        return self.lowest, self.highest

    def points(self, score: float) -> float:
        """Return a score on the scale 1–10 that all criteria are added up on."""
        if self.lowest == 1 and self.highest == 10:
            return score
        return 1 + 9 * (score - self.lowest) / (self.highest - self.lowest)


class PanelSetup(Value):
    """Everything that a panel's plan and verdict depend on, frozen when the debate starts.

    `roster` is in the order in which jurors are asked; `first_order` is the order of the
    first reading; `slope` turns z into a probability; `correlation` is the pooled
    correlation between jurors, for the effective number of votes. `criteria` are those of a rubric
    of the operator's own; the built-in ones are known by name. With a `fit`, ballots are weighed by
    the model of jurors, else by `history` alone; `wave` jurors are asked at once, 0 for the usual
    number. `stake` is what became of a stake of 1 on that the jurors see more than order or chance,
    while that is not proven yet.
    """

    roster: tuple[Model, ...]
    recused: tuple[Model, ...] = ()
    recusal_failed: bool = False
    history: dict[str, JurorHistory] = {}
    first_order: Literal["AB", "BA"] = "AB"
    slope: float = 0.9
    correlation: float | None = None
    mode: PanelMode = PanelMode.ADAPTIVE
    audit: bool = False
    rubric: str = "debate"
    blind: bool = True
    criteria: tuple[Criterion, ...] = ()
    fit: Fit | None = Field(None, exclude_if=not_)
    wave: int = Field(0, exclude_if=not_)
    stake: float | None = None

    @property
    def readers(self) -> tuple[Model, ...]:
        """Every juror that may be asked; a recused one only where all read, without a say."""
        return (*self.roster, *self.recused) if self.mode is PanelMode.ALL else self.roster

    @property
    def ready_fit(self) -> Fit | None:
        """The model of jurors if it decides, as far as that is known before they read.

        It has to be proven that they see something, and the model must not tell held-back ballots
        worse than the balanced rule.
        """
        fit = self.fit
        if fit is None or self.mode is not PanelMode.ADAPTIVE or self.stake is not None:
            return None
        known = sum(fit.knows(juror.ref) for juror in self.roster)
        return fit if fit.ahead > BEHIND and known >= min(2, len(self.roster)) else None


class Request(Value):
    """What a person asked for, complete: nothing is left to a default that could change.

    `sides` maps a contender to its model; `drawn` names the contenders whose model was drawn at
    random; `seats` gives single seats (`A1`) a model of their own; `judges` are the format's own;
    `sources` are put before every side. With a `protocol` the right answer is known and sealed. The
    rest are the options of engine/values/options.py, and their limits.
    """

    topic: str
    conditions: str = ""
    format: str = "classic"
    language: str = "en"
    sides: dict[str, Model]
    drawn: tuple[str, ...] = ()
    seats: dict[str, Model] = {}
    judges: tuple[Model, ...] = ()
    options: dict[str, JsonValue] = {}
    rounds: int = Field(1, ge=1, le=9)
    turn_order: TurnOrder = TurnOrder.SEQUENTIAL
    blind: bool = True
    scores: Scores = Scores.AFTER_VOTE
    ballot: BallotKind = BallotKind.OPEN
    vote_minutes: float = Field(30, ge=0.001, le=10_080)
    quorum: int = Field(5, ge=0, le=1_000_000)
    extend: bool = True
    stance: bool = False
    stance_seconds: float = Field(60, gt=0, le=86400)
    again: bool = False
    again_minutes: float = Field(1440, gt=0, le=10080)
    broadcast: bool = False
    stance_a: str = ""
    stance_b: str = ""
    length: Length = Length.NORMAL
    sources: tuple[Source, ...] = Field((), exclude_if=not_)
    round_votes: bool = Field(False, exclude_if=not_)
    confidence: ConfidenceScale = Field(ConfidenceScale.OFF, exclude_if=not_)
    why: bool = Field(False, exclude_if=not_)
    questions: float = Field(0, ge=0, le=60, exclude_if=not_)
    reasons: bool = Field(False, exclude_if=not_)
    guess: bool = Field(False, exclude_if=not_)
    pace: int = Field(0, ge=0, le=2000, exclude_if=not_)
    turn_minutes: float = Field(0, ge=0, le=1440, exclude_if=not_)
    protocol: TrialProtocol | None = Field(None, exclude_if=not_)

    @field_serializer("confidence", when_used="json")
    def _write_confidence(self, asked: ConfidenceScale) -> bool | str:
        """A switch, unless it is in percent."""
        return asked.value if asked is ConfidenceScale.PERCENT else bool(asked)

    @property
    def guest(self) -> str:
        """The side that a person argues; empty where models argue all of them."""
        return next((side for side, model in self.sides.items() if model.person), "")

    @property
    def stances(self) -> dict[str, str]:
        """What each side argues in the asker's own words; empty: for and against the topic."""
        return {"A": self.stance_a, "B": self.stance_b} if self.stance_a else {}

    @property
    def texts(self) -> tuple[str, ...]:
        """What a person wrote of the debate: topic, conditions and stances."""
        return (self.topic, self.conditions, *self.stances.values())

    @property
    def trial(self) -> TrialProtocol | None:
        """Its protocol, where two sides stand for answers of which one is right."""
        return self.protocol if "A" in self.sides else None

    def model_of(self, seat: str) -> Model:
        """Return the model that speaks for a seat: its own, or that of its contender."""
        return self.seats.get(seat) or self.sides[side_of(seat)]

    @property
    def speakers(self) -> tuple[Model, ...]:
        """Every model that speaks, each once; a person is none."""
        models = [m for m in (*self.sides.values(), *self.seats.values()) if not m.person]
        return tuple({model.ref: model for model in models}.values())


def side_of(seat: str) -> str:
    """Return the contender that a seat speaks for: its first character."""
    return seat[0]


class SeriesKey(Value):
    """A debate's place in a series: `ordinal` from 1, a unique `key`, and the `arm` it fell to."""

    name: str
    key: str
    ordinal: int
    arm: str = ""


class Replacement(Value):
    """An unavailable model, and the one that replaced it in a running debate."""

    was: Model
    now: Model


class Retrieval(Value):
    """What each side may look up before the debate: `calls` searches, `results` of each.

    `characters` is how much of a result is put before the sides.
    """

    model: Model
    calls: int = 2
    results: int = 3
    characters: int = 2_000


class Moderation(Value):
    """What a moderation model says of the texts that a person wrote of a debate.

    `categories` are those that it found, in its own words.
    """

    model: str
    flagged: bool
    categories: tuple[str, ...] = ()


class Setup(Value):
    """Everything a debate depends on, frozen when it starts.

    `templates` is the hash of the template texts, which the store keeps once; `names` are the
    neutral ones that jurors read. None means no cap (`cap_usd`), and replies read whole
    (`reply_chars`). `mirror_of` is the id of the debate that this one repeats with sides swapped;
    `replaced` are the replacements of unavailable models, in order.
    `called` is what people call contenders that have more than a letter. `menu` are the models
    among which voters may guess: those that the community offers, whatever the debate.
    `rematch_of` is the id of the revealed debate that this one holds once more; `swapped`: each
    model has the other side, as people know. `account_days` and `member_days` are the least age of
    an account and of a membership for a vote to be gold; 0: any. `advocate` is the side that
    speaks alone in a consultancy, or that the first model chose in an open debate.
    """

    request: Request
    format_version: int
    templates: str
    panel: PanelSetup
    names: dict[str, str]
    sampling: dict[str, Sampling]
    limits: dict[str, float]
    prices: dict[str, Price | None] = {}
    seed: int
    ordinal: int
    cap_usd: float | None = None
    reserved_usd: float = 0.0
    chars_per_word: float = 1.5
    reply_chars: int | None = None
    mirror_of: str | None = None
    replaced: tuple[Replacement, ...] = ()
    called: dict[str, str] = {}
    retrieval: Retrieval | None = Field(None, exclude_if=not_)
    moderation: Moderation | None = Field(None, exclude_if=not_)
    menu: tuple[str, ...] = Field((), exclude_if=not_)
    rematch_of: str | None = Field(None, exclude_if=not_)
    swapped: bool = Field(False, exclude_if=not_)
    account_days: int = Field(0, exclude_if=not_)
    member_days: int = Field(0, exclude_if=not_)
    advocate: str = Field("", exclude_if=not_)

    @property
    def models(self) -> tuple[Model, ...]:
        """Every model that the debate may call, each once."""
        asked = [*self.request.speakers, *self.request.judges, *self.panel.readers]
        asked += [self.retrieval.model] if self.retrieval else []
        return tuple({model.ref: model for model in asked}.values())

    def cheapest(self, jurors: Iterable[Model]) -> Model | None:
        """Return the first of the cheapest jurors; one of unknown price is the dearest."""
        return min(jurors, key=lambda juror: self.rate(juror.ref), default=None)

    def rate(self, model: str) -> float:
        """Return what a short call of a model costs in USD, by its reference."""
        price = self.prices.get(model)
        return inf if price is None else price.cost(1000, 300)

    @property
    def known(self) -> bool:
        """Whether people can know from the start who is who: as swapped, or as one is a person."""
        return self.swapped or (self.rematch_of is not None and bool(self.request.guest))

    @property
    def backends(self) -> tuple[str, ...]:
        """The backends that it takes to hold the debate, but the built-in one, sorted."""
        return tuple(sorted({model.backend for model in self.models} - {REHEARSAL}))

    @property
    def rehearsal(self) -> Rehearsal:
        """Which participants are rehearsal models; judgments of them are no labels."""
        speakers = [model.rehearses for model in self.request.speakers]
        if any(change.was.rehearses for change in self.replaced):
            return "some speakers"
        if any(speakers):
            whole = all(speakers) and not self.request.guest
            return "speakers" if whole else "some speakers"
        jury = (*self.panel.readers, *self.request.judges)
        return "jury" if any(model.rehearses for model in jury) else ""


class Debate(Value):
    """A debate as the store holds it.

    `reason` says why it ended early, or what it waits for; `place` is the channel it was started
    in, `thread` its thread once there is one, both as opaque platform references; `gone`: the
    thread was lost. `mirror` is the id of the same debate with sides swapped, and
    `mirror_revealed_at` when that one named the models of both. `gaps` counts messages that were,
    or may have been, missing in the thread before people voted. `series` and `series_key` say which
    debate of a series it is, `arm` its arm. `cause` is the kind of reason for an early end, None
    where none was recorded; `cause_model` is the model that caused it. Since `pruned_at` it has
    neither the prompts nor the raw replies of its calls. `guest` is the surrogate id of the person
    who argues a side. `scripted`: no person is known to be behind each vote, as they were options
    of a command, or several came from one keyboard.
    """

    id: str
    number: int
    platform: str
    community: str
    place: str
    starter: int | None
    status: Status
    reason: StoredText = ""
    gone: bool = False
    thread: str | None = None
    setup: Setup
    created_at: datetime
    opened_at: datetime | None = None
    stance_deadline: datetime | None = None
    stance_closed_at: datetime | None = None
    vote_message: str | None = None
    vote_opened_at: datetime | None = None
    vote_deadline: datetime | None = None
    vote_extended: bool = False
    close_asked_at: datetime | None = None
    closed_early: bool = False
    revealed_at: datetime | None = None
    mirror: str | None = None
    mirror_revealed_at: datetime | None = None
    gaps: int = 0
    scripted: bool = False
    series: str | None = None
    series_key: str | None = None
    arm: str | None = Field(None, exclude_if=not_)
    cause: Cause | None = None
    cause_model: str | None = None
    pruned_at: datetime | None = None
    guest: int | None = None

    @property
    def code(self) -> str:
        """The short name that people can quote: the end of the id, in lower case."""
        return short_code(self.id)

    @property
    def request(self) -> Request:
        """What was asked for."""
        return self.setup.request

    @property
    def attended(self) -> bool:
        """Whether people can see it; else it has no thread, no messages and no vote."""
        return self.platform != UNATTENDED

    @property
    def models_known_at(self) -> datetime | None:
        """When the models could first be known: from the start, or at a reveal."""
        if self.setup.known:
            return self.created_at
        reveals = (self.revealed_at, self.mirror_revealed_at)
        return min((moment for moment in reveals if moment is not None), default=None)


def short_code(debate_id: str) -> str:
    """Return the last six characters of a debate's ULID, in lower case."""
    return debate_id[-6:].lower()
