"""Operator commands beside a running Rostrum: cancel, resume, erase, delete, back up."""

from __future__ import annotations

import asyncio
import shutil
import threading
from collections.abc import Sequence
from datetime import timedelta
from functools import partial
from pathlib import Path

from ulid import ULID

from adapters import open_private
from adapters.database import backup
from adapters.database.file import local_file
from adapters.database.migrate import migrate, require_ours
from adapters.terminal import texts
from adapters.terminal.venue import records_of
from bot import log
from bot.app import defaults_of, open_configured_models
from bot.console import confirm
from bot.database import SERVER_SECONDS, find_series, open_database, read_store
from bot.sentences import NO_WEB
from bot.settings.load import load_settings, load_store_settings
from bot.settings.settings import PLATFORMS, Settings
from engine.chat.privacy import Erase, Keeping, check_no_live, forget, purge, wiped
from engine.chat.records import own_file
from engine.chat.settings import parse_public
from engine.delivery.reasons import way_on
from engine.fleet.leases import LEASE_SECONDS
from engine.run.estimate import check_prices
from engine.run.replacement import replace_models, replaced_post
from engine.store import Store
from engine.values.debate import UNATTENDED, Cause, Debate, Replacement, Status
from engine.values.errors import NotFoundError, StoppedError, UsageError, VenueError
from engine.values.ports import Permalinks, SystemClock, utc_now
from engine.values.text import headline

# Operator commands beside a running Rostrum: cancel, resume, erase, back up.


TERMINAL = "terminal"
STOPPED = "An operator stopped it."
FORGOTTEN = "User erased. No record identifies them, and nothing new is stored about them."
LATER_WIPED = (
    "A reader still holds an older state of the database; the running process overwrites it within "
    "seconds, or the last process when it exits."
)


async def cancel_debate(debate_id: str) -> None:
    """Request a running debate to stop; its process notices within seconds."""
    async with read_store(load_store_settings()) as store:
        debate = await store.debates.get(debate_id)
        check_vote(debate)
        if not debate.status.live:
            raise UsageError(
                f"Debate {debate.code} is {debate.status}; only a running debate can be stopped."
            )
        await store.queue.ask_stop(debate.id, STOPPED)
        lease = await store.leases.claim(f"debate/{debate.id}", str(ULID()), LEASE_SECONDS)
        if lease is not None:
            # No process runs it, so no one else would see the request.
            await store.debates.advance(
                lease, debate.id, Status.CANCELLED, STOPPED, cause=Cause.STOPPED
            )
            await store.leases.release(lease)
    print(f"Debate {debate.code} {'is stopped' if lease else 'is stopping'}.")


async def queue_debate(
    settings: Settings, debate_id: str, changes: Sequence[Replacement], usd: float | None
) -> None:
    """Queue a failed or partial debate again, for the process that runs debates.

    `usd` is what it may cost in all; None takes the cap of the settings.
    """
    async with read_store(settings) as store:
        debate = await store.debates.get(debate_id)
        if debate.status not in (Status.FAILED, Status.PARTIAL):
            raise UsageError(
                f"Debate {debate.code} is {debate.status}; there is nothing to resume."
            )
        caps, models = defaults_of(settings).caps, open_configured_models(settings)
        if usd is not None:
            caps = caps.model_copy(update={"debate_usd": usd})
        try:
            setup = await replace_models(debate.setup, changes, models)
        finally:
            await models.aclose()
        check_prices(setup.prices, caps)
        posts = [replaced_post(setup)] if changes else []
        await store.queue.requeue(debate.id, caps, utc_now(), setup, posts)
    print(f"Debate {debate.code} is queued, for {way_on(debate)}.")


def check_vote(debate: Debate) -> None:
    """Raise UsageError for a terminal's debate whose vote waits for the terminal."""
    if debate.platform == TERMINAL and debate.status is Status.VOTING:
        raise UsageError(
            f"The vote on debate {debate.code} is open; it goes on, and closes, in a terminal with "
            f"rostrum resume {debate.code}."
        )


async def forget_person(platform: str, user: str, *, yes: bool = False) -> None:
    """Forget a person, as they can do themselves with `/debate forget`.

    In a terminal the next person has the same name, and is not forgotten with this one. Asks first,
    unless `yes`. Raises NotFoundError when nothing is stored of that user.
    """
    _check_named("user", user)
    async with read_store(load_store_settings()) as store:
        forgotten = (await store.privacy.traces(platform, user)).forgotten
        if found := await _find_traces(store, platform, user):
            await confirm(f"This erases that user for good ({found}); votes still count.", yes)
        elif not forgotten:
            raise NotFoundError(
                f"Nothing is stored about that {platform} user; check the platform and the id."
            )
        wiped = await forget(store, SystemClock(), platform, user)
        if platform == TERMINAL:
            await store.privacy.unforget(platform, user, utc_now())
    said = "Already erased. No record identifies that user." if forgotten else FORGOTTEN
    if platform == TERMINAL:
        said = (
            "User erased. No record identifies them. Names in a terminal are no one's own: "
            f"from the next debate on, {user} is the next person with that name there."
        )
    print(said if wiped else f"{said} {LATER_WIPED}")


