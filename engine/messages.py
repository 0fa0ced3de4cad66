"""What Rostrum says in a thread, as semantic values; only an adapter knows how each looks.

A message is written to the outbox as JSON, rendered once by the venue that delivers it, and
never changed after that. Texts of models and of people are Markdown, and are data: an adapter
escapes whatever its platform would act on.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, TypeAdapter

from engine.debate import Estimate, Tally, Value, Verdict, Violation


class Announcement(Value):
    """Posted in the channel; the debate's thread hangs on it. Never names a model."""

    kind: Literal["announcement"] = "announcement"
    code: str
    topic: str
    conditions: str = ""
    format: str
    language: str
    rounds: tuple[str, ...]
    contenders: tuple[str, ...]
    jurors: int
    blind: bool = True
    vote_minutes: float
    estimate: Estimate


class TurnPost(Value):
    """One turn; `number` of `total` turns, `limit` in words (0: none)."""

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


class VoteInvite(Value):
    """Asks people to vote; the venue seeds one reaction an option."""

    kind: Literal["vote_invite"] = "vote_invite"
    options: tuple[str, ...]
    minutes: float
    quorum: int


class VoteClosed(Value):
    """Replaces the invitation when the vote has closed."""

    kind: Literal["vote_closed"] = "vote_closed"
    options: tuple[str, ...]
    votes: int
    early: bool = False


class JurorLine(Value):
    """One ballot as the reveal lists it; `verdict` is None for an invalid one."""

    juror: str
    verdict: str | None
    order: tuple[str, ...]
    problem: str = ""
    contradictory: bool = False


class Reveal(Value):
    """Names the models and opens both judgments, people's and the panel's.

    `agree` is None unless both the people and the panel decided.
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


class Notice(Value):
    """A sentence to the thread: the vote was extended, the debate ended early."""

    kind: Literal["notice"] = "notice"
    level: Literal["info", "warning", "error"] = "info"
    text: str


Message = Annotated[
    Announcement | TurnPost | VoteInvite | VoteClosed | Reveal | Notice,
    Field(discriminator="kind"),
]

MESSAGE: TypeAdapter[Message] = TypeAdapter(Message)
