"""What past ballots say of jurors: fitted once, stored, frozen, and said when a juror changes."""

import asyncio
import json
import random
from collections.abc import MutableMapping, Sequence
from typing import Any

import pytest
from structlog.testing import capture_logs

from bot.doctor import check_database
from bot.research.stats import run_stats
from bot.serve.health import Health
from bot.settings.load import load_settings
from engine.jury.roster import PanelFit
from engine.run.juror_fits import LEASE, Learner, left_out_of
from engine.store import Store
from engine.store.fits import Evidence
from engine.store.learning import Learnt
from engine.values.debate import Fit
from engine.values.verdicts import Ballot
from tests.doubles.archive import export_rows
from tests.doubles.model_server import hang
from tests.kit import NOW, FixedClock, make_ballot, some, until
from tests.scenario.conftest import DEFAULTS, Stage, judging

JURORS = ("near/a", "near/b", "near/c", "near/d", "near/e")
CRITERIA = ("logic", "evidence", "responsiveness", "honesty")
CHANGED = JURORS[-1]
SITTING = DEFAULTS.jurors


def reading(juror: str, order: str, margin: float) -> Ballot:
    """Write a ballot with a margin for A, as near as whole scores come to it."""
    points = {"A": round(5.5 + margin / 2), "B": round(5.5 - margin / 2)}
    scores = {
        side: dict.fromkeys(CRITERIA, min(10, max(1, score))) for side, score in points.items()
    }
    verdict = "A" if margin > 0 else "B"
    return make_ballot(order, juror=juror, family=juror[5:], scores=scores, verdict=verdict)


def judgments(
    number: int, *, changes: bool, seed: int = 3, jurors: Sequence[str] = JURORS
) -> list[Learnt]:
    """Simulate judgments; in the second half the last juror sees nothing, if it changes."""
    draw, found = random.Random(seed), []
    for at in range(number):
        truth, ballots = draw.gauss(0, 1), []
        for juror in jurors:
            turned = changes and juror == jurors[-1] and at >= number // 2
            margin = (0 if turned else 2 * truth) + draw.gauss(0, 2.2 if turned else 1.2)
            ballots.append(reading(juror, draw.choice(("AB", "BA")), margin))
        found.append(Learnt(key=f"case {at:04}", source="s", ballots=tuple(ballots)))
    return found


async def learn(store: Store, found: list[Learnt]) -> None:
    lease = some(await store.leases.claim(LEASE, "test", 60))
    await store.learning.learn(lease, found)
    await store.leases.release(lease)


def learner(store: Store) -> Learner:
    return Learner(store, FixedClock(NOW))


