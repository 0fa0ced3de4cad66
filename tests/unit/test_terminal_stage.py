"""Turns that grow in a terminal until their posts take their places."""

from __future__ import annotations

import io
import re
from dataclasses import replace

import pytest
from rich.console import Console

from adapters.terminal.venue import TerminalVenue
from engine.values.messages import Announcement, Message, TurnPost
from engine.values.ports import Draft
from tests.kit import until_shown
from tests.unit.test_terminal_render import ANNOUNCEMENT

POST = TurnPost(
    side="A", seat="A", round="opening", number=1, total=8, text="All said.", words=2, limit=500
)
DRAFT = Draft("k7f2qz", "A", "A", "opening", "Tea is", 3, 500)
BLUE, RED = "\x1b[34m", "\x1b[31m"


def opened(*, tty: bool = True, height: int = 30) -> tuple[TerminalVenue, io.StringIO]:
    screen = io.StringIO()
    console = Console(
        file=screen, force_terminal=tty, width=60, height=height, color_system="standard"
    )
    return TerminalVenue(console), screen


async def post(venue: TerminalVenue, place: str, message: Message, stem: str) -> str:
    (part,) = venue.render(message, stem)
    return await venue.post(place, part)


def visible(raw: str) -> str:
    """Return what a terminal of unlimited height shows in the end."""
    lines, row = [""], 0
    for piece in re.findall(r"\x1b\[(?:\d*A|2K|[0-9;?]*[a-zA-Z])|\r|\n|[^\x1b\r\n]+", raw):
        if piece == "\n":
            row += 1
            lines += [""] * (row + 1 - len(lines))
        elif piece.endswith("A") and piece[0] == "\x1b":
            row -= int(piece[2:-1] or 1)
        elif piece == "\x1b[2K":
            lines[row] = ""
        elif piece[0] not in "\x1b\r":
            lines[row] += piece
    return "\n".join(lines)


async def test_a_draft_grows_in_the_colour_of_its_side_with_its_words() -> None:
    venue, screen = opened()
    venue.follow(DRAFT)
    await until_shown("3 of 500 words", screen)
    venue.follow(replace(DRAFT, text="Tea is calmer", words=4))
    shown = await until_shown("4 of 500 words", screen)
    assert BLUE in shown
    assert RED not in shown
    assert "calmer" in visible(shown)
    assert visible(shown).count("A · opening") == 1
    venue.close()


async def test_the_post_takes_the_place_of_its_draft_and_of_no_other() -> None:
    venue, screen = opened()
    other = replace(DRAFT, seat="B", side="B", text="Coffee wakes", words=9)
    venue.follow(DRAFT)
    venue.follow(other)
    await until_shown("Coffee", screen)
    await post(venue, "t", POST, "k7f2qz·2")
    shown = visible(screen.getvalue())
    assert "Tea is" not in shown
    assert shown.index("All said.") < shown.index("Coffee wakes")
    venue.close()
    assert "Coffee" not in visible(screen.getvalue())
    assert "All said." in visible(screen.getvalue())
    assert screen.getvalue().endswith("\x1b[?25h") or "\x1b[?25h" in screen.getvalue()[-40:]


async def test_a_draft_that_begins_anew_or_comes_to_nothing_leaves_nothing() -> None:
    venue, screen = opened()
    venue.follow(DRAFT)
    await until_shown("Tea is", screen)
    venue.follow(replace(DRAFT, text="", words=0))
    await until_shown("0 of 500 words", screen)
    assert "Tea is" not in visible(screen.getvalue())
    venue.follow(replace(DRAFT, text="", words=0, dropped=True))
    assert visible(screen.getvalue()).strip() == ""


async def test_who_writes_is_not_said_to_think() -> None:
    venue, screen = opened()
    venue.follow(DRAFT)
    await venue.typing("t", ["A", "B"])
    await until_shown("B is thinking…", screen)
    assert "A, B are" not in screen.getvalue()
    venue.close()


async def test_a_note_is_above_what_grows() -> None:
    venue, screen = opened()
    venue.follow(DRAFT)
    await until_shown("Tea is", screen)
    venue.note("guest-1 votes")
    shown = visible(await until_shown("guest-1 votes", screen))
    assert shown.index("guest-1 votes") < shown.index("Tea is")
    venue.close()


@pytest.mark.parametrize("drafts", [1, 4])
async def test_long_drafts_show_their_ends_and_fit_the_screen(drafts: int) -> None:
    venue, screen = opened(height=20)
    for number in range(1, drafts + 1):
        text = " ".join(f"w{number}-{word}" for word in range(500))
        venue.follow(replace(DRAFT, seat=str(number), side=str(number), text=text))
    shown = visible(await until_shown(f"w{drafts}-499", screen))
    assert f"w{drafts}-0 " not in shown
    assert len(shown.strip().splitlines()) <= 20
    venue.close()


async def test_what_a_model_writes_is_data() -> None:
    venue, screen = opened()
    venue.follow(replace(DRAFT, text="[bold]Tea[/bold] \x1b[2J\x07 :tea:"))
    shown = await until_shown("[bold]Tea[/bold]", screen)
    assert "\x1b[2J" not in shown
    assert "\x07" not in shown
    venue.close()


async def test_of_two_debates_only_the_one_that_is_read_is_seen_growing() -> None:
    venue, screen = opened()
    venue.watch("")
    announced = ANNOUNCEMENT.model_copy(update={"code": "k7f2qz"})
    assert isinstance(announced, Announcement)
    message = await post(venue, "c", announced, "k7f2qz·1")
    thread = await venue.open_thread("c", message, "title")
    venue.follow(replace(DRAFT, text="Too early"))
    venue.turn_to(thread)
    venue.follow(replace(DRAFT, debate="other1", text="Another's"))
    venue.follow(DRAFT)
    shown = await until_shown("Tea is", screen)
    assert "Too early" not in shown
    assert "Another's" not in shown
    venue.watch("")
    assert "Tea is" not in visible(screen.getvalue())


async def test_what_comes_after_the_end_leaves_the_terminal_alone() -> None:
    venue, screen = opened()
    venue.close()
    venue.follow(DRAFT)
    await venue.typing("t", ["A"])
    assert screen.getvalue() == ""
    await post(venue, "t", POST, "k7f2qz·2")
    assert "All said." in screen.getvalue()
    assert "\x1b[?25l" not in screen.getvalue()  # the cursor stays


async def test_nothing_grows_in_a_file() -> None:
    venue, screen = opened(tty=False)
    venue.follow(DRAFT)
    venue.close()
    assert screen.getvalue() == ""
