"""A process that stands still while another takes over writes and sends nothing when it wakes."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import pairwise

import pytest

from engine.floor.keeper import LEASE_SECONDS, RENEW_SECONDS
from tests.crash.conftest import Scene, finish
from tests.doubles.waiting import PROCESS_SECONDS

POINTS = (
    "journal.began debate turn/rebuttal/A, after",
    "journal.ended debate turn/rebuttal/A, before",
    "outbox.sending connection turn/rebuttal/A/0, after",
    "votes.close debate, before",
)
WHILE_THINKING = POINTS[:3]


def wait_until_stopped(process: subprocess.Popen[str]) -> None:
    """Wait until a process stands still."""
    give_up = time.monotonic() + PROCESS_SECONDS
    while time.monotonic() < give_up:
        changed, how = os.waitpid(process.pid, os.WNOHANG | os.WUNTRACED)
        if changed:
            assert os.WIFSTOPPED(how), "it ended instead"
            return
        time.sleep(0.01)
    pytest.fail("The process never came to the point where it should stand still.")


@pytest.mark.sqlite
@pytest.mark.parametrize("point", POINTS)
def test_who_was_frozen_stores_and_sends_nothing(
    point: str, clean: Scene, new_scene: Callable[[], Scene]
) -> None:
    scene = new_scene()
    scene.freeze(point)
    with scene.open() as frozen:
        try:
            wait_until_stopped(frozen)
            scene.thaw()
            # As on another host, which has no lock on this file: only leases are between them.
            (scene.folder / "debate.db.lock").unlink()
            scene.run()
            tables, platform = scene.tables(), scene.platform
            os.kill(frozen.pid, signal.SIGCONT)
            _, said = frozen.communicate(timeout=PROCESS_SECONDS)
        finally:
            frozen.kill()
    assert frozen.returncode == 0, said
    assert {name: rows for name, rows in scene.tables().items() if rows != tables[name]} == {}
    assert scene.platform == platform
    assert scene.transcript() == clean.transcript()


@dataclass(frozen=True, slots=True)
class Relay:
    """A process that stands still, on a database that it does not hold alone."""

    scene: Scene
    frozen: subprocess.Popen[str]


@pytest.fixture(scope="module")
def relays(clean: Scene, new_scene: Callable[[], Scene]) -> Iterator[dict[str, Relay]]:
    """Processes frozen side by side, each debate finished since by a successor.

    Nobody removes a lock and nobody gives a lease back: it has to run out, in real time.
    """
    with ExitStack() as stack:
        frozen = {}
        for point in POINTS:
            scene = new_scene()
            scene.freeze(point)
            process = stack.enter_context(scene.open("shared"))
            stack.callback(process.kill)
            frozen[point] = Relay(scene, process)
        for relay in frozen.values():
            wait_until_stopped(relay.frozen)
            relay.scene.thaw()
        successors = [relay.scene.open("shared") for relay in frozen.values()]
        for successor in successors:
            finish(successor)
        yield frozen


@pytest.mark.parametrize("point", POINTS)
def test_a_successor_waits_for_the_lease_to_run_out_and_the_first_does_nothing_more(
    point: str, clean: Scene, relays: dict[str, Relay]
) -> None:
    scene, frozen = relays[point].scene, relays[point].frozen
    tables, platform = scene.tables(), scene.platform
    if point in WHILE_THINKING:
        begun = sorted(call["started_at"] for call in tables["calls"])
        pauses = [(later - sooner).total_seconds() for sooner, later in pairwise(begun)]
        assert max(pauses) > LEASE_SECONDS - RENEW_SECONDS
    os.kill(frozen.pid, signal.SIGCONT)
    _, said = frozen.communicate(timeout=PROCESS_SECONDS)
    assert frozen.returncode == 0, said
    assert {name: rows for name, rows in scene.tables().items() if rows != tables[name]} == {}
    assert scene.platform == platform
    assert scene.transcript() == clean.transcript()
