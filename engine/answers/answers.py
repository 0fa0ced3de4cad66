"""What a chat command answers, as frozen values; engine/answers/replies.py puts them into words."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Literal

from engine.debate import Debate, Estimate, Status, Value
from engine.messages import Reveal, Where
from engine.stats.agreement import Agreement
from engine.stats.ratings import Leaderboard
from engine.store import Traces
from engine.topics import Topic
from engine.votes.offers import Why


class DebateLine(Value):
    """What a channel may know of a debate at any time; `thread` is None until there is one."""

    id: str
    code: str
    topic: str
    format: str
    language: str
    status: Status
    place: str
    thread: str | None
    created_at: datetime
    vote_deadline: datetime | None

    @classmethod
    def of(cls, debate: Debate) -> DebateLine:
        """Take from a debate what gives nothing away."""
        return cls(
            id=debate.id,
            code=debate.code,
            topic=debate.request.topic,
            format=debate.request.format,
            language=debate.request.language,
            status=debate.status,
            place=debate.place,
            thread=debate.thread,
            created_at=debate.created_at,
            vote_deadline=debate.vote_deadline,
        )


class StartedAnswer(Value):
    """A debate is queued; `models` (by contender) and `jurors` are those that were asked for.

    `mirror` is its mirror's, where one was asked for; `estimate` is for both then.
    """

    debate: DebateLine
    mirror: DebateLine | None = None
    estimate: Estimate
    warnings: tuple[str, ...] = ()
    models: Mapping[str, str] = {}
    jurors: tuple[str, ...] = ()


class StoppedAnswer(Value):
    """A debate is asked to stop, or its vote was closed early; that on its `mirror` with it."""

    what: Literal["debate", "vote"]
    debate: DebateLine
    mirror: DebateLine | None = None


class StatusAnswer(Value):
    """How far a debate is: `turns` of `turns_total` are held, 0 where nobody knows yet.

    `why` says why it ended early, `revealed` where the models were named.
    `minutes_left` are those of an open vote; `mirror` is the debate whose vote closes with it.
    `gaps` counts what is missing in its thread, or may be.
    `waits` says what it waits for, if it does. `unread`: its vote closed without its reactions.
    """

    debate: DebateLine
    turns: int
    turns_total: int
    why: str = ""
    revealed: Where | None = None
    minutes_left: float | None = None
    mirror: DebateLine | None = None
    gaps: int = 0
    waits: str = ""
    unread: bool = False


class ResultAnswer(Value):
    """How a debate ended; `reveal` is None while nothing may be told."""

    debate: DebateLine
    reveal: Reveal | None
    minutes_left: float | None = None


class DebatesAnswer(Value):
    """The community's newest debates, newest first."""

    debates: tuple[DebateLine, ...]


class ModelsAnswer(Value):
    """The models that may debate here and those that judge, as `backend/name`."""

    models: tuple[str, ...]
    jurors: tuple[str, ...]


class TopicsAnswer(Value):
    """The built-in topics."""

    topics: tuple[Topic, ...]


class FormatLine(Value):
    """A format: its contenders unless its options say otherwise, and those options."""

    name: str
    contenders: tuple[str, ...]
    options: tuple[str, ...]


class FormatsAnswer(Value):
    """The formats."""

    formats: tuple[FormatLine, ...]


class SettingLine(Value):
    """A setting as it applies here; `own` when the community has set it itself.

    `value` is written as the setting takes it; empty: no list, no cap, nobody.
    """

    name: str
    value: str
    own: bool


class SettingsAnswer(Value):
    """Every setting of a community; `changed` names those that have just been changed."""

    settings: tuple[SettingLine, ...]
    changed: tuple[str, ...] = ()

    def without(self, names: Collection[str]) -> SettingsAnswer:
        """Return the same without settings that a platform has nothing for."""
        kept = tuple(line for line in self.settings if line.name not in names)
        return self.model_copy(update={"settings": kept})


class FileAnswer(Value):
    """A file to hand over, with how many debates are in it; `rehearsals` were left out."""

    name: str
    content: bytes
    debates: int
    rehearsals: int = 0


class NoFileAnswer(Value):
    """Why there is no file: no debate is revealed, or it has more `bytes` than `bytes_max`.

    `rehearsals` are debates of rehearsal models, which are left out.
    """

    community: str
    bytes: int
    bytes_max: int
    rehearsals: int = 0


class AgreementAnswer(Value):
    """How far jury and people agree, in the debates revealed in this community.

    `rehearsals` of them have rehearsal models, and are left out.
    """

    agreement: Agreement
    rehearsals: int = 0


class LeaderboardAnswer(Value):
    """How people and jury rate the models, in the debates revealed in this community.

    `rehearsals` of them have rehearsal models, and are left out.
    """

    leaderboard: Leaderboard
    rehearsals: int = 0


class ReviewLine(Value):
    """A revealed debate to answer by one of `options`, and why; None: it was asked for."""

    debate: DebateLine
    options: tuple[str, ...]
    why: Why | None = None


class ReviewAnswer(Value):
    """The revealed debates that want more answers; none that whoever asks has answered."""

    lines: tuple[ReviewLine, ...]


class RevisedAnswer(Value):
    """What somebody answered after the reveal is kept; None: it was taken back."""

    debate: DebateLine
    option: str | None


class HelpLine(Value):
    """A command as it is written, and what it does."""

    written: str
    about: str


class HelpAnswer(Value):
    """All commands by name, or with `command` that one as it is written in full."""

    commands: tuple[HelpLine, ...]
    command: str | None = None


class PrivacyAnswer(Value):
    """What is stored of people, and of the one who asks."""

    traces: Traces


class ForgottenAnswer(Value):
    """What forgetting would delete, or that it is done.

    `rest` says that an older state of the database is still read, and then overwritten.
    """

    done: bool
    traces: Traces
    rest: bool = False


class OptedAnswer(Value):
    """Whether somebody is in exports now; `back` when they came back after being forgotten."""

    out: bool
    forgotten: bool = False
    back: bool = False


Answer = (
    StartedAnswer
    | StoppedAnswer
    | StatusAnswer
    | ResultAnswer
    | DebatesAnswer
    | ModelsAnswer
    | TopicsAnswer
    | FormatsAnswer
    | SettingsAnswer
    | FileAnswer
    | NoFileAnswer
    | AgreementAnswer
    | LeaderboardAnswer
    | ReviewAnswer
    | RevisedAnswer
    | HelpAnswer
    | PrivacyAnswer
    | ForgottenAnswer
    | OptedAnswer
)
