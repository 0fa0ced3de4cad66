"""A command as a person gave it: its name and its arguments, frozen.

Discord's typed options and Slack's text become the same values; what each name means is in
engine/chat/commands.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from engine.debate import Value
from engine.options import Options


class Arguments(Value):
    """What was given with a command."""


class NoArguments(Arguments):
    """Nothing, as the command takes nothing."""


class DebateArgument(Arguments):
    """The code of a debate; None is the one that is meant here."""

    debate: str | None = None


class StartArguments(Arguments, Options):
    """What to debate; what is left out is the default, or drawn.

    `sides` maps a contender or a seat (`A1`) to a model as people write it; `jurors` and
    `judges`, a format's own, likewise.
    """

    sides: Mapping[str, str] = {}
    jurors: tuple[str, ...] = ()
    judges: tuple[str, ...] = ()


class SettingsArguments(Arguments):
    """The settings to change, name to new value as text; none to read them all."""

    changes: Mapping[str, str] = {}


class ReviewArguments(Arguments):
    """A revealed debate and the answer to it; None is a list of debates to answer.

    `vote` is an option of its ballot, or "none" to take an answer back.
    """

    debate: str | None = None
    vote: str | None = None


class ForgetArguments(Arguments):
    """Whether to do it; otherwise only say what it means."""

    confirm: bool = False


class HelpArguments(Arguments):
    """The command to explain; None is all of them."""

    command: str | None = None


class Invocation(NamedTuple):
    """A command's name, and what was given with it."""

    name: str
    arguments: Arguments = NoArguments()


def pressed_invocation(button: str, debate: str, chosen: str | None = None) -> Invocation | None:
    """Return the command that a button or menu of a debate stands for; None for a vote's.

    `chosen` is what was chosen from a menu.
    """
    match button:
        case "stop":
            return Invocation("cancel", DebateArgument(debate=debate))
        case "status":
            return Invocation("status", DebateArgument(debate=debate))
        case "review":
            return Invocation("review", ReviewArguments(debate=debate, vote=chosen))
    return None
