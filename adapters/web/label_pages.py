"""The pages of those who label: an invitation, sheets one after another, and what is done.

A browser has one session for all its tasks: `who` is a JSON object that maps a task to the key of
its annotator there. It begins before the invitation is accepted, so that a form can be told from
a forged one, and is replaced by a new one whenever it gains an annotator.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping
from typing import NamedTuple

import orjson
import structlog
from aiohttp import web
from aiohttp.web import Request, Response
from pydantic import ValidationError

from adapters.web.accounts import Accounts
from adapters.web.application import (
    KNOWN,
    RETRY_SECONDS,
    PageFailure,
    failure_page,
    language_of,
    see_page,
    show_page,
)
from adapters.web.session import (
    BrowserSession,
    Form,
    LoginThrottle,
    Sessions,
    client_of,
    form,
    holds_token,
    needs,
    read_form,
)
from engine.chat.answers.voters import read_percent
from engine.labelling.sheet import LabelProgress, Sheet, SheetAnswer
from engine.labelling.tasks import Labelling
from engine.store.labels import MOST_COMMENT, NAME, Annotator, Joining, Task
from engine.values.errors import StoreError, UsageError
from engine.values.language import N_
from engine.words.phrases import money

TASK = f"{{task:{NAME}}}"
SHEET = r"{sheet:[A-Za-z0-9_-]{22}}"
COOKIE = "label"
TOKEN, PERSONAL = "t", "k"  # parameters of links
MOST_TASKS = 8  # of one browser; that joined longest ago is left out
UNINVITED = PageFailure(
    N_("You need an invitation"),
    N_("Open the link that you were sent once more, from its beginning."),
)
UNKNOWN = PageFailure(
    N_("This link leads nowhere"), N_("Check that you opened all of it, or ask for a new one.")
)
EXPIRED = PageFailure(N_("This link has expired"), N_("Ask for a new one where you got it."))
USED = PageFailure(
    N_("This link has been used"),
    N_(
        "If it was by you, go on in the browser in which you began, or by your personal link. "
        "Otherwise ask for a new one where you got it."
    ),
)
CLOSED = PageFailure(
    N_("This task is closed"),
    N_("It takes no more answers. Those that you gave are stored. Thank you!"),
)
TOO_LATE = PageFailure(
    N_("This task is closed"),
    N_(
        "It was closed before your last answer, which is not stored. Those before it "
        "are. Thank you!"
    ),
)
FORGOTTEN = PageFailure(
    N_("Nothing of you may be stored"),
    N_(
        "You asked to be forgotten, so your answers cannot be stored. To take part nevertheless, "
        "use optin where you asked for it."
    ),
)
GONE = PageFailure(
    N_("Your session is over"),
    N_("This browser no longer takes part. Open the link that you were sent once more."),
)
REFUSALS: Mapping[str, tuple[int, PageFailure]] = {
    "unknown": (404, UNKNOWN),
    "expired": (410, EXPIRED),
    "used": (410, USED),
    "closed": (410, CLOSED),
    "forgotten": (403, FORGOTTEN),
}
MOST_JOINS, JOINS_SECONDS = 20, 3600.0  # by links, from one address
ASKED = ""  # in place of a task's name: who signed in and was asked to agree
log = structlog.get_logger(__name__)


Saw = Callable[[Request, Collection[str]], Awaitable[None]]


class _Visitor(NamedTuple):
    """A browser's session, and its annotator in a task."""

    session: BrowserSession
    annotator: Annotator


