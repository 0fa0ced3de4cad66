"""What a debate is asked to be: an order, and the defaults of its place."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any, Self

from pydantic import Field, SkipValidation, model_validator

from engine.formats import find_format
from engine.jury.rubric import Rubric
from engine.prompts import check_language
from engine.store.leases import OWN
from engine.values.debate import Debate, Model, Retrieval, Sampling, SeriesKey, Source, Value
from engine.values.errors import NotAllowedError
from engine.values.language import N_
from engine.values.limits import Caps
from engine.values.options import BUILT_IN, Options, check_limits
from engine.values.sources import SourceLimits
from engine.values.topics import Topic, built_in_topics, has_blocked

ME = "me"  # in place of a model: the person who starts the debate argues that side
ONLY_ONE = N_("Only one side can be a person. Choose a model for the other one.")
NOT_ALLOWED = N_(
    "This bot serves only the servers and workspaces that its operator has chosen, and this is "
    "none of them; ask the operator to add it."
)
MOST_GUESSED = 25  # models on a menu, as Discord's have no more


class PlaceCapabilities(Value):
    """What Rostrum may do in the place of a command; each Text says what to grant.

    `unfit`: why no debate can run there; `no_files`: why none that posts files can; `no_removal`:
    why ballots cannot be secret. Empty: no obstacle is known.
    """

    unfit: SkipValidation[str] = ""
    no_files: SkipValidation[str] = ""
    no_removal: SkipValidation[str] = ""


class Invited(Value):
    """A person who is to argue a side: a user of the platform."""

    side: str
    user: str


class Rematch(Value):
    """A revealed debate to hold once more; `swapped`: each model takes the other side."""

    of: Debate
    swapped: bool = False


class Order(Options):
    """A person's request and its place; omitted values are defaults, or drawn at random.

    `ground` is what the platform allows in `place`. `models` are keyed by contender or seat
    (`A1`); `judges` are the format's own; `sources` are what every side reads. `series` says
    which debate of a series it is. A `rematch` has its options, models and sources from the debate
    before. `guest` argues a side in place of a model. `listed` is the topic as its series has it.
    """

    platform: str
    community: str
    place: str
    capabilities: PlaceCapabilities = PlaceCapabilities()
    user: str | None = None
    models: Mapping[str, Model] = {}
    jurors: tuple[Model, ...] = ()
    judges: tuple[Model, ...] = ()
    sources: tuple[Source, ...] = ()
    seed: int | None = None
    series: SeriesKey | None = None
    rematch: Rematch | None = None
    guest: Invited | None = None
    listed: Topic | None = None

    @property
    def placed(self) -> dict[str, Any]:
        """The fields of a new debate that say where it is, and which one of its series."""
        fields = {"platform", "community", "place", "user"}
        placed = {name: getattr(self, name) for name in fields}
        if self.series is not None:
            arm = self.series.arm or None
            placed |= {"series": self.series.name, "series_key": self.series.key, "arm": arm}
        return placed

    @model_validator(mode="after")
    def _check(self) -> Self:
        """Refuse an order that no place could hold. Raises UsageError."""
        check_limits(self)
        if self.format:
            find_format(self.format)
        if self.language:
            check_language(self.language)
        return self


class Defaults(Options):
    """An installation's or a community's defaults for debates.

    `models` can debate and `jurors` judge; `sides` are fixed instead of drawn. `own_judges` judge
    where a format has judges of its own (none: a juror does), and `seats` are models of single
    seats. Without a `rubric` jurors score by the format's own. `topics` are those to offer and to
    draw from; those with a word of `blocked_words` are refused, and with `topic_approval` managers
    approve the ones that people suggest. Votes are gold only from accounts that are `account_days`
    old and members of `member_days`. `value_per_usd` is how many points of a panel's accuracy a USD
    is worth. Pages are served at `web_url`, if they are. `allowed` are the communities of a
    platform that are served; of one that it does not name, all are.
    """

    models: tuple[Model, ...]
    jurors: tuple[Model, ...]
    own_judges: tuple[Model, ...] = ()
    seats: Mapping[str, Model] = {}
    topics: tuple[Topic, ...] = Field(default_factory=built_in_topics)
    sides: Mapping[str, Model] = {}
    sampling: Mapping[str, Sampling]
    limits: Mapping[str, Mapping[str, float]]
    chars_per_word: float = 1.5
    reply_chars: int | None = None
    rubric: Rubric | None = None
    value_per_usd: float = 0.0
    sources: SourceLimits = SourceLimits()
    retrieval: Retrieval | None = None
    caps: Caps = Caps()
    blocked_words: tuple[str, ...] = ()
    topic_approval: bool = True
    account_days: int = 0
    member_days: int = 0
    web_url: str = ""
    allowed: Mapping[str, frozenset[str]] = {}

    @property
    def debaters(self) -> tuple[Model, ...]:
        """Models that can be requested as debaters."""
        return (*self.models, *self.sides.values())

    @property
    def judges(self) -> tuple[Model, ...]:
        """Models that can be requested as jurors or judges."""
        return (*self.jurors, *self.models)

    @cached_property
    def usual(self) -> Options:
        """The options of an order that asks for nothing."""
        return BUILT_IN | self

    @cached_property
    def menu(self) -> tuple[str, ...]:
        """The models to guess among: the same for every debate, and so no hint on any."""
        offered = tuple(dict.fromkeys(model.ref for model in self.debaters))[:MOST_GUESSED]
        return offered if len(offered) > 1 else ()

    @cached_property
    def unblocked(self) -> tuple[Topic, ...]:
        """The topics without a word that is blocked."""
        if not self.blocked_words:
            return self.topics
        return tuple(one for one in self.topics if not has_blocked(self.blocked_words, one.text))

    def __copy__(self) -> Self:
        """Copy the fields alone, as a copy may be changed: what follows from them is not kept."""
        copied = super().__copy__()
        for name in ("usual", "menu", "unblocked"):
            copied.__dict__.pop(name, None)
        return copied


def check_allowed(offer: Defaults, platform: str, community: str) -> None:
    """Refuse a community that the operator does not serve. Raises NotAllowedError.

    A person's direct messages are not one of theirs.
    """
    allowed = offer.allowed.get(platform)
    if allowed is not None and community not in allowed and not community.startswith(OWN):
        raise NotAllowedError(NOT_ALLOWED)
