"""`rostrum judge`: scores a debate that has ended once more, by other judges."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

from ulid import ULID

from bot.app import defaults_of, open_configured_models
from bot.reading import read_store
from bot.settings.settings import load_settings
from engine.debate import Debate, Model
from engine.floor.keeper import Keeper
from engine.floor.wake import Bell
from engine.formats.judges import tell_judges
from engine.judging import TIE, Verdict
from engine.line.judging import judge_again
from engine.store import DebateRecord, ExportFilter, Judging, Store

NONE = "no verdict"


async def run_judge(code: str, judges: str) -> None:
    """Score a debate by the judges of a comma-separated list, and print the result.

    The same judges are paid once: asked again, they only show what they found.
    """
    settings = load_settings()
    named = tuple(Model.parse(name) for name in judges.split(",") if name.strip())
    async with read_store(settings) as store:
        debate = await store.debates.get(code)
        models = open_configured_models(settings)
        keeper = Keeper(store, Bell(), holder=str(ULID()))
        renewing = asyncio.create_task(keeper.run())
        try:
            caps = defaults_of(settings).caps
            judging = await judge_again(debate, named, caps, store, models, keeper)
        finally:
            renewing.cancel()
            await models.aclose()
        record = await asyncio.to_thread(_read, store, debate)
    print("\n".join(_lines(debate, record, judging)))


def _read(store: Store, debate: Debate) -> DebateRecord:
    with store.archive.reading(ExportFilter(ids=(debate.id,))) as records:
        return next(records)


def _lines(debate: Debate, record: DebateRecord, judging: Judging) -> Iterator[str]:
    judges = ", ".join(judge.ref for judge in judging.judges)
    yield f"Debate {debate.code}, judging {judging.number} by {judges}"
    found = judging.found
    verdict = next(iter(found.verdicts.values()), None) if found else None
    yield f"Verdict: {_winner(verdict)}"
    first = record.verdicts.get(debate.request.format)
    yield f"While it was held: {_winner(first)}"
    if verdict is not None and found is not None:
        if told := tell_judges(verdict.by_judge, found.scores, "a speech or argument"):
            yield told
        for score in found.scores:
            if score.subject == "total":
                yield f"{score.criterion} {score.side}: {score.value:.2f}"
    yield "It stands beside the first one; exports have it in the table judgings."


def _winner(verdict: Verdict | None) -> str:
    if verdict is None or verdict.winner is None:
        return NONE
    return "level" if verdict.winner == TIE else verdict.winner
