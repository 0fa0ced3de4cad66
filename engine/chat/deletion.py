"""The command delete: takes a debate out of the chat and the record."""

from __future__ import annotations

from engine.chat.answers.debates import DebateLine
from engine.chat.answers.deletion import DeletionAnswer
from engine.chat.context import Context
from engine.chat.invocation import DeleteArguments
from engine.chat.lookup import find_newest
from engine.chat.permission import manages
from engine.chat.person import Person
from engine.store import Store
from engine.values.debate import Debate, Status
from engine.values.errors import NotAllowedError, UsageError
from engine.values.judging import Question


async def delete(context: Context, person: Person, asked: DeleteArguments) -> DeletionAnswer:
    """Delete a debate if confirmed; otherwise explain what that means.

    Raises NotAllowedError for others than managers, and its starter while no one has voted.
    """
    store = context.store
    found = await find_newest(store, person, asked.debate)
    mirror = await store.debates.mirror_of(found)
    if asked.mirror and mirror is None:
        raise UsageError("Debate {code} has no mirror; leave mirror out.", code=found.code)
    doomed = [found, mirror] if asked.mirror and mirror else [found]
    for debate in doomed:
        await _check_allowed(store, person, debate)
        await _check_series(store, debate)
    if asked.confirm:
        ids = [debate.id for debate in doomed]
        await store.deletions.ask(ids, context.service.clock.now())
        context.service.bell.ring(f"deletions/{person.platform}", found.id)
    return DeletionAnswer(
        debate=DebateLine.of(found),
        mirror=DebateLine.of(mirror) if mirror else None,
        both=bool(asked.mirror),
        going=found.status.live or found.status is Status.VOTING,
        done=asked.confirm,
    )


async def _check_allowed(store: Store, person: Person, debate: Debate) -> None:
    if await manages(store, person):
        return
    if not await store.debates.is_starter(debate.id, person.user):
        raise NotAllowedError(
            "Only a manager, or its starter before anyone has voted, can delete debate {code}; "
            "please ask them.",
            code=debate.code,
        )
    if await store.votes.events(debate.id, Question.VOTE):
        raise NotAllowedError(
            "People have voted on debate {code}, so only a manager can delete it; please ask one.",
            code=debate.code,
        )


async def _check_series(store: Store, debate: Debate) -> None:
    """Refuse a debate that its league or series would hold once more."""
    series = await store.series.find(debate.series) if debate.series else None
    if series is not None and series.goes_on:
        raise UsageError(
            "Debate {code} is part of a league or series that goes on and would hold it again; "
            "stop that first.",
            code=debate.code,
        )
