"""The terminal as a place to debate in: what it remembers, shows again and lets people do."""

import asyncio
import io
import os
import pty
import re
import termios
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from adapters.terminal.keys import _Voters, vote_by_keys
from adapters.terminal.texts import Hand, hands, parse_stances, parse_votes
from adapters.terminal.venue import TerminalVenue
from engine.values.errors import UsageError, VenueError
from engine.values.messages import (
    MESSAGE,
    Announcement,
    File,
    Message,
    Notice,
    Report,
    TurnPost,
    VoteClosed,
    VoteInvite,
)
from engine.values.ports import Draft, Inbound, Part, Reactions, ReactionSeen, VenueLimits
from tests.kit import HANG_SECONDS, cancelled, until, until_shown
from tests.unit.test_terminal_render import ANNOUNCEMENT

OPTIONS = ("A", "B", "tie", "weak")
INVITE = VoteInvite(options=OPTIONS, minutes=30, quorum=5)


def part(text: str, number: int = 1) -> Part:
    body = MESSAGE.dump_json(Notice(text=text)).decode()
    return Part(reference=f"k7f2qz·{number}·1/1", body=body)


def opened(
    record: Path | None = None, *, tty: bool = False, width: int = 80, height: int = 30
) -> tuple[TerminalVenue, io.StringIO]:
    screen = io.StringIO()
    console = Console(
        file=screen, force_terminal=tty, width=width, height=height, color_system="standard"
    )
    return TerminalVenue(console, record=record, limits=VenueLimits(typing_seconds=0.3)), screen


async def voting(venue: TerminalVenue) -> str:
    (invite,) = venue.render(INVITE, "k7f2qz·7")
    message = await venue.post("t", invite)
    await venue.seed("t", message, OPTIONS)
    return message


async def test_a_restart_finds_what_was_posted_and_who_voted(tmp_path: Path) -> None:
    record = tmp_path / "transcript.jsonl"
    venue, _ = opened(record)
    first = await venue.post("t", part("one"))
    message = await voting(venue)
    await venue.hold("guest-1", "A")
    await venue.hold("guest-2", "B")
    await venue.drop("guest-1", "A")

    again, screen = opened(record)
    assert await again.find("t", "k7f2qz·1·1/1", None) == first
    assert await again.post("t", part("two", 2)) not in (first, message)
    read = await again.reactions("t", message)
    assert read == Reactions({"A": frozenset(), "B": frozenset({"guest-2"})}, frozenset(OPTIONS))
    await again.hold("guest-3", "tie")
    assert "guest-3 votes: tie" in screen.getvalue()


BRIEFING = Report(
    title="Decision briefing",
    text="Tea wins.",
    files=(
        File(name="briefing.md", media="text/markdown", content="# Çay\n"),
        File(name="briefing.json", media="application/json", content='{"topic": "Çay"}\n'),
    ),
)


@pytest.mark.parametrize("tty", [False, True])
async def test_a_messages_files_are_beside_the_transcript_and_it_says_where(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tty: bool
) -> None:
    monkeypatch.chdir(tmp_path)
    record = Path("t.jsonl")
    venue, screen = opened(record, tty=tty)
    await post(venue, "t", BRIEFING, "k7f2qz·9")
    for file in BRIEFING.files:
        assert (tmp_path / "k7f2qz" / file.name).read_text(encoding="utf-8") == file.content
        assert f"k7f2qz/{file.name}" in screen.getvalue()
    again, screen = opened(record)
    again.replay()
    assert "k7f2qz/briefing.md" in screen.getvalue()
    # Where they cannot be written the message is not posted.
    (tmp_path / "abcdef").touch()
    venue, _ = opened(tmp_path / "other.jsonl")
    with pytest.raises(VenueError, match=r"Files cannot be written to .*abcdef"):
        await post(venue, "t", BRIEFING, "abcdef·9")
    assert not (tmp_path / "other.jsonl").exists()


async def test_nothing_is_posted_twice(tmp_path: Path) -> None:
    record = tmp_path / "transcript.jsonl"
    venue, screen = opened(record)
    first = await venue.post("t", part("only once"))
    assert await venue.post("t", part("only once")) == first
    again, second_screen = opened(record)
    assert await again.post("t", part("only once")) == first
    assert record.read_text().count("only once") == 1
    assert screen.getvalue().count("only once") == 1
    assert second_screen.getvalue() == ""


