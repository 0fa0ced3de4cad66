"""The chat commands, one entry each: name, arguments, help text, permission and handler.

Platforms pass an Invocation (engine/chat/invocation.py) and show the answer. Handlers raise
RostrumError, whose message is for the person who asked.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from engine.chat import choices, leagues, lifecycle, parameters, participants, records, schedules
from engine.chat.answers import Answer
from engine.chat.answers.catalogue import HelpAnswer
from engine.chat.context import (
    DELETERS,
    EVERYONE,
    LEAGUE_STARTERS,
    LISTERS,
    SCHEDULERS,
    STARTER,
    Context,
    Requester,
    Who,
    check,
    managers,
)
from engine.chat.invocation import (
    ALIASES,
    Invocation,
    Word,
    read_league,
    read_named,
    read_schedule,
    read_settings,
    read_start,
    read_suggest,
    read_topics,
    split_words,
    suggest,
)
from engine.chat.participants import remark, review
from engine.chat.settings import show_settings
from engine.run.order import check_allowed
from engine.values.debate import BallotKind
from engine.values.errors import RostrumError, UsageError
from engine.values.language import N_, Text
from engine.values.options import Param, hint
from engine.values.text import clean, headline

LONGEST_USAGE = 100  # characters, beside what is wrong


class Command(NamedTuple):
    """A command: its help text (`about`), its handler, what it takes and who may use it.

    `read` makes its arguments of text that is more than `params` by their names. One that
    `reads_much`, maybe only with some arguments, can be used only so often by each person.
    """

    name: str
    about: str
    run: Callable[..., Awaitable[Answer]]
    params: Sequence[Param] = ()
    who: Who = EVERYONE
    reads_much: Callable[[Mapping[str, Any]], bool] | bool = False
    read: Callable[[Sequence[Word]], dict[str, Any]] | None = None

    def usage(self, *, hides: bool = True) -> str:
        """Return the usage line, without secret ballots where the platform has none (`hides`)."""
        return " ".join(
            filter(None, (self.name, *(_written(param, hides=hides) for param in self.params)))
        )

    def parse(self, words: Sequence[Word]) -> dict[str, Any]:
        """Return the arguments that words make. Raises UsageError."""
        return self.read(words) if self.read else read_named(self.params, words)


def _written(param: Param, *, hides: bool) -> str:
    """Return how a usage has a parameter; `hides`: votes can be secret."""
    if param.usage is not None:
        return param.usage
    if param.leads:
        return f"[{param.name}]"
    words = param.kind if isinstance(param.kind, tuple) else ("on", "off")
    shown = [word for word in words if hides or word != BallotKind.SECRET]
    return f"[{param.said}={'|'.join(shown)}]"


async def help_on(context: Context, person: Requester, command: str | None = None) -> HelpAnswer:
    """List the commands, or explain one. Raises UsageError for an unknown one."""
    hides = not person.capabilities.no_removal
    name = command and command.strip().casefold().rsplit("/", 1)[-1]
    if not name:
        lines = tuple((c.name, c.about, c.who.note) for c in COMMANDS.values())
        formats = await choices.format_lines(context, person)
        return HelpAnswer(commands=lines, formats=formats)
    if name not in COMMANDS:
        raise UsageError(
            "Unknown command “{command}”; {near}",
            command=headline(clean(name), 40),
            near=suggest(name, COMMANDS, listed_by="help"),
        )
    found = COMMANDS[name]
    line = (found.usage(hides=hides), found.about, found.who.note)
    return HelpAnswer(command=name, commands=(line,))


_COMMANDS = (
    Command(
        "start",
        N_("starts a debate; unnamed models are drawn at random"),
        lifecycle.start,
        parameters.START,
        read=lambda words: {"asked": read_start(words)},
    ),
    Command(
        "rematch",
        N_("holds a debate once more with the same models, their sides drawn again or swapped"),
        lifecycle.rematch,
        parameters.REMATCH,
    ),
    Command(
        "cancel",
        N_("stops a debate"),
        lifecycle.cancel,
        parameters.DEBATE,
        STARTER,
    ),
    Command(
        "close",
        N_("closes a vote early"),
        lifecycle.close,
        parameters.DEBATE,
        managers(N_("close a vote early")),
    ),
    Command(
        "delete",
        N_("takes a debate out of the chat and the record"),
        records.delete,
        parameters.DELETE,
        DELETERS,
    ),
    Command(
        "status",
        N_("shows a debate's progress"),
        lifecycle.status,
        parameters.DEBATE,
    ),
    Command(
        "result",
        N_("shows a debate's result"),
        lifecycle.result,
        parameters.DEBATE,
    ),
    Command(
        "list",
        N_("lists the debates here"),
        lifecycle.newest,
        reads_much=True,
    ),
    Command(
        "models",
        N_("lists the models that can debate and judge here"),
        choices.models,
    ),
    Command(
        "topics",
        N_("lists the topics that people here suggested, and ideas"),
        choices.topics,
        parameters.TOPICS,
        LISTERS,
        reads_much=lambda given: not given.get("action"),
        read=read_topics,
    ),
    Command(
        "suggest",
        N_("suggests a topic for a debate here"),
        choices.suggest,
        parameters.SUGGEST,
        read=read_suggest,
    ),
    Command(
        "formats",
        N_("lists the formats"),
        choices.formats,
    ),
    Command(
        "settings",
        N_("shows or changes the settings"),
        show_settings,
        parameters.SETTINGS,
        managers(N_("see or change the settings")),
        read=read_settings,
    ),
    Command(
        "export",
        N_("exports the data of the revealed debates"),
        records.export,
        who=managers(N_("export debates")),
        reads_much=True,
    ),
    Command(
        "agreement",
        N_("shows how far jury and people agree"),
        records.agreement,
        reads_much=True,
    ),
    Command(
        "leaderboard",
        N_("shows how people and jury rate the models, and who guesses them best"),
        records.leaderboard,
        reads_much=True,
    ),
    Command(
        "league",
        N_("holds a league among the models here, and shows its standing"),
        leagues.league,
        parameters.LEAGUE,
        LEAGUE_STARTERS,
        reads_much=lambda given: given.get("action", "standing") == "standing",
        read=read_league,
    ),
    Command(
        "schedule",
        N_("holds debates at set times, on the topics that people want most"),
        schedules.schedule,
        parameters.SCHEDULE,
        SCHEDULERS,
        read=read_schedule,
    ),
    Command(
        "review",
        N_("lets you review debates whose winner is unclear"),
        review,
        parameters.REVIEW,
        reads_much=lambda given: given.get("debate") is None,
    ),
    Command(
        "me",
        N_("shows how your votes compare, to you alone"),
        records.me,
        parameters.ME,
        reads_much=True,
    ),
    Command(
        "privacy",
        N_("shows what is stored about you"),
        records.privacy,
        reads_much=True,
    ),
    Command(
        "mydata",
        N_("sends you everything stored about you"),
        records.my_data,
        reads_much=True,
    ),
    Command(
        "forget",
        N_("erases your identity, at once and for good"),
        records.forget,
        parameters.FORGET,
    ),
    Command(
        "optout",
        N_("leaves you out of exports"),
        records.opt_out,
    ),
    Command(
        "optin",
        N_("undoes that, or brings you back after being forgotten"),
        records.opt_in,
    ),
    Command(
        "help",
        N_("shows this"),
        help_on,
        parameters.HELP,
    ),
)
COMMANDS: Mapping[str, Command] = {command.name: command for command in _COMMANDS}
FORMS: Mapping[str, Callable[..., Awaitable[Answer]]] = {
    "ask": participants.ask_sides,
    "unask": participants.take_back,
    "consent": participants.consent,
    "write": participants.give_turn,
    "sure": participants.say_sure,
    "done": participants.finish_turn,
    "remark": remark,
}
"""What only forms, buttons and menus ask for; no one types it."""
OWN_DATA = frozenset({"privacy", "mydata", "forget", "optout", "optin"})


@dataclass(slots=True)
class Commands(Context):
    """The entry points for chat platforms."""

    def check_database(self) -> None:
        """Raise RostrumError while the database is away; ask before anything that reads or writes.

        Otherwise the person waits for as long as it is, and then what they asked for twice is done
        twice.
        """
        if self.store.away:
            raise RostrumError(N_("The database is away; try again in a minute."))

    async def run(self, person: Requester, asked: Invocation) -> Answer:
        """Run a command, if the person may use it and their community is served.

        What is stored of a person is theirs also where the operator serves no one any more.
        """
        if asked.name not in OWN_DATA:
            check_allowed(self.defaults, person.platform, person.community)
        if asked.name in FORMS:
            return await FORMS[asked.name](self, person, **asked.arguments)
        command = COMMANDS[asked.name]
        await check(command.who, self.store, person)
        much = command.reads_much
        if much(asked.arguments) if callable(much) else much:
            self.cooldown.check((person.platform, person.user), self.service.clock.now())
        return await command.run(self, person, **asked.arguments)

    async def joined(self, platform: str, community: str) -> None:
        """Record that a community installed Rostrum."""
        await self.store.communities.joined(platform, community, self.service.clock.now())

    async def left(self, platform: str, community: str) -> None:
        """Record that a community removed Rostrum; deletes its settings."""
        await self.store.communities.left(platform, community, self.service.clock.now())

    async def communities(self, platform: str) -> frozenset[str]:
        """Return a platform's communities that are known to have Rostrum."""
        return await self.store.communities.known(platform)


