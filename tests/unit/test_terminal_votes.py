"""Votes given in a terminal: the option's text, and keys."""

import asyncio
import os
import pty
import termios
from collections.abc import Iterator

import pytest

from adapters.terminal.texts import hand_text
from adapters.terminal.votes import (
    Hand,
    Move,
    Voters,
    hands,
    key_hint,
    parse_stances,
    parse_votes,
    vote_by_keys,
)
from engine.values.errors import UsageError
from tests.kit import HANG_SECONDS, until

OPTIONS = ("A", "B", "tie", "weak")


@pytest.mark.parametrize(
    ("text", "votes"),
    [
        ("A=3,B=2,tie=1", {"A": 3, "B": 2, "tie": 1}),
        (" a = 3 , WEAK=0, ", {"A": 3, "weak": 0}),
        ("B=1000", {"B": 1000}),
    ],
)
def test_reads_votes(text: str, votes: dict[str, int]) -> None:
    assert parse_votes(text, OPTIONS) == votes


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


def test_reads_where_people_stand_before_and_after() -> None:
    assert parse_stances("Against>FOR=2, unsure=1") == (
        Move("down", "up"),
        Move("down", "up"),
        Move("unsure", "unsure"),
    )
    with pytest.raises(UsageError, match=r"“for>maybe” in --stances is not on this ballot"):
        parse_stances("for>maybe=1")


def test_the_hint_names_a_sign_for_each_stance() -> None:
    hint = key_hint(("up", "down", "unsure"))
    assert hint.startswith("Keys: + = for it · - = against it · ? = unsure · u = ")
    assert hint.endswith("Enter = continue")


def test_every_vote_is_one_persons() -> None:
    assert hands({"A": 2, "B": 0, "tie": 1}) == (
        Hand("guest-1", "A"),
        Hand("guest-2", "A"),
        Hand("guest-3", "tie"),
    )


def test_the_hint_names_every_key() -> None:
    hint = key_hint(("1", "2", "tie", "weak"))
    assert hint.startswith("Keys: 1 = 1 · 2 = 2 · t = tie · w = neither · u = ")
    assert hint.endswith("Enter = close the vote")


@pytest.mark.parametrize(("quorum", "votes"), [(1, "1 vote"), (5, "5 votes")])
def test_the_hint_says_how_many_votes_it_takes_to_count(quorum: int, votes: str) -> None:
    hint = key_hint(("1", "2", "tie", "weak"), quorum=quorum)
    assert hint.splitlines()[1] == f"The vote counts with {votes} or more."


class TestPeople:
    def test_each_key_is_one_more_person(self) -> None:
        people = Voters(OPTIONS)
        assert [people.press(key) for key in "aBtx"] == [
            Hand("guest-1", "A"),
            Hand("guest-2", "B"),
            Hand("guest-3", "tie"),
            None,
        ]

    def test_the_last_vote_is_taken_back(self) -> None:
        people = Voters(OPTIONS, before=4)
        assert people.press("u") is None
        assert people.press("a") == Hand("guest-5", "A")
        assert people.press("u") == Hand("guest-5", "A", added=False)
        assert people.press("u") is None
        assert people.press("b") == Hand("guest-6", "B")


@pytest.fixture
def terminal() -> Iterator[tuple[int, int]]:
    keys, screen = pty.openpty()
    yield keys, screen
    os.close(keys)
    os.close(screen)


async def until_keys_are_read(screen: int) -> None:
    """Wait until a terminal passes each key on; what was pressed before is thrown away."""
    await until(lambda: not termios.tcgetattr(screen)[3] & termios.ICANON)


async def test_keys_vote_until_enter_and_the_terminal_is_restored(
    terminal: tuple[int, int],
) -> None:
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
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
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


def test_keys_and_votes_name_the_agents_who_answered() -> None:
    names = {"1": "Practitioner", "2": "Sceptic"}
    hint = key_hint(("1", "2", "tie", "weak"), names)
    assert "1 = Practitioner · 2 = Sceptic · t = tie · w = none is good" in hint
    assert hand_text("guest-1", "2", names, raised=True) == "guest-1 votes: Sceptic"
    assert hand_text("guest-1", "A", raised=True) == "guest-1 votes: 🔵 A"
