"""A debate whose model is gone goes on with another, and says so everywhere."""

from pathlib import Path

import pytest

from engine.dataset.writer import export
from engine.store import ExportFilter
from engine.values.debate import Debate, Model, Replacement, Status
from engine.values.errors import BudgetError, UsageError
from tests.doubles import model_server as acts
from tests.scenario.conftest import DEFAULTS, NO_CAPS, Running, Stage, in_thread
from tests.unit.test_dataset_export import table

OPEN = DEFAULTS.model_copy(update={"vote_minutes": 60.0, "quorum": 1})


def change(was: str, now: str) -> Replacement:
    return Replacement(was=Model.parse(was), now=Model.parse(now))


async def fail(line: Running, stage: Stage) -> Debate:
    """Hold a debate until B's model is gone, after its first turn."""
    stage.server.script(acts.Act(), acts.status(404), model="ben")
    stage.server.always(acts.status(404), model="ben")
    started = await line.start(OPEN)
    debate = await line.ended(started.debate.id)
    assert debate.status is Status.FAILED, debate.reason
    return debate


async def finish(line: Running, debate: Debate) -> Debate:
    debate = await line.until(debate.id, lambda d: d.vote_opened_at or d.status is Status.FAILED)
    assert debate.status is Status.VOTING, debate.reason
    await line.venue.react("ada", debate.thread or "", debate.vote_message or "", "A")
    await line.service.close_vote(debate.id)
    return await line.ended(debate.id)


async def test_a_speaker_that_is_gone_is_replaced_and_every_row_says_so(
    line: Running, stage: Stage, tmp_path: Path
) -> None:
    debate = await fail(line, stage)
    asked = len(stage.server.requests)
    await line.service.resume(debate.id, NO_CAPS, [change("near/ben", "near/cem")])
    debate = await finish(line, debate)
    assert debate.request.sides["B"].ref == "near/cem"
    since = stage.server.requests[asked:]
    assert all(body["model"] != "ben" for body in since)
    read = str([body["messages"] for body in since if body["model"].startswith("j")])
    assert not [name for name in ("by ben", "by cem") if name in read]
    with pytest.raises(UsageError, match="can be replaced only in one that failed"):
        await line.service.resume(debate.id, NO_CAPS, [change("near/cem", "near/ben")])
    *before, reveal = [message.body for message in in_thread(stage)]
    assert any("another one has taken its place" in body for body in before)
    assert not any("near/" in body for body in before)
    assert "near/ben" in reveal
    out = tmp_path / "out"
    await export(line.store, out, ExportFilter(), None, version="1")
    tables = {path.name: table(out, path.name) for path in out.glob("data/*")}
    for rows in tables.values():
        assert {row["replaced"] for row in rows} == {"near/ben=near/cem"}
    assert {"debates", "turns", "verdicts", "votes", "preference", "arena_human"} <= set(tables)
    spoke = [row["model_asked"] for row in tables["turns"] if row["side"] == "B"]
    assert spoke == ["near/ben", "near/cem", "near/cem", "near/cem"]


async def test_a_juror_is_replaced_and_recusal_holds_for_all_who_spoke(
    line: Running, stage: Stage
) -> None:
    debate = await fail(line, stage)
    changes = [change("near/ben", "near/cem#kin2"), change("near/j1", "near/j9#kin9")]
    resumed = await line.service.resume(debate.id, NO_CAPS, changes)
    panel = resumed.setup.panel
    assert [juror.ref for juror in panel.recused] == ["near/j2"]
    assert {juror.ref for juror in panel.roster} == {"near/j9", "near/j3"}
    ended = await finish(line, resumed)
    record = await line.record(ended.id)
    assert {ballot.juror for ballot in record.ballots} == {"near/j9", "near/j3"}


REFUSED = [
    ("near/nobody", "near/cem", "does not take part in this debate; its models are near/"),
    ("near/j1", "near/j2#kin2", "is already on this jury"),
    ("near/j1", "near/j9#ben", "belongs to a debater's family"),
    ("near/ben", "far/cem", "There is no backend “far”"),
]


async def test_what_cannot_take_a_place_is_refused_and_nothing_changes(
    line: Running, stage: Stage
) -> None:
    debate = await fail(line, stage)
    for was, now, why in REFUSED:
        with pytest.raises(UsageError, match=why):
            await line.service.resume(debate.id, NO_CAPS, [change(was, now)])
    capped = NO_CAPS.model_copy(update={"debate_usd": 1.0})
    with pytest.raises(BudgetError, match="price of near/unpriced"):
        await line.service.resume(debate.id, capped, [change("near/ben", "near/unpriced")])
    assert await line.store.debates.get(debate.id) == debate


async def test_the_price_of_a_model_that_left_is_not_asked_for(line: Running, stage: Stage) -> None:
    stage.server.always(acts.status(404), model="unpriced")
    unpriced = {**DEFAULTS.sides, "B": Model.parse("near/unpriced")}
    started = await line.start(DEFAULTS.model_copy(update={"sides": unpriced}))
    debate = await line.ended(started.debate.id)
    assert debate.status is Status.FAILED
    capped = NO_CAPS.model_copy(update={"debate_usd": 1.0})
    resumed = await line.service.resume(
        debate.id, capped, [change("near/unpriced", "near/cem"), change("near/cem", "near/ben")]
    )
    assert resumed.setup.prices.keys() == debate.setup.prices.keys() - {"near/unpriced"} | {
        "near/ben"
    }