async def test_a_post_is_on_the_disk_before_it_is_answered_or_shown(tmp_path: Path) -> None:
    venue, screen = opened(tmp_path / "nowhere" / "transcript.jsonl")
    with pytest.raises(VenueError, match="cannot be written: No such file or directory"):
        await venue.post("t", part("lost"))
    assert screen.getvalue() == ""
    assert await venue.find("t", "k7f2qz·1·1/1", None) is None
    # A caller who gives up loses no post.
    venue, screen = opened(tmp_path / "transcript.jsonl")
    posting = asyncio.create_task(venue.post("t", part("late")))
    await asyncio.sleep(0)
    await cancelled(posting)
    assert "late" in (tmp_path / "transcript.jsonl").read_text()
    assert "late" in screen.getvalue()
    assert await venue.find("t", "k7f2qz·1·1/1", None) == "m1"


async def test_a_line_torn_by_a_crash_is_cut_off_and_a_damaged_one_told(tmp_path: Path) -> None:
    record = tmp_path / "transcript.jsonl"
    venue, _ = opened(record)
    await venue.post("t", part("one"))
    whole = record.read_bytes()
    for cut in (1, len(whole) // 2, len(whole) - 1):
        record.write_bytes(whole + whole[:cut])
        again, _ = opened(record)
        assert await again.post("t", part("two", 2)) == "m2"
        assert record.read_text().count("\n") == 2
    record.write_text('{"what": "?"}\n')
    with pytest.raises(VenueError, match=r"a line is damaged\. Move it away or repair it"):
        opened(record)


async def test_replay_shows_what_was_there_before(tmp_path: Path) -> None:
    record = tmp_path / "transcript.jsonl"
    venue, _ = opened(record)
    venue.replay()
    await venue.post("lobby", part("announced"))
    await venue.post("t", part("argued", 2))
    again, screen = opened(record, tty=True)
    again.replay("t")
    assert "argued" in screen.getvalue()
    assert "announced" not in screen.getvalue()
    assert "\x1b[2" in screen.getvalue()
    again.replay()
    assert "announced" in screen.getvalue()


async def test_what_moves_and_what_there_is_not_leaves_no_mark_in_a_file() -> None:
    venue, screen = opened()
    venue.replay()
    await venue.typing("t", ["A"])
    await venue.typing("t", [])
    venue.follow(DRAFT)
    venue.close()
    assert screen.getvalue() == ""


async def test_who_thinks_is_shown_until_the_next_message_or_for_a_time() -> None:
    venue, screen = opened(tty=True)
    await venue.typing("t", ["A", "[b]B"])
    await until_shown("A, [b]B are thinking…", screen)
    before = len(screen.getvalue())
    await venue.post("t", part("said"))
    after = screen.getvalue()[before:]
    assert "\x1b[2K" in after[: after.index("said")]  # the line was erased first
    assert "thinking" not in after[after.index("said") :]
    await venue.typing("t", ["A"])
    await until_shown("A is thinking…", screen)
    await until_shown("\x1b[?25h", screen)  # the cursor is back


async def test_hands_are_heard_once_each() -> None:
    heard: list[Inbound] = []
    venue, _ = opened()

    async def hear(seen: Inbound) -> None:
        heard.append(seen)

    venue.listener = hear
    message = await voting(venue)
    for _ in range(2):
        await venue.hold("guest-1", "A")
    for _ in range(2):
        await venue.drop("guest-1", "A")
    assert heard == [
        ReactionSeen("t", message, "guest-1", "A", True),
        ReactionSeen("t", message, "guest-1", "A", False),
    ]


async def test_a_vote_that_is_not_open_takes_no_hand() -> None:
    venue, screen = opened()
    with pytest.raises(VenueError, match="No vote is open"):
        await venue.hold("guest-1", "A")
    message = await voting(venue)
    with pytest.raises(VenueError, match="“C” is not on this ballot; choose from A, B, tie, weak"):
        await venue.hold("guest-1", "C")
    closed = venue.render(VoteClosed(options=OPTIONS, votes=0), "k7f2qz·7")[0]
    await venue.edit("t", message, closed)
    assert "The vote is closed" in screen.getvalue()
    with pytest.raises(VenueError, match="No vote is open"):
        await venue.hold("guest-1", "A")


async def test_another_edit_is_told_in_a_line_and_a_body_that_cannot_be_read_refused() -> None:
    venue, screen = opened()
    message = await venue.post("t", part("one"))
    await venue.edit("t", message, part("two"))
    assert "#1 was edited" in screen.getvalue()
    with pytest.raises(VenueError, match="another version of Rostrum"):
        await venue.post("t", Part(reference="k7f2qz·2·1/1", body='{"kind": "hologram"}'))


async def test_of_two_threads_one_is_read_at_a_time() -> None:
    venue, screen = opened()
    venue.watch("")
    await venue.post("t", part("announced", 1))
    await venue.post("t/m1", part("mine", 2))
    await venue.post("t/m2", part("another's", 3))
    assert "announced" in screen.getvalue()
    assert "mine" not in screen.getvalue()
    venue.turn_to("t/m1")
    assert "mine" in screen.getvalue()
    await venue.post("t/m1", part("more", 4))
    assert "more" in screen.getvalue()
    assert "another's" not in screen.getvalue()
    venue.turn_to("t/m2")
    assert screen.getvalue().count("another's") == 1


async def test_hands_are_raised_in_the_thread_that_is_read() -> None:
    venue, _ = opened()
    ballots = {}
    for number, thread in enumerate(("t/m1", "t/m2"), 1):
        (invite,) = venue.render(INVITE, f"k7f2qz·{number}")
        ballots[thread] = await venue.post(thread, invite)
        await venue.seed(thread, ballots[thread], OPTIONS)
    venue.watch("t/m1")
    await venue.hold("guest-1", "A")
    (closed,) = venue.render(VoteClosed(options=OPTIONS, votes=1), "k7f2qz·1")
    await venue.edit("t/m1", ballots["t/m1"], closed)
    with pytest.raises(VenueError):
        await venue.hold("guest-2", "A")
    venue.turn_to("t/m2")
    await venue.hold("guest-3", "B")
    first = await venue.reactions("t/m1", ballots["t/m1"])
    second = await venue.reactions("t/m2", ballots["t/m2"])
    assert first.holders["A"] == {"guest-1"}
    assert second.holders["B"] == {"guest-3"}


# --- Turns that grow in a terminal until their posts take their places ----------------------------


POST = TurnPost(
    side="A", seat="A", round="opening", number=1, total=8, text="All said.", words=2, limit=500
)
DRAFT = Draft("k7f2qz", "A", "A", "opening", "Tea is", 3, 500)
BLUE, RED = "\x1b[34m", "\x1b[31m"


def opened_live(height: int = 30) -> tuple[TerminalVenue, io.StringIO]:
    return opened(tty=True, width=60, height=height)


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


async def test_a_draft_grows_in_the_colour_of_its_side_with_its_words_and_is_data() -> None:
    venue, screen = opened_live()
    venue.follow(DRAFT)
    await until_shown("3 of 500 words", screen)
    venue.follow(replace(DRAFT, text="[bold]Tea[/bold] is calmer \x1b[2J\x07 :tea:", words=4))
    shown = await until_shown("4 of 500 words", screen)
    assert BLUE in shown
    assert RED not in shown
    assert "[bold]Tea[/bold] is calmer" in visible(shown)
    assert "\x1b[2J" not in shown
    assert "\x07" not in shown
    assert visible(shown).count("A · opening") == 1
    venue.close()


async def test_the_post_takes_the_place_of_its_draft_and_of_no_other() -> None:
    venue, screen = opened_live()
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
    venue, screen = opened_live()
    venue.follow(DRAFT)
    await until_shown("Tea is", screen)
    venue.follow(replace(DRAFT, text="", words=0))
    await until_shown("0 of 500 words", screen)
    assert "Tea is" not in visible(screen.getvalue())
    venue.follow(replace(DRAFT, text="", words=0, dropped=True))
    assert visible(screen.getvalue()).strip() == ""


async def test_who_writes_is_not_said_to_think_and_a_note_is_above_what_grows() -> None:
    venue, screen = opened_live()
    venue.follow(DRAFT)
    await venue.typing("t", ["A", "B"])
    await until_shown("B is thinking…", screen)
    assert "A, B are" not in screen.getvalue()
    venue.note("guest-1 votes")
    shown = visible(await until_shown("guest-1 votes", screen))
    assert shown.index("guest-1 votes") < shown.index("Tea is")
    venue.close()


@pytest.mark.parametrize("drafts", [1, 4])
async def test_long_drafts_show_their_ends_and_fit_the_screen(drafts: int) -> None:
    venue, screen = opened_live(height=20)
    for number in range(1, drafts + 1):
        text = " ".join(f"w{number}-{word}" for word in range(500))
        venue.follow(replace(DRAFT, seat=str(number), side=str(number), text=text))
    shown = visible(await until_shown(f"w{drafts}-499", screen))
    assert f"w{drafts}-0 " not in shown
    assert len(shown.strip().splitlines()) <= 20
    venue.close()


async def test_of_two_debates_only_the_one_that_is_read_is_seen_growing() -> None:
    venue, screen = opened_live()
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
    venue, screen = opened_live()
    venue.close()
    venue.follow(DRAFT)
    await venue.typing("t", ["A"])
    assert screen.getvalue() == ""
    await post(venue, "t", POST, "k7f2qz·2")
    assert "All said." in screen.getvalue()
    assert "\x1b[?25l" not in screen.getvalue()  # the cursor stays


# --- Votes given in a terminal: the option's text, and keys ---------------------------------------


def test_votes_and_stances_are_read_and_each_is_one_persons() -> None:
    assert parse_votes("A=3,B=2,tie=1", OPTIONS) == {"A": 3, "B": 2, "tie": 1}
    assert parse_votes(" a = 3 , WEAK=0, ", OPTIONS) == {"A": 3, "weak": 0}
    assert parse_votes("B=1000", OPTIONS) == {"B": 1000}
    guests = Hand("guest-1", "A"), Hand("guest-2", "A"), Hand("guest-3", "tie")
    assert hands({"A": 2, "B": 0, "tie": 1}) == guests
    turned, unsure = ("down", "up"), ("unsure", "unsure")
    assert parse_stances("Against>FOR=2, unsure=1") == (turned, turned, unsure)
    with pytest.raises(UsageError, match=r"“for>maybe” in --stances is not on this ballot"):
        parse_stances("for>maybe=1")


def test_each_key_is_one_more_person_and_the_last_vote_is_taken_back() -> None:
    people = _Voters(OPTIONS, before=4)
    assert people.press("u") is None
    assert people.press("a") == Hand("guest-5", "A")
    assert people.press("u") == Hand("guest-5", "A", added=False)
    assert people.press("u") is None
    pressed = [people.press(key) for key in "Btx"]
    assert pressed == [Hand("guest-6", "B"), Hand("guest-7", "tie"), None]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "has no votes; write it as A=3,B=2,tie=1"),
        (" , ", "has no votes"),
        ("A", "“A” in --votes is not OPTION=NUMBER"),
        ("=3", "“=3” in --votes is not OPTION=NUMBER"),
        ("C=3", "“C” in --votes is not on this ballot; choose from A, B, tie, weak"),
        ("A=1,a=2", "“A” is in --votes twice"),
        ("A=-1", "“-1” in --votes is not a number"),
        ("A=x", "“x” in --votes is not a number"),
        ("A=1=2", "“1=2” in --votes is not a number"),
        ("A=1001", "from 0 to 1000"),
        ("A=٣", "is not a number"),
        ("{options}=1", "“{options}” in --votes is not on this ballot"),
    ],
)
def test_refuses_in_a_sentence(text: str, sentence: str) -> None:
    with pytest.raises(UsageError) as refusal:
        parse_votes(text, OPTIONS)
    assert sentence in str(refusal.value)


