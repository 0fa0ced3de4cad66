"""Requests that no client of ours sends, to every route of every site: none holds the process."""

import gzip
import re
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from aiohttp import web

from adapters.site import Site
from bot.record.pages import viewing
from bot.serve.health import Health, serve_health
from bot.settings.settings import HealthSettings
from tests.doubles.slack import Rules, SlackServer
from tests.doubles.wire import ask
from tests.kit import beside
from tests.scenario.discord_stage import free_port, until
from tests.scenario.slack_oauth_stage import OAuthStage

ROOT = Path(__file__).parents[2]
# Each file that opens a site, and one of its routes.
SITES = {
    "adapters/slack/connection.py": "/slack/events",
    "bot/serve/health.py": "/livez",
    "bot/record/pages.py": "/open",
    "bot/serve/run.py": "/d/{id}",
}
APPS = {f"{name}_client_{what}": "7" for name in ("discord", "slack") for what in ("id", "secret")}
FILLED = {"platform": "discord", "number": "1", "picture": "result"}
MOST_SECONDS = 2.0  # for one request, on a busy machine
FORM = "application/x-www-form-urlencoded"
PUNYCODE = b"9" * 1_048_000  # a hundred seconds, if it were decoded
BOMB = gzip.compress(bytes(20 * 2**20), 1)
# What is sent, and how it is answered.
HOSTILE = {
    "a charset": (415, {"Content-Type": f"{FORM}; charset=punycode"}, PUNYCODE),
    "a charset of JSON": (415, {"Content-Type": "application/json; charset=idna"}, PUNYCODE),
    "compressed": (415, {"Content-Encoding": "gzip"}, BOMB),
    "deflated": (415, {"Content-Encoding": "identity, deflate"}, BOMB),
    "too large": (413, {}, b"a=" + bytes(2**20)),
}


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> dict[Site, web.Application]:
    """The sites that a test opens, with their applications."""
    found: dict[Site, web.Application] = {}
    serving = Site.serving

    def noting(
        site: Site,
        routes: Sequence[web.RouteDef],
        furnish: Callable[[web.Application], None] = lambda _: None,
    ) -> object:
        def note(served: web.Application) -> None:
            found[site] = served
            furnish(served)

        return serving(site, routes, note)

    monkeypatch.setattr(Site, "serving", noting)
    return found


@asynccontextmanager
async def every_site(url: str, opened: dict[Site, web.Application]) -> AsyncIterator[None]:
    """Open each site as the program does."""
    pages = {"url": "http://127.0.0.1:1", "port": free_port(), **APPS}
    health = HealthSettings(port=free_port())
    async with SlackServer(rules=Rules.generous()) as slack:
        stage = OAuthStage(url, slack, http=True, settings={"web": pages})
        async with (
            stage.process() as app,
            viewing(None, 0),
            beside(serve_health(health, Health(app.store, {}))),
        ):
            await until(lambda: len(opened) == len(SITES) and all(s.address for s in opened))
            yield


def routes_of(served: web.Application) -> list[tuple[str, str]]:
    found = [(one.method, one.resource) for one in served.router.routes()]
    return [(method, resource.canonical) for method, resource in found if resource is not None]


async def test_no_body_holds_the_process_at_any_route_of_any_site(
    database_url: str, opened: dict[Site, web.Application], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ROSTRUM_DATABASE_URL", database_url)
    slow: list[tuple[str, float]] = []
    async with every_site(database_url, opened):
        for site, served in opened.items():
            assert site.address is not None
            for method, path in routes_of(served):
                target = re.sub(r"{(\w+)}", lambda found: FILLED.get(found[1], "x"), path)
                for what, (status, headers, body) in HOSTILE.items():
                    began = time.monotonic()
                    sent = {"Content-Type": FORM, **headers}
                    answer = await ask(site.address[1], target, method, headers=sent, body=body)
                    took = time.monotonic() - began
                    # The pages of one reader refuse others before they look at what is sent.
                    if answer.status not in (status, 403) or took > MOST_SECONDS:
                        slow.append((f"{method} {path} {what}: {answer.status}", took))
        paths = {path for served in opened.values() for _, path in routes_of(served)}
    assert slow == []
    assert set(SITES.values()) <= paths


def test_every_file_that_opens_a_site_is_known_here() -> None:
    found = {
        str(file.relative_to(ROOT))
        for folder in ("adapters", "bot", "engine")
        for file in (ROOT / folder).rglob("*.py")
        if re.search(r"ite\.serving\(|web\.AppRunner\(|TCPSite\(", file.read_text("utf-8"))
    }
    assert found == {"adapters/site.py", *SITES}
