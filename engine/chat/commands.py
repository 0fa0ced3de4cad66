"""The commands of a chat: one entry each, with its words, its arguments, who may use it, its work.

Every platform gives them as engine/chat/invocation.py and shows what they answer. They raise
RostrumError, whose text is for the person who asked.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, TypeVar

from engine.answers.answers import Answer
from engine.answers.catalogue import HelpAnswer, HelpLine
from engine.chat import choices, lifecycle, own_data, revealed
from engine.chat.command_line import (
    Word,
    read_debate,
    read_forget,
    read_help,
    read_nothing,
    read_review,
    read_settings,
    read_start,
    split_words,
)
from engine.chat.context import Context
from engine.chat.invocation import Arguments, HelpArguments, Invocation
from engine.chat.permission import EVERYONE, STARTER, Who, check, managers
from engine.chat.person import Person
from engine.chat.review import review
from engine.chat.settings import show_settings
from engine.debate import BallotKind
from engine.errors import UsageError
from engine.options import nearest
from engine.text import clean, headline

A = TypeVar("A", bound=Arguments)
BALLOTS = "open|secret|private"


class Takes(NamedTuple, Generic[A]):
    """The arguments that a command takes: as its help shows them, and how they are read."""

    shown: str
    read: Callable[[Sequence[Word]], A]


class Command(NamedTuple, Generic[A]):
    """A command: what it takes, what help says `about` it, how it runs, and who may use it."""

    name: str
    takes: Takes[A]
    about: str
    run: Callable[[Context, Person, A], Awaitable[Answer]]
    who: Who = EVERYONE

    def usage(self, *, hides: bool = True) -> str:
        """Return how it is written; unless a ballot can be secret here, without that."""
        usage = f"{self.name} {self.takes.shown}".rstrip()
        return usage if hides else usage.replace(BALLOTS, BALLOTS.replace("|secret", ""))


async def help_on(context: Context, person: Person, asked: HelpArguments) -> HelpAnswer:
    """Say how commands are written. Raises UsageError for one that does not exist."""
    hides = not person.ground.no_removal
    name = asked.command and asked.command.strip().casefold().rsplit("/", 1)[-1]
    if not name:
        return HelpAnswer(commands=tuple(_line(c.name, c) for c in COMMANDS.values()))
    if name not in COMMANDS:
        close = nearest(name, COMMANDS)
        hint = f"did you mean {close}?" if close else f"there are {', '.join(COMMANDS)}."
        raise UsageError(f"There is no command “{headline(clean(name), 40)}”; {hint}")
    command = COMMANDS[name]
    return HelpAnswer(command=name, commands=(_line(command.usage(hides=hides), command),))


def _line(written: str, command: Command[Any]) -> HelpLine:
    return HelpLine(written=written, about=f"{command.about}{command.who.note}")


NOTHING = Takes("", read_nothing)
DEBATE = Takes("[debate]", read_debate)
START = Takes(
    '"topic" [conditions="…"] [format=classic] [a=backend/model] [b=backend/model] '
    "[jurors=backend/model,…] [language=en] [rounds=1] [vote=30m] "
    f"[ballot={BALLOTS}] [scores=after_vote|live] "
    "[turn_order=sequential|simultaneous] [blind=on|off] [stance=on|off] [mirror=on|off] "
    "[an option of the format=…]",
    read_start,
)
SETTINGS = Takes("[name=value …]", read_settings)
REVIEW = Takes("[debate] [A|B|…|tie|weak|none]", read_review)
FORGET = Takes("[confirm=yes]", read_forget)
HELP = Takes("[command]", read_help)

_COMMANDS = (
    Command(
        "start", START, "starts a debate; models left out are drawn at random", lifecycle.start
    ),
    Command("cancel", DEBATE, "stops a debate", lifecycle.cancel, STARTER),
    Command(
        "close", DEBATE, "closes a vote early", lifecycle.close, managers("close a vote early")
    ),
    Command("status", DEBATE, "says how far a debate is", lifecycle.status),
    Command("result", DEBATE, "shows how a debate ended", lifecycle.result),
    Command("list", NOTHING, "lists the debates held here", lifecycle.newest),
    Command("models", NOTHING, "lists the models that may debate and judge here", choices.models),
    Command("topics", NOTHING, "lists topics to start with", choices.topics),
    Command("formats", NOTHING, "lists the formats", choices.formats),
    Command(
        "settings",
        SETTINGS,
        "shows or changes what applies here",
        show_settings,
        managers("see or change the settings"),
    ),
    Command(
        "export",
        NOTHING,
        "hands over the data of the revealed debates held here",
        revealed.export,
        managers("export what was held here"),
    ),
    Command("agreement", NOTHING, "says how far jury and people agree here", revealed.agreement),
    Command(
        "leaderboard",
        NOTHING,
        "shows how people and jury rate the models here",
        revealed.leaderboard,
    ),
    Command(
        "review",
        REVIEW,
        "offers revealed debates whose outcome is unclear, to say who debated better",
        review,
    ),
    Command("privacy", NOTHING, "says what is stored of you", own_data.privacy),
    Command("forget", FORGET, "has you forgotten, at once and for good", own_data.forget),
    Command("optout", NOTHING, "leaves you out of exports", own_data.opt_out),
    Command(
        "optin",
        NOTHING,
        "undoes that, or brings you back after you were forgotten",
        own_data.opt_in,
    ),
    Command("help", HELP, "shows this", help_on),
)
COMMANDS: Mapping[str, Command[Any]] = {command.name: command for command in _COMMANDS}


@dataclass(slots=True)
class Commands(Context):
    """What a chat may ask for."""

    async def run(self, person: Person, asked: Invocation) -> Answer:
        """Carry out a command, if the person may use it."""
        command = COMMANDS[asked.name]
        await check(command.who, self.store, person)
        return await command.run(self, person, asked.arguments)

    async def joined(self, platform: str, community: str) -> None:
        """Note that a community has Rostrum."""
        await self.store.communities.joined(platform, community, self.service.clock.now())

    async def left(self, platform: str, community: str) -> None:
        """Note that a community removed Rostrum; its settings are deleted."""
        await self.store.communities.left(platform, community, self.service.clock.now())

    async def communities(self, platform: str) -> frozenset[str]:
        """Return a platform's communities that have Rostrum, as far as is known."""
        return await self.store.communities.known(platform)


