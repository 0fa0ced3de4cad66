"""The audience's questions, as forms give them: asked, and taken back."""

from __future__ import annotations

from engine.chat.answers.asked import AskedAnswer, UnaskedAnswer
from engine.chat.context import Context
from engine.chat.invocation import AskArguments, UnaskArguments
from engine.chat.lookup import find_named
from engine.chat.permission import manages
from engine.chat.person import Person
from engine.line.asking import UNKNOWN, ask, is_listed, remove
from engine.values.errors import UsageError
from engine.values.text import clean, headline


async def ask_sides(context: Context, person: Person, asked: AskArguments) -> AskedAnswer:
    """Keep a question that both sides may be asked."""
    debate = await find_named(context.store, person, asked.debate)
    number = await ask(context.service, debate, person.user, asked.text)
    return AskedAnswer(number=number, listed=await is_listed(context.store, debate, number))


async def take_back(context: Context, person: Person, asked: UnaskArguments) -> UnaskedAnswer:
    """Remove a question, one's own or as a manager."""
    debate = await find_named(context.store, person, asked.debate)
    typed = asked.number.strip().lstrip("#")
    if not (typed.isascii() and typed.isdigit() and len(typed) < 5):
        raise UsageError(UNKNOWN, number=headline(clean(typed), 20))
    manager, service = await manages(context.store, person), context.service
    shared = context.store, service.bell, service.clock
    await remove(*shared, debate, person.user, int(typed), manager=manager)
    return UnaskedAnswer(number=int(typed))
