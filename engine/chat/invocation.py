"""A command as a person gave it: its name and its arguments, frozen.

Discord's typed options and Slack's text become the same values; what each name means is in
engine/chat/commands.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple

from engine.values.debate import Value
from engine.values.options import Options
from engine.values.sources import SourceFile
from engine.values.verdicts import Question


class Arguments(Value):
    """The arguments of a command, here none."""

    @property
    def look_up(self) -> bool:
        """Whether a command with these looks up much, if it may (`reads_much`)."""
        return True


class DebateArgument(Arguments):
    """A debate's code; None means the one in this channel or thread."""

    debate: str | None = None


class StartArguments(Arguments, Options):
    """A debate to start; omitted values are defaults, or drawn at random.

    `sides` maps a contender or a seat (`A1`) to a model's name as typed; `jurors` and `judges`
    (the format's own) are names as typed too. `sources` are files that every side reads.
    """

    sides: Mapping[str, str] = {}
    jurors: tuple[str, ...] = ()
    judges: tuple[str, ...] = ()
    sources: tuple[SourceFile, ...] = ()


class SettingsArguments(Arguments):
    """The settings to change, name to new value as text; empty to show them all."""

    changes: Mapping[str, str] = {}


class ReviewArguments(Arguments):
    """A revealed debate and an answer; None lists debates to review.

    `vote` is an option of the ballot, or "none" to withdraw an answer.
    """

    debate: str | None = None
    vote: str | None = None

    @property
    def look_up(self) -> bool:
        return self.debate is None


class ResultArguments(DebateArgument):
    """Which debate, and which part of its result: what jurors wrote, the numbers, or all of it."""

    part: Literal["", "why", "details"] = ""


class DeleteArguments(DebateArgument):
    """Which debate to delete, whether with its mirror, and whether that is confirmed."""

    mirror: bool = False
    confirm: bool = False


class SuggestArguments(Arguments):
    """A topic to suggest."""

    topic: str


class TopicsArguments(Arguments):
    """What to do with a suggested topic, by its number; without an action all are listed."""

    action: Literal["", "upvote", "approve", "remove"] = ""
    number: int = 0

    @property
    def look_up(self) -> bool:
        return not self.action


class FormArguments(Arguments):
    """What somebody wrote in a form below a debate: a question, a question's number, a turn, or
    how sure they are of their vote; or whether they `accept` or `decline` to argue a side."""

    debate: str
    text: str = ""


class RemarkArguments(Arguments):
    """What a voter adds to their vote: an answer to a question, or a look at what can be said.

    Of a guess, `side` is the one whose model `option` is, by its number on the menu. `page` is that
    of the menus to show.
    """

    debate: str
    question: Question | None = None
    option: str = ""
    side: str = ""
    page: int = 0


class RematchArguments(DebateArgument):
    """Which debate to hold once more, and whether its models swap sides."""

    swap: bool = False


class MeArguments(Arguments):
    """Whether to be named among those who guess models; None leaves it as it is."""

    scoreboard: bool | None = None


class ForgetArguments(Arguments):
    """Whether to go ahead; otherwise the answer only explains."""

    confirm: bool = False


class LeagueArguments(Arguments):
    """What to do with a league, and how it is to be played; None means the default.

    `every` is in minutes, and `at` a time of day with a time zone, as a series' file has it.
    """

    action: str = "standing"
    system: str | None = None
    decided: str | None = None
    every: str | None = None
    at: str | None = None
    rounds: int | None = None
    quorum: int | None = None
    format: str | None = None

    @property
    def look_up(self) -> bool:
        return self.action == "standing"


class ScheduleArguments(StartArguments):
    """When to hold which debate again and again: empty to show that, `off` to end it."""

    when: str = ""


class HelpArguments(Arguments):
    """The command to explain; None means all."""

    command: str | None = None


class Invocation(NamedTuple):
    """A command's name and its arguments."""

    name: str
    arguments: Arguments = Arguments()


def pressed_invocation(  # noqa: C901 - one case a kind of button
    button: str, debate: str, chosen: str | None = None
) -> Invocation | None:
    """Return the command behind a button or menu; None for a vote button.

    `debate` is the code of its debate, or the number of its topic.
    `chosen` is the selection from a menu.
    """
    match button:
        case "stop":
            return Invocation("cancel", DebateArgument(debate=debate))
        case "status":
            return Invocation("status", DebateArgument(debate=debate))
        case "why" | "details":
            return Invocation("result", ResultArguments(debate=debate, part=button))
        case "delete" | "delete_both":
            both = button == "delete_both"
            return Invocation("delete", DeleteArguments(debate=debate, mirror=both, confirm=True))
        case "upvote" | "approve" | "remove" if debate.isdecimal():
            return Invocation("topics", TopicsArguments(action=button, number=int(debate)))
        case "remark":
            return Invocation("remark", RemarkArguments(debate=debate))
        case "ground" | "clear" | "guess" | "page":
            return Invocation("remark", _read_remark(button, debate, chosen))
        case "rematch" | "swap":
            return Invocation("rematch", RematchArguments(debate=debate, swap=button == "swap"))
        case "accept" | "decline":
            return Invocation("consent", FormArguments(debate=debate, text=button))
        case "done":
            return Invocation("done", DebateArgument(debate=debate))
        case "review":
            return Invocation("review", ReviewArguments(debate=debate, vote=chosen))
    return None


def home_invocation(button: str) -> Invocation | None:
    """Return the command behind a button of the app's own page; it has asked whether to forget."""
    if button == "forget":
        return Invocation("forget", ForgetArguments(confirm=True))
    if button == "me":
        return Invocation("me", MeArguments())
    return Invocation(button) if button in ("mydata", "optin", "optout") else None


def submitted_invocation(form: str, of: str, typed: Mapping[str, str]) -> Invocation | None:
    """Return the command behind a form that a button opened; None for an unknown one."""
    debate = of.partition(".")[0]
    match form:
        case "ask":
            return Invocation("ask", FormArguments(debate=debate, **typed))
        case "unask":
            return Invocation("unask", FormArguments(debate=debate, text=typed.get("number", "")))
        case "write":
            return Invocation("write", FormArguments(debate=debate, **typed))
        case "sure":
            return Invocation("sure", FormArguments(debate=debate, text=typed.get("percent", "")))
    return None


def _read_remark(button: str, target: str, chosen: str | None) -> RemarkArguments:
    code, _, of = target.partition("/")
    match button:
        case "guess":
            guessed = {"side": of, "option": chosen or ""}
            return RemarkArguments(debate=code, question=Question.GUESS, **guessed)
        case "page":
            return RemarkArguments(debate=code, page=int(of) if of.isdecimal() else 0)
    question = Question.GROUND if button == "ground" else Question.CONFIDENCE
    return RemarkArguments(debate=code, question=question, option=of)
