"""A person as a side: named in a command, asked whether they agree, and heard turn by turn."""

from __future__ import annotations

import re
from collections.abc import Mapping

from engine.chat.answers.guest import ConsentAnswer, TurnAnswer
from engine.chat.context import Context
from engine.chat.invocation import ConsentArguments, DebateArgument, TurnArguments
from engine.chat.lookup import find_named, find_only
from engine.chat.person import Person
from engine.line.intake import ME, ONLY_ONE, Invited
from engine.values.debate import Debate, Status
from engine.values.errors import UsageError
from engine.words.buttons import ButtonAction

_MENTION = re.compile(r"<@!?(\w{1,40})(?:\|[^<>]{0,100})?>")


def guest_among(sides: Mapping[str, str], asker: str) -> Invited | None:
    """Return the person whom a command names for a side, by a mention or as `me`.

    Raises UsageError for two of them.
    """
    found = [
        Invited(side=side.upper(), user=user)
        for side, text in sides.items()
        if (user := _user_in(text, asker))
    ]
    if len(found) > 1:
        raise UsageError(ONLY_ONE)
    return found[0] if found else None


def _user_in(text: str, asker: str) -> str:
    if text.strip().casefold() == ME:
        return asker
    mention = _MENTION.fullmatch(text.strip())
    return mention[1] if mention else ""


async def consent(context: Context, person: Person, asked: ConsentArguments) -> ConsentAnswer:
    """Take a person's answer to whether they argue a side."""
    debate = await find_named(context.store, person, asked.debate)
    await context.service.guests.answer(debate, person.user, accept=asked.accept)
    return ConsentAnswer(accepted=asked.accept)


async def check_form(context: Context, person: Person, pressed: ButtonAction) -> None:
    """Refuse a form to people who could not send it. Raises RostrumError."""
    if pressed.what == "write":
        debate = await find_named(context.store, person, pressed.of.partition(".")[0])
        await context.service.guests.check_turn(debate, person.user)


async def give_turn(context: Context, person: Person, asked: TurnArguments) -> TurnAnswer:
    """Take the turn that a person wrote in a form."""
    debate = await find_named(context.store, person, asked.debate)
    return TurnAnswer(words=await context.service.guests.give_turn(debate, person.user, asked.text))


async def finish_turn(context: Context, person: Person, asked: DebateArgument) -> TurnAnswer:
    """End a person's turn with what they wrote in the thread."""
    debate: Debate = await find_only(context.store, person, asked.debate, (Status.RUNNING,))
    return TurnAnswer(words=await context.service.guests.finish_turn(debate, person.user))