class LabelPages:
    """Everything that annotators see; `accounts` are the platforms where they may sign in.

    `url` is the address of these pages, for links that people keep.
    """

    def __init__(
        self,
        labelling: Labelling,
        sessions: Sessions,
        tries: LoginThrottle,
        accounts: Mapping[str, Accounts],
        url: str,
    ) -> None:
        self._labelling, self._sessions = labelling, sessions
        self._tries, self._url = tries, url
        self._titles = {name: one.title for name, one in accounts.items()}
        # A link for many has so many places: one address must not use them all up.
        self._joins = LoginThrottle(MOST_JOINS, JOINS_SECONDS)

    def routes(self) -> list[web.RouteDef]:
        """Return the pages' routes."""
        at = f"/label/{TASK}"
        return [
            web.get(at, self.invite),
            web.post(f"{at}/join", self.join),
            web.get(f"{at}/next", self.next),
            web.get(f"{at}/sheet/{SHEET}", self.show),
            web.post(f"{at}/sheet/{SHEET}", self.save),
            web.get(f"{at}/done", self.done),
            web.get(f"{at}/back", self.offer_return),
            web.post(f"{at}/back", self.come_back),
            web.post(f"{at}/leave", self.leave),
        ]

    # --- who it is --------------------------------------------------------------------------

    async def _find(self, request: Request) -> _Visitor | None:
        """Return who a browser is in the task of an address."""
        session, name = self._sessions.read(request), request.match_info["task"]
        key = None if session is None else _keys(session).get(name)
        if session is None or key is None:
            return None
        annotator = await self._labelling.annotator(key)
        return None if annotator is None or annotator.task != name else _Visitor(session, annotator)

    async def _own(self, request: Request, visitor: _Visitor) -> Sheet:
        """Return a sheet of somebody's own; any other is not there."""
        sheet = await self._labelling.sheet(visitor.annotator.key, request.match_info["sheet"])
        if sheet is None:
            raise web.HTTPNotFound
        return sheet

    async def _begun(self, request: Request) -> BrowserSession | None:
        return self._sessions.read(request)

    def _gone(self, request: Request) -> Response:
        return failure_page(request, 403, GONE)

    def _left(self, request: Request) -> Response:
        response = show_page("label_left.html.jinja", language_of(request))
        self._sessions.end(response)
        return response

    async def _again(self, request: Request, session: BrowserSession, fields: Form) -> Response:
        """Answer a form that was sent twice: the first time took part, and began a new session."""
        if fields.get("participant") or await self._find(request) is None:
            raise web.HTTPForbidden
        return self._see(request, "next")

    def _see(self, request: Request, page: str) -> Response:
        """Lead to a page of the task."""
        return see_page(f"/label/{request.match_info['task']}/{page}")

    async def _progress(self, visitor: _Visitor) -> LabelProgress:
        progress = await self._labelling.progress(visitor.annotator.key)
        if progress is None:  # forgotten a moment ago
            raise web.HTTPNotFound
        return progress

    def _unknown(self, request: Request) -> Response:
        session = self._sessions.read(request)
        known = session is not None and request.match_info["task"] in _keys(session)
        return failure_page(request, 403, GONE if known else UNINVITED)

    # --- the way in -------------------------------------------------------------------------

    async def invite(self, request: Request) -> Response:
        """Show what a link invites to, without using it."""
        token = request.query.get(TOKEN, "")
        name = request.match_info["task"]
        known = await self._find(request)
        if not token and known:
            return self._see(request, "next")
        if not token and not self._titles:
            return failure_page(request, 403, UNINVITED)
        if not token:  # people may sign in, whatever task there is or is not
            return show_page(
                "label_sign_in.html.jinja",
                language_of(request),
                path=request.path,
                accounts=self._titles,
            )
        self._tries.check(client_of(request))
        state, task, _ = await self._labelling.invitation(token)
        if task is None or task.name != name or state == "unknown":
            self._tries.failed(client_of(request))
            return failure_page(request, 404, UNKNOWN)
        participant = request.query.get(task.parameter, "") if task.parameter else ""
        if known and not participant:
            return self._see(request, "next")
        if state != "open" and not (participant and state == "used"):
            return failure_page(request, *REFUSALS[state])
        session = self._sessions.read(request)
        begun = session or Sessions.draw(_pack({}))
        response = self._consent(request, task, token, participant, begun=begun)
        if session is None:
            self._sessions.put(response, begun)
        return response

    def _consent(
        self,
        request: Request,
        task: Task,
        token: str,
        participant: str = "",
        *,
        begun: BrowserSession,
        signed_in: bool = False,
    ) -> Response:
        known = participant or signed_in
        return show_page(
            "label_invitation.html.jinja",
            _language(request, task.language),
            task=task,
            minutes=max(round(task.minutes), 1),
            pay="" if task.pay is None else money(task.pay),
            link=token,
            participant=participant,
            signed_in=signed_in,
            missing=bool(task.parameter) and not known,
            accounts={} if known else self._titles,
            token=begun.token,
        )

    @needs(_begun, _gone)
    @form(_again)
    async def join(self, request: Request, session: BrowserSession, fields: Form) -> Response:
        """Take part: this uses the link."""
        name, link = request.match_info["task"], fields.get("link", "")
        self._tries.check(client_of(request))
        if "signed_in" in fields:
            task, platform, user, link = orjson.loads(_keys(session).get(ASKED, '["", "", "", ""]'))
            if task != name:
                return self._gone(request)
            joined = await self._labelling.sign_in(name, platform, user, link)
            return self.welcome(request, joined, name)
        self._joins.check(client_of(request))
        joined = await self._labelling.join(link, session.token, fields.get("participant", ""))
        if joined[0] == "joined":
            self._joins.failed(client_of(request))
        return self.welcome(request, joined, name)

    async def sign_in(
        self, request: Request, platform: str, user: str, goal: tuple[str, str]
    ) -> Response:
        """Go on as a user of a chat platform, or ask one who is new whether they agree."""
        name, link = goal
        joined = await self._labelling.sign_in(name, platform, user, link, agreed=False)
        task = await self._labelling.task(name) if joined[0] == "unasked" else None
        if task is None:
            return self.welcome(request, joined, name)
        session = self._sessions.read(request)
        who = orjson.dumps([name, platform, user, link]).decode()
        begun = Sessions.draw(_pack({**({} if session is None else _keys(session)), ASKED: who}))
        response = self._consent(request, task, link, begun=begun, signed_in=True)
        self._sessions.put(response, begun)
        return response

    def welcome(self, request: Request, joined: Joining, name: str) -> Response:
        """Begin the session of somebody who takes part now, or say why they cannot."""
        outcome, annotator = joined
        if annotator is None or annotator.task != name:
            if outcome == "unknown":
                self._tries.failed(client_of(request))
            return failure_page(request, *REFUSALS.get(outcome, REFUSALS["unknown"]))
        session = self._sessions.read(request)
        known = {} if session is None else _keys(session)
        for one in (name, ASKED):
            known.pop(one, None)
        latest = dict([*known.items(), (name, annotator.key)][-MOST_TASKS:])
        response = see_page(f"/label/{name}/next")
        self._sessions.begin(response, _pack(latest))
        return response

    async def offer_return(self, request: Request) -> Response:
        """Ask before going on here: a link alone must not make somebody someone else."""
        session = self._sessions.read(request)
        begun = session or Sessions.draw(_pack({}))
        response = show_page(
            "label_back.html.jinja",
            language_of(request),
            task=request.match_info["task"],
            link=request.query.get(PERSONAL, ""),
            token=begun.token,
        )
        if session is None:
            self._sessions.put(response, begun)
        return response

    @needs(_begun, _gone)
    @form(_again)
    async def come_back(self, request: Request, session: BrowserSession, fields: Form) -> Response:
        """Go on in this browser, by a personal link."""
        self._tries.check(client_of(request))
        annotator = await self._labelling.come_back(fields.get("link", ""))
        name = request.match_info["task"]
        return self.welcome(request, ("again" if annotator else "unknown", annotator), name)

    @needs(_begun, _left)
    @form()
    async def leave(self, request: Request, session: BrowserSession, fields: Form) -> Response:
        """Forget in this browser who it was, in every task."""
        return self._left(request)

    # --- sheets -----------------------------------------------------------------------------

    @needs(_find, _unknown)
    async def next(self, request: Request, visitor: _Visitor) -> Response:
        """Lead to the open sheet, to a new one, or to the end."""
        sheet = await self._labelling.next(visitor.annotator.key)
        return self._see(request, "done" if sheet is None else f"sheet/{sheet.id}")

    @needs(_find, _unknown)
    async def show(self, request: Request, visitor: _Visitor) -> Response:
        """Show a sheet of one's own, open or answered."""
        sheet = await self._own(request, visitor)
        return await self._sheet(request, visitor, sheet, sheet.answer or _FilledForm())

    @needs(_begun, _gone)
    async def save(self, request: Request, session: BrowserSession) -> Response:
        """Store an answer, however often it is sent."""
        fields = await read_form(request)
        try:
            visitor = await self._find(request)
            if visitor is None:
                return self._gone(request)
            sheet = await self._own(request, visitor)
            if not holds_token(session, fields):
                # The session has changed since, or the form is forged: nothing is stored unseen.
                old = N_(
                    "This page was open for too long. Check your answer and send it once more."
                )
                return await self._sheet(request, visitor, sheet, filled(fields, sheet), 403, old)
            answer = read_answer(fields, sheet)
            if isinstance(answer, str):
                return await self._sheet(
                    request, visitor, sheet, filled(fields, sheet), 400, answer
                )
            saved = await self._labelling.save(visitor.annotator.key, sheet.id, answer)
            if saved == "closed":
                return failure_page(request, 410, TOO_LATE)
            if saved == "unknown":
                raise web.HTTPNotFound
            return self._see(request, "next" if sheet.answer is None else "done")
        except StoreError as error:
            log.error("answer not stored", why=error.text)
        # It stays in the page while the database is away.
        response = show_page(
            "label_again.html.jinja",
            language_of(request),
            status=503,
            action=request.path,
            fields={name: value for name, value in fields.items() if is_field(name)},
            token=fields.get("token", ""),
        )
        response.headers["Retry-After"] = str(RETRY_SECONDS)
        return response

    async def _sheet(
        self,
        request: Request,
        visitor: _Visitor,
        sheet: Sheet,
        given: _FilledForm | SheetAnswer,
        status: int = 200,
        problem: str = "",
    ) -> Response:
        progress = await self._progress(visitor)
        return show_page(
            "label_sheet.html.jinja",
            _language(request, progress.task.language, sheet.language),
            status=status,
            sheet=sheet,
            given=given,
            problem=problem,
            progress=progress,
            token=visitor.session.token,
        )

    @needs(_find, _unknown)
    async def done(self, request: Request, visitor: _Visitor) -> Response:
        """Show how far somebody is, their code, and how to go on elsewhere."""
        progress = await self._progress(visitor)
        return show_page(
            "label_done.html.jinja",
            _language(request, progress.task.language),
            progress=progress,
            answered=await self._labelling.answered(visitor.annotator.key),
            annotator=visitor.annotator,
            address=f"{self._url}/label/{progress.task.name}/back"
            f"?{PERSONAL}={visitor.annotator.token}",
            token=visitor.session.token,
        )


