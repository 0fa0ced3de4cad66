"""`rostrum calibrate`: learns at once how the jurors judge, from what was judged before."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ulid import ULID

from bot import log
from bot.app import defaults_of
from bot.console import confirm, print_json
from bot.research.cases import CaseSource, read_source
from bot.research.judgments import JudgingServices, asking
from bot.research.stats import show_panel
from bot.settings.load import load_settings
from bot.settings.settings import Settings
from engine.prompts import load_prompts
from engine.run.calibration import (
    Calibration,
    CalibrationProgress,
    IncompleteCase,
    JudgedCase,
    plan_questions,
    price_questions,
)
from engine.run.estimate import check_prices
from engine.run.juror_fits import LEASE, LEASE_SECONDS, Learner
from engine.run.order import Defaults
from engine.stats.jurors import FitView, view_fit
from engine.store import NewDebate, Store
from engine.store.learning import SESSION, Learnt
from engine.values.debate import Fit, JurorHistory, Model, PanelSetup, Request, Setup
from engine.values.errors import RostrumError, UsageError
from engine.values.limits import Caps
from engine.values.ports import SystemClock, utc_now
from engine.values.text import dollars

SCHEMA_VERSION = 1
AT_ONCE = 500  # judgments stored together


async def run_calibrate(
    name: str, readers: int, limit: int | None, usd: float | None, *, yes: bool, as_json: bool
) -> None:
    """Learn from a source, asking jurors for the readings that it lacks; print what is known now.

    A second run asks only for what is missing. Raises RostrumError if readings are missing.
    """
    settings = load_settings()
    log.configure(settings.log, settings.secrets())
    if not settings.jurors:
        raise UsageError("No jurors are configured: set ROSTRUM_JURORS.")
    async with asking(settings) as services:
        source = await read_source(name, services.store)
        cases = source.cases[:limit]
        known = await _learn_known(services.store, source, cases, settings.jurors)
        questions = plan_questions(cases, settings.jurors, known, readers)
        _say(_introduction(source, cases, questions, known))
        progress = CalibrationProgress()
        if questions:
            progress = await _ask(usd, yes, settings, services, source, questions)
        learner = Learner(services.store, SystemClock())
        speakers = (model for case in cases for model in case.sides.values())
        made_up = any(one.rehearsal for one in known)
        made_up = made_up or any(model.rehearses for model in (*settings.jurors, *speakers))
        fitted = await learner.fit_now(rehearsal=made_up)
        evidence = await services.store.fits.evidence(rehearsal=made_up)
    model = fitted.model or Fit()
    view = view_fit(model, model.number, utc_now(), evidence) if model.jurors else None
    if as_json:
        print_json(_to_json(name, model.number, fitted.history, view, progress))
    else:
        counts = {"ballots": evidence.readings, "learnt": evidence.learnt_ballots}
        print(
            "Fit {number} rests on {ballots:,} ballots, {learnt:,} of them from elsewhere.".format(
                number=model.number, **counts
            )
        )
        if view is not None:
            show_panel(view)
    if progress.missing:
        raise RostrumError(
            f"{progress.missing:,} readings are missing. {progress.problem} Run this again."
        )


async def _learn_known(
    store: Store, source: CaseSource, cases: Sequence[JudgedCase], jurors: Sequence[Model]
) -> list[Learnt]:
    """Store the ballots that a source has of these jurors; return all that is known of it."""
    refs = {juror.ref for juror in jurors}
    found = [
        case.learnt(source.digest, ballots)
        for case in cases
        if (ballots := [one for one in case.ballots if one.juror in refs])
    ]
    lease = await store.leases.claim(LEASE, str(ULID()), LEASE_SECONDS)
    if lease is None:
        raise UsageError("Another process is fitting the jurors right now; run this again.")
    try:
        for at in range(0, len(found), AT_ONCE):
            await store.learning.learn(lease, found[at : at + AT_ONCE])
    finally:
        await store.leases.release(lease)
    keys = {case.key for case in cases}
    every = [one for kind in (False, True) for one in await store.learning.learnt(rehearsal=kind)]
    return [one for one in every if one.key in keys]


async def _ask(
    usd: float | None,
    yes: bool,
    settings: Settings,
    services: JudgingServices,
    source: CaseSource,
    questions: Sequence[IncompleteCase],
) -> CalibrationProgress:
    """Ask the jurors once the operator agreed to what it costs."""
    prices = {juror.ref: await services.models.price(juror) for juror in settings.jurors}
    check_prices(prices, Caps(debate_usd=usd))
    prompts = load_prompts(settings.templates_dir).only("jury")
    new = await open_session(services.store, defaults_of(settings), source, prompts.digest)
    bill = price_questions(questions, prices, new.setup.sampling["juror"])
    if bill is None:
        await confirm(
            "What they cost is unknown, as some prices are not known. Ask the jurors now?", yes
        )
    elif bill[1] > 0:
        said = (
            f"They cost about {dollars(bill[0])} USD, at most {dollars(bill[1])} USD. "
            "Ask the jurors now?"
        )
        if yes:
            _say([said.removesuffix(" Ask the jurors now?")])
        await confirm(said, yes)
    stored = await services.store.learning.session(new)
    session = stored.model_copy(update={"setup": new.setup})
    cap = (bill and bill[1]) if usd is None else usd
    parts = (services.store, services.models, services.lease_manager, prompts, prices, cap)
    return await Calibration(session, source.digest, *parts).ask(questions)


async def open_session(
    store: Store, defaults: Defaults, source: CaseSource, templates: str
) -> NewDebate:
    """Return the debate that the calls are journaled as; nothing shows it."""
    first = source.cases[0]
    setup = Setup(
        request=Request(topic=f"Calibration on {source.digest[:12]}", sides=first.sides),
        format_version=1,
        templates=templates,
        panel=PanelSetup(roster=defaults.jurors),
        names={},
        sampling=dict(defaults.sampling),
        limits={},
        seed=0,
        ordinal=0,
        reply_chars=defaults.reply_chars,
    )
    return NewDebate(
        id=str(ULID()),
        number=await store.debates.next_number(),
        platform=SESSION,
        community=source.digest,
        place="",
        user=None,
        setup=setup,
        created_at=utc_now(),
    )


# --- words -------------------------------------------------------------------------------


def _say(lines: Iterable[str]) -> None:
    for line in lines:
        print(line, file=sys.stderr)


def _introduction(
    source: CaseSource,
    cases: Sequence[JudgedCase],
    questions: Sequence[IncompleteCase],
    known: Sequence[Learnt],
) -> Iterable[str]:
    human = sum(case.human is not None for case in cases)
    left_out = (
        f"; {source.left_out:,} left out, as they are not of two sides or lack a text"
        if source.left_out
        else ""
    )
    yield f"{len(cases):,} judgments from {source.name}, {human:,} of them by people{left_out}."
    missing = [reading.juror.ref for question in questions for reading in question.readings]
    counted = sum(len(one.ballots) for one in known)
    yield (
        f"{len(missing):,} readings by {len(set(missing)):,} jurors are missing; "
        f"{counted:,} are known."
    )


def _to_json(
    source: str,
    number: int,
    history: Mapping[str, JurorHistory],
    view: FitView | None,
    progress: CalibrationProgress,
) -> dict[str, Any]:
    return {
        "schema_version": SCHEMA_VERSION,
        "source": source,
        "fit": number,
        "asked": progress.asked,
        "missing": progress.missing,
        "jurors": {ref: one.model_dump(mode="json") for ref, one in history.items()},
        "panel": view.model_dump(mode="json") if view else None,
    }
