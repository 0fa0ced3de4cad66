"""The pages of those who manage labelling tasks: making one, inviting, how it goes.

Managers are trusted by the operator, as tasks can be of every community's debates. They come by a
link that `rostrum label page` prints, or sign in where the operator has named them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Awaitable, Callable, Collection, Mapping
from contextlib import suppress
from dataclasses import replace
from math import isfinite
from typing import Any

from aiohttp import web
from aiohttp.web import Request, Response
from pydantic import ValidationError

from adapters.web.accounts import Accounts
from adapters.web.application import PageFailure, failure_page, language_of, see_page, show_page
from adapters.web.label_pages import TASK
from adapters.web.session import (
    BrowserSession,
    Form,
    LoginThrottle,
    Sessions,
    client_of,
    form,
    needs,
)
from engine.formats import FORMATS
from engine.labelling.report import MARKS, LabelReport
from engine.labelling.tasks import Labelling
from engine.stats.figure import Figure
from engine.store import ExportFilter
from engine.store.labels import MOST_PAY, Terms
from engine.values.errors import NotFoundError, RostrumError, StoreError
from engine.values.language import N_, speaking
from engine.words.phrases import money, option_name
from engine.words.stored import percent
from engine.words.translation import LANGUAGES, number, say

# What the report of a labelling task says, as a manager's page shows it: in words, by tables.


NOTHING = "–"

Rows = list[tuple[str, str]]


TaskFigures = tuple[
    tuple[tuple[str, Rows], ...],
    list[tuple[str, tuple[str, ...], str]],
    list[tuple[str, str, tuple[str, ...]]],
]
"""Tables of names and figures, people with what to look at, and debates on which people differ."""


def figures_of(report: LabelReport) -> TaskFigures:
    """Return a report in the language spoken now; titles are in English, for the catalogue."""
    people = []
    for person in report.people:
        seconds = NOTHING if person.seconds is None else number(person.seconds, ".0f")
        rates = (f"{one.right} / {one.n}" for one in (person.known, person.again, person.others))
        marks = " · ".join(say(MARKS[mark]) for mark in person.marks)
        cells = (f"{person.labels}", *rates, f"{person.fast}", seconds)
        people.append((person.name, cells, marks))
    hard = []
    for debate in report.hard:
        labels = sorted(debate.labels.items())
        counts = " · ".join(f"{option_name(option)} {n}" for option, n in labels)
        judged = (option_name(one) if one else NOTHING for one in (debate.jury, debate.chat))
        cells = (counts, percent(debate.agreement), *judged)
        hard.append((debate.code, debate.topic, cells))
    return _tables(report), people, hard


def _tables(report: LabelReport) -> tuple[tuple[str, Rows], ...]:
    cost = report.cost
    pay, each = (NOTHING if one is None else money(one) for one in (cost.pay, cost.per_label))
    return (
        (
            N_("Progress"),
            [
                (N_("Answers"), f"{report.labels} / {report.wanted}"),
                (N_("People who label"), f"{report.annotators}"),
                (N_("Debates with enough labels"), f"{report.complete} / {report.debates}"),
                (N_("Open sheets"), f"{report.waiting}"),
                (N_("By people who had not seen the result"), f"{report.gold}"),
                (N_("Too fast to have read"), f"{report.fast}"),
            ],
        ),
        (
            N_("Agreement"),
            [
                (N_("Pairs of people who agree"), _interval(report.agreement)),
                (N_("Krippendorff's alpha"), _interval(report.alpha)),
                (N_("Cohen's kappa"), _interval(report.kappa)),
                (N_("People here and the jury"), _interval(report.jury)),
                (N_("People here and in chat"), _interval(report.chat)),
                (N_("Tests of attention passed"), _interval(report.known)),
                (N_("The same answer at a second showing"), _interval(report.again)),
                (N_("For the side shown first"), _interval(report.first)),
            ],
        ),
        (
            N_("Cost"),
            [
                (N_("Calls"), money(cost.calls)),
                (N_("Pay"), pay),
                (N_("In all"), money(cost.total)),
                (N_("For each answer"), each),
            ],
        ),
    )


def _interval(figure: Figure) -> str:
    """Return a figure with its interval, however few it rests on."""
    if figure.value is None:
        return NOTHING
    if figure.low is None or figure.high is None:
        return figure.write(figure.value)
    return (
        f"{figure.write(figure.value)} ({figure.write(figure.low)} – {figure.write(figure.high)})"
    )


HOURS = 12
ENTER = "/labels/enter"
LINK = "k"
GUEST = ""  # of a browser that has not shown who it is
NOT_MANAGER = PageFailure(
    N_("You do not manage tasks here"),
    N_("Ask the operator to name your account in ROSTRUM_WEB__MANAGERS, or for a link."),
)
NO_LINK = PageFailure(
    N_("You need a link to this page"),
    N_("On the machine that runs Rostrum, rostrum label page prints one."),
)
SPENT = PageFailure(
    N_("This link is no longer valid"),
    N_("It works once, for ten minutes. rostrum label page prints another one."),
)
ASKED: Mapping[str, str] = {  # what can be filled in wrongly, by the terms' own names
    "name": N_("Name, of small letters, digits and hyphens"),
    "per_debate": N_("Labels for each debate"),
    "each": N_("Debates for each person (0: until none is left)"),
    "repeats": N_("Shown twice, in per cent"),
    "about": N_("What people read before they begin"),
    "parameter": N_("Parameter with a participant's id, such as PROLIFIC_PID (empty: none)"),
    "code": N_("Completion code, shown at the end (empty: none)"),
    "pay": N_("Pay for each answer, in USD"),
}


class ManagerPages:
    """Everything that managers see; `redeem` accepts the token of a printed link, once.

    `managers` are those who may sign in, as `platform:user`.
    """

    def __init__(
        self,
        labelling: Labelling,
        sessions: Sessions,
        tries: LoginThrottle,
        accounts: Mapping[str, Accounts],
        managers: Collection[str],
        redeem: Callable[[str], Awaitable[bool]],
        url: str,
    ) -> None:
        self._labelling, self._sessions, self._tries = labelling, sessions, tries
        self._titles = {name: one.title for name, one in accounts.items()}
        self._managers = frozenset(managers)
        self._redeem, self._url = redeem, url

    def routes(self) -> list[web.RouteDef]:
        """Return the pages' routes."""
        at = f"/labels/task/{TASK}"
        return [
            web.get("/labels", self.tasks),
            web.post("/labels", self.create),
            web.get(ENTER, self.offer),
            web.post(ENTER, self.enter),
            web.post("/labels/leave", self.leave),
            web.get(at, self.show),
            web.post(f"{at}/invite", self.invite),
            web.post(f"{at}/close", self.close),
        ]

    # --- who it is --------------------------------------------------------------------------

    async def _begun(self, request: Request) -> BrowserSession | None:
        return self._sessions.read(request)

    async def _session(self, request: Request) -> BrowserSession | None:
        """Return a manager's session; one that the operator no longer names is none."""
        session = self._sessions.read(request)
        if session is None or session.who == GUEST:
            return None
        return session if session.who in {"operator", *self._managers} else None

    def _closed_door(self, request: Request) -> Response:
        if not (self._titles and self._managers):
            return failure_page(request, 403, NO_LINK)
        return show_page(
            "label_sign_in.html.jinja",
            language_of(request),
            status=403,
            path="/labels",
            accounts=self._titles,
        )

    def _left(self, request: Request) -> Response:
        response = see_page("/labels")
        self._sessions.end(response)
        return response

    async def _again(self, request: Request, session: BrowserSession, fields: Form) -> Response:
        """Answer a link that was followed twice: the first time began a new session."""
        if session.who == GUEST:
            raise web.HTTPForbidden
        return see_page("/labels")

    # --- the way in -------------------------------------------------------------------------

    async def offer(self, request: Request) -> Response:
        """Ask before a printed link is used: what previews links must not use it up."""
        if await self._session(request) is not None:
            return see_page("/labels")
        begun = Sessions.draw(GUEST)
        response = show_page(
            "labels_enter.html.jinja",
            language_of(request),
            link=request.query.get(LINK, ""),
            token=begun.token,
        )
        self._sessions.put(response, begun)
        return response

    @needs(_begun)
    @form(_again)
    async def enter(self, request: Request, session: BrowserSession, fields: Form) -> Response:
        """Begin a manager's session by a printed link."""
        self._tries.check(client_of(request))
        if not await self._redeem(fields.get("link", "")):
            self._tries.failed(client_of(request))
            return failure_page(request, 410, SPENT)
        response = see_page("/labels")
        self._sessions.begin(response, "operator")
        return response

    async def sign_in(self, request: Request, platform: str, user: str) -> Response:
        """Begin a manager's session of somebody who signed in, if they are one."""
        who = f"{platform}:{user}"
        if who not in self._managers:
            return failure_page(request, 403, NOT_MANAGER)
        response = see_page("/labels")
        self._sessions.begin(response, who)
        return response

    @needs(_session, _left)
    @form()
    async def leave(self, request: Request, session: BrowserSession, fields: Form) -> Response:
        """End the session."""
        return self._left(request)

    # --- tasks ------------------------------------------------------------------------------

    @needs(_session, _closed_door)
    async def tasks(self, request: Request, session: BrowserSession) -> Response:
        """List the tasks, and offer a form for a new one."""
        return await self._list(request, session)

    async def _list(
        self,
        request: Request,
        session: BrowserSession,
        given: Mapping[str, str] | None = None,
        problem: str = "",
    ) -> Response:
        return show_page(
            "labels.html.jinja",
            language_of(request),
            status=400 if problem else 200,
            tasks=await self._labelling.tasks(),
            asked=ASKED,
            given=defaultdict(str, given or {}),
            problem=problem,
            formats=tuple(FORMATS),
            communities=await self._labelling.communities(),
            languages=("en", *LANGUAGES),
            accounts=self._titles,
            token=session.token,
        )

    @needs(_session)
    @form()
    async def create(self, request: Request, session: BrowserSession, fields: Form) -> Response:
        """Make a task."""
        with speaking(language_of(request)):
            try:
                terms = _terms(fields, self._titles)
                codes = fields.get("debates", "").replace(",", " ").split()
                where = replace(_where(fields), ids=await self._labelling.named(codes))
                known = await self._labelling.answers(fields.get("known", "").split())
                task = await self._labelling.create(terms, where, known)
            except ValidationError as error:
                wrong = {str(one["loc"][0]) for one in error.errors()}
                named = ", ".join(f"“{say(told)}”" for name, told in ASKED.items() if name in wrong)
                said = say(
                    "Something in the form is not valid: {fields}. Correct it and "
                    "send it once more.",
                    fields=named,
                )
                return await self._list(request, session, fields, said)
            except StoreError:
                raise
            except RostrumError as error:
                return await self._list(request, session, fields, say(error.text))
        return see_page(f"/labels/task/{task.name}")

    @needs(_session, _closed_door)
    async def show(self, request: Request, session: BrowserSession) -> Response:
        """Show how a task goes."""
        return await self._report(request, session)

    async def _report(
        self, request: Request, session: BrowserSession, links: tuple[str, ...] = ()
    ) -> Response:
        task = await self._labelling.task(request.match_info["task"])
        if task is None:
            raise web.HTTPNotFound
        language = language_of(request)
        # A link as it is sent to people has the place of a participant's id.
        participant = f"&{task.parameter}=" if task.parameter else ""
        pay = _paid(request.query.get("pay", ""))
        report = await self._labelling.report(task.name, pay=pay)
        with speaking(language):
            tables, people, hard = figures_of(report)
        return show_page(
            "labels_task.html.jinja",
            language,
            task=task,
            tables=tables,
            people=people,
            hard=hard,
            pay=pay,
            links=[f"{self._url}/label/{task.name}?t={token}{participant}" for token in links],
            token=session.token,
        )

    @needs(_session)
    @form()
    async def invite(self, request: Request, session: BrowserSession, fields: Form) -> Response:
        """Make links, and show them this once."""
        try:
            links, people, days = (
                int(fields.get(name, "")) for name in ("links", "people", "days")
            )
        except ValueError:
            raise web.HTTPBadRequest from None
        name = request.match_info["task"]
        try:
            made = await self._labelling.invite(name, links, people=people, days=days)
        except (NotFoundError, StoreError):
            raise
        except RostrumError:
            raise web.HTTPBadRequest from None
        return await self._report(request, session, made)

    @needs(_session)
    @form()
    async def close(self, request: Request, session: BrowserSession, fields: Form) -> Response:
        """Let a task take no more answers."""
        task = await self._labelling.close(request.match_info["task"])
        return see_page(f"/labels/task/{task.name}")


