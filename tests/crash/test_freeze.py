"""A process that stands still while another takes over writes and sends nothing when it wakes."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.crash.conftest import Scene

POINTS = (
    "journal.began debate turn/rebuttal/A, after",
    "journal.ended debate turn/rebuttal/A, before",
    "outbox.sending connection turn/rebuttal/A/0, after",
    "votes.close debate, before",
)


def wait_until_stopped(process: subprocess.Popen[str]) -> None:
    """Wait, at most 20 s, until a process stands still."""
    state = Path(f"/proc/{process.pid}/stat")
    for _ in range(2000):
        assert process.poll() is None
        if state.read_text().rpartition(")")[2].split()[0] == "T":
            return
        time.sleep(0.01)
    pytest.fail("The process never came to the point where it should stand still.")


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
            before = scene.tables(), scene.platform
            os.kill(frozen.pid, signal.SIGCONT)
            _, said = frozen.communicate(timeout=20)
        finally:
            frozen.kill()
    assert frozen.returncode == 0, said
    assert (scene.tables(), scene.platform) == before
    assert scene.transcript() == clean.transcript()
