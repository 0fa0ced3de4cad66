"""A setting that a model refuses is told before anything is paid: where its backend lists it."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from engine.values.configuration import parse_model
from engine.values.errors import UsageError
from tests.doubles.command import rostrum
from tests.doubles.model_server import ModelServer
from tests.scenario.conftest import SIDES, Stage

COLD = parse_model("near/ana@temperature=0")
LISTED: list[dict[str, Any]] = [
    {"id": "ana", "supported_parameters": ["max_tokens", "reasoning"]},
    {"id": "ben", "supported_parameters": ["max_tokens", "temperature", "seed"]},
    {"id": "unlisted"},
]
REFUSED = (
    "near/ana@temperature=0 does not take temperature, by the list of its backend; leave that out, "
    "or choose another model."
)


async def test_a_debate_is_refused_before_its_first_call(stage: Stage) -> None:
    stage.server.models = LISTED
    stage.priced = (*stage.priced, COLD)
    async with stage.process() as line:
        with pytest.raises(UsageError) as refused:
            await line.start(models=SIDES | {"A": COLD})
        assert str(refused.value) == REFUSED
        assert not stage.server.requests
        assert stage.server.lists == 1, "it is asked for the list once"


@pytest.mark.parametrize(
    "text", ["near/ana@effort=high", "near/ben@temperature=0", "near/unlisted@top_p=0.5"]
)
async def test_a_setting_that_is_listed_or_of_which_nothing_is_said_may_go(
    stage: Stage, text: str
) -> None:
    stage.server.models = LISTED
    async with stage.process() as line:
        await line.line.service.models.price(parse_model(text))


async def test_a_backend_that_is_away_refuses_nothing_and_is_asked_again(stage: Stage) -> None:
    stage.server.models = LISTED
    async with stage.process() as line:
        await stage.server.leave()
        await line.line.service.models.price(COLD)
        await stage.server.back()
        with pytest.raises(UsageError):
            await line.line.service.models.price(COLD)


async def test_check_and_plan_and_run_name_the_setting_and_pay_nothing(tmp_path: Path) -> None:
    async with ModelServer() as server:
        server.models = LISTED
        settings = {
            "ROSTRUM_BACKENDS": json.dumps({"near": {"base_url": server.base_url, "local": True}}),
            "ROSTRUM_MODELS": "near/ben,near/unlisted",
            "ROSTRUM_JURORS": "near/ben,near/unlisted",
            "ROSTRUM_VARIANTS": json.dumps({"cold": {"model": "near/ana", "temperature": 0}}),
        }
        (tmp_path / "s.toml").write_text(
            'name = "s"\ntopics = ["Tea"]\nmodels = ["cold", "near/ben"]'
        )

        def command(*words: str, **changes: Any) -> Any:
            return rostrum(tmp_path, *words, **settings | changes)

        checked = await asyncio.to_thread(command, "check")
        checked.failed(1)
        assert "near/ana@cold does not take temperature" in " ".join(checked.out.split())
        for words in (("series", "plan", "s.toml"), ("series", "run", "s.toml")):
            told = (await asyncio.to_thread(command, *words)).failed(2)
            assert "near/ana@cold does not take temperature" in told
        hgh = json.dumps({"cold": {"model": "near/ana", "effort": "hgh"}})
        told = (await asyncio.to_thread(command, "check", ROSTRUM_VARIANTS=hgh)).out
        assert "effort of a model is “hgh”; write none, minimal" in " ".join(told.split())
        assert not server.requests
