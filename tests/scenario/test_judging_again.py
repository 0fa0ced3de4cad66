"""A debate that has ended is scored again by other judges or another jury, beside the first."""

import asyncio
from collections import Counter
from pathlib import Path
from typing import Any

import orjson
import pytest
from ulid import ULID

import bot.research.judgments
from adapters.models.attempts import RetryPolicy
from adapters.models.rehearsal import RehearsalModels
from bot.research.judgments import run_judge
from engine.chat.privacy import purge
from engine.fleet.leases import LeaseManager, Notifier
from engine.run.later_judges import judge_again
from engine.series.later_juries import SeriesJury, cap_left
from engine.series.runner import Ending
from engine.store import Judging
from engine.store.usage import UsageFilter
from engine.values.debate import Debate, Model, PanelMode
from engine.values.errors import NotFoundError, StoppedError, UsageError
from engine.values.ports import Call, Reply
from engine.values.protocols import AttemptLog
from tests.doubles.archive import export_rows
from tests.doubles.model_server import status
from tests.kit import HANG_SECONDS, until
from tests.scenario.conftest import JURORS, NO_CAPS, Running, Stage
from tests.scenario.test_format_debates import hold
from tests.scenario.test_series import PRICED, hold as hold_series, series

JUDGES = tuple(Model.parse(f"rehearsal/{name}") for name in ("ash", "yew", "fir"))


class CountedModels(RehearsalModels):
    """The rehearsal models, which count what they are asked and end after so many calls."""

    def __init__(self) -> None:
        super().__init__(RetryPolicy())
        self.asked: Counter[str] = Counter()
        self.ends_after = 10_000

    async def complete(self, call: Call, log: AttemptLog) -> Reply:
        if not self.ends_after:
            raise StoppedError("The process ended.")
        self.ends_after -= 1
        self.asked[call.step] += 1
        return await super().complete(call, log)


async def judge(line: Running, models: CountedModels, debate: Debate, n: int = 2) -> Judging:
    lease_manager = LeaseManager(line.store, Notifier(), holder=str(ULID()))
    return await judge_again(debate, JUDGES[:n], NO_CAPS, line.store, models, lease_manager)


@pytest.mark.parametrize("format", ["team", "structured", "audited"])
async def test_only_judges_are_asked_and_the_first_judging_stays(
    line: Running, format: str
) -> None:
    debate = await hold(line, format)
    before, models = await line.record(debate.id), CountedModels()
    judging = await judge(line, models, debate)
    assert models.asked
    assert all(step.startswith("judging/1/judge") for step in models.asked)
    after = await line.record(debate.id)
    assert after.judgings == (judging,)
    for kept in ("turns", "verdicts", "scores", "adjustments", "artifacts", "calls", "verdict"):
        assert getattr(after, kept) == getattr(before, kept)
    assert judging.found is not None
    (verdict,) = judging.found.verdicts.values()
    assert len(verdict.by_judge) == 2
    assert {score.subject for score in judging.found.scores} == {
        score.subject for score in before.scores
    }
    assert await line.store.journal.spending(debate.id) == (len(before.calls), 0.0)
    everything = await line.store.usage.read(UsageFilter())
    shown = await line.store.usage.read(UsageFilter(debate=debate.id))
    assert shown.sum("calls") == len(before.calls)
    assert everything.sum("calls") == len(before.calls) + models.asked.total()
    again = [one for one in everything.totals if one not in shown.totals]
    assert {one.role for one in again} == {"judge"}


async def test_it_is_exported_with_its_own_marks(line: Running) -> None:
    debate = await hold(line, "structured")
    await judge(line, CountedModels(), debate)
    await judge(line, CountedModels(), debate, n=1)
    record = await line.record(debate.id)
    two, one = export_rows("judgings", record)
    assert (two["number"], one["number"]) == (1, 2)
    assert [judge["judge"] for judge in two["judges"]] == ["rehearsal/ash", "rehearsal/yew"]
    assert len(two["by_judge"]) == 2
    assert one["by_judge"] is None
    assert all(score["spread"] is not None for score in two["scores"])
    assert orjson.loads(two["found"])["artifacts"]
    judgments = export_rows("judgments", record)
    assert [row["judge"] for row in judgments] == ["structured"]


@pytest.mark.slow
async def test_a_judging_that_is_interrupted_goes_on_and_is_paid_once(line: Running) -> None:
    debate = await hold(line, "team")
    whole, models = CountedModels(), CountedModels()
    expected = await judge(line, whole, debate, n=3)
    models.asked.clear()
    other = tuple(reversed(JUDGES))
    lease_manager = LeaseManager(line.store, Notifier(), holder=str(ULID()))
    found = None
    for _ in range(60):
        models.ends_after = 5
        try:
            found = await judge_again(debate, other, NO_CAPS, line.store, models, lease_manager)
            break
        except StoppedError:
            continue
    assert found is not None
    assert set(models.asked.values()) == {1}
    assert len(models.asked) == len(whole.asked)
    assert (found.number, expected.number) == (2, 1)
    models.asked.clear()
    models.ends_after = 1000
    again = await judge_again(debate, other, NO_CAPS, line.store, models, lease_manager)
    assert again == found
    assert not models.asked