@pytest.fixture
def terminal() -> Iterator[tuple[int, int]]:
    keys, screen = pty.openpty()
    yield keys, screen
    os.close(keys)
    os.close(screen)


async def until_keys_are_read(screen: int) -> None:
    """Wait until a terminal passes each key on; what was pressed before is thrown away."""
    await until(lambda: not termios.tcgetattr(screen)[3] & termios.ICANON)


async def test_keys_vote_until_enter_restores_the_terminal(terminal: tuple[int, int]) -> None:
    keys, screen = terminal
    usual = termios.tcgetattr(screen)
    cast: list[Hand] = []
    ticks = 0

    async def remember(hand: Hand) -> None:
        cast.append(hand)

    voting = asyncio.create_task(vote_by_keys(screen, OPTIONS, remember))
    await until_keys_are_read(screen)
    for pressed in (b"a", b"\x1b[A\x1bOB", "ğ".encode()[:1], "ğ".encode()[1:], b"bu", b"\n"):
        await asyncio.sleep(0.01)
        ticks += 1
        os.write(keys, pressed)
    await asyncio.wait_for(voting, HANG_SECONDS)
    assert cast == [Hand("guest-1", "A"), Hand("guest-2", "B"), Hand("guest-2", "B", False)]
    assert ticks == 6
    assert termios.tcgetattr(screen) == usual


