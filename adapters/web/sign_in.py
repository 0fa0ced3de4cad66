"""Signing in by a chat platform: the way there, and the way back.

What the browser has to bring back lies in a sealed cookie of its own for ten minutes. Where it
leads afterwards lies there too, so that no address decides that.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping

import orjson
from aiohttp import web

from adapters.web.accounts import EXPIRED, Accounts, Pending, open_code
from adapters.web.application import RETRY_SECONDS, PageFailure, failure_page
from adapters.web.label_pages import TASK, TOKEN
from adapters.web.session import LoginThrottle, Sessions, client_of
from engine.values.errors import NotAllowedError, VenueAwayError, VenueError
from engine.values.language import N_

PLATFORM = r"{platform:[a-z]{1,16}}"
SIGN_IN_SECONDS = 600
MANAGING = ""  # in place of a task's name
FAILED = N_("Signing in did not work")

Welcome = Callable[[web.Request, str, str], Awaitable[web.Response]]


Goal = tuple[str, str]
"""Where somebody was going who signs in: a task, perhaps with a link to it."""


class SignIn:
    """The pages of signing in; `url` is our own address, as the platforms know it.

    `label` and `manage` take over with the platform and the user.
    """

    def __init__(
        self,
        accounts: Mapping[str, Accounts],
        sessions: Sessions,
        tries: LoginThrottle,
        url: str,
        label: Callable[[web.Request, str, str, Goal], Awaitable[web.Response]],
        manage: Welcome,
    ) -> None:
        self._accounts, self._sessions, self._tries, self._url = accounts, sessions, tries, url
        self._label, self._manage = label, manage

    def routes(self) -> list[web.RouteDef]:
        """Return the pages' routes; none without a platform."""
        if not self._accounts:
            return []
        return [
            web.get(f"/label/{TASK}/sign-in/{PLATFORM}", self.begin),
            web.get(f"/labels/sign-in/{PLATFORM}", self.begin),
            web.get(f"/sign-in/{PLATFORM}", self.end),
        ]

    async def begin(self, request: web.Request) -> web.Response:
        """Send somebody to the platform."""
        platform, accounts = self._platform(request)
        goal = (request.match_info.get("task", MANAGING), request.query.get(TOKEN, "")[:64])
        pending = Pending.begin(platform)
        there = accounts.page(pending, self._back(platform))
        response = web.Response(status=303, headers={"Location": there})
        self._sessions.begin(response, orjson.dumps([pending.model_dump(), *goal]).decode())
        return response

    async def end(self, request: web.Request) -> web.Response:
        """Take somebody in who comes back from the platform."""
        platform, accounts = self._platform(request)
        self._tries.check(client_of(request))
        try:
            pending, goal = self._pending(request, platform)
            code = open_code(request.query, pending, accounts.issuer)
            try:
                user = await accounts.identify(code, pending, self._back(pending.platform))
            except NotAllowedError:
                self._tries.failed(client_of(request))
                raise
            if goal[0] == MANAGING:
                response = await self._manage(request, platform, user)
            else:
                response = await self._label(request, platform, user, goal)
        except VenueAwayError as error:
            response = failure_page(request, 503, PageFailure(FAILED, error.text))
            response.headers["Retry-After"] = str(RETRY_SECONDS)
        except VenueError as error:
            response = failure_page(request, 502, PageFailure(FAILED, error.text))
        except NotAllowedError as error:
            response = failure_page(request, 403, PageFailure(FAILED, error.text))
        self._sessions.end(response)
        return response

    def _pending(self, request: web.Request, platform: str) -> tuple[Pending, Goal]:
        session = self._sessions.read(request)
        if session is None:
            raise NotAllowedError(EXPIRED)
        pending, task, link = orjson.loads(session.who)
        begun = Pending.model_validate(pending)
        if begun.platform != platform:
            raise NotAllowedError(EXPIRED)
        return begun, (task, link)

    def _platform(self, request: web.Request) -> tuple[str, Accounts]:
        platform = request.match_info["platform"]
        if platform not in self._accounts:
            raise web.HTTPNotFound
        return platform, self._accounts[platform]

    def _back(self, platform: str) -> str:
        """Return the address to come back to, as it is registered at the platform."""
        return f"{self._url}/sign-in/{platform}"
