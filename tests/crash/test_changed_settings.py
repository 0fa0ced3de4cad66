"""A debate that is killed and resumed under other settings stays the debate that was begun."""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable

import orjson
import pytest

from tests.crash.conftest import Scene
from tests.doubles.command import ROOT
from tests.kit import PROCESS_SECONDS

TOPIC = "Tea is better than coffee"
SLOW = "?latency=0.4"  # time enough to kill it in the middle
FIRST = {
    "ROSTRUM_DEFAULT_A": f"rehearsal/maple{SLOW}",
    "ROSTRUM_DEFAULT_B": f"rehearsal/willow{SLOW}",
    "ROSTRUM_JURORS": "rehearsal/oak, rehearsal/elm, rehearsal/ash",
}
CHANGED = {
    "ROSTRUM_TOPIC": "Coffee is better than tea",
    "ROSTRUM_CONDITIONS": "Consider decaf only",
    "ROSTRUM_DEFAULT_A": "rehearsal/yew",
    "ROSTRUM_DEFAULT_B": "rehearsal/fir",
    "ROSTRUM_DEFAULT_LANGUAGE": "tr",
    "ROSTRUM_DEFAULT_QUORUM": "1",
    "ROSTRUM_TURN_ORDER": "simultaneous",
    "ROSTRUM_BLIND": "off",
    "ROSTRUM_JURORS": "rehearsal/pine, rehearsal/larch, rehearsal/cedar",
    "ROSTRUM_CLASSIC__WORDS": "20",
    "ROSTRUM_SAMPLING__DEBATER__TEMPERATURE": "2",
    "ROSTRUM_SAMPLING__JUROR__MAX_TOKENS": "99",
    "ROSTRUM_PANEL__MODE": "strict",
    "ROSTRUM_CHARS_PER_WORD": "9",
}


def rostrum(scene: Scene, settings: dict[str, str], *arguments: str) -> subprocess.Popen[str]:
    kept = {name: value for name, value in os.environ.items() if "ROSTRUM" not in name}
    return subprocess.Popen(
        [sys.executable, "-c", "from bot.cli import main; main()", *arguments],
        cwd=scene.folder,
        env=kept | {"PYTHONPATH": str(ROOT), "ROSTRUM_DATABASE_URL": scene.url} | settings,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def say(process: subprocess.Popen[str]) -> str:
    with process:
        try:
            said, _ = process.communicate(timeout=PROCESS_SECONDS)
        finally:
            process.kill()
    assert process.returncode == 0, said
    return said


def kill_after(process: subprocess.Popen[str], line: str) -> str:
    """Kill a process once it has printed a line, and return all that it printed."""
    assert process.stdout is not None
    said = ""
    began = time.monotonic()
    with process:
        for printed in process.stdout:
            said += printed
            if line in printed or time.monotonic() - began > PROCESS_SECONDS:
                os.kill(process.pid, signal.SIGKILL)
    assert line in said
    return said


def requests(scene: Scene) -> dict[str, tuple[str, str]]:
    """Return which model was sent what, by step; tries of one step were all sent the same."""
    return {call["step"]: (call["model"], call["request"]) for call in scene.tables()["calls"]}


@pytest.mark.slow
def test_other_settings_change_nothing_in_a_debate_that_is_resumed(
    new_scene: Callable[[], Scene],
) -> None:
    whole, broken, other = new_scene(), new_scene(), new_scene()
    arguments = ("--votes", "A=3,B=2", "--seed", "7")
    unbroken = rostrum(whole, FIRST, "debate", TOPIC, *arguments)
    # The same settings make another debate of one that is begun with them.
    changed = rostrum(other, CHANGED, "debate", *arguments)
    said = kill_after(rostrum(broken, FIRST, "debate", TOPIC, *arguments), "turn 3 of 8")
    [code] = re.findall(r"\[Debate\] \(#1 · (\w+)\)", said)
    say(rostrum(broken, CHANGED, "resume", code, *arguments[:2]))
    say(unbroken)
    say(changed)
    assert requests(broken) == requests(whole)
    [begun], [resumed] = whole.tables()["debates"], broken.tables()["debates"]
    assert orjson.loads(resumed["setup"]) == orjson.loads(begun["setup"])
    assert (resumed["status"], begun["status"]) == ("closed", "closed")
    assert not set(requests(other).values()) & set(requests(whole).values())