async def test_what_cannot_be_judged_is_refused(line: Running, stage: Stage) -> None:
    classic = await hold(line, "classic")
    with pytest.raises(UsageError, match="classic has no judge of its own"):
        await judge(line, CountedModels(), classic)
    closed = await hold(line, "structured")
    voting = closed.model_copy(update={"status": "voting"})
    with pytest.raises(UsageError, match="once its vote has closed"):
        await judge(line, CountedModels(), voting)
    with pytest.raises(UsageError, match="from 1 to 9"):
        await judge(line, CountedModels(), closed, n=0)
    await purge(line.store, "memory", "club")
    with pytest.raises(NotFoundError, match=closed.code):
        await line.store.debates.get(closed.code)


@pytest.fixture
def settings(stage: Stage, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Have commands use the stage's database, and no settings of this machine."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ROSTRUM_DATABASE_URL", stage.url)


@pytest.mark.usefixtures("settings")
async def test_a_debate_that_is_deleted_while_it_is_judged_is_said_to_be(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with stage.process() as line:
        debate = await hold(line, "structured")

    async def judge_and_delete(*given: Any) -> Judging:
        judging = await judge_again(*given)
        await purge(given[3], "memory", "club")
        return judging

    monkeypatch.setattr(bot.research.judgments, "judge_again", judge_and_delete)
    async with asyncio.timeout(HANG_SECONDS):
        with pytest.raises(NotFoundError, match=f"{debate.code} was deleted meanwhile"):
            await run_judge(debate.code, "rehearsal/ash")


@pytest.mark.parametrize("format", ["team", "structured", "audited", "roundtable"])
@pytest.mark.usefixtures("settings")
async def test_each_judge_the_median_the_spread_and_what_changed_are_printed(
    stage: Stage, capsys: pytest.CaptureFixture[str], format: str
) -> None:
    options = {"judges": 1} if format == "roundtable" else {}
    async with stage.process() as line:
        debate = await hold(line, format, options=options)
    await run_judge(debate.code, "rehearsal/ash,rehearsal/yew", as_json=True)
    found = orjson.loads(capsys.readouterr().out)
    assert [judge["judge"] for judge in found["judges"]] == ["rehearsal/ash", "rehearsal/yew"]
    sides = list(debate.request.sides)
    ash, yew = (judge["totals"] for judge in found["judges"])
    for side in sides:
        assert found["spread"][side] == pytest.approx(abs(ash[side] - yew[side]))
        assert found["held"]["totals"][side] > 0
    assert found["changed"] == (found["winner"] != found["held"]["winner"])
    pairs = [(score["value"], score["held"]) for score in found["scores"]]
    assert all(before is not None for _, before in pairs)
    await run_judge(debate.code, "rehearsal/ash,rehearsal/yew")
    told = capsys.readouterr().out
    rows = {line.split("  ")[0].strip(): line for line in told.splitlines()}
    for name, totals in (
        ("rehearsal/ash", ash),
        ("rehearsal/yew", yew),
        ("median", found["totals"]),
        ("spread", found["spread"]),
        ("while it was held", found["held"]["totals"]),
    ):
        assert all(f"{totals[side]:.2f}" in rows[name] for side in sides), rows
    differ = sum(now != before for now, before in pairs)
    assert ("differ" in told) == (differ > 0)
    assert "The result changed: " in told if found["changed"] else "The result is the same" in told


@pytest.mark.usefixtures("settings")
async def test_one_judge_has_a_row_and_no_spread_and_two_a_median(
    stage: Stage, capsys: pytest.CaptureFixture[str]
) -> None:
    async with stage.process() as line:
        debate = await hold(line, "structured")
    await run_judge(debate.code, "rehearsal/yew")
    told = capsys.readouterr().out
    assert told.count("rehearsal/yew") == 2
    assert "median" not in told
    assert "spread" not in told
    await run_judge(debate.code, "rehearsal/yew", as_json=True)
    found = orjson.loads(capsys.readouterr().out)
    assert (len(found["judges"]), found["spread"]) == (1, {})
    assert found["judges"][0]["totals"] == found["totals"]
    await run_judge(debate.code, "rehearsal/ash,rehearsal/yew")
    told = capsys.readouterr().out
    assert f"Debate {debate.code} (structured), judging 2 by rehearsal/ash, rehearsal/yew" in told
    assert "while it was held" in told
    assert "2 judges, the median counts: " in told
    await run_judge(debate.code, "rehearsal/ash,rehearsal/yew")
    assert capsys.readouterr().out == told


LATER = JURORS[3:5]


def jury(line: Running, jurors: tuple[Model, ...] = LATER, **changes: Any) -> SeriesJury:
    lease_manager = LeaseManager(line.store, Notifier(), holder=str(ULID()))
    services = (line.store, line.service.models, lease_manager)
    return SeriesJury(series(), jurors, PanelMode.ALL, *services, **changes)


async def test_another_jury_reads_a_series_once_and_changes_nothing(stage: Stage) -> None:
    stage.priced = (*PRICED, *JURORS)
    async with stage.process() as line:
        await hold_series(line, series())
        debates = await line.store.series.debates("spring")
        before = await line.record(debates[0].id)
        asked = len(stage.server.requests)
        reading = jury(line)
        standing = await reading.run()
        assert (standing.ending, standing.held, standing.failed) == (Ending.COMPLETE, 12, 0)
        calls = len(stage.server.requests) - asked
        assert calls == 12 * 2 * len(LATER)
        assert {body["model"] for body in stage.server.requests[asked:]} == {
            juror.name for juror in LATER
        }
        after = await line.record(debates[0].id)
        for kept in ("turns", "ballots", "verdict", "verdicts", "calls", "scores"):
            assert getattr(after, kept) == getattr(before, kept)
        found = export_rows("verdicts", after)
        assert [row["panel"] for row in found].count(0) == len(before.ballots)
        assert {row["juror"] for row in found if row["panel"] == 1} == {one.ref for one in LATER}
        again = await jury(line).run()
        assert again.held == 12
        other = await jury(line, JURORS[:1]).run()
        assert other.held == 12
        assert len(stage.server.requests) == asked + calls + 12 * 2
        assert {
            row["panel"] for row in export_rows("verdicts", await line.record(debates[0].id))
        } == {0, 1, 2}


async def test_what_was_stored_before_a_kill_is_not_asked_for_again(stage: Stage) -> None:
    stage.priced = (*PRICED, *JURORS)
    async with stage.process() as line:
        await hold_series(line, series())
        asked = len(stage.server.requests)
        stage.server.latency = 0.05
        running = asyncio.create_task(jury(line).run())
        await until(lambda: len(stage.server.requests) >= asked + 20)
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
        debates = [one.id for one in await line.store.series.debates("spring")]
        stored = [await line.store.journal.load(one) for one in debates]
        done = sum(step.startswith("judging/") for one in stored for step in one.steps)
        began = len(stage.server.requests)
        standing = await jury(line).run()
    assert standing.held == 12
    assert 0 < done < 48
    assert len(stage.server.requests) - began == 48 - done


async def test_a_juror_that_is_away_leaves_the_debate_for_the_next_run_and_one_deleted_is_none(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    stage.priced = (*PRICED, *JURORS)
    async with stage.process() as line:
        await hold_series(line, series())
        stage.server.script(*[status(503)] * 60, model=LATER[0].name)  # of 72 tries at most
        reading = jury(line)
        standing = await reading.run()
        assert standing.failed > 0
        assert standing.held + standing.failed == 12
        assert all("503" in why for why in reading.problems.values())
        listed = await line.store.series.debates("spring")
        await line.store.retention.delete(listed[3].id)

        async def list_as_before(*_: object) -> object:
            return listed

        monkeypatch.setattr(type(line.store.series), "debates", list_as_before)
        standing = await jury(line).run()
    assert (standing.ending, standing.total, standing.held) == (Ending.COMPLETE, 11, 11)


@pytest.mark.slow
async def test_a_cap_is_used_up_and_a_second_run_reads_what_is_missing(stage: Stage) -> None:
    stage.priced = (*PRICED, *JURORS)
    async with stage.process() as line:
        await hold_series(line, series())
        whole = jury(line, JURORS[3:4], usd=100.0)
        await whole.run()
        debate = await line.store.debates.get(next(iter(whole.judged)))
        prices = {one.ref: await line.service.models.price(one) for one in LATER}
        most = await jury(line)._most(debate, prices)
        before = (await whole._usage()).sum("usd")
        standing = await jury(line, usd=1.5 * most).run()
        spent = (await whole._usage()).sum("usd") - before
        assert standing.ending is Ending.CAP
        assert 1 < standing.held < 12
        assert 0.5 * most < spent <= 1.5 * most  # whatever is reserved for those under way
        again = await jury(line, usd=1.5 * most).run()
    assert (again.ending, again.held) == (Ending.COMPLETE, 12)


def test_the_cap_is_what_is_left_of_the_series_and_what_was_asked() -> None:
    assert cap_left(series(), 3.0, None) is None
    assert cap_left(series(), 3.0, 2.0) == 2.0
    assert cap_left(series(limits={"usd": 4.0}), 3.0, 2.0) == 1.0
    assert cap_left(series(limits={"usd": 4.0}), 5.0, None) == 0.0
