"""One Chromium for the tests of a module; each has a context of its own, which is watched."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from importlib.resources import files
from typing import Any

import pytest
import pytest_asyncio
import structlog
from playwright.async_api import Browser, BrowserContext, Page, async_playwright

from tests.browser import chromium
from tests.browser.guard import Guard, brief
from tests.scenario.shelf import Shelf, fill

DESKTOP = {"width": 1120, "height": 800}
PHONE = {"width": 390, "height": 844}
NARROW = {"width": 320, "height": 640}
RULES = ("wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice")
SECONDS = 15.0

Open = Callable[..., Awaitable[Page]]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def browser() -> AsyncIterator[Browser]:
    """Chromium, for as long as the tests of a module run."""
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
