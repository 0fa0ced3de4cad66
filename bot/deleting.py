"""`rostrum delete`, and what retention deletes outside the database: the terminal's transcripts."""

from __future__ import annotations

from datetime import timedelta
from functools import partial

from adapters.storage.file import local_file
from adapters.terminal.record import erase_record, records_of
from bot.clock import SystemClock
from bot.operate import LATER_WIPED, check_vote
from bot.questions import confirm
from bot.reading import read_store
from bot.settings.load import load_store_settings
from bot.settings.settings import Settings
from engine.chat.privacy import Erase, Keeping, wiped
from engine.store import Store
from engine.values.debate import Debate, Status
from engine.values.errors import UsageError
from engine.values.text import headline

TOPIC_WIDTH = 60


async def delete_debate(code: str, *, mirror: bool = False, yes: bool = False) -> None:
    """Delete a debate that has ended, or it and its mirror, with everything stored of it.

    Asks first, unless `yes`. Raises NotFoundError, and UsageError for one that has not ended.
    """
    settings = load_store_settings()
    async with read_store(settings) as store:
        debate = await store.debates.get(code)
        other = await store.debates.mirror_of(debate)
        if mirror and other is None:
            raise UsageError(f"Debate {debate.code} has no mirror; leave --mirror out.")
        for one in filter(None, (debate, other)):
            _check_ended(one)
            await _check_series(store, one)
        doomed = [debate, other] if mirror and other else [debate]
        series = await store.series.find(debate.series) if debate.series else None
        held_again = series is not None and not series.recurs
        await confirm(" ".join(_announced(doomed, other, held_again=held_again)), yes)
        for one in doomed:
            await store.retention.delete(one.id)
            await erase_outside(settings, store, one)
        await store.retention.drop_strangers()
        overwritten = await wiped(store, SystemClock())
    said = [f"Deleted {_codes(doomed)}, with everything stored about {_them(doomed)}."]
    print(" ".join(said if overwritten else [*said, LATER_WIPED]))


def keeping_of(settings: Settings) -> Keeping:
    """Return how long the settings keep things."""
    prompts, debates = settings.retention.prompts_days, settings.retention.debates_days
    return Keeping(
        prompts=None if prompts is None else timedelta(days=prompts),
        debates=None if debates is None else timedelta(days=debates),
    )


def eraser(settings: Settings, store: Store) -> Erase:
    """Return what deletes the files of a debate that was deleted."""
    return partial(erase_outside, settings, store)


async def erase_outside(settings: Settings, store: Store, debate: Debate) -> None:
    """Delete a terminal debate's transcript, unless its mirror is still in it, and its files."""
    if debate.platform != "terminal":
        return
    folder = records_of(local_file(settings.database_url.get_secret_value()))
    shared = await store.debates.mirror_of(debate) is not None
    erase_record(folder, None if shared else debate.place, debate.code)


def _check_ended(debate: Debate) -> None:
    """Raise UsageError for a debate that is not over."""
    if debate.status.live:
        raise UsageError(
            f"Debate {debate.code} is {debate.status}; "
            f"stop it first with rostrum cancel {debate.code}."
        )
    check_vote(debate)
    if debate.status is Status.VOTING:
        raise UsageError(
            f"People vote on debate {debate.code}; delete it once its vote has closed."
        )


async def _check_series(store: Store, debate: Debate) -> None:
    """Raise UsageError for a debate of a series that would hold it once more."""
    series = await store.series.find(debate.series) if debate.series else None
    if series is not None and series.goes_on:
        raise UsageError(
            f"Debate {debate.code} is part of {series.name}, which goes on and would hold it "
            f"again; stop it first with rostrum series stop {series.name}."
        )


def _codes(debates: list[Debate]) -> str:
    return " and ".join(debate.code for debate in debates)


def _them(debates: list[Debate]) -> str:
    return "it" if len(debates) == 1 else "them"


def _announced(doomed: list[Debate], other: Debate | None, *, held_again: bool) -> list[str]:
    """Say what is deleted, and what stays."""
    first = doomed[0]
    topic = headline(first.request.topic, TOPIC_WIDTH)
    said = [
        f"This deletes debate {_codes(doomed)} (“{topic}”) for good, with all ballots and votes."
    ]
    if other is not None and other not in doomed:
        said.append(f"Its mirror {other.code} stays; --mirror deletes both.")
    if held_again:
        said.append(f"If the series {first.series} is run again, it holds this debate again.")
    if first.thread is not None and first.platform != "terminal":
        said.append(
            f"Its messages stay in {first.platform.capitalize()}; use /debate delete there instead "
            "to remove them too."
        )
    return said
