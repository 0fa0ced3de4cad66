"""`rostrum series`: plan, hold and follow a series, before people too, and its report."""

from __future__ import annotations

import asyncio
import tomllib
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from contextlib import asynccontextmanager, nullcontext, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, TypeAlias
from zoneinfo import ZoneInfo

import orjson
from pydantic import SecretStr

from adapters.database.file import ADDRESS, local_file
from adapters.database.migrate import migrate
from adapters.pictures import to_png
from bot import log
from bot.app import MainLine, defaults_of, open_configured_models, run_app
from bot.console import confirm, print_json, print_lines
from bot.database import find_series, open_database, read_store
from bot.doctor import show, then_close
from bot.doctor.trial import check_contexts, check_readings
from bot.local.orders import quiet
from bot.record.tables import print_usage, show_table, to_rows
from bot.research.series_progress import Display, open_display, span
from bot.settings.files import read_tables, read_topics
from bot.settings.load import load_settings, load_store_settings
from bot.settings.settings import Settings
from engine.drawing import darken
from engine.prompts import load_prompts
from engine.run.service import Service
from engine.series.contents import check_arms, save_series
from engine.series.report import SeriesReport, make_report
from engine.series.report.data import read_series_rows
from engine.series.report.page import write_html, write_markdown, write_page
from engine.series.report.pictures import draw_report
from engine.series.runner import (
    Ending,
    SeriesPlan,
    SeriesProgress,
    count_arm_standings,
    one_of_each,
    plan_series,
    standing_of,
)
from engine.series.spec import Pairing, Series, SeriesAudience, SeriesPlace, read_series
from engine.stats.alternative import EPSILONS, USUAL, NeededDebates, needed_debates
from engine.stats.comparisons import Arms, measure_arms, tell_arms
from engine.stats.row import work_out
from engine.store import ExportFilter, Store
from engine.store.series import StoredSeries
from engine.store.usage import By, CallUsage, UsageFilter
from engine.values.errors import (
    NotFoundError,
    RostrumError,
    SettingsError,
    UsageError,
    VenueAwayError,
    VenueError,
)
from engine.values.options import hint
from engine.values.ports import utc_now
from engine.values.text import dollars
from engine.values.topics import Topic, built_in_topics
from engine.values.verdicts import TIE
from engine.words.translation import plural

if TYPE_CHECKING:
    from bot.serve.platforms import Platform

# Series before people: stored for the process that serves their platform.


async def plan_before_people(
    settings: Settings, series: Series, people: SeriesAudience, *, as_json: bool
) -> None:
    """Store a series for the process that serves its platform, which may be running."""
    platform = _platform_of(settings, people.place)
    async with read_store(settings) as store:
        try:
            await platform.prepare(store)
            await platform.venue.locate(people.place.channel)
            note = ""
        except VenueAwayError as error:
            note = f"\nIts place could not be checked, and will be when it begins: {error}"
        except VenueError as error:
            raise UsageError(f"people.place is {people.place.said}: {error}") from None
        finally:
            await platform.close()
        stored = await save_series(store, series)
    if as_json:
        print_json({"name": series.name, "due_at": stored.due_at, "problem": note.strip() or None})
        return
    print(
        f"The series {series.name} is stored; rostrum run holds it in {people.place.said}, one "
        f"debate at a time.{note}"
    )
    print("\n".join(people_lines(stored, people)))


def _platform_of(settings: Settings, place: SeriesPlace) -> Platform:
    """Return the platform of a place. Raises UsageError if it is not configured."""
    from bot.serve.platforms import open_platforms  # and with it the SDKs

    with suppress(SettingsError):
        for platform in open_platforms(settings):
            if platform.venue.platform == place.platform:
                return platform
    raise UsageError(
        f"people.place is on {place.platform}, which is not configured; see docs/{place.platform}"
        ".md, or name a place on another platform."
    )


