"""A crowd of debates whose models wait at a gate, so that no clock tells what waits for what."""

from typing import Any

import pytest

from tests.doubles.model_server import ModelServer
from tests.scenario.conftest import play

MOST = 200
SIZES = pytest.mark.parametrize("debates", [40, MOST])
ROUNDS = 9  # so that none has ended before a command is answered
MANY = 4  # calls of each debate: a command that stands in line behind the crowd sees more end


def open_server() -> ModelServer:
    server = ModelServer(play)
    server.gate.clear()
    return server


def settings_for(server: ModelServer) -> dict[str, Any]:
    backend = {"base_url": server.base_url, "max_concurrency": MOST, "timeout_s": 600}
    return {
        "backends": {"near": backend},
        "models": "near/ana, near/ben",
        "jurors": "near/j1#kin1, near/j2#kin2, near/j3#kin3",
        "budget": {
            "debate_usd": None,
            "community_daily_usd": None,
            "user_daily_debates": None,
            "max_live_per_community": None,
        },
    }
