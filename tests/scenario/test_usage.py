"""What everything took: `rostrum usage` beside a running process, against the server's own log."""

import asyncio
from collections import Counter
from pathlib import Path
from typing import Any

import orjson
import pytest

from engine.values.debate import Model
from tests.doubles.command import Ended, rostrum
from tests.doubles.model_server import says, status
from tests.scenario.conftest import DEFAULTS, JURORS, SIDES, Running, Stage
from tests.scenario.test_series import hold, series


async def usage(stage: Stage, folder: Path, *options: str) -> Ended:
    place = {"ROSTRUM_DATABASE_URL": stage.url}
    return await asyncio.to_thread(rostrum, folder, "usage", *options, **place)


async def counted(stage: Stage, folder: Path, *options: str) -> dict[str, Any]:
    found: dict[str, Any] = orjson.loads((await usage(stage, folder, "--json", *options)).done())
    return found


def calls(found: dict[str, Any]) -> dict[str, int]:
    return {row[found["by"]]: row["calls"] for row in found["rows"]}


async def test_what_a_juror_is_asked_once_more_is_not_a_debaters_and_show_says_who_took_what(
    stage: Stage, line: Running, tmp_path: Path
) -> None:
    for juror in JURORS:
        stage.server.always(says("Too short for a summary."), model=juror.name)
    debate = await line.hold()
    found = await counted(stage, tmp_path, "--by", "model")
    of_jurors = {row["role"] for row in found["rows"] if row["model"].startswith("near/j")}
    assert of_jurors == {"juror"}
    place = {"ROSTRUM_DATABASE_URL": stage.url}
    shown = (await asyncio.to_thread(rostrum, tmp_path, "show", debate.code, **place)).done()
    own = [line for line in shown.splitlines() if line.startswith("tokens")]
    assert len(own) == len({body["model"] for body in stage.server.requests})
    assert any(line.endswith("by near/ana as debater") for line in own)


async def test_every_key_adds_up_to_what_the_server_was_asked(
    stage: Stage, line: Running, tmp_path: Path
) -> None:
    stage.server.script(status(503), model="ben")
    await line.hold(user="ana-of-the-platform")
    await line.hold(community="guild", user="bob-of-the-platform")
    one = {"topics": ["Tabs beat spaces"], "models": ["near/ana", "near/ben"], "sides": "drawn"}
    await hold(line, series(**one))
    found = {
        key: await counted(stage, tmp_path, "--by", key)
        for key in ("model", "day", "community", "user", "series")
    }
    stated = stage.server.stated
    for each in found.values():
        total = each["all"]
        assert (total["debates"], total["calls"]) == (3, len(stage.server.requests))
        assert total["failed"] == 1
        assert total["tokens_in"] == sum(one["prompt_tokens"] for one in stated)
        assert total["tokens_out"] == sum(one["completion_tokens"] for one in stated)
        assert sum(row["calls"] for row in each["rows"]) == total["calls"]
    asked = Counter(f"near/{body['model']}" for body in stage.server.requests)
    assert calls(found["model"]) == asked
    roles = {row["model"]: row["role"] for row in found["model"]["rows"]}
    assert (roles["near/ana"], roles["near/j1"]) == ("debater", "juror")
    assert list(calls(found["community"])) == ["memory club", "memory guild", "series spring"]
    assert list(calls(found["series"])) == [None, "spring"]
    assert [row["debates"] for row in found["series"]["rows"]] == [2, 1]
    assert len(found["day"]["rows"]) == 1
    assert len(found["user"]["rows"]) == 3
    assert "of-the-platform" not in (await usage(stage, tmp_path, "--by", "user")).done()


@pytest.mark.slow
async def test_calls_can_be_narrowed_by_time_and_series(
    stage: Stage, line: Running, tmp_path: Path
) -> None:
    debate = await line.hold()
    today = f"{debate.created_at:%Y-%m-%d}"
    within = await counted(stage, tmp_path, "--since", today, "--until", today)
    assert within["all"]["calls"] == len(stage.server.requests)
    unknown = await usage(stage, tmp_path, "--series", "autumn")
    assert unknown.failed(1).startswith("There is no series “autumn”")
    for nothing in (("--until", "2020-01-01"), ("--since", "2999-01-01")):
        ended = await usage(stage, tmp_path, *nothing)
        assert ended.done() == "There are no calls to count yet.\n"
    assert "--by is “week”; it must be one of model, day," in (
        await usage(stage, tmp_path, "--by", "week")
    ).failed(2)
    assert (await usage(stage, tmp_path, "--since", "spring")).failed(2).startswith("--since is")


async def test_calls_of_unknown_cost_are_counted_apart(stage: Stage, tmp_path: Path) -> None:
    stage.priced = (SIDES["A"],)
    async with stage.process() as line:
        await line.hold()
    found = await counted(stage, tmp_path)
    unpriced = {row["model"]: row["unpriced"] for row in found["rows"]}
    asked = Counter(f"near/{body['model']}" for body in stage.server.requests)
    assert unpriced == asked | {"near/ana": 0}
    said = (await usage(stage, tmp_path)).done()
    assert f"USD leaves out {found['all']['unpriced']} calls of unknown cost." in said
    assert "≥ 0.0" in said


async def test_rehearsals_are_left_out_and_said_to_be(
    stage: Stage, line: Running, tmp_path: Path
) -> None:
    await line.hold()
    maple = {side: Model.parse("rehearsal/maple") for side in "AB"}
    await line.hold(DEFAULTS.model_copy(update={"sides": maple}))
    said = (await usage(stage, tmp_path)).done()
    assert "rehearsal/maple" not in said
    assert "Rehearsal debates left out: 1 (--include-rehearsal adds it)." in said
    everything = await counted(stage, tmp_path, "--include-rehearsal")
    assert calls(everything)["rehearsal/maple"] == 8
    assert everything["all"]["debates"] == 2