async def test_a_debate_does_not_wait_for_the_fit_that_another_one_waits_for(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = FixedClock(NOW)
    learner = Learner(store, clock)
    first = await learner.fit(rehearsal=False)
    clock.pass_seconds(3600)
    looking, go_on, look = asyncio.Event(), asyncio.Event(), Learner._look

    async def slowly(self: Learner, *, rehearsal: bool) -> PanelFit:
        looking.set()
        await go_on.wait()
        return await look(self, rehearsal=rehearsal)

    monkeypatch.setattr(Learner, "_look", slowly)
    waiting = asyncio.create_task(learner.fit(rehearsal=False))
    await looking.wait()
    async with asyncio.timeout(20):
        assert await learner.fit(rehearsal=False) == first
    assert not waiting.done()
    go_on.set()
    assert await waiting == first


async def test_a_debate_freezes_the_newest_fit_and_a_restart_makes_no_other(stage: Stage) -> None:
    async with stage.process() as line:
        await line.hold()
    async with stage.process() as line:
        second = await line.hold()
        stored = some(await line.store.fits.newest(rehearsal=False))
        assert json.loads(stored.body)["history"] == {
            ref: one.model_dump() for ref, one in second.setup.panel.history.items()
        }
        assert (stored.number, stored.evidence) == (1, Evidence(debates=1, newest=1, ballots=6))
    async with stage.process() as line:
        third = await line.start()
        newest = some(await line.store.fits.newest(rehearsal=False))
        assert newest.number == 2
        await line.ended(third.debate.id)
    async with stage.process() as line:
        other = learner(line.store)
        both = [await other.fit(rehearsal=False), await other.fit(rehearsal=False)]
        assert both[0] is not None
        newest = some(await line.store.fits.newest(rehearsal=False))
        assert newest.number == 3
        await learner(line.store).fit(rehearsal=False)
        same = await line.store.fits.newest(rehearsal=False)
        assert same == newest


@pytest.mark.slow
async def test_a_debate_ends_under_the_rule_and_the_fit_that_it_began_with(stage: Stage) -> None:
    """One begins before the jurors are known, one before a newer fit; both over a restart."""
    refs = [juror.ref for juror in SITTING]

    async def begin() -> str:
        for juror in SITTING:
            stage.server.always(hang(), model=juror.name)
        asked = len(stage.server.requests)
        async with stage.process() as line:
            started = await line.start()
            await until(lambda: sum(map(judging, stage.server.requests[asked:])) >= 3)
        stage.server.behave()
        return started.debate.id

    first = await begin()
    async with stage.process() as line:
        await line.line.reconcile()
        await line.ended(first)
        known = judgments(150, changes=False, jurors=refs)
        await learn(line.store, known)
        model = some((await learner(line.store).fit_now(rehearsal=False)).model)
        number = model.number
    second = await begin()
    async with stage.process() as line:
        await learn(line.store, judgments(300, changes=True, jurors=refs, seed=9))
        newer = await learner(line.store).fit_now(rehearsal=False)
        await line.line.reconcile()
        await line.ended(second)
        before, after = [await line.record(one) for one in (first, second)]
    assert some(newer.model).number > number
    assert before.debate.setup.panel.fit == Fit()
    assert some(before.verdict).rule == ""
    frozen, verdict = after.debate.setup.panel.fit, after.verdict
    assert frozen is not None
    assert verdict is not None
    assert (verdict.rule, verdict.fit, frozen.number) == ("model", number, number)
    assert verdict.gain is not None
    assert verdict.variance is not None
    assert 0 < verdict.variance < 1
    for ballot in after.ballots:
        one = frozen.jurors[ballot.juror]
        assert (ballot.pos, ballot.sd) == (one.lean, one.spread)
    [row] = export_rows("debates", after)
    assert [row[name] for name in ("jury_rule", "fit", "jury_variance", "jury_gain")] == [
        "model",
        number,
        verdict.variance,
        verdict.gain,
    ]
    [row] = export_rows("debates", before)
    assert [row[name] for name in ("jury_rule", "fit", "jury_gain")] == ["balanced", None, None]


@pytest.mark.postgresql
async def test_while_another_process_fits_the_newest_fit_serves(store: Store) -> None:
    await learn(store, judgments(20, changes=False))
    first = await learner(store).fit_now(rehearsal=False)
    await learn(store, judgments(40, changes=False))
    own = some(await store.leases.claim(LEASE, "busy", 60))
    if not store.leases.alone:  # the only process on a file takes over
        assert await learner(store).fit(rehearsal=False) == first
    await store.leases.release(own)
    later = await learner(store).fit_now(rehearsal=False)
    assert first.model is not None
    assert some(later.model).number > first.model.number


@pytest.mark.slow
async def test_a_juror_that_changes_is_named_once_everywhere(
    store: Store,
    database_url: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    steady = judgments(400, changes=False)
    await learn(store, steady)
    with capture_logs() as logs:
        await learner(store).fit_now(rehearsal=False)
    assert "juror changed" not in [line["event"] for line in logs]
    turned = judgments(400, changes=True, seed=4)
    await learn(store, [one.model_copy(update={"key": f"later {one.key}"}) for one in turned])
    said: list[MutableMapping[str, Any]] = []
    for _ in range(2):
        with capture_logs() as logs:
            known = await learner(store).fit_now(rehearsal=False)
        said += [line for line in logs if line["event"] == "juror changed"]
    [line] = said
    assert (line["juror"], line["log_level"]) == (CHANGED, "warning")
    model = some(known.model)
    left = left_out_of(await store.fits.newest(rehearsal=False))
    assert left == {CHANGED: line["left_out"]}
    assert 500 < left[CHANGED] < 700  # it changed at the 600th
    assert model.jurors[CHANGED].weight < min(model.jurors[one].weight for one in JURORS[:4])
    page = (await Health(store, {}).metrics()).decode()
    assert f'rostrum_juror_ballots_left_out{{juror="{CHANGED}"}} {left[CHANGED]}' in page
    monkeypatch.setenv("ROSTRUM_DATABASE_URL", database_url)
    found = [finding async for finding in check_database(load_settings())]
    assert [one.text.partition(" ")[0] for one in found if one.subject == "juror"] == [CHANGED]
    await run_stats(as_json=True)
    shown = json.loads(capsys.readouterr().out)["panel"]
    by_name = {one["juror"]: one for one in shown["jurors"]}
    assert by_name[CHANGED]["left_out"] == left[CHANGED]
    await run_stats()
    text = capsys.readouterr().out
    assert "800 debates" not in text
    assert f"{CHANGED} judges otherwise than before" in text
    assert "4,000 ballots, 4,000 of them on 800 judgments from elsewhere" in " ".join(text.split())
