"""The commands on what is kept: revealed debates, and a person's own votes and data."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from typing import TypeVar

import orjson

from engine.chat.answers import Answer, SentFile
from engine.chat.answers.debates import DebateLine, deleted, deletion
from engine.chat.answers.management import export_file, no_export
from engine.chat.answers.own_data import (
    Frequency,
    OwnRecordAnswer,
    forgetting,
    forgotten,
    no_own_data,
    opted_in,
    opted_out,
    own_data,
    stored_data,
)
from engine.chat.answers.statistics import LeaderboardAnswer, agreement_figures
from engine.chat.context import Context, Requester, find_newest, manages, settings_of
from engine.chat.privacy import forget as forget_person
from engine.dataset.bundle import ROOT, Bundle, export_zip
from engine.dataset.tables import ExportRequest
from engine.stats.agreement import measure_agreement
from engine.stats.ratings import rank_models
from engine.stats.row import Row, work_out
from engine.store import ExportFilter, Store, count_rehearsals
from engine.store.privacy import OwnData, PersonTraces
from engine.values.debate import Debate, Status
from engine.values.errors import NotAllowedError, NotFoundError, UsageError
from engine.values.verdicts import Question

# The command on a person's own votes: me.


COUNTED = 200  # of the newest votes here
LISTED = 10


async def me(
    context: Context, person: Requester, scoreboard: bool | None = None
) -> OwnRecordAnswer:
    """Show how a person's votes here compare with other people's and the jury's.

    Names them on the scoreboard of guessers, or no longer, if they ask for that.
    """
    privacy, debates = context.store.privacy, context.store.debates
    where = (person.platform, person.community, person.user)
    votes = await privacy.own_votes(*where, most=COUNTED)
    real = [vote for vote in votes if not vote.rehearsal]
    named = await privacy.on_scoreboard(person.platform, person.user, scoreboard)
    held = [(vote, await debates.get(vote.debate)) for vote in votes[:LISTED]]
    return OwnRecordAnswer(
        votes=len(votes),
        guessed=await privacy.own_guesses(*where),
        named=named,
        changed=scoreboard is not None,
        people=share_of((vote.option, vote.people) for vote in votes),
        jury=share_of((vote.option, vote.jury) for vote in real),
        lines=tuple(
            (vote, DebateLine.of(debate), debate.setup.called or debate.request.stances)
            for vote, debate in held
        ),
    )


def share_of(pairs: Iterable[tuple[str | None, str | None]]) -> Frequency:
    """Return how often two choices were the same, of the times when there were both."""
    both = [mine == theirs for mine, theirs in pairs if mine is not None and theirs is not None]
    return Frequency(k=sum(both), n=len(both))


T = TypeVar("T")
GUESSERS = 10  # who are named


async def export(context: Context, person: Requester) -> Answer:
    """Export the debates revealed here as a ZIP file."""
    license = (await settings_of(context.store, person)).license
    rehearsals = await _rehearsals(context, person)
    try:
        async with context.reading(person):
            bundle = await export_zip(
                context.store,
                ExportRequest(_revealed_here(person), license=license),
                context.export_key,
                version=context.version,
                max_bytes=person.max_bytes,
            )
    except NotFoundError:
        bundle = Bundle(size=0, debates=0, content=None)
    if bundle.content is None:
        return no_export(person.community, bundle.size, person.max_bytes, rehearsals)
    return export_file(SentFile(f"{ROOT}.zip", bundle.content), bundle.debates, rehearsals)


async def agreement(context: Context, person: Requester) -> Answer:
    """Measure how far jury and people agree in the debates revealed here."""
    found = await _work_out(context, person, measure_agreement)
    return agreement_figures(found, await _rehearsals(context, person))


async def leaderboard(context: Context, person: Requester) -> LeaderboardAnswer:
    """Rate the models of the debates revealed here."""
    found = await _work_out(context, person, rank_models)
    best = await context.store.privacy.guessers(person.platform, person.community, GUESSERS)
    rehearsals = await _rehearsals(context, person)
    return LeaderboardAnswer(leaderboard=found, rehearsals=rehearsals, guessers=best)


async def _work_out(context: Context, person: Requester, make: Callable[[Sequence[Row]], T]) -> T:
    async with context.reading(person):
        return await work_out(context.store.archive, _revealed_here(person), make)


async def _rehearsals(context: Context, person: Requester) -> int:
    """Count the revealed debates here that are left out for rehearsal models."""
    archive = context.store.archive
    return await asyncio.to_thread(count_rehearsals, archive, _revealed_here(person))


def _revealed_here(person: Requester) -> ExportFilter:
    return ExportFilter(
        platform=person.platform,
        community=person.community,
        revealed=True,
        without_rehearsal=True,
    )


# The commands on a person's own data: privacy, mydata, forget, optout, optin.


OWN_FILE = "rostrum-my-data.json"
LAYOUT = 1  # of the file; raised when a reader of it would have to change


async def privacy(context: Context, person: Requester) -> Answer:
    """Describe the stored data, the person's own included."""
    public = (await settings_of(context.store, person)).public if context.defaults.web_url else ()
    return stored_data(await _traces(context, person), public)