def people_lines(stored: StoredSeries, people: SeriesAudience | None) -> Iterator[str]:
    """Yield when the next debate before people may begin, and what keeps it from that."""
    if people is None:
        return
    if stored.due_at is not None and not stored.stop:
        zone = ZoneInfo(people.at.zone if people.at else "UTC")
        time = f"{stored.due_at.astimezone(zone):%Y-%m-%d %H:%M %Z}"
        after = "" if stored.recurs else ", once the one before has ended"
        yield f"Next debate: {time} in {people.place.said}{after}"
    if stored.problem:
        yield f"{'Skipped' if stored.recurs else 'Waiting'}: {stored.problem}"


# `rostrum series`: plan, hold, follow and stop an experiment of many debates.


MANY = 10_000  # debates, from which on the operator is asked
DEBATES = ("{n} debate", "{n} debates")
VOTERS = 5  # a debate, in the plan's line on people

_Verdicts: TypeAlias = Sequence[tuple[str | None, str, int]]
"""A winner, why there is none, and how many debates ended so."""


# --- the file ----------------------------------------------------------------------------


def load_series(file: Path, settings: Settings) -> Series:
    """Read and check the file of a series. Raises UsageError with the first mistake."""
    try:
        held = tomllib.loads(file.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise UsageError(f"{file} cannot be read: {error.strerror}.") from None
    except UnicodeDecodeError:
        raise UsageError(f"{file} is not UTF-8 text; save it as UTF-8.") from None
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise UsageError(f"{file} is not valid TOML: {error}.") from None
    try:
        series = read_series(held, _topics(held, file), settings.models, settings.variants)
        check_arms(series)
        known = {"rehearsal", *(backend.name for backend in settings.endpoints())}
        beside = (*series.jury.models, *series.judges, *series.seats.values())
        for model in (*series.models, *beside):
            if model.backend not in known:
                near = hint(model.backend, known)
                raise UsageError(
                    f"{model.ref} is on the backend {model.backend}, which is not configured. "
                    f"{f'{near} ' if near else ''}Set ROSTRUM_BACKENDS, or choose another model."
                )
    except UsageError as error:
        raise UsageError(f"{file}: {error}") from None
    return series


def _topics(held: dict[str, Any], file: Path) -> tuple[Topic, ...]:
    """Return the topics that are more than a text; those of `topics` are taken out of it."""
    if (written := held.get("topics")) in ("builtin", ["builtin"]):
        return built_in_topics()
    tables, named = [], held.get("topics_file")
    if isinstance(written, list):
        tables = [one for one in written if isinstance(one, dict)]
        held["topics"] = [one for one in written if not isinstance(one, dict)]
    topics = read_tables(tables, file) if tables else ()
    if not isinstance(named, str) or not named:
        return topics
    listed = read_topics(file.parent / Path(named).expanduser(), "topics_file")
    if listed.faults:
        raise UsageError(listed.faults[0])
    return (*topics, *listed.topics)


async def _check_size(series: Series, *, yes: bool) -> None:
    if series.size > MANY:
        await confirm(f"The series {series.name} has {series.size:,} debates.", yes)


# --- plan --------------------------------------------------------------------------------


async def plan_file(file: Path, *, as_json: bool, yes: bool) -> None:
    """Print what a series will hold and take; nothing is paid or stored."""
    settings = _quiet_settings()
    series = load_series(file, settings)
    await _check_size(series, yes=yes)
    async with _quoting(settings) as service:
        plan = await plan_series(series, service, defaults_of(settings))
    if as_json:
        needed = NeededDebates(voters=VOTERS, debates=needed_debates(USUAL, VOTERS))
        told = {"name": series.name, **plan.model_dump(mode="json")}
        print_json(told | {"alt_test": {"epsilons": EPSILONS, **needed.model_dump(mode="json")}})
    else:
        print_lines(_plan_lines(series, plan))
        jurors = series.jury.models or defaults_of(settings).jurors
        for finding in check_readings(jurors, series.pairs, series.jury.mode, "its jury"):
            show(finding)
        models, caps = open_configured_models(settings), defaults_of(settings).sampling
        found = check_contexts(models, plan.longest_prompts, caps, settings.variants)
        async for finding in then_close(found, models.aclose):
            show(finding)


@asynccontextmanager
async def _quoting(settings: Settings) -> AsyncIterator[Service]:
    """Offer what quotes debates, beside a process that holds some; no database is made for it."""
    with TemporaryDirectory() as folder:
        if (
            not settings.shared
            and not local_file(settings.database_url.get_secret_value()).exists()
        ):
            elsewhere = {"database_url": SecretStr(f"{ADDRESS}{folder}/empty.db")}
            settings = settings.model_copy(update=elsewhere)
            database = open_database(settings)
            await migrate(database)
            await database.close()
        models = open_configured_models(settings)
        try:
            async with read_store(settings) as store:
                yield MainLine(store, models, load_prompts(settings.templates_dir), []).service
        finally:
            await models.aclose()


def _plan_lines(series: Series, plan: SeriesPlan) -> Iterable[str]:
    yield f"Series {series.name}: {_at_most(series)}{plan.debates:,} debates"
    formats = ", ".join(options.format or "" for options in series.formats)
    formats = formats if not series.arms else ", ".join(series.format_names)
    yield f"  formats    {formats}; languages {', '.join(series.languages)}"
    if series.arms:
        arms = ", ".join(f"{name} {n:,}" for name, n in plan.arms.items())
        yield f"  arms       {arms}; drawn with seed {series.arms_seed}"
    counted = f"{len(series.topics):,} topics, {len(series.models)} models in {len(series.pairs)}"
    met = "pairs" if len(series.pairs[0]) == 2 else "groups"
    yield f"  held on    {counted} {met}, {series.repeats} × each"
    most = "at most " if plan.ends_early else ""
    yield f"  calls      {most}{plan.calls:,} ({plan.calls_max:,} if each is tried twice)"
    yield f"  tokens     {most}{plan.tokens_in:,} in, {plan.tokens_out:,} out"
    if plan.usd is None or plan.usd_max is None:
        yield "  cost       unknown: some prices are not known"
    else:
        yield f"  cost       {most}{dollars(plan.usd)} USD (at most {dollars(plan.usd_max)})"
    needed = needed_debates(USUAL, VOTERS)[-1]
    told = f"{needed} debates with {VOTERS} each tell whether the jury may replace them"
    yield f"  people     {told}"
    cap = series.limits.usd
    yield f"  cap        {'none' if cap is None else f'{dollars(cap)} USD'}"
    yield f"  time       {span(3600 * plan.hours)} with {series.limits.debates_at_once} at once"
    if cap is not None and plan.usd is not None and plan.usd > cap:
        yield f"The cap ends it after about {int(plan.debates * cap / plan.usd):,} debates."


# --- run ---------------------------------------------------------------------------------


async def run_file(file: Path, usd: float | None, *, yes: bool, as_json: bool) -> None:
    """Hold a series until all is held; a second run goes on where the first was ended.

    One that people watch is stored, and held by the process that serves their platform. `usd` is
    what it may cost in place of what the file says.
    """
    settings = _quiet_settings()
    series = load_series(file, settings)
    if usd is not None:
        limits = series.limits.model_copy(update={"usd": usd})
        series = series.model_copy(update={"limits": limits})
    await _check_size(series, yes=yes)
    if series.people is not None:
        await plan_before_people(settings, series, series.people, as_json=as_json)
        return
    async with run_app(settings, []) as app:
        await plan_series(one_of_each(series), app.service, defaults_of(settings))
        await save_series(app.store, series)
        display = Display(series, app.store, settings.budget.alert_percent)
        shown = nullcontext(lambda _: None) if as_json else open_display(display)
        with shown as show:
            standing = await app.open_series(series, show).run()
        verdicts = await app.store.series.verdicts(series.name)
        usage = await app.store.usage.read(UsageFilter(series=series.name))
    if as_json:
        counts = {"verdicts": _count(verdicts), "takings": to_rows(usage)}
        print_json(_as_json(series.name, standing) | counts)
    else:
        print_lines((*_standing_lines(series, standing), *_verdict_lines(verdicts)))
        print_usage(usage)
    if standing.ending is not Ending.COMPLETE or standing.failed:
        raise RostrumError(_way_on(series, standing, usage, file))


def _way_on(series: Series, standing: SeriesProgress, usage: CallUsage, file: Path) -> str:
    again = f"rostrum series run {file}"
    if standing.ending is Ending.STOPPED:
        return f"The series was stopped. Go on with: {again}"
    if standing.ending is Ending.CAP:
        missing = standing.total - standing.held
        spent = usage.sum("usd")
        more = f", about {dollars(spent / standing.held * missing)} USD" if standing.held else ""
        return (
            f"The series reached its cap of {dollars(series.limits.usd or 0)} USD; {missing:,} "
            f"debates are missing{more}. Go on under a higher cap with: {again} --usd USD"
        )
    return f"{plural(*DEBATES, standing.failed)} failed. Try again with: {again}"


# --- status and stop ---------------------------------------------------------------------


async def show_status(name: str, *, as_json: bool) -> None:
    """Print how far a series is and what it took. Raises NotFoundError."""
    async with read_store(load_store_settings()) as store:
        stored = await find_series(store, name)
        series = Series.model_validate_json(stored.body)
        standing = await standing_of(store, series)
        verdicts = await store.series.verdicts(name)
        usage = await store.usage.read(UsageFilter(series=name))
        arms = count_arm_standings(series, await store.series.debates(name))
        by_arm = await store.usage.read(UsageFilter(series=name), By.ARM)
        compared: Arms | None = None
        if arms:
            compared = await work_out(store.archive, ExportFilter(series=name), measure_arms)
    if as_json:
        when = {"due_at": stored.due_at, "problem": stored.problem} if series.people else {}
        found = _as_json(name, standing) | {"stopping": stored.stop, **when}
        if arms:
            told = [one.model_dump(mode="json") for one in arms]
            found |= {"arms": told, "compared": compared and compared.model_dump(mode="json")}
            found |= {"arm_takings": to_rows(by_arm, By.ARM)}
        print_json(found | {"verdicts": _count(verdicts), "takings": to_rows(usage)})
        return
    lines = (*_standing_lines(series, standing), *_verdict_lines(verdicts))
    fell = (
        f"Arm {one.arm}: {one.held:,} of {one.total:,} held, {one.failed:,} failed, "
        f"{one.refused:,} refused"
        for one in arms
    )
    print_lines((*lines, *fell, *people_lines(stored, series.people)))
    for title, columns, rows in tell_arms(compared) if compared else ():
        show_table(title, columns, rows)
    if arms:
        print_usage(by_arm, By.ARM)
    print_usage(usage)


async def list_series(*, as_json: bool) -> None:
    """Print the series that were begun, and how far each is."""
    async with read_store(load_store_settings()) as store:
        found = [
            (one, await standing_of(store, Series.model_validate_json(one.body)))
            for one in await store.series.all()
        ]
    if as_json:
        rows = [
            _as_json(one.name, standing)
            | {"begun_at": one.begun_at, "usd": one.usd, "stopping": one.stop}
            for one, standing in found
        ]
        print_json({"series": rows})
        return
    show_series(found)


def show_series(found: Sequence[tuple[StoredSeries, SeriesProgress]]) -> None:
    """Print a table of series and how far each is."""
    if not found:
        print("No series; rostrum series run begins one.")
    counted = ("held", "running", "failed", "refused")
    rows = [
        (
            one.name,
            f"{one.begun_at:%Y-%m-%d %H:%M}",
            f"{standing.held:,}" + ("" if one.recurs else f" of {standing.total:,}"),
            *(f"{count:,}" for count in (standing.running, standing.failed, standing.refused)),
            "none" if one.usd is None else dollars(one.usd),
        )
        for one, standing in found
    ]
    show_table("", ("series", "begun (UTC)", *counted, "cap in USD"), rows, complete=True)


def _as_json(name: str, standing: SeriesProgress) -> dict[str, Any]:
    return {"name": name, **standing.model_dump(mode="json")}


async def stop_series(name: str) -> None:
    """Let a series begin no more debates; those that run are finished. Raises NotFoundError."""
    async with read_store(load_store_settings()) as store:
        await find_series(store, name)
        await store.series.ask_stop(name)
    print(f"The series {name} begins no more debates; those that run are finished.")


def _standing_lines(series: Series, standing: SeriesProgress) -> Iterable[str]:
    failed = f", {standing.failed:,} failed" if standing.failed else ""
    running = f", {standing.running:,} running" if standing.running else ""
    refused = f", {standing.refused:,} refused" if standing.refused else ""
    total = "" if series.recurring else f" of {_at_most(series)}{standing.total:,}"
    held = f"{standing.held:,}{total} debates held"
    yield f"Series {series.name}: {held}{running}{failed}{refused}"
    over = standing.held + standing.failed + standing.refused
    if standing.ending is Ending.COMPLETE and over < standing.total:
        points = f"{series.limits.interval_points:g}"
        yield f"Every rating's interval is at most {points} points wide; no more is needed."
    for model, number in standing.refusals.items():
        yield f"Refused by {model}: {plural(*DEBATES, number)}"
    for model, number in standing.waiting.items():
        yield f"Waiting for {model}: {plural(*DEBATES, number)}"


def _verdict_lines(verdicts: _Verdicts) -> Iterator[str]:
    """Yield how many debates the jury decided, and why it did not decide the others."""
    if not verdicts:
        return
    counts = _count(verdicts)
    ties = plural("{n} tie", "{n} ties", counts["tied"])
    none = sum(counts["undecided"].values())
    yield f"The jury: {counts['won']:,} won, {ties}, {none:,} undecided"
    for problem, n in counts["undecided"].items():
        yield f"Undecided: {n:,}, as {problem}"


def _count(verdicts: _Verdicts) -> dict[str, Any]:
    """Return how many debates were won and tied, and why how many are undecided."""
    ties = sum(n for winner, _, n in verdicts if winner == TIE)
    undecided = {problem: n for winner, problem, n in verdicts if winner is None}
    won = sum(n for *_, n in verdicts) - ties - sum(undecided.values())
    return {"won": won, "tied": ties, "undecided": undecided}


def _at_most(series: Series) -> str:
    """Return the words before the size of a series that may end before it is held as a whole."""
    return "at most " if series.pairing is Pairing.INFORMATIVE else ""


def _quiet_settings() -> Settings:
    settings = load_settings()
    log.configure(quiet(settings).log, settings.secrets())
    return settings


# `rostrum series report`: a series as Markdown, HTML, JSON and pictures.


async def write_series_report(name: str, out: Path, jury: str | None = None) -> None:
    """Write the report of a series into a folder. Raises NotFoundError and UsageError."""
    async with read_store(load_store_settings()) as store:
        report = await read_report(store, name, jury)
    files = await asyncio.to_thread(make_files, report)
    try:
        await asyncio.to_thread(_write, out, files)
    except OSError as error:
        raise UsageError(
            f"The report cannot be written to {out}: {error.strerror}; choose another --out."
        ) from None
    page, drawn = write_page(report), sum(name.endswith(".svg") for name in files)
    print("\n".join(page.lines))
    print(
        (
            "Wrote report.md, report.html and report.json to {out}, with {pictures} as SVG and as "
            "PNG (light and dark)."
        ).format(out=out, pictures=plural("{n} picture", "{n} pictures", drawn))
    )


async def read_report(store: Store, name: str, jury: str | None = None) -> SeriesReport:
    """Return the report of a series as it is now. Raises NotFoundError and UsageError."""
    await find_series(store, name)
    found = await read_series_rows(store.series, name)
    if found is None:
        raise NotFoundError(f"The series {name} was deleted just now.")
    return await asyncio.to_thread(make_report, found, utc_now(), jury)


def make_files(report: SeriesReport) -> dict[str, bytes]:
    """Return every file of a report by its name."""
    page, pictures = write_page(report), draw_report(report)
    drawn = {}
    for name, picture in pictures.items():
        drawn[f"{name}.svg"] = picture.svg.encode()
        drawn[f"{name}.png"] = to_png(picture.svg)
        drawn[f"{name}-dark.png"] = to_png(darken(picture.svg))
    return {
        "report.md": write_markdown(page, pictures).encode(),
        "report.html": write_html(page, pictures).encode(),
        "report.json": orjson.dumps(report.model_dump(mode="json"), option=orjson.OPT_INDENT_2),
        **drawn,
    }


def _write(out: Path, files: dict[str, bytes]) -> None:
    out.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        (out / name).write_bytes(content)
