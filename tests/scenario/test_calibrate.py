"""`rostrum calibrate`: what was judged elsewhere teaches how the jurors judge, paid once."""

import asyncio
import json
from pathlib import Path
from typing import Any

import orjson
import pytest
from ulid import ULID

from bot.research.calibrate import open_session
from bot.research.cases import CaseSource, read_source
from engine.fleet.leases import LeaseManager, Notifier
from engine.prompts import load_prompts
from engine.run.calibration import Calibration, CalibrationProgress, plan_questions
from engine.store import ExportFilter
from engine.store.usage import UsageFilter
from engine.values.debate import Model
from tests.doubles.command import rostrum
from tests.doubles.model_server import status
from tests.kit import until
from tests.scenario.conftest import DEFAULTS, JURORS, PRICE, Running, Stage, play, prompt, shown

PAIRS = 12
MAKER = Model.parse("near/judge#gpt")
Body = dict[str, Any]


def judgments(pairs: int = PAIRS) -> list[Body]:
    """Write judgments of answers by two models, three by people and one by a model for each."""

    def chat(number: int, said: str) -> list[Body]:
        asked = {"role": "user", "content": f"Question {number}: why is the sky blue?"}
        return [asked, {"role": "assistant", "content": f"{said} light scatters, case {number}."}]

    rows = []
    for number in range(pairs):
        answers = [("gpt-4", "Blue"), ("vicuna-13b", "Short")]
        for judge, winner in (("expert_1", 0), ("author_2", 0), ("expert_3", 1), ("gpt4_pair", 1)):
            first = (number + winner) % 2  # rows have either model first
            one, other = answers[first], answers[1 - first]
            rows.append(
                {
                    "question_id": 81 + number,
                    "model_a": one[0],
                    "model_b": other[0],
                    "winner": "model_a" if first == winner else "model_b",
                    "judge": judge,
                    "conversation_a": chat(number, one[1]),
                    "conversation_b": chat(number, other[1]),
                    "turn": 1,
                }
            )
    return rows


def write(folder: Path, pairs: int = PAIRS) -> Path:
    file = folder / "judgments.jsonl"
    file.write_text("\n".join(map(json.dumps, judgments(pairs))), encoding="utf-8")
    return file


def score(body: Body) -> str:
    """Prefer the answer that says “Blue”, by any rubric, and the first one shown by a little."""
    sheets = body["response_format"]["json_schema"]["schema"]["properties"]["scores"]["properties"]
    names = shown(body)
    text = prompt(body)
    best = max(names, key=lambda name: "Blue" in text.split(f"### {name}")[1].split("###")[0])
    scores = {
        name: dict.fromkeys(sheet["properties"], 5 + 2 * (name == best) + (name == names[0]))
        for name, sheet in sheets.items()
    }
    answer = {"reasons": "One was better.", "scores": scores, "verdict": best, "confidence": 0.7}
    return orjson.dumps(answer).decode()


async def calibration(line: Running, source: CaseSource, **changes: Any) -> Calibration:
    """Return what asks the jurors about a source, as the command does."""
    prompts = load_prompts().only("jury")
    new = await open_session(line.store, DEFAULTS, source, prompts.digest)
    stored = await line.store.learning.session(new)
    lease_manager = LeaseManager(line.store, Notifier(), holder=str(ULID()))
    return Calibration(
        session=stored.model_copy(update={"setup": new.setup}),
        source=source.digest,
        store=line.store,
        models=line.service.models,
        lease_manager=lease_manager,
        prompts=prompts,
        prices={juror.ref: PRICE for juror in JURORS},
        **changes,
    )


async def ask(line: Running, source: CaseSource, **changes: Any) -> CalibrationProgress:
    known = await line.store.learning.learnt(rehearsal=False)
    questions = plan_questions(source.cases, JURORS[:3], known)
    return await (await calibration(line, source, **changes)).ask(questions)


async def test_a_set_of_judgments_teaches_what_the_next_debate_freezes(
    stage: Stage, tmp_path: Path
) -> None:
    stage.server.respond = score
    async with stage.process() as line:
        source = await read_source(str(write(tmp_path)), line.store)
        assert [case.human for case in source.cases] == ["1"] * PAIRS
        progress = await ask(line, source)
        assert (progress.asked, progress.missing) == (3 * PAIRS, 0)
        assert len(stage.server.requests) == 3 * PAIRS
        for body in stage.server.requests:
            assert not any(name in prompt(body).lower() for name in ("gpt-4", "vicuna"))
        orders = [shown(body) for body in stage.server.requests]
        assert len({order[0] for order in orders}) > 2
        # Nothing of it is a debate to anybody.
        assert await line.store.listings.recent() == []
        assert await asyncio.to_thread(line.store.archive.size, ExportFilter()) == 0
        usage = await line.store.usage.read(UsageFilter())
        assert {taking.role for taking in usage.totals} == {"juror"}
        stage.server.respond = play
        debate = await line.hold()
    history = debate.setup.panel.history
    assert {one.ballots for one in history.values()} == {PAIRS}
    # Each gives the answer shown first a point more.
    leans = [one.pos for one in history.values()]
    assert leans == pytest.approx([(PAIRS + 10 * 36 / 46) / (PAIRS + 10)] * 3)