async def my_data(context: Context, person: Requester) -> Answer:
    """Hand over everything that is stored of the person, of every community, as one file."""
    found = await context.store.privacy.own(person.platform, person.user)
    if found is None:
        return no_own_data(forgotten=(await _traces(context, person)).forgotten)
    now = context.service.clock.now()
    content = own_file(found, person.platform, person.user, now)
    if len(content) > person.max_bytes:
        return no_own_data(len(content), person.max_bytes)
    return own_data(SentFile(OWN_FILE, content))


def own_file(found: OwnData, platform: str, user: str, now: datetime) -> bytes:
    """Return a person's data as JSON; their own user id is in it, and no one else's."""
    whose = {"layout": LAYOUT, "made_at": now.isoformat(), "platform": platform, "user": user}
    return orjson.dumps({**whose, **found.model_dump(mode="json")}, option=orjson.OPT_INDENT_2)


async def forget(context: Context, person: Requester, *, confirm: bool = False) -> Answer:
    """Forget the person if confirmed; otherwise explain the consequences."""
    if not confirm:
        return forgetting(await _traces(context, person))
    store, clock = context.store, context.service.clock
    wiped = await forget_person(store, clock, person.platform, person.user)
    return forgotten(rest=not wiped)


async def opt_out(context: Context, person: Requester) -> Answer:
    """Leave the person out of exports; their votes still count."""
    await context.store.privacy.opt_out(person.platform, person.user)
    return opted_out(forgotten=(await _traces(context, person)).forgotten)


async def opt_in(context: Context, person: Requester) -> Answer:
    """Include the person in exports again, or re-admit them after being forgotten."""
    before = await _traces(context, person)
    now = context.service.clock.now()
    await context.store.privacy.opt_in(person.platform, person.user, now)
    return opted_in(back=before.forgotten)


async def _traces(context: Context, person: Requester) -> PersonTraces:
    return await context.store.privacy.traces(person.platform, person.user)


# The command delete: takes a debate out of the chat and the record.


async def delete(
    context: Context,
    person: Requester,
    debate: str | None = None,
    *,
    mirror: bool = False,
    confirm: bool = False,
) -> Answer:
    """Delete a debate if confirmed; otherwise explain what that means.

    Raises NotAllowedError for others than managers, and its starter while no one has voted.
    """
    store = context.store
    found = await find_newest(store, person, debate)
    other = await store.debates.mirror_of(found)
    if mirror and other is None:
        raise UsageError("Debate {code} has no mirror; leave mirror out.", code=found.code)
    doomed = [found, other] if mirror and other else [found]
    for one in doomed:
        await _check_allowed(store, person, one)
        series = await store.series.find(one.series) if one.series else None
        if series is not None and series.goes_on:
            raise UsageError(
                "Debate {code} is part of a league or series that goes on and would hold it again; "
                "stop that first.",
                code=one.code,
            )
    if confirm:
        ids = [one.id for one in doomed]
        await store.retention.ask(ids, context.service.clock.now())
        context.service.notifier.publish(f"deletions/{person.platform}", found.id)
        return deleted(found.code, other.code if mirror and other else "")
    return deletion(
        DebateLine.of(found),
        DebateLine.of(other) if other else None,
        going=found.status.live or found.status is Status.VOTING,
    )


async def _check_allowed(store: Store, person: Requester, debate: Debate) -> None:
    if await manages(store, person):
        return
    if not await store.listings.is_starter(debate.id, person.user):
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
