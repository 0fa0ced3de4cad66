"""Votes that no person is known to be behind, in real processes at a terminal."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.doubles.model_server import ModelServer
from tests.scenario.terminal_stage import Shell, seated
from tests.scenario.test_terminal_debate import TOPIC
from tests.unit.test_dataset_export import table

MODELS = ("--a", "local/ash", "--b", "local/beech", "--jurors", "local/oak", "--quorum", "1")
HELD = ("debate", TOPIC, *MODELS, "--no-why", "--out", "out")


@pytest.fixture
async def shell(tmp_path: Path) -> AsyncIterator[Shell]:
    """A folder whose models are served on loopback."""
    async with ModelServer(lambda _: "Tea wins.") as server:
        named = f"ROSTRUM_BACKENDS__LOCAL__BASE_URL={server.base_url}\n"
        more = "ROSTRUM_BACKENDS__LOCAL__LOCAL=true\nROSTRUM_STANCE_SECONDS=1\n"
        (tmp_path / ".env").write_text(f"{named}{more}")
        yield Shell(tmp_path)


async def held(shell: Shell, *words: str) -> str:
    code, out, err = await asyncio.to_thread(shell.run, *HELD, *words)
    assert (code, err) == (0, "")
    return str(out)


async def voted(shell: Shell, keys: str, *words: str) -> str:

    def press() -> str:
        with seated(shell, *HELD, *words) as seat:
            seat.screen.until_keys()
            seat.screen.press(keys)
            seat.screen.until("Exported to out")
            seat.rest()
        return " ".join(seat.screen.shown.split())

    return await asyncio.to_thread(press)


async def test_votes_given_as_an_option_are_no_labels_of_people(shell: Shell) -> None:
    out = " ".join((await held(shell, "--votes", "A=5,B=3")).split())
    assert "count in no figure of people" in out
    assert "as none of these votes was independent" in out
    votes = {(row["gold"], row["source"], row["reason"]) for row in table(shell.out, "votes")}
    assert votes == {(False, "script", "scripted")}
    assert table(shell.out, "debates")[0]["human_winner"] is None
    assert not list(shell.folder.glob("out/data/preference/*"))


@pytest.mark.slow
async def test_answers_given_as_options_are_in_no_figure_of_people(shell: Shell) -> None:
    await held(shell, "--stances", "against>for=3", "--ahead", "A=2", "--votes", "A=1")
    [debate] = table(shell.out, "debates")
    assert debate["n_persuaded"] == 0
    assert {row["reason"] for row in table(shell.out, "votes")} == {"scripted"}


async def test_a_show_of_hands_is_as_many_peoples(shell: Shell) -> None:
    out = await held(shell, "--votes", "A=5,B=3", "--show-of-hands")
    assert "in no figure of people" not in " ".join(out.split())
    assert {(row["gold"], row["source"]) for row in table(shell.out, "votes")} == {(True, "person")}
    assert table(shell.out, "debates")[0]["human_winner"] == "A"


@pytest.mark.slow
async def test_one_key_is_a_persons_vote_and_several_of_one_keyboard_are_not(
    shell: Shell,
) -> None:
    shown = await voted(shell, "a\n")
    assert "one keyboard" not in shown
    assert [(row["gold"], row["source"]) for row in table(shell.out, "votes")] == [(True, "person")]
    shown = await voted(shell, "aaaaa\n")
    assert "More than one vote came from this keyboard" in shown
    assert {row["gold"] for row in table(shell.out, "votes")} == {False}
    assert len(table(shell.out, "votes")) == 5
