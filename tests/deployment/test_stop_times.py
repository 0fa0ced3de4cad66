"""What manages Rostrum waits for a stop as long as one may take."""

import re
from pathlib import Path

import pytest

from bot.settings.settings import Settings

DEPLOY = Path(__file__).parents[2] / "deploy"
WAITS = {
    "systemd/rostrum.service": r"^TimeoutStopSec=(\d+)$",
    "systemd/rostrum-gateway.service": r"^TimeoutStopSec=(\d+)$",
    "systemd/rostrum-worker@.service": r"^TimeoutStopSec=(\d+)$",
    "compose.yaml": r"^  stop_grace_period: (\d+)s ",
    "kubernetes/base/pod.yaml": r"^ +terminationGracePeriodSeconds: (\d+) ",
}


@pytest.mark.parametrize("file", WAITS)
def test_what_kills_waits_as_long_as_a_stop_may_take(file: str) -> None:
    text = (DEPLOY / file).read_text(encoding="utf-8")
    found = [float(seconds) for seconds in re.findall(WAITS[file], text, re.M)]
    assert found == [Settings().stop_seconds]
