"""One Chromium for the tests of a module; each has a context of its own, which is watched.

No page of ours may complain in the console, call another host, or break its own policy.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from importlib.resources import files
from typing import Any

import pytest
import pytest_asyncio
import structlog
from playwright.async_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Page,
    Request,
    async_playwright,
)

from tests.browser import chromium
from tests.scenario.shelf import Shelf, fill

# What no page of ours may do: complain in the console, call another host, break its own policy.


# A page's policy is tested also where a broken one would only leave something out.
TELL_VIOLATIONS = """
document.addEventListener('securitypolicyviolation', (event) => console.error(
  `CSP: ${event.effectiveDirective} forbids ${event.blockedURI} in ${event.sourceFile}`
));
"""
NOT_LOADED = "Failed to load resource: the server responded with a status of "
INSIDE = ("data:", "blob:", "about:")


@dataclass  # without slots: Playwright keeps something at it
class Guard:
    """Watches the pages of a context. Only what starts with an `origin` may be asked for.

    `expected` are statuses of answers that are failures on purpose.
    """

    origins: set[str] = field(default_factory=set)
    expected: set[int] = field(default_factory=set)
    complaints: list[str] = field(default_factory=list)

    async def watch(self, context: BrowserContext) -> None:
        """Watch every page of a context from now on."""
        await context.add_init_script(TELL_VIOLATIONS)
        context.on("console", self._hear)
        context.on("request", self._see)
        context.on("weberror", lambda error: self.complaints.append(f"exception: {error.error}"))

    def assert_quiet(self) -> None:
        assert not self.complaints, "\n".join(self.complaints)

    def _hear(self, said: ConsoleMessage) -> None:
        text: str = said.text
        if said.type not in ("error", "warning") or self._is_expected(text):
            return
        if said.location["url"].endswith("/favicon.ico"):  # asked for beside what is no page
            return
        self.complaints.append(f"console {said.type}: {text} ({said.location})")

    def _is_expected(self, text: str) -> bool:
        return any(text.startswith(f"{NOT_LOADED}{status} ") for status in self.expected)

    def _see(self, request: Request) -> None:
        url: str = request.url
        if not url.startswith((*INSIDE, *self.origins)):
            self.complaints.append(f"request: {request.method} {url}")


def brief(violation: dict[str, Any]) -> str:
    """Return a violation of axe's in a few lines."""
    nodes = [f"    {node['target']} {node['html'][:160]}" for node in violation["nodes"][:5]]
    return "\n".join([f"{violation['id']} ({violation['impact']}): {violation['help']}", *nodes])


DESKTOP = {"width": 1120, "height": 800}
LARGE = {"width": 1280, "height": 900}
PHONE = {"width": 390, "height": 844}
NARROW = {"width": 320, "height": 640}
RULES = ("wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice")
SECONDS = 15.0

Open = Callable[..., Awaitable[Page]]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def browser() -> AsyncIterator[Browser]:
    program = chromium.find()
    assert program is not None, chromium.MISSING
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(
            executable_path=program, args=list(chromium.arguments())
        )
        yield browser
        await browser.close()


@pytest_asyncio.fixture(loop_scope="module")
async def guard() -> AsyncIterator[Guard]:
    """What watches the pages of a test, and fails it for what they did in its end."""
    guard = Guard()
    yield guard
    guard.assert_quiet()


@pytest_asyncio.fixture(loop_scope="module")
async def person(browser: Browser, guard: Guard) -> AsyncIterator[Open]:
    """Return a function that opens an empty page of somebody new; options are the context's."""
    contexts: list[BrowserContext] = []

    async def arrive(**options: Any) -> Page:
        context = await browser.new_context(**{"viewport": DESKTOP, "locale": "en-GB"} | options)
        context.set_default_timeout(1000 * SECONDS)
        contexts.append(context)
        await guard.watch(context)
        return await context.new_page()

    yield arrive
    for context in contexts:
        await context.close()


@pytest.fixture(scope="session")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Shelf:
    """Debates of every kind, held once for all tests of a process."""
    structlog.configure(processors=[], logger_factory=structlog.ReturnLoggerFactory())
    return asyncio.run(fill(tmp_path_factory.mktemp("shelf")))


async def assert_accessible(page: Page) -> None:
    """Fail if a page breaks a rule of WCAG 2.2 A or AA, or what axe-core advises besides."""
    await page.evaluate(files("axe_playwright_python").joinpath("axe.min.js").read_text())
    only = {"runOnly": {"type": "tag", "values": list(RULES)}, "resultTypes": ["violations"]}
    found = await page.evaluate("(options) => axe.run(document, options)", only)
    assert not found["violations"], "\n".join(map(brief, found["violations"]))


async def assert_fits(page: Page) -> None:
    """Fail if a page must be scrolled sideways; what causes it is named."""
    wide = await page.evaluate(WIDE)
    assert not wide, f"wider than the window at {page.url}: {wide}"


async def assert_readable(page: Page) -> None:
    """Fail if a page is not accessible, or does not fit a screen of any size."""
    for size in (DESKTOP, PHONE, NARROW):
        await page.set_viewport_size(size)
        await assert_fits(page)
    await assert_accessible(page)


WIDE = """
() => {
  const room = document.documentElement.clientWidth;
  if (document.documentElement.scrollWidth <= room) return [];
  return [...document.querySelectorAll('body *')]
    .filter((e) => e.getBoundingClientRect().right > room + 0.5)
    .slice(0, 5)
    .map((e) => `${e.tagName}.${e.className} ${Math.round(e.getBoundingClientRect().right)}`);
}
"""
