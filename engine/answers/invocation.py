"""Chat commands as values, and how each is written where commands are text.

A platform whose commands are typed makes these values itself; one that has only text has them
read by engine/chat/command_line.py.
"""

from __future__ import annotations

from collections.abc import Mapping

from engine.debate import BallotKind, Scores, TurnOrder, Value


class StartCommand(Value):
    """Start a debate; None and empty are “the default, or drawn”.

    `sides` maps a contender or a seat (`A1`) to a model as people write it; `jurors` and
    `judges`, a format's own, likewise. `options` are the format's, as text.
    """

    topic: str | None = None
    conditions: str | None = None
    format: str | None = None
    sides: Mapping[str, str] = {}
    jurors: tuple[str, ...] = ()
    judges: tuple[str, ...] = ()
    options: Mapping[str, str] = {}
    language: str | None = None
    rounds: int | None = None
    vote_minutes: float | None = None
    ballot: BallotKind | None = None
    scores: Scores | None = None
    turn_order: TurnOrder | None = None
    blind: bool | None = None
    stance: bool | None = None
    mirror: bool | None = None


class CancelCommand(Value):
    """Stop a debate; None is the one that runs here."""

    debate: str | None = None


class CloseCommand(Value):
    """Close a vote early; None is the one that is open here."""

    debate: str | None = None


class StatusCommand(Value):
    """Ask how far a debate is; None is the newest here."""

    debate: str | None = None


class ResultCommand(Value):
    """Ask how a debate ended; None is the newest here."""

    debate: str | None = None


class ListCommand(Value):
    """List the community's debates."""


class ModelsCommand(Value):
    """List the models that may debate and judge here."""


class TopicsCommand(Value):
    """List the built-in topics."""


class FormatsCommand(Value):
    """List the formats."""


class SettingsCommand(Value):
    """Read the community's settings, or change some: name to new value as text."""

    changes: Mapping[str, str] = {}


class ExportCommand(Value):
    """Export the community's revealed debates."""


class AgreementCommand(Value):
    """Ask how far jury and people agree here."""


class LeaderboardCommand(Value):
    """Ask how the models are rated here."""


class ReviewCommand(Value):
    """Ask which revealed debates want more answers, or answer one.

    `vote` is an option of its ballot, or "none" to take an answer back.
    """

    debate: str | None = None
    vote: str | None = None


class PrivacyCommand(Value):
    """Ask what is stored of oneself."""


class ForgetCommand(Value):
    """Have oneself forgotten; unless it is confirmed, only ask what that means."""

    confirm: bool = False


class OptOutCommand(Value):
    """Be left out of exports."""


class OptInCommand(Value):
    """Be in exports again, or come back after one was forgotten."""


class HelpCommand(Value):
    """Ask how commands are written; None is all of them."""

    command: str | None = None


Command = (
    StartCommand
    | CancelCommand
    | CloseCommand
    | StatusCommand
    | ResultCommand
    | ListCommand
    | ModelsCommand
    | TopicsCommand
    | FormatsCommand
    | SettingsCommand
    | ExportCommand
    | AgreementCommand
    | LeaderboardCommand
    | ReviewCommand
    | PrivacyCommand
    | ForgetCommand
    | OptOutCommand
    | OptInCommand
    | HelpCommand
)

BALLOTS = "open|secret|private"

USAGES: Mapping[str, str] = {
    "start": 'start "topic" [conditions="…"] [format=classic] [a=backend/model] [b=backend/model] '
    "[jurors=backend/model,…] [language=en] [rounds=1] [vote=30m] "
    f"[ballot={BALLOTS}] [scores=after_vote|live] "
    "[turn_order=sequential|simultaneous] [blind=on|off] [stance=on|off] [mirror=on|off] "
    "[an option of the format=…]",
    "cancel": "cancel [debate]",
    "close": "close [debate]",
    "status": "status [debate]",
    "result": "result [debate]",
    "list": "list",
    "models": "models",
    "topics": "topics",
    "formats": "formats",
    "settings": "settings [name=value …]",
    "export": "export",
    "agreement": "agreement",
    "leaderboard": "leaderboard",
    "review": "review [debate] [A|B|…|tie|weak|none]",
    "privacy": "privacy",
    "forget": "forget [confirm=yes]",
    "optout": "optout",
    "optin": "optin",
    "help": "help [command]",
}


def usage_of(name: str, *, hides: bool = True) -> str:
    """Return how a command is written; unless a ballot can be secret here, without that."""
    usage = USAGES[name]
    return usage if hides else usage.replace(BALLOTS, BALLOTS.replace("|secret", ""))
