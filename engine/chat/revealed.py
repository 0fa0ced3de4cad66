"""The commands on a community's revealed debates, and on a person's own votes."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from engine.chat.answers.base import Answer, SentFile
from engine.chat.answers.management import export_file, no_export
from engine.chat.answers.own_data import Frequency, OwnRecordAnswer, OwnVoteLine
from engine.chat.answers.statistics import AgreementAnswer, LeaderboardAnswer
from engine.chat.context import Context, Requester, settings_of
from engine.chat.invocation import MeArguments, NoArguments
from engine.dataset.bundle import ROOT, Bundle, export_zip
from engine.dataset.writer import ExportRequest
from engine.stats.agreement import measure_agreement
from engine.stats.ratings import rank_models
from engine.stats.row import Row, work_out
from engine.store import ExportFilter, count_rehearsals
from engine.values.errors import NotFoundError

# The command on a person's own votes: me.


COUNTED = 200  # of the newest votes here
LISTED = 10


async def me(context: Context, person: Requester, asked: MeArguments) -> OwnRecordAnswer:
    """Show how a person's votes here compare with other people's and the jury's.

    Names them on the scoreboard of guessers, or no longer, if they ask for that.
    """
    privacy, debates = context.store.privacy, context.store.debates
    where = (person.platform, person.community, person.user)
    votes = await privacy.own_votes(*where, most=COUNTED)
    real = [vote for vote in votes if not vote.rehearsal]
    named = await privacy.on_scoreboard(person.platform, person.user, asked.scoreboard)
    held = [(vote, await debates.get(vote.debate)) for vote in votes[:LISTED]]
    return OwnRecordAnswer(
        votes=len(votes),
        guessed=await privacy.own_guesses(*where),
        named=named,
        changed=asked.scoreboard is not None,
        people=share_of((vote.option, vote.people) for vote in votes),
        jury=share_of((vote.option, vote.jury) for vote in real),
        lines=tuple(
            (
                OwnVoteLine(
                    vote=vote,
                    topic=debate.request.topic,
                    code=debate.code,
                    place=debate.thread or debate.place,
                    stances=debate.setup.called or debate.request.stances,
                )
            )
            for vote, debate in held
        ),
    )


def share_of(pairs: Iterable[tuple[str | None, str | None]]) -> Frequency:
    """Return how often two choices were the same, of the times when there were both."""
    both = [mine == theirs for mine, theirs in pairs if mine is not None and theirs is not None]
    return Frequency(k=sum(both), n=len(both))


T = TypeVar("T")
GUESSERS = 10  # who are named


async def export(context: Context, person: Requester, _: NoArguments) -> Answer:
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


async def agreement(context: Context, person: Requester, _: NoArguments) -> AgreementAnswer:
    """Measure how far jury and people agree in the debates revealed here."""
    found = await _work_out(context, person, measure_agreement)
    return AgreementAnswer(agreement=found, rehearsals=await _rehearsals(context, person))


async def leaderboard(context: Context, person: Requester, _: NoArguments) -> LeaderboardAnswer:
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
