"""`structured` asks both sides at once in every round, by the model server's own log."""

from __future__ import annotations

import asyncio

from engine.stage.shapes import example
from engine.values.ports import AnswerSchema
from tests.doubles.model_server import Body
from tests.doubles.rehearsed import WARM
from tests.kit import HANG_SECONDS
from tests.scenario.conftest import DEFAULTS, Stage, asked, judging, play

SIDE = {"ana": "A", "ben": "B"}
ROUNDS = ("opening", "cross-examination", "closing")


def said_by(side: str, place: int) -> str:
    """Return what every text of a side's turn says, unlike any other turn's."""
    return f"What {side} says in its {ROUNDS[place]} stands here at length"


def schema_of(body: Body) -> AnswerSchema:
    """Return the form that a request asks for."""
    wanted = body["response_format"]["json_schema"]
    return AnswerSchema(wanted["name"], wanted["schema"])


async def test_both_sides_are_asked_before_either_has_answered(stage: Stage) -> None:
    server, spoken = stage.server, 0

    def respond(body: Body) -> str:
        nonlocal spoken
        schema = schema_of(body)
        if judging(body) or schema.name == "Judgment":
            return example(schema.json_schema, "Said.") if schema.name == "Judgment" else play(body)
        spoken += 1
        if spoken % 2 == 0 and spoken < 2 * len(ROUNDS):
            server.gate.clear()  # the next round waits for the test
        place = (spoken - 1) // 2
        return example(schema.json_schema, said_by(SIDE[body["model"]], place))

    server.respond = respond
    server.gate.clear()
    sampling = dict.fromkeys(WARM, DEFAULTS.sampling["debater"])
    async with stage.process() as line:
        started = await line.start(
            DEFAULTS.model_copy(update={"sampling": sampling}), format="structured"
        )
        for place, round_name in enumerate(ROUNDS):
            async with asyncio.timeout(HANG_SECONDS):
                while len(server.requests) < 2 * place + 2:  # noqa: ASYNC110 - the log of another party
                    await asyncio.sleep(0.005)
            assert (server.in_flight, server.answered) == (2, 2 * place)
            both = {SIDE[body["model"]]: asked(body) for body in server.requests[-2:]}
            assert set(both) == {"A", "B"}
            for side, prompt in both.items():
                other = "B" if side == "A" else "A"
                assert f"You speak for side {side}," in prompt
                # It reads the other side's last round, and nothing of this one.
                assert (said_by(other, place - 1) in prompt) == (place > 0), round_name
                assert said_by(other, place) not in prompt
            server.gate.set()
        debate = await line.ended(started.debate.id)
        record = await line.record(debate.id)
    assert [turn.side for turn in record.turns] == list("ABABAB")
    # The double says one sentence in every field, which is a loop.
    assert {fault.kind for turn in record.turns for fault in turn.violations} <= {"repeats"}
