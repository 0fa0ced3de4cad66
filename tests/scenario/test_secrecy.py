"""Who is who stays unknown to jurors, and to the thread before the reveal: by canaries."""

import asyncio
from collections.abc import Mapping, Sequence
from itertools import takewhile
from typing import Any

import orjson
import pytest
from structlog.testing import capture_logs

from engine.values.debate import Model, Status
from tests.doubles import model_server as acts
from tests.doubles.model_server import Body
from tests.kit import conclude, some
from tests.scenario.conftest import DEFAULTS, Running, Stage, ballot, is_closing, judging, shown

DEBATERS = {"A": Model.parse("near/zorblax-9#quuxfam"), "B": Model.parse("near/fnordic-3#blipfam")}
PANEL = tuple(Model.parse(f"near/jurex{n}-canary#kinex{n}") for n in range(1, 4))
DEFAULT = DEFAULTS.model_copy(update={"sides": DEBATERS, "jurors": PANEL, "vote_minutes": 0.005})
MODELS = ("zorblax", "fnordic", "quuxfam", "blipfam")
JURORS = ("jurex", "kinex", "canary")
JUDGED = "Unheard-of-reasons"
TELLING = (
    "As Claude, I must object. I am Zorblax 9, made by Quuxfam, and ChatGPT here would agree. "
    "Side A said it in A-1 and seat A2 repeated it; side B's B-3 fails. "
    "As the pro side we answer the con side. Fnordic-3 is wrong."
)


def tell_all(body: Body) -> str:
    """Debate without any discretion."""
    if judging(body):
        first, second = shown(body)
        return ballot({first: 7, second: 6}, first, reasons=JUDGED)
    return conclude("Short.", TELLING) if is_closing(body) else TELLING


@pytest.fixture
async def hall(stage: Stage) -> Stage:
    """A stage on which models name themselves and one another."""
    stage.server.respond = tell_all
    return stage


def read_by_jurors(stage: Stage) -> str:
    """Return every byte that a juror was sent, but its own name as the address."""
    bodies = [{k: v for k, v in body.items() if k != "model"} for body in stage.jurors_asked]
    assert bodies
    return orjson.dumps(bodies).decode()


def said_before_the_reveal(stage: Stage) -> str:
    """Return all that reached the platform, or was rendered for it, before the reveal."""
    sent = stage.venue.said()
    rendered = "\n".join(stage.venue.rendered)
    return sent.split("Reveal: ")[0] + rendered.split("Reveal: ")[0]


async def test_no_juror_thread_or_log_tells_who_is_who_and_the_record_keeps_what_was_said(
    hall: Stage,
) -> None:
    async with hall.process(price=None) as line:
        with capture_logs() as logs:
            started = await line.start(DEFAULT)
            watching = asyncio.create_task(watch(line, started.debate.id))
            debate = await line.ended(started.debate.id)
        statuses, record = await watching, await line.record(debate.id)
    check_logs(logs, statuses)
    read = read_by_jurors(hall)
    for secret in (*MODELS, *JURORS, "claude", "chatgpt", "rehearsal"):
        assert secret not in read.casefold(), secret
    for reference in ("A-1", "B-3", "Side A", "side B", "A2", "pro side", "con side", debate.id):
        assert reference not in read, reference
    for name in debate.setup.names.values():
        assert f"{name} said" in read or f"{name}'s" in read
    assert "must object" in read
    # Nor does one juror know of another.
    assert JUDGED not in read
    assert len({body["messages"][0]["content"] for body in hall.jurors_asked}) == 1
    before = said_before_the_reveal(hall)
    assert "must object" in before
    assert "Vote: " in before
    for secret in (*MODELS, *JURORS, "near/", "claude", JUDGED.casefold()):
        assert secret not in before.casefold(), secret
    after = hall.venue.said().split("Reveal: ")[1]
    assert "near/zorblax-9" in after
    assert "near/jurex1-canary" in after
    assert (record.turns[0].text, record.turns[0].model) == (TELLING, "zorblax-9")
    assert record.ballots[0].reasons == JUDGED


async def test_a_debate_that_is_not_blind_tells_its_jurors_and_nobody_else(hall: Stage) -> None:
    async with hall.process(price=None) as line:
        debate = await line.hold(DEFAULT, blind=False)
        verdict = (await line.store.journal.read(debate.id, "verdict")).verdict
    assert "near/zorblax-9" in read_by_jurors(hall)
    assert not some(verdict).blind
    assert "zorblax" not in said_before_the_reveal(hall).casefold()


def check_logs(logs: Sequence[Mapping[str, Any]], statuses: set[tuple[str, str]]) -> None:
    """Check that nothing logged or shown of a debate before its reveal tells who is who."""
    before = list(takewhile(lambda entry: entry["event"] != "vote closed", logs))
    assert len(before) < len(logs)
    assert {"queued", "running", "voting"} >= {status for status, _ in statuses}
    told = orjson.dumps([before, sorted(statuses)], default=str).decode().casefold()
    assert "debate judged" in told
    for secret in (*MODELS, *JURORS, "near/", JUDGED.casefold()):
        assert secret not in told, secret


async def watch(line: Running, debate_id: str) -> set[tuple[str, str]]:
    """Return every status and reason that a debate shows until it ends."""
    seen = set()
    while (debate := await line.store.debates.get(debate_id)).status is not Status.CLOSED:
        seen.add((str(debate.status), debate.reason))
        await asyncio.sleep(0.003)
    return seen


async def test_a_failed_debate_names_its_model_to_the_operator_alone(hall: Stage) -> None:
    hall.server.script(acts.status(404), model="fnordic-3")
    async with hall.process(price=None) as line:
        debate = await line.hold(DEFAULT)
    assert debate.status is Status.FAILED
    assert "near" in debate.reason
    assert "fnordic-3" in debate.reason
    said = hall.venue.said()
    assert "The debate failed" in said
    assert debate.code in said
    for secret in (*MODELS, "near"):
        assert secret not in said.casefold(), secret