def _language(request: Request, *wanted: str) -> str:
    """Return the first of the languages that there are texts in, or what the reader wants."""
    codes = (one.split("-")[0].lower() for one in wanted)
    return next((code for code in codes if code in KNOWN), "") or language_of(request)


def noticing(labelling: Labelling, sessions: Sessions) -> Saw:
    """Return what notes that somebody who labels is shown the results of debates."""

    async def saw(request: Request, debates: Collection[str]) -> None:
        session = sessions.read(request)
        keys = {} if session is None else _keys(session)
        for task, key in keys.items():
            if task != ASKED:
                await labelling.saw(key, debates)

    return saw


def _pack(keys: Mapping[str, str]) -> str:
    return orjson.dumps(keys).decode()


def _keys(session: BrowserSession) -> dict[str, str]:
    found: dict[str, str] = orjson.loads(session.who)
    return found


# What a sheet's form brings, and what it shows when it has to be filled in once more.


OPTIONS = ("first", "second", "tie", "weak")
CONFIDENCES = ("close", "clear", "one-sided")
GROUNDS = ("logic", "evidence", "rebuttal", "style", "other")
FIELDS = ("option", "confidence", "ground", "comment", "seconds")
THUMB, UP, DOWN = "thumb-", "up", "down"
MOST_TYPED = 20  # characters of how sure somebody is
LONGEST_SECONDS = 86_400.0