async def test_what_was_answered_before_a_kill_is_not_asked_for_again(
    stage: Stage, tmp_path: Path
) -> None:
    stage.server.respond = score
    stage.server.latency = 0.05
    async with stage.process() as line:
        source = await read_source(str(write(tmp_path)), line.store)
        running = asyncio.create_task(ask(line, source))
        await until(lambda: len(stage.server.requests) > 24)  # the first have been answered
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
        session = (await calibration(line, source)).session.id
        done = len((await line.store.journal.load(session)).steps)
        began = len(stage.server.requests)
        await ask(line, source)
        learnt = await line.store.learning.learnt(rehearsal=False)
    assert 0 < done < 3 * PAIRS
    assert len(stage.server.requests) - began == 3 * PAIRS - done
    assert [len(one.ballots) for one in learnt] == [3] * PAIRS


async def test_a_cap_or_a_juror_that_is_away_leaves_the_rest_for_the_next_run(
    stage: Stage, tmp_path: Path
) -> None:
    stage.server.respond = score
    async with stage.process() as line:
        source = await read_source(str(write(tmp_path)), line.store)
        capped = await ask(line, source, usd=0.02)
        assert capped.full
        assert "more than its cap of 0.02 USD" in capped.problem
        assert (await line.store.usage.read(UsageFilter())).sum("usd") <= 0.02
        stage.server.always(status(503), model=JURORS[0].name)
        away = await ask(line, source)
        assert 0 < away.missing <= PAIRS
        assert "503" in away.problem
        stage.server.behave()
        rest = await ask(line, source)
        learnt = await line.store.learning.learnt(rehearsal=False)
    assert capped.asked + away.asked + rest.asked == 3 * PAIRS
    assert [len(one.ballots) for one in learnt] == [3] * PAIRS
    assert all(ballot.valid for one in learnt for ballot in one.ballots)


@pytest.mark.slow
async def test_the_command_says_what_it_costs_asks_and_takes_an_exports_ballots_for_free(
    stage: Stage, tmp_path: Path
) -> None:
    """An export of another installation, then a public set; the server counts the calls."""
    async with stage.process() as line:
        await line.hold()
    before = len(stage.server.requests)
    names = [juror.ref + f"#{juror.family}" for juror in (*JURORS[:4], MAKER)]
    common = {
        "ROSTRUM_BACKENDS__NEAR__BASE_URL": stage.server.base_url,
        "ROSTRUM_PRICES": json.dumps(
            {name.partition("#")[0]: {"in": 1, "out": 2} for name in names}
        ),
        "ROSTRUM_JURORS": ",".join(names),
        "ROSTRUM_LOG__FORMAT": "json",
    }

    async def run(*arguments: str, **settings: str) -> Any:
        return await asyncio.to_thread(rostrum, tmp_path, *arguments, **common, **settings)

    exported = await run("export", "--out", "export", ROSTRUM_DATABASE_URL=stage.url)
    assert exported.code == 0, exported
    other = {"ROSTRUM_DATABASE_URL": f"sqlite+aiosqlite:///{tmp_path}/other.db"}
    (await run("migrate", **other)).done()
    ended = await run("calibrate", "--from", "export", **other)
    assert ended.code == 2
    asked = ended.err.splitlines()[-1]
    assert "at most" in asked
    assert "add --yes" in asked
    assert len(stage.server.requests) == before
    ended = await run("calibrate", "--from", "export", "--yes", "--json", **other)
    assert ended.code == 0, ended
    found = json.loads(ended.out)
    # Three jurors read it when it was held; the other two are asked.
    assert (found["asked"], found["missing"], len(found["jurors"])) == (2, 0, 5)
    assert [one["juror"] for one in found["panel"]["jurors"]] == sorted(found["jurors"])
    assert len(stage.server.requests) == before + 2
    stage.server.respond = score
    write(tmp_path)
    ended = await run("calibrate", "--from", "judgments.jsonl", "--yes", **other)
    assert ended.code == 0, ended
    assert "12 judgments from judgments.jsonl, 12 of them by people" in ended.err
    # A juror of the family of one of the debaters is not asked.
    assert len(stage.server.requests) == before + 2 + 4 * PAIRS
    assert "rests on 56 ballots, 56 of them from elsewhere" in ended.out
    assert "What is known of the jurors" in ended.out
    listed = await run("list", **other)
    assert listed.done() == "No debates.\n"
