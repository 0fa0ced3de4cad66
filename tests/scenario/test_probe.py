"""`rostrum check --probe` says which settings of models change nothing, and what that cost."""

import random
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from bot.doctor import run_check
from engine.values.errors import RostrumError, UsageError
from tests.doubles.model_server import Act, ModelServer, refuse
from tests.scenario.test_command_line_check import near

ANIMALS = ("cat", "dog", "owl", "fox", "bee", "ant", "elk", "eel", "hen", "yak", "koi", "ape")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def answers(body: Mapping[str, Any]) -> str:
    """Answer as one that heeds its temperature, and thinks as hard as it is told."""
    if body["temperature"] == 0:
        return "Seven, as squares have an odd number. The owl, which is wise."
    return f"Seven. {' '.join(random.choices(ANIMALS, k=6))}."


async def probed(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    server: ModelServer,
    models: str,
    usd: float | None = None,
) -> list[str]:
    """Return the lines about the probe, and what it cost in all."""
    for name, value in near(server, DEFAULT_A=models).items():
        monkeypatch.setenv(f"ROSTRUM_{name}", value)
    with suppress(RostrumError):
        await run_check(probing=True, usd=usd)
    return [line for line in capsys.readouterr().out.splitlines() if "  probe" in line]


async def test_a_setting_that_changes_nothing_is_said_to(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    async with ModelServer(answers) as server:
        asked = "near/ana@temperature=0,effort=high"
        told = await probed(monkeypatch, capsys, server, asked)
        assert len(server.requests) == 15
    assert len(told) == 3
    assert told[0].startswith("note  probe near/ana@effort=high,temperature=0: effort changed")
    assert "in 10 calls" in told[0]
    assert told[1].startswith("ok    ")
    assert "temperature changes" in told[1]
    assert told[2].startswith("ok    probe: 15 calls, 0.00")


async def test_a_setting_that_makes_a_model_think_is_found(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    async with ModelServer(lambda _: "Seven.") as server:
        for level in (900, 800, 850, 870, 910):
            thought = {"completion_tokens_details": {"reasoning_tokens": level}}
            server.script(Act(names="reasoning_effort", usage_extra=thought), said=0)
        told = await probed(monkeypatch, capsys, server, "near/ana@effort=high")
    assert "effort changes its reasoning (866 and 0 tokens)" in told[0]


async def test_a_setting_that_is_refused_fails_the_probe_and_money_is_told(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    async with ModelServer() as server:
        server.always(refuse("reasoning_effort"))
        told = await probed(monkeypatch, capsys, server, "near/ana@effort=high")
    assert told[0].startswith("FAIL  probe near/ana@effort=high: ")
    assert "reasoning_effort" in told[0]
    assert told[-1].startswith("ok    probe: 5 calls, 0.00")


@pytest.mark.parametrize(("usd", "calls"), [(0.0, 0), (0.01, 0), (10.0, 10)])
async def test_a_probe_stays_under_its_cap(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], usd: float, calls: int
) -> None:
    async with ModelServer(answers) as server:
        told = await probed(monkeypatch, capsys, server, "near/ana@effort=low", usd)
        assert len(server.requests) == calls
    assert told[0].startswith("note" if calls else "FAIL")
    assert calls or "--usd leaves" in told[0]


async def test_a_cap_without_a_probe_is_refused() -> None:
    with pytest.raises(UsageError, match="Add --probe"):
        await run_check(usd=1.0)
