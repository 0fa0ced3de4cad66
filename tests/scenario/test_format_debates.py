"""Every format, whole: held, judged, voted on, revealed and kept, on real parts throughout."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import orjson
import pytest
from structlog.testing import capture_logs
from typer.testing import CliRunner

from bot import cli
from engine.delivery.reasons import STOPPED_BY_BUG
from engine.formats import FORMATS, find_format
from engine.jury.explain import STEP
from engine.run.order import Defaults
from engine.store import DebateRecord
from engine.values.debate import Debate, Model, Scores, Status
from tests.doubles.rehearsed import JURORS, MODELS
from tests.doubles.whole_debate import DEFAULTS as WHOLE
from tests.kit import some, until_asked
from tests.scenario.conftest import NO_CAPS, Running, Stage, in_thread

SEVEN = (*JURORS, *(Model.parse(f"rehearsal/{n}") for n in ("aspen", "hazel")))
DEFAULTS = WHOLE.model_copy(update={"jurors": SEVEN})
# People vote until a juror has written why the panel decided so: that is paid for too.
PATIENT = DEFAULTS.model_copy(update={"vote_minutes": 60.0})
SHORT = DEFAULTS.model_copy(update={"limits": {"team": {"free_minutes": 1.2}}})
OPTIONS = {"audited": {"turns": 4}}
TOPICS = {
    "en": "Remote work is more productive than working from an office",
    "tr": "Uzaktan çalışmak ofiste çalışmaktan daha verimlidir",
    "zh": "远程办公比坐班更有效率",
}


async def hold(line: Running, format: str, defaults: Defaults = SHORT, **asked: object) -> Debate:
    return await line.hold(
        defaults,
        **{"format": format, "topic": TOPICS["en"], "options": OPTIONS.get(format, {})} | asked,
    )


def misbehaving(format: str, how: str) -> Defaults:
    bad = Model.parse(f"rehearsal/maple?{how}")
    return SHORT.model_copy(update={"sides": {find_format(format).contenders[0]: bad}})


def slow_but(*quick: str, without: Sequence[str] = ()) -> list[Any]:
    """Return the formats, as slow tests but for some; unit tests have these cases in all."""
    return [
        pytest.param(name, marks=() if name in quick else pytest.mark.slow)
        for name in FORMATS
        if name not in without
    ]


@pytest.mark.parametrize(
    "language",
    [pytest.param(one, marks=() if one == "en" else pytest.mark.slow) for one in TOPICS],
)
@pytest.mark.parametrize("format", FORMATS)
async def test_a_whole_debate_is_held_voted_on_and_kept(
    line: Running, stage: Stage, format: str, language: str
) -> None:
    started = await line.start(PATIENT, format=format, topic=TOPICS[language], language=language)
    await until_asked(
        lambda: line.store.journal.read(started.debate.id, artifacts=STEP),
        lambda kept: bool(kept.artifacts),
    )
    await line.until(started.debate.id, lambda debate: debate.vote_opened_at)
    await line.service.close_vote(started.debate.id)
    debate = await line.ended(started.debate.id)
    assert (debate.status, debate.reason) == (Status.CLOSED, "")
    record = await line.record(debate.id)
    if format != "team":  # whose clock decides how many there are
        assert len(record.turns) == find_format(format).turns(debate.request)
    assert not [turn for turn in record.turns if turn.violations]
    assert some(record.verdict).valid >= 2
    _expected_what_was_used(started.estimate.tokens_in, started.estimate.tokens_out, record)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("language", "topic"),
    [("tr", "Çay güzel"), ("de", "Tee gewinnt")],
)
async def test_the_calls_are_foreseen_where_words_are_few_and_long(
    line: Running, language: str, topic: str
) -> None:
    started = await line.start(DEFAULTS, format="team", topic=topic, language=language)
    debate = await line.ended(started.debate.id)
    record = await line.record(debate.id)
    assert started.estimate.calls == pytest.approx(len(record.calls), rel=0.25)


def _expected_what_was_used(tokens_in: int, tokens_out: int, record: DebateRecord) -> None:
    """See that the estimate of a price (1 USD in, 3 out) is within a quarter of the truth."""
    replies = [call.reply for call in record.calls if call.reply]
    used_in = sum(reply.usage.tokens_in or 0 for reply in replies)
    used_out = sum(reply.usage.tokens_out or 0 for reply in replies)
    used, expected = used_in + 3 * used_out, tokens_in + 3 * tokens_out
    assert 0.75 <= expected / used <= 1.25, (used_in, tokens_in, used_out, tokens_out)


@pytest.mark.parametrize("format", FORMATS)
async def test_nothing_before_the_reveal_names_a_model_or_tells_what_a_judge_said(
    line: Running, stage: Stage, format: str
) -> None:
    debate = await hold(line, format)
    record = await line.record(debate.id)
    shown = [message.body for message in in_thread(stage)]
    reveal = next(at for at, body in enumerate(shown) if body.startswith("Reveal"))
    before, after = "\n".join(shown[:reveal]), "\n".join(shown[reveal:])
    for model in (*debate.request.speakers, *debate.request.judges):
        assert model.name not in before
    for judge in record.verdicts:
        assert judge == format
    for artifact in record.artifacts:
        for word in ("reasons", "key_insight", "narrative", "direction", "directive"):
            told = artifact.body.get(word)
            assert not (isinstance(told, str) and told and told in before)
    if record.verdicts:
        assert len(shown) > reveal + 1
        assert after.count("\n") > 2


@pytest.mark.parametrize("how", ["garbage", "empty", "over=always", "fail=500"])
@pytest.mark.parametrize("format", slow_but("classic", "structured"))
async def test_a_model_that_misbehaves_at_every_step_ends_it_in_a_clear_state(
    line: Running, stage: Stage, format: str, how: str
) -> None:
    with capture_logs() as logs:
        debate = await hold(line, format, misbehaving(format, how))
    assert debate.reason != STOPPED_BY_BUG
    assert [log for log in logs if log.get("exc_info")] == []
    if how in ("empty", "fail=500"):
        assert debate.status is Status.FAILED
        assert debate.reason
    else:
        assert debate.status is Status.CLOSED
        record = await line.record(debate.id)
        if how == "over=always" or format == "structured":
            assert any(turn.violations for turn in record.turns)


@pytest.mark.parametrize("how", ["garbage", "empty", "fail=500"])
@pytest.mark.parametrize("format", slow_but("audited", without=("classic", "oxford")))
async def test_a_judge_that_misbehaves_never_becomes_a_score(
    line: Running, format: str, how: str
) -> None:
    bad = Model.parse(f"rehearsal/judge?{how}")
    options = {"judges": 2} if format == "roundtable" else OPTIONS.get(format, {})
    with capture_logs() as logs:
        debate = await hold(line, format, judges=(bad,), options=options)
    assert [log for log in logs if log.get("exc_info")] == []
    assert (debate.status, debate.reason) == (Status.CLOSED, "")
    record = await line.record(debate.id)
    assert record.verdicts[format].winner is None
    assert record.verdicts[format].problem
    assert record.scores == ()
    assert any(not artifact.valid for artifact in record.artifacts)


@pytest.mark.parametrize("format", slow_but("structured"))
async def test_processes_that_end_in_the_middle_change_nothing(stage: Stage, format: str) -> None:
    slow = tuple(Model.parse(f"rehearsal/{model.name}?latency=0.03") for model in MODELS)
    defaults = SHORT.model_copy(update={"models": slow})
    async with stage.process() as line:
        clean = await line.record((await hold(line, format, defaults)).id)
    debate_id, processes, ended = "", 0, False
    seconds, stored = 0.15, 0
    while not ended:
        processes += 1
        assert processes < 200, "one process after the other got nowhere"
        async with stage.process() as line:
            if debate_id:
                debate = await line.store.debates.get(debate_id)
                if debate.status.live:  # else it was judged while its process was ending
                    await line.service.resume(debate_id, NO_CAPS)
            else:
                started = await line.start(
                    defaults, format=format, topic=TOPICS["en"], options=OPTIONS.get(format, {})
                )
                debate_id = started.debate.id
            ended = await _ends_within(line, debate_id, seconds)
            journaled = len((await line.store.journal.load(debate_id)).steps)
            # On a machine so busy that nothing was done, the next one gets more time.
            seconds, stored = (seconds if journaled > stored else 2 * seconds), journaled
    assert processes > 1
    async with stage.process() as line:
        broken = await line.record(debate_id)
    assert [t.text for t in broken.turns] == [t.text for t in clean.turns]
    # The close of the vote waits ten seconds for the reasons, which processes that end may take.
    assert [a for a in broken.artifacts if a.kind != "why"] == [
        a for a in clean.artifacts if a.kind != "why"
    ]
    assert broken.scores == clean.scores
    assert broken.adjustments == clean.adjustments
    assert {judge: verdict.winner for judge, verdict in broken.verdicts.items()} == {
        judge: verdict.winner for judge, verdict in clean.verdicts.items()
    }
    threads = list(stage.venue.threads.values())
    bodies = [[m.body.replace(m.reference, "") for m in thread.messages] for thread in threads]
    assert len(bodies[0]) == len(bodies[1])


async def _ends_within(line: Running, debate_id: str, seconds: float) -> bool:
    try:
        async with asyncio.timeout(seconds):
            await line.ended(debate_id)
    except TimeoutError:
        return False
    return True


@pytest.mark.parametrize(
    ("format", "told"),
    [
        ("structured", "Decision briefing"),
        ("audited", "Scorecard"),
        ("team", "Scoreboard"),
        ("roundtable", "winning answer"),
    ],
)
async def test_live_scores_are_read_before_the_reveal_and_name_no_model(
    line: Running, stage: Stage, format: str, told: str
) -> None:
    debate = await hold(line, format, scores=Scores.LIVE)
    shown = [message.body for message in in_thread(stage)]
    reveal = next(at for at, body in enumerate(shown) if body.startswith("Reveal"))
    before = "\n".join(shown[:reveal])
    assert told in before
    for model in (*debate.request.speakers, *debate.request.judges):
        assert model.name not in before


@pytest.mark.parametrize("other", [0, 1])
async def test_the_same_model_on_both_sides_is_warned_of(line: Running, other: int) -> None:
    models = {"A": MODELS[0], "B": MODELS[other]}
    started = await line.start(SHORT, format="structured", topic=TOPICS["en"], models=models)
    told = [warning for warning in started.warnings if "The same model argues" in warning]
    assert bool(told) is (other == 0)
    await line.ended(started.debate.id)


SHOWN = {  # before the reveal, and after it
    "audited": (("🔵 A · exchange 1 · turn 1 of 10",), ("[Scorecard]", "[The arc]", "[Register]")),
    "classic": (("🔵 A · opening · turn 1 of 8",), ("Jury: ",)),
    "oxford": (("A1 · opening · turn 1 of 6",), ("People who answered both times: ",)),
    "roundtable": (("Practitioner · draft · turn 1 of 9",), ("has the winning answer]",)),
    "structured": (("A-1.", "cross-examination · turn 3 of 6"), ("[Decision briefing]", "- A-1 ")),
    "team": (
        ("Stage: free debate", "Unused time: 🔵 A "),
        ("[Scoreboard]", "Best debater", "chose"),
    ),
}


@pytest.mark.parametrize("format", FORMATS)
def test_it_is_shown_judged_and_exported(
    format: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    ended = CliRunner().invoke(cli.app, ["demo", "--format", format, "--votes", "tie=1"])
    assert (ended.exit_code, ended.stderr) == (0, "")
    before, _, after = ended.stdout.partition("[Reveal]")
    debate_shows, judge_shows = SHOWN[format]
    assert [what for what in debate_shows if what not in before] == []
    assert [what for what in judge_shows if what in before] == []
    assert [what for what in judge_shows if what not in after] == []
    (debate,) = (tmp_path / "demo-export/data/debates").glob("*.jsonl")
    assert orjson.loads(debate.read_bytes())["format"] == format