async def _find_traces(store: Store, platform: str, user: str) -> str:
    """Describe what is stored about a person; empty for nothing."""
    traces = await store.privacy.traces(platform, user)
    mentions = await store.privacy.mentions(platform, user)
    found = _listed(
        (traces.votes, "vote"),
        (traces.confidences, "answer to how clear it was", "answers to how clear it was"),
        (traces.grounds, "reason for a vote", "reasons for votes"),
        (traces.guesses, "guess at a model", "guesses at models"),
        (traces.asked, "question to the sides", "questions to the sides"),
        (traces.supported, "support of a question", "supports of questions"),
        (traces.rounds, "vote on a round", "votes on rounds"),
        (traces.stances, "stance"),
        (traces.revisions, "answer after a reveal", "answers after a reveal"),
        (traces.thumbs, "thumb"),
        (traces.labels, "labelled debate"),
        (traces.started, "debate started", "debates started"),
        (mentions, "debate that mentions them", "debates that mention them"),
    )
    return found or ("their id alone" if traces.known else "")


async def write_own_data(platform: str, user: str, out: Path) -> None:
    """Write all that is stored of a person, as `/debate mydata` sends it to them.

    Raises NotFoundError when nothing is stored of that user, and UsageError for a file that exists.
    """
    _check_named("user", user)
    async with read_store(load_store_settings()) as store:
        found = await store.privacy.own(platform, user)
        if found is None:
            raise NotFoundError(
                f"Nothing is stored about that {platform} user; check the platform and the id."
            )
        content = own_file(found, platform, user, utc_now())
    await asyncio.to_thread(_write_new, out, content)
    print(f"{out} has all that is stored of that user.")


def _write_new(out: Path, content: bytes) -> None:
    try:
        # Private from the start: it says how a person voted.
        with open(out, "xb", opener=open_private) as file:
            file.write(content)
    except FileExistsError:
        raise UsageError(f"{out} exists already; give another file with --out.") from None


async def unforget_person(platform: str, user: str) -> None:
    """Let a person who was forgotten be stored again. Raises NotFoundError for anyone else."""
    _check_named("user", user)
    async with read_store(load_store_settings()) as store:
        if not await store.privacy.unforget(platform, user, utc_now()):
            raise NotFoundError(
                f"That {platform} user is not forgotten; check the platform and the id."
            )
        await store.privacy.wipe()
    print(
        "Re-admitted: that user's activity is stored from now on. They cannot vote on debates that "
        "started before."
    )


async def purge_community(platform: str, community: str, *, yes: bool = False) -> None:
    """Delete every debate of a community, and everything stored for it.

    Asks first, unless `yes`. Raises NotFoundError when nothing is stored of that community.
    """
    _check_named("community", community)
    settings = load_store_settings()
    async with read_store(settings) as store:
        debates, votes, known = await store.communities.holdings(platform, community)
        records = None  # transcripts, which only the terminal has
        if (platform, community) == ("terminal", "terminal"):
            records = records_of(local_file(settings.database_url.get_secret_value()))
        shown = sum(1 for _ in records.glob("*.jsonl")) if records else 0
        if not known and not shown:
            raise NotFoundError(
                f"Nothing is stored about {platform} community {community}; check the platform and "
                "the id."
            )
        await check_no_live(store, platform, community)
        found = _listed((debates, "debate"), (votes, "vote"), (shown, "transcript"))
        await confirm(
            f"This deletes {found or 'settings'} of {platform} community {community} for good.", yes
        )
        debates = await purge(store, platform, community)
        if records:
            _erase_records(records, records)
        await store.privacy.wipe()
    print(f"Deleted {_counted(debates, 'debate')}, and everything stored with them.")


async def disconnect_community(platform: str, community: str) -> None:
    """Delete a community's token; a running process uses it until it exits."""
    _check_named("community", community)
    async with read_store(load_store_settings()) as store:
        if not await store.installs.drop(platform, community):
            raise NotFoundError(f"No token of {platform} {community} is stored.")
        await store.privacy.wipe()
    print("Deleted its token. A running Rostrum uses it until it is restarted.")


