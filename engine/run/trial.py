"""A debate whose right answer is known: what it needs, and an open debate's choice of sides.

The answer itself is stored beside the debate (engine/store/debates.py). Nothing here or later
reads it but statistics and exports.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from engine.prompts.library import TRIAL
from engine.run.seats import exchange
from engine.stage.shapes import TEXT, Shape, choice, named
from engine.stage.stage import Stage
from engine.values.debate import Request, Setup, TrialProtocol, Value
from engine.values.errors import UsageError
from engine.values.language import speaking
from engine.values.source_files import pasted, read_sources
from engine.values.sources import SourceLimits
from engine.values.topics import Topic
from engine.values.trial import SealedAnswer, draw_claims, seal
from engine.words.translation import say


def put_on_trial(
    request: Request, topic: Topic | None, limits: SourceLimits, seed: int
) -> tuple[Request, Mapping[str, str | None]]:
    """Return the request of a debate under a protocol, and the row of its right answer.

    Its sides argue two choices of its topic, whose source it has; agents of a round table read what
    they choose among. One whose sides argue something else stays as it is. Raises UsageError.
    """
    sided = "A" in request.sides
    if topic and topic.choices and sided and not request.stances:
        request = request.model_copy(update=draw_claims(topic, seed))
    answer = seal(topic, request.stances, sided=sided)
    if answer is None and request.protocol is None:
        return request, {}
    protocol = request.protocol or TrialProtocol.DEBATE
    if topic is None or answer is None:
        raise UsageError(
            "The protocol {protocol} is for a question whose right answer is known, and none is "
            "known of “{topic}”; leave protocol out, or take a topic with an answer.",
            protocol=protocol.value,
            topic=request.topic,
        )
    if answer.side is None and protocol is not TrialProtocol.DEBATE:
        raise UsageError(
            "A {name} debate answers a question by itself; leave the protocol {protocol} out, or "
            "choose a format with two sides.",
            name=request.format,
            protocol=protocol.value,
        )
    sources = request.sources
    if topic.source:
        file = pasted(topic.source)
        sources = (*sources, *read_sources([file], limits, beside=sources))
    if protocol is TrialProtocol.EXPERT and not sources:
        raise UsageError(
            "Under the protocol expert the jury reads the sources, and “{topic}” has none; add "
            "one, or choose another protocol.",
            topic=request.topic,
        )
    tried = {
        "protocol": protocol,
        "conditions": request.conditions if answer.side else _with_choices(request, answer),
        "sources": () if protocol is TrialProtocol.DIRECT else sources,
    }
    return request.model_copy(update=tried), answer.row


def _with_choices(request: Request, answer: SealedAnswer) -> str:
    """Return the conditions of a round table, with what its agents choose among."""
    with speaking(request.language):
        told = say(
            "The last line of each answer names one of these, and nothing else: {choices}",
            choices=" · ".join(answer.choices),
        )
    return f"{request.conditions}\n{told}".strip()


class _Choice(Value, extra="ignore"):
    """Which answer a model takes for the right one."""

    side: Literal["A", "B"]


CHOICE = Shape(_Choice, named("Choice", {"reasons": TEXT, "side": choice("A", "B")}))


async def choose_side(stage: Stage, setup: Setup) -> Setup:
    """Let the first model choose what it argues, and the other take the rest.

    Models change their sides, not sides their answers. Without a usable choice all stays as it is.
    """
    answer = await stage.consult(
        f"{TRIAL}/choice",
        setup.request.sides["A"],
        system=f"{TRIAL}/chooser",
        template=f"{TRIAL}/choice",
        shape=CHOICE,
        role="debater",
        side="A",
        again=f"{TRIAL}/again",
        sources=setup.request.sources,
    )
    if answer.value is None:
        return setup
    side = answer.value.side
    request = setup.request if side == "A" else exchange(setup.request)
    return setup.model_copy(update={"request": request, "advocate": side})