async def test_the_terminal_is_restored_after_an_error_and_a_cancel(
    terminal: tuple[int, int],
) -> None:
    keys, screen = terminal
    usual = termios.tcgetattr(screen)

    async def fail(hand: Hand) -> None:
        raise UsageError(f"no {hand.option}")

    os.write(keys, b"b")
    assert os.read(keys, 1) == b"b"  # its echo: the key waits in the terminal, to be thrown away
    voting = asyncio.create_task(vote_by_keys(screen, OPTIONS, fail))
    await until_keys_are_read(screen)
    os.write(keys, b"a")
    with pytest.raises(UsageError, match="no A"):
        await asyncio.wait_for(voting, HANG_SECONDS)
    assert termios.tcgetattr(screen) == usual
    waiting = asyncio.create_task(vote_by_keys(screen, OPTIONS, fail))
    await until_keys_are_read(screen)
    await cancelled(waiting)
    assert termios.tcgetattr(screen) == usual


async def test_keys_need_a_terminal() -> None:
    read, write = os.pipe()

    async def never(hand: Hand) -> None:
        raise AssertionError(hand)

    try:
        with pytest.raises(UsageError, match="give the votes with --votes"):
            await vote_by_keys(read, OPTIONS, never)
    finally:
        os.close(read)
        os.close(write)