# --- commands as text --------------------------------------------------------------------


def parse_command(text: str, prefix: str = "/debate", *, hides: bool = True) -> Invocation:
    """Read what follows the name of the slash command, which is `prefix`.

    `hides` says whether a ballot can be secret where this is read.

    Raises UsageError that says what is wrong, and how that command is written.
    """
    said = clean(text).strip()
    if not said:
        return Invocation("help", HelpArguments())
    typed = said.split(maxsplit=1)[0]
    name = typed.casefold()
    if name not in COMMANDS:
        close = nearest(name, COMMANDS)
        hint = f" did you mean {close}?" if close else ""
        raise UsageError(f"There is no command “{headline(name, 40)}”;{hint} see {prefix} help.")
    try:
        return Invocation(name, COMMANDS[name].takes.read(split_words(said[len(typed) :])))
    except UsageError as error:
        raise with_usage(error, name, prefix, hides=hides) from None


def with_usage(
    error: UsageError, name: str, prefix: str = "/debate", *, hides: bool = True
) -> UsageError:
    """Return an error that also says how the command of that name is written."""
    said = str(error) if hides else _without_secret(str(error))
    return UsageError(f"{said} Write it as: {prefix} {COMMANDS[name].usage(hides=hides)}")


def _without_secret(said: str) -> str:
    """Leave out, of what a ballot may be, what it cannot be here."""
    secret = BallotKind.SECRET
    return said.replace(f" did you mean {secret}?", "").replace(f" or {secret} or ", " or ")
