"""The terminal as a place to debate in: what it remembers, shows again and lets people do."""

import asyncio
import io
from pathlib import Path

import pytest
from rich.console import Console

from adapters.terminal.venue import TerminalVenue
from engine.values.errors import VenueError
from engine.values.messages import MESSAGE, File, Notice, Report, VoteClosed, VoteInvite
from engine.values.ports import Inbound, Part, Reactions, ReactionSeen, VenueLimits
from tests.kit import until_shown

OPTIONS = ("A", "B", "tie", "weak")
INVITE = VoteInvite(options=OPTIONS, minutes=30, quorum=5)


def part(text: str, number: int = 1) -> Part:
    body = MESSAGE.dump_json(Notice(text=text)).decode()
    return Part(reference=f"k7f2qz·{number}·1/1", body=body)


def opened(record: Path | None = None, *, tty: bool = False) -> tuple[TerminalVenue, io.StringIO]:
    screen = io.StringIO()
    console = Console(file=screen, force_terminal=tty, width=80, color_system="standard")
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
    (briefing,) = venue.render(BRIEFING, "k7f2qz·9")
    await venue.post("t", briefing)
    for file in BRIEFING.files:
        assert (tmp_path / "k7f2qz" / file.name).read_text(encoding="utf-8") == file.content
        assert f"k7f2qz/{file.name}" in screen.getvalue()
    again, screen = opened(record)
    again.replay()
    assert "k7f2qz/briefing.md" in screen.getvalue()


async def test_files_that_cannot_be_written_are_said_and_the_message_is_not_posted(
    tmp_path: Path,
) -> None:
    (tmp_path / "k7f2qz").touch()
    venue, _ = opened(tmp_path / "t.jsonl")
    (briefing,) = venue.render(BRIEFING, "k7f2qz·9")
    with pytest.raises(VenueError, match=r"Files cannot be written to .*k7f2qz"):
        await venue.post("t", briefing)
    assert not (tmp_path / "t.jsonl").exists()


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


async def test_a_caller_who_gives_up_loses_no_post(tmp_path: Path) -> None:
    venue, screen = opened(tmp_path / "transcript.jsonl")
    posting = asyncio.create_task(venue.post("t", part("late")))
    await asyncio.sleep(0)
    posting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await posting
    assert "late" in (tmp_path / "transcript.jsonl").read_text()
    assert "late" in screen.getvalue()
    assert await venue.find("t", "k7f2qz·1·1/1", None) == "m1"


async def test_a_line_torn_by_a_crash_is_cut_off(tmp_path: Path) -> None:
    record = tmp_path / "transcript.jsonl"
    venue, _ = opened(record)
    await venue.post("t", part("one"))
    whole = record.read_bytes()
    for cut in (1, len(whole) // 2, len(whole) - 1):
        record.write_bytes(whole + whole[:cut])
        again, _ = opened(record)
        assert await again.post("t", part("two", 2)) == "m2"
        assert record.read_text().count("\n") == 2


def test_a_damaged_record_is_told_in_a_sentence(tmp_path: Path) -> None:
    record = tmp_path / "transcript.jsonl"
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


async def test_nothing_to_replay_says_nothing() -> None:
    venue, screen = opened()
    venue.replay()
    assert screen.getvalue() == ""


async def test_who_thinks_is_shown_in_a_terminal_until_the_next_message() -> None:
    venue, screen = opened(tty=True)
    await venue.typing("t", ["A", "[b]B"])
    await until_shown("A, [b]B are thinking…", screen)
    before = len(screen.getvalue())
    await venue.post("t", part("said"))
    after = screen.getvalue()[before:]
    assert "\x1b[2K" in after[: after.index("said")]  # the line was erased first
    assert "thinking" not in after[after.index("said") :]


async def test_who_thinks_is_forgotten_in_time() -> None:
    venue, screen = opened(tty=True)
    await venue.typing("t", ["A"])
    await until_shown("A is thinking…", screen)
    await until_shown("\x1b[?25h", screen)  # the cursor is back


async def test_who_thinks_is_not_shown_in_a_file() -> None:
    venue, screen = opened()
    await venue.typing("t", ["A"])
    await venue.typing("t", [])
    assert screen.getvalue() == ""


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


async def test_another_edit_is_told_in_a_line() -> None:
    venue, screen = opened()
    message = await venue.post("t", part("one"))
    await venue.edit("t", message, part("two"))
    assert "#1 was edited" in screen.getvalue()


async def test_a_body_of_another_version_is_refused_in_a_sentence() -> None:
    venue, _ = opened()
    with pytest.raises(VenueError, match="another version of Rostrum"):
        await venue.post("t", Part(reference="k7f2qz·1·1/1", body='{"kind": "hologram"}'))


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
