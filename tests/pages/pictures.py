"""Every picture of docs/, made from debates of rehearsal models: `make pictures`."""

import asyncio
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from playwright.async_api import Browser, async_playwright

from tests.browser import chromium
from tests.pages import discord_thread, slack_thread, terminal_cast, web_shots
from tests.scenario.terminal_stage import Shell

DOCS = Path("docs")
CAST = Path("build/terminal.cast")
THREADS = {
    "discord-thread": ("discord", "en"),
    "discord-thread-es": ("discord", "es"),
    "discord-thread-tr": ("discord", "tr"),
    "slack-thread": ("slack", "en"),
    "slack-thread-de": ("slack", "de"),
    "slack-thread-zh": ("slack", "zh"),
}
WIDTHS = {"": 1120, "-phone": 390}
SERIES = """
name = "wood"
topics = "builtin"
models = ["rehearsal/aspen", "rehearsal/birch", "rehearsal/cedar", "rehearsal/maple"]
[jury]
models = ["rehearsal/elm", "rehearsal/rowan", "rehearsal/yew"]
"""
GLYPHS = {"1f535": "fonts-noto-color-emoji", "8fa9": "fonts-noto-cjk"}  # packages of Debian


def check_fonts() -> None:
    """Exit where letters would be drawn as boxes."""
    for glyph, package in GLYPHS.items():
        if not subprocess.check_output(["fc-list", f":charset={glyph}"]):
            sys.exit(f"No font here has U+{glyph.upper()}. On Debian: apt-get install {package}.")


async def thread(platform: str, language: str) -> str:
    """Hold a debate on a platform's double and return the page that shows it."""
    with tempfile.TemporaryDirectory() as folder:
        if platform == "discord":
            discord = await discord_thread.hold(Path(folder), language)
            return discord_thread.Page(discord).html()
        return slack_thread.Page(await slack_thread.hold(Path(folder), language)).html()


async def take_threads(browser: Browser) -> None:
    """Take each thread as it looks on a desk and on a phone, from its beginning to its end."""
    for name, (platform, language) in THREADS.items():
        shown = await thread(platform, language)
        for ending, width in WIDTHS.items():
            page = await browser.new_page(viewport={"width": width, "height": 600})
            await page.set_content(shown)
            await web_shots.keep(page, DOCS / f"{name}{ending}.png", whole=True)
            await page.close()


def take_ratings() -> None:
    """Hold a series and keep the picture of its ratings."""
    with tempfile.TemporaryDirectory() as folder:
        shell = Shell(Path(folder))
        (shell.folder / "wood.toml").write_text(SERIES)
        for words in ("run wood.toml", "report wood --out report"):
            code, _, wrong = shell.run("series", *words.split())
            assert code == 0, wrong
        shutil.copy(shell.folder / "report/ratings.png", DOCS / "series-ratings.png")


async def take() -> None:
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(
            executable_path=chromium.find(), args=list(chromium.arguments())
        )
        await take_threads(browser)
        await browser.close()
    await web_shots.take(DOCS)


def main() -> None:
    check_fonts()
    terminal_cast.make(DOCS / "terminal.svg", CAST)
    take_ratings()
    asyncio.run(take())


if __name__ == "__main__":
    main()