class _FilledForm(NamedTuple):
    """A sheet's form as it was sent, as a `SheetAnswer` is shown in it."""

    option: str = ""
    confidence: str = ""
    ground: str = ""
    comment: str = ""
    thumbs: Mapping[int, bool] = {}


def is_field(name: str) -> bool:
    """Return whether a field is one of an answer."""
    return name in FIELDS or name.startswith(THUMB)


def filled(form: Form, sheet: Sheet) -> _FilledForm:
    """Return a form as it was sent, as far as it has a meaning here."""

    def one_of(name: str, known: tuple[str, ...]) -> str:
        given = form.get(name)
        return given if isinstance(given, str) and given in known else ""

    numbers = (speech.number for one in sheet.rounds for speech in one.speeches)
    thumbs = ((number, form.get(f"{THUMB}{number}")) for number in numbers)
    comment = form.get("comment")
    confidence = one_of("confidence", CONFIDENCES)
    if sheet.percent:
        typed = form.get("confidence")
        confidence = typed.strip()[:MOST_TYPED] if isinstance(typed, str) else ""
    # Browsers send a line's end as two characters, and count it as one.
    return _FilledForm(
        one_of("option", OPTIONS),
        confidence,
        one_of("ground", GROUNDS),
        comment.replace("\r\n", "\n").strip() if isinstance(comment, str) else "",
        {number: thumb == UP for number, thumb in thumbs if thumb in (UP, DOWN)},
    )


def read_answer(form: Form, sheet: Sheet) -> SheetAnswer | str:
    """Return a form's answer, or what is wrong with it."""
    given = filled(form, sheet)
    if not given.option:
        return (
            N_("Choose which answer is right; without that there is nothing to store.")
            if sheet.trial
            else N_("Choose who debated better; without that there is nothing to store.")
        )
    try:
        sure = read_percent(given.confidence) if sheet.percent and given.confidence else ""
    except UsageError:
        return N_("How sure you are is a whole number from 0 to 100, such as 70.")
    if len(given.comment) > MOST_COMMENT:
        return N_("Your reason is too long. Shorten it to 2,000 characters.")
    try:
        seconds = float(form.get("seconds", ""))
    except (TypeError, ValueError):
        seconds = 0.0
    try:
        return SheetAnswer.model_validate(
            {
                "option": given.option,
                "confidence": sure or given.confidence,
                "ground": given.ground,
                "comment": given.comment,
                "thumbs": dict(given.thumbs),
                "seconds": seconds if 0 < seconds <= LONGEST_SECONDS else None,
            }
        )
    except ValidationError:
        return N_("Your answer could not be read. Check it and send it once more.")