async def back_up(out: Path) -> None:
    """Copy the database into a file, consistent also while Rostrum runs on it, and verify it."""
    database = open_database(load_store_settings(), writable=False)
    if command := database.dialect.dump_command(out):
        raise UsageError(
            f"Nothing was copied; run {command} to copy the database, which is a server's."
        )
    if not database.dialect.exists():
        raise UsageError(f"There is no database {database.name} to copy.")
    stopped = threading.Event()

    def go_on() -> None:
        if stopped.is_set():
            raise StoppedError("The backup was stopped, and its file deleted.")

    try:
        await require_ours(database)
        size = await asyncio.to_thread(backup.back_up, database, out, go_on)
    finally:
        stopped.set()
        await database.close()
    print(f"Copied {database.name} to {out} ({size:,} bytes).")


def _counted(number: int, one: str, many: str = "") -> str:
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def _listed(*counts: tuple[int, str] | tuple[int, str, str]) -> str:
    """List the counts that are not zero."""
    return ", ".join(_counted(*count) for count in counts if count[0])


def _check_named(kind: str, given: str) -> None:
    if not given.strip():
        raise UsageError(f"The {kind} is missing; give the {kind}'s id on that platform.")


async def run_migrate() -> None:
    """Upgrade the database to this version, and print its revision."""
    settings = load_store_settings()
    log.configure(settings.log, settings.secrets())
    database = open_database(settings, start_seconds=SERVER_SECONDS)
    try:
        revision = await migrate(database)
    finally:
        await database.close()
    print(f"The database {database.name} is at revision {revision}.")


# `rostrum delete`, and what retention deletes outside the database: the terminal's transcripts.


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
            if one.status.live:
                raise UsageError(
                    f"Debate {one.code} is {one.status}; "
                    f"stop it first with rostrum cancel {one.code}."
                )
            check_vote(one)
            if one.status is Status.VOTING:
                raise UsageError(
                    f"People vote on debate {one.code}; delete it once its vote has closed."
                )
            held = await store.series.find(one.series) if one.series else None
            if held is not None and held.goes_on:
                raise UsageError(
                    f"Debate {one.code} is part of {held.name}, which goes on and would hold it "
                    f"again; stop it first with rostrum series stop {held.name}."
                )
        doomed = [debate, other] if mirror and other else [debate]
        series = await store.series.find(debate.series) if debate.series else None
        held_again = series is not None and not series.recurs
        await confirm(" ".join(_announced(doomed, other, held_again=held_again)), yes)
        for one in doomed:
            await store.retention.delete(one.id)
            await erase_outside(settings, store, one)
        await store.retention.drop_strangers()
        overwritten = await wiped(store, SystemClock())
    them = "it" if len(doomed) == 1 else "them"
    said = [f"Deleted {_codes(doomed)}, with everything stored about {them}."]
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
    transcripts = () if shared else (folder / f"{debate.place}.jsonl",)
    _erase_records(folder, *transcripts, folder / debate.code)


def _erase_records(folder: Path, *parts: Path) -> None:
    """Delete transcripts, and folders of debates' files. Raises VenueError."""
    try:
        for part in parts:
            if part.is_dir():
                shutil.rmtree(part)
            else:
                part.unlink(missing_ok=True)
    except OSError as error:
        why = error.strerror or "it is a link"
        raise VenueError(texts.RECORDS_STAY.format(folder=folder, why=why)) from error


def _codes(debates: list[Debate]) -> str:
    return " and ".join(debate.code for debate in debates)


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


# `rostrum public`: what everyone may see of debates that no chat's managers decide on.


async def choose_public(parts: str | None, series: str | None) -> None:
    """Set what is public of the terminal's or a series' debates, and print it with its address.

    Without `parts` nothing is changed. Raises UsageError, and NotFoundError for a series.
    """
    settings = load_settings(without=PLATFORMS)
    of, community, whose = TERMINAL, TERMINAL, "the terminal's debates"
    async with read_store(settings) as store:
        if series is not None:
            stored = await find_series(store, series)
            if stored.platform:
                raise UsageError(
                    f"The series {series} is held in {stored.platform}, whose managers choose what "
                    "is public: /debate settings public=…"
                )
            of, community, whose = UNATTENDED, series, f"the series {series}"
        if parts is not None:
            shown = parse_public("PARTS", parts)
            update = {"public": shown}
            await store.communities.change(
                of, community, lambda old: old.model_copy(update=update), SystemClock().now()
            )
        public = (await store.communities.get(of, community)).public
        page = await store.communities.page(of, community)
    print(f"Public of {whose}: {', '.join(public) or 'nothing'}.")
    if public and settings.web.url and settings.web.port:
        print(Permalinks(settings.web.url).community(page))
    elif public:
        print(NO_WEB)
