"""A process that stands still while another takes over writes and sends nothing when it wakes."""

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import pairwise

import pytest

from engine.fleet.leases import LEASE_SECONDS, RENEW_SECONDS
from tests.crash.conftest import Scene
from tests.doubles.command import Child
from tests.kit import PROCESS_SECONDS
from tests.slow import slow_after

POINTS = (
    "journal.began debate turn/rebuttal/A, after",
    "journal.ended debate turn/rebuttal/A, before",
    "outbox.sending connection turn/rebuttal/A/0, after",
    "votes.close debate, before",
)
WHILE_THINKING = POINTS[:3]


@pytest.mark.sqlite
@pytest.mark.parametrize("point", slow_after(2, POINTS))
def test_who_was_frozen_stores_and_sends_nothing(
    point: str, clean: Scene, new_scene: Callable[[], Scene]
) -> None:
    scene = new_scene()
    scene.freeze(point)
    with scene.open() as frozen:
        frozen.wait_until_stopped(PROCESS_SECONDS)
        scene.thaw()
        # As on another host, which has no lock on this file: only leases are between them.
        (scene.folder / "debate.db.lock").unlink()
        scene.run()
        tables, platform = scene.tables(), scene.platform
        os.kill(frozen.pid, signal.SIGCONT)
        scene.finish(frozen)
    assert {name: rows for name, rows in scene.tables().items() if rows != tables[name]} == {}
    assert scene.platform == platform
    assert scene.transcript() == clean.transcript()


@dataclass(frozen=True, slots=True)
class Relay:
    """A process that stands still, on a database that it does not hold alone."""

    scene: Scene
    frozen: Child


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
            frozen[point] = Relay(scene, stack.enter_context(scene.open("shared")))
        for relay in frozen.values():
            relay.frozen.wait_until_stopped(PROCESS_SECONDS)
            relay.scene.thaw()
        successors = [stack.enter_context(r.scene.open("shared")) for r in frozen.values()]
        for relay, successor in zip(frozen.values(), successors, strict=True):
            relay.scene.finish(successor)
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
    scene.finish(frozen)
    assert {name: rows for name, rows in scene.tables().items() if rows != tables[name]} == {}
    assert scene.platform == platform
    assert scene.transcript() == clean.transcript()