def _terms(form: Mapping[str, str], accounts: Collection[str]) -> Terms:
    """Return what a form asks for. Raises ValidationError."""
    plain = ("name", "language", "code", "parameter", "about")
    given: dict[str, Any] = {name: form.get(name, "").strip() for name in plain}
    given |= {name: form.get(name) or 0 for name in ("per_debate", "each")}
    given["repeats"] = form.get("repeats", "")
    with suppress(ValueError):  # no number, which is refused below
        given["repeats"] = float(given["repeats"]) / 100
    given["pay"] = form.get("pay", "").replace(",", ".") or None
    given |= {name: name in form for name in ("disagreement", "hold_code")}
    given["sign_in"] = tuple(name for name in accounts if f"sign_in-{name}" in form)
    return Terms.model_validate(given)


def _paid(given: str) -> float | None:
    """Return what a label earns, in USD; None if that is not asked, or is no amount."""
    try:
        pay = float(given.replace(",", "."))
    except ValueError:
        return None
    return pay if isfinite(pay) and 0 <= pay <= MOST_PAY else None


def _where(form: Mapping[str, str]) -> ExportFilter:
    """Return which debates a form asks for."""
    formats = (form["format"],) if form.get("format") in FORMATS else ()
    spoken = form.get("spoken", "").strip()
    return ExportFilter(
        community=form.get("community", "").strip() or None,
        revealed=True,
        formats=formats,
        languages=(spoken,) if spoken else (),
        series=form.get("series", "").strip() or None,
        without_rehearsal="rehearsal" not in form,
    )
