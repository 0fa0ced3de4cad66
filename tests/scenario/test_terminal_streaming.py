"""A turn that is seen growing: a real process in a terminal, and a server that streams to it."""

import asyncio
import itertools
import re
from pathlib import Path

import pytest

from tests.doubles import model_server as acts
from tests.doubles.model_server import ModelServer
from tests.scenario.terminal_stage import Shell, seated
from tests.scenario.test_terminal_debate import TOPIC

SPEECH = (
    "As Claude Opus 4.5, I say that tea wins. Zephyrine 7B, which I am, knows that a pot of tea "
    "costs less than a cup of coffee, lasts the whole morning, and keeps nobody awake at night; "
    "whoever doubts it may pour one and count what is left of the day when it is empty."
)
NAMES = re.compile("claude|opus|zephyr", re.IGNORECASE)
JURORS = "rehearsal/birch,rehearsal/elm,rehearsal/rowan"
ASKED = ("--a", "local/zephyrine-7b", "--b", "rehearsal/willow", "--jurors", JURORS)


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    return Shell(tmp_path)


def configure(shell: Shell, server: ModelServer) -> None:
    settings = f"ROSTRUM_BACKENDS__LOCAL__BASE_URL={server.base_url}\n"
    (shell.folder / ".env").write_text(f"{settings}ROSTRUM_BACKENDS__LOCAL__LOCAL=true\n")


def first_turn(shell: Shell) -> str:
    """Return what a terminal is sent until the first turn is posted."""
    with seated(shell, "debate", TOPIC, *ASKED, "--votes", "A=1") as seat:
        seat.screen.until("turn 1 of 8")
        seat.screen.until("model calls")
        return seat.rest()


@pytest.mark.slow
async def test_a_turn_grows_in_its_colour_and_never_names_its_model(shell: Shell) -> None:
    async with ModelServer(lambda _: "Tea wins.") as server:
        configure(shell, server)
        server.script(acts.says(SPEECH, pause=0.02, reset="middle"))
        server.script(acts.says(SPEECH, pause=0.03))
        shown = await asyncio.to_thread(first_turn, shell)
    before, _, after = shown.partition("turn 1 of 8")
    # Of this turn: on a busy machine the next one may begin to grow before it is posted.
    growing = re.findall(r"A · opening.*?(\d+) of 500 words", before, re.DOTALL)
    counts = [int(count) for count in growing]
    assert len(set(counts)) > 5
    assert max(counts) > 30
    fell = [later for earlier, later in itertools.pairwise(counts) if later < earlier]
    assert fell == [fell[0]]  # once, when the first try had broken off
    assert "\x1b[34m" in before
    assert not NAMES.search(before.partition("A · opening")[2])
    assert not NAMES.search(after.partition("Reveal")[0])
    assert "zephyrine-7b" in after.partition("Reveal")[2]
    asked = [body for body in server.requests if body["model"] == "zephyrine-7b"]
    assert all(body["stream"] for body in asked)


async def test_without_a_terminal_nothing_is_streamed_and_nothing_more_is_shown(
    shell: Shell,
) -> None:
    async with ModelServer(lambda _: "Tea wins.") as server:
        configure(shell, server)
        code, out, err = await asyncio.to_thread(
            shell.run, "debate", TOPIC, *ASKED, "--votes", "A=1"
        )
        assert (code, err) == (0, "")
    assert "\x1b" not in out
    assert out.count("opening") == out.count("· opening · turn") + 1  # the list of rounds
    assert not any("stream" in body for body in server.requests)


def stopped(shell: Shell) -> str:
    """Return what a terminal is sent when a turn is interrupted while it grows."""
    with seated(shell, "debate", TOPIC, *ASKED, "--votes", "A=1") as seat:
        seat.screen.until("of 500 words")
        seat.screen.press("\x03")
        seat.screen.until("Continue with")
        return seat.rest(1)


async def test_a_stop_while_a_turn_grows_keeps_it_and_gives_the_terminal_back(
    shell: Shell,
) -> None:
    async with ModelServer(lambda _: "Tea wins.") as server:
        configure(shell, server)
        server.script(acts.says(SPEECH, pause=0.03))
        shown = await asyncio.to_thread(stopped, shell)
    assert shown.rfind("\x1b[?25h") > shown.rfind("\x1b[?25l")  # the cursor is back
    assert shell.calls() == {"done": 1}
