"""Debates in which every text holds a word, and what they fill into every template.

`filled_in` holds them once; `planted` then puts any text in the word's place.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import orjson
import pytest
from pydantic import BaseModel

from engine.debate import Debate, Model, Retrieval, Sampling, Setup, Source, Status
from engine.floor.floor import Floor
from engine.formats import FORMATS, format_of
from engine.jury.explain import Case, explain
from engine.jury.panel import hold_panel, open_transcript
from engine.jury.summary import summarise
from engine.language import speaking
from engine.ports import AnswerSchema, CallRole, ChatMessage, Reply
from engine.prompts.library import Prompts
from engine.prompts.quoting import Quoted, Record, Speech, quote, unquote
from tests.doubles.rehearsed import MODELS, RehearsedDesk, setup_for, todays_prompts
from tests.sample import new_debate, stored

WORD = "zqplantedqz"
QUESTIONS = (f"Why {WORD}, and for whom?", f"Is {WORD} dear?")
STANCES = {"stance_a": f"Tea is {WORD}", "stance_b": f"No {WORD}"}
FOUND = orjson.dumps([{"title": f"On {WORD}", "text": f"It is {WORD}.", "url": "https://a.b"}])


@dataclass(slots=True)
class PlantedDesk(RehearsedDesk):
    """A desk whose models write the word into every text, after a first answer without use."""

    async def call(
        self,
        step: str,
        model: Model,
        messages: Sequence[ChatMessage],
        sampling: Sampling,
        *,
        schema: AnswerSchema | None = None,
        cue: Mapping[str, str] | None = None,
        role: CallRole = "debater",
    ) -> Reply:
        """Return an answer that is sent back, then one that can be used."""
        if step.startswith("retrieve/"):
            return Reply(text=FOUND.decode(), finish="stop", model=model.name)
        reply = await super(PlantedDesk, self).call(
            step, model, messages, sampling, schema=schema, cue=cue, role=role
        )
        first = not step.endswith(("/again", "/shorten"))
        if schema is None:
            text = f"{WORD} {reply.text}" + " and so on" * (300 if first else 1)
        elif first and step != "why":
            text = WORD
        else:
            text = orjson.dumps(_written(orjson.loads(reply.text))).decode()
        return reply.model_copy(update={"text": text})


def _written(value: Any) -> Any:
    """Put the word before every text of an answer; one without a space is a fixed word."""
    if isinstance(value, str):
        return f"{WORD} {value}" if " " in value else value
    if isinstance(value, dict):
        return {name: _written(item) for name, item in value.items()}
    return [_written(item) for item in value] if isinstance(value, list) else value


def planted_setup(name: str, stances: Mapping[str, str]) -> Setup:
    """Return the setup of a debate whose every given text holds the word."""
    limits = {"audited": {"words": 150}}.get(name, {})
    options: dict[str, object] = {
        "personas": [f"Nurse: {WORD} on wards", f"one who had {WORD} every day"]
    }
    own = {"options": options} if name == "roundtable" else {}
    setup = setup_for(name, limits=limits, **own)
    request = setup.request.model_copy(
        update={
            "topic": f"Tea beats {WORD}",
            "conditions": f"Only {WORD}",
            **({} if FORMATS[name].question else stances),
            "sources": (Source(title=f"A {WORD}", text=f"Tea is {WORD}."),),
            "questions": 1.0 if FORMATS[name].takes_questions else 0,
            "judges": MODELS[2:3],
            "why": True,
        }
    )
    plan = Retrieval(model=MODELS[3], calls=2, results=1)
    return setup.model_copy(update={"request": request, "retrieval": plan})


@contextmanager
def _listening() -> Iterator[list[tuple[str, dict[str, Any]]]]:
    heard: list[tuple[str, dict[str, Any]]] = []
    render = Prompts.render

    def listen(self: Prompts, name: str, **variables: Any) -> str:
        heard.append((name, variables))
        return render(self, name, **variables)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Prompts, "render", listen)
        yield heard


async def filled_in() -> dict[str, list[dict[str, Any]]]:
    """Hold a debate of every format, with stances and without, and say what filled its templates.

    The values are by template, the longest prompts last.
    """
    with _listening() as heard:
        for name in FORMATS:
            for stances in ({}, STANCES):
                await _hold(planted_setup(name, stances))
    found: dict[str, list[dict[str, Any]]] = {}
    for name, variables in heard:
        found.setdefault(name, []).append(variables)
    return found


async def _hold(setup: Setup) -> None:
    desk, prompts = PlantedDesk(audience=QUESTIONS), todays_prompts()
    script = format_of(setup.request.format, setup.format_version)
    floor = Floor(setup, prompts, desk, script.length(setup.request), {})
    with speaking(setup.request.language):
        await script.hold(floor)
    held: Debate = stored(new_debate(setup=setup), status=Status.VOTING)
    scribe = open_transcript(held)
    judged = script.judged(tuple(floor.turns))
    verdict, ballots = await hold_panel(held, judged, prompts, desk, scribe)
    await summarise(held, judged, prompts, desk, scribe)
    await explain(Case(held, verdict, tuple(ballots.values())), prompts, desk)


def planted(value: Any, text: str) -> Any:
    """Return a template's value with a text in the word's place, wherever it stands."""
    match value:
        case Record():
            said = (Speech(one.head, one.text.replace(WORD, text)) for one in value.speeches)
            return Record(said, value.end)
        case Quoted():
            return quote(unquote(value).replace(WORD, text))
        case str():
            return value.replace(WORD, text)
        case BaseModel():
            fields = {
                name: planted(getattr(value, name), text) for name in type(value).model_fields
            }
            return value.model_copy(update=fields)
        case dict():
            return {name: planted(item, text) for name, item in value.items()}
        case list():
            return [planted(item, text) for item in value]
        case tuple():
            items = [planted(item, text) for item in value]
            return type(value)(*items) if hasattr(value, "_fields") else tuple(items)
    return value