# --- commands as text --------------------------------------------------------------------


def parse_command(text: str, prefix: str = "/debate", *, hides: bool = True) -> Invocation:
    """Parse the text after the slash command (`prefix`).

    `hides`: the platform supports secret ballots.

    Raises UsageError with the problem and the usage of the command.
    """
    said = clean(text).strip()
    if not said:
        return Invocation("help")
    typed = said.split(maxsplit=1)[0]
    name = typed.casefold()
    if name not in COMMANDS:
        close, see = hint(name, COMMANDS), Text("see {prefix} help.", prefix=prefix)
        raise UsageError(
            "Unknown command “{command}”; {near}",
            command=headline(name, 40),
            near=Text("{close} {see}", close=close, see=see) if close else see,
        )
    try:
        return Invocation(name, COMMANDS[name].parse(split_words(said[len(typed) :])))
    except UsageError as error:
        raise with_usage(error, name, prefix, hides=hides) from None


def with_usage(
    error: UsageError, name: str, prefix: str = "/debate", *, hides: bool = True
) -> UsageError:
    """Return the error with how the option that it names is written, or else the command.

    A usage of more than a line is left to the command's help.
    """
    problem = error.text if hides else _without_secret(error.text)
    usage = COMMANDS[name].usage(hides=hides)
    option = next((found for one in _named(error) if (found := written_option(usage, one))), "")
    if not option and len(usage) > LONGEST_USAGE:
        return UsageError(
            "{problem} All its options: {prefix} help {name}",
            problem=problem,
            prefix=prefix,
            name=name,
        )
    return UsageError(
        "{problem} Usage: {usage}", problem=problem, usage=option or f"{prefix} {usage}"
    )


def _named(error: UsageError) -> Iterator[str]:
    """Yield what may be the option that an error is about, as it is typed."""
    values = error.text.values if isinstance(error.text, Text) else {}
    for value in (values.get("spelled"), values.get("name"), values.get("option")):
        if isinstance(value, str):
            yield from (value, *(short for short, name in ALIASES.items() if name == value))


def written_option(usage: str, name: str) -> str:
    """Return how a usage writes an option, such as `vote=30m`; empty where it has none."""
    found = re.search(rf"\[({re.escape(name)}=[^\]]*)]", usage)
    return found[1] if found else ""


def _without_secret(said: str) -> str:
    """Remove secret ballots from a message, for platforms without them."""
    known = said.values.get("known") if isinstance(said, Text) else None
    if not isinstance(said, Text) or not isinstance(known, tuple):
        return said
    kept = tuple(word for word in known if word != BallotKind.SECRET)
    hinted = BallotKind.SECRET in str(said.values.get("near"))
    template = said.template.replace(" {near}", "") if hinted else said.template
    return Text(template, **{**said.values, "known": kept})
