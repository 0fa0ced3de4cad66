"""Labelling: tasks, the links to them, who labels, and the sheets that they fill in."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Literal, NamedTuple, Protocol

from pydantic import Field

from engine.values.debate import Value

NAME = r"[a-z0-9][a-z0-9-]{0,39}"
MOST_COMMENT = 2000  # characters
GRACE = timedelta(hours=1)  # for answers that people are writing when a task is closed

Kind = Literal["plain", "known", "again"]
"""What a sheet is: a label, a test whose answer is known, or a second showing of a debate."""


class Terms(Value):
    """What a task asks for, as its maker writes it.

    `per_debate` labels are wanted for each debate, and `each` annotator fills in so many sheets (0:
    until none is left). `repeats` is the share of sheets that are second showings. `language` is
    that of the pages; empty: of each debate. `code` is shown at the end, and `parameter` is what a
    recruiting platform calls its participants' ids in a link. People of the platforms `sign_in` may
    join without a link. `about` is the operator's own text. `platform` and `community` are of the
    manager who made it; empty: the operator did.
    """

    name: str = Field(pattern=f"^{NAME}$")
    per_debate: int = Field(3, ge=1, le=1000)
    each: int = Field(0, ge=0, le=100_000)
    repeats: float = Field(0.1, ge=0, le=0.5)
    language: str = ""
    code: str = Field("", max_length=200)
    parameter: str = Field("", pattern=r"^[A-Za-z0-9_.-]{0,64}$")
    sign_in: tuple[str, ...] = ()
    about: str = Field("", max_length=20_000)
    disagreement: bool = False
    platform: str = ""
    community: str = ""


class Task(Terms):
    """A labelling task; `seed` fixes what is mixed in where, and `debates` counts its debates."""

    seed: str
    debates: int = 0
    created_at: datetime
    closed_at: datetime | None = None

    def takes_answers(self, now: datetime) -> bool:
        """Return whether sheets that were given out before the close may still be answered."""
        return self.closed_at is None or now < self.closed_at + GRACE


class Queued(NamedTuple):
    """A debate of a task, the lowest `rank` first; `known` is its answer where it is a test."""

    debate: str
    rank: int
    sides: str = "AB"
    known: str | None = None


class LabelLink(Value):
    """A link to a task; `personal`: for one person.

    It is "used" once as many people as it is for have joined by it.
    """

    state: Literal["open", "unknown", "expired", "used", "closed"]
    task: Task | None = None
    personal: bool = False


class Annotator(Value):
    """A person of a task; `key` names them in a session, `token` is the secret of their own link.

    `number` is their user id on `platform`, with which they can be forgotten.
    """

    key: str
    task: str
    number: str
    platform: str
    token: str = Field(repr=False)


class Joined(Value):
    """What became of somebody who wants to join."""

    outcome: Literal[
        "joined", "again", "unasked", "unknown", "expired", "used", "closed", "forgotten"
    ]
    annotator: Annotator | None = None


class Filled(Value):
    """An answer to a sheet; `option` is a side, "tie" or "weak".

    `thumbs` says of turns whether they are good, by step; `seconds` were spent on the page, and
    `fast` says that no one can have read the debate in them. `changes` counts how often it was
    replaced.
    """

    option: str
    confidence: str = ""
    ground: str = ""
    comment: str = ""
    thumbs: Mapping[str, bool] = {}
    seconds: float
    fast: bool = False
    changes: int = 0

    def says_the_same(self, other: Filled) -> bool:
        """Return whether another answer differs in nothing that a person said."""
        said = ("option", "confidence", "ground", "comment", "thumbs")
        return all(getattr(self, name) == getattr(other, name) for name in said)


class Drawn(Value):
    """A sheet: a debate in an `order` of its sides, for one person, the `number`th of theirs.

    `known` is the answer of a test. `exposed`: its person may have seen the models or the result.
    """

    id: str
    task: str
    debate: str
    person: int
    number: int
    kind: Kind
    order: str
    given_at: datetime
    answered_at: datetime | None = None
    changed_at: datetime | None = None
    exposed: bool = False
    known: str | None = None
    filled: Filled | None = None


class Course(NamedTuple):
    """Where an annotator stands: their `number`th sheet is next, and what it could be."""

    task: Task
    key: str
    number: int
    known: bool
    again: bool


Choose = Callable[[Course], Kind]
"""Decides what an annotator's next sheet is."""

SaveOutcome = Literal["stored", "same", "changed", "closed", "unknown"]
"""What became of an answer; "unknown": no such sheet of one who is known."""


class LabellingStore(Protocol):
    """Tasks, links, annotators and sheets.

    Links and people's own links are stored as digests, or not at all.
    """

    async def add(self, task: Task, queue: Sequence[Queued]) -> Task:
        """Store a task with its debates. Raises UsageError if there is one of that name."""

    async def tasks(self) -> tuple[Task, ...]:
        """Return every task, the newest first."""

    async def task(self, name: str) -> Task | None:
        """Return a task."""

    async def queue(self, name: str) -> tuple[Queued, ...]:
        """Return the debates of a task."""

    async def close(self, name: str, now: datetime) -> Task:
        """Take no more answers; a task that is closed stays so. Raises NotFoundError."""

    async def invite(
        self, name: str, tokens: Sequence[str], people: int, until: datetime, now: datetime
    ) -> None:
        """Store links for so many people each. Raises NotFoundError."""

    async def link(self, token: str, now: datetime) -> LabelLink:
        """Return what a link is good for now."""

    async def join(self, token: str, claim: str, user: str, now: datetime) -> Joined:
        """Let somebody join by a link; the same `claim` or `user` again is the same person.

        Without a `user` a new one is made up.
        """

    async def enter(
        self, name: str, platform: str, user: str, token: str, now: datetime, *, agreed: bool
    ) -> Joined:
        """Let a platform's user join; one who is new needs a link, or a task that is for them.

        Until they have `agreed` nothing is stored of one who is new: `unasked`.
        """

    async def annotator(self, key: str) -> Annotator | None:
        """Return an annotator, None for one who is not, or was forgotten."""

    async def come_back(self, token: str) -> Annotator | None:
        """Return whose own link this is."""

    async def draw(self, key: str, choose: Choose, now: datetime) -> Drawn | None:
        """Return the annotator's open sheet, else a new one; None when nothing is left.

        Of the debates that they know nothing of, one with the fewest labels. At once.
        """

    async def left(self, key: str, now: datetime) -> bool:
        """Return whether a new sheet could be drawn for an annotator now."""

    async def sheet(self, key: str, sheet: str) -> Drawn | None:
        """Return one of an annotator's own sheets."""

    async def sheets(self, key: str) -> tuple[Drawn, ...]:
        """Return an annotator's own sheets, in order."""

    async def fill(self, key: str, sheet: str, filled: Filled, now: datetime) -> SaveOutcome:
        """Keep the answer to a sheet, in place of an earlier one, and its vote; at once.

        A test or a second showing is no vote.
        """

    async def saw(self, key: str, debates: Collection[str], now: datetime) -> None:
        """Note that an annotator may know these debates' models or results from now on."""

    async def work(self, name: str) -> tuple[Drawn, ...]:
        """Return every sheet of a task, by person and number."""
